"""Texts are accepted by quota, so that their overlap follows that of real queries; where it cannot, that is refused."""

import json
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from findback.corpus.open import open_corpus
from findback.errors import UsageError
from findback.measure.buckets import NAMES, bucket_of
from findback.measure.containment import find_content_words
from findback.measure.yardstick import choose_window
from findback.model.document import Document
from findback.model.settings import CorpusSettings
from findback.writing.leaking import Leaking
from findback.writing.matching import FULL, apportion, read_quotas

FOREIGN = [f"zorb{first}{second}" for first in "abcdefghij" for second in "klmnopqrst"]
EVEN = [0.0] * 20 + [0.2] * 20 + [0.4] * 20 + [0.6] * 20 + [0.9] * 20


class RealSample:
    """The real questions of Ubuntu's channels, measured beside what their askers were sent."""

    def __init__(self, data: Path) -> None:
        rows = [
            json.loads(line) for line in (data / "ubuntu" / "queries.jsonl").read_text(encoding="utf-8").splitlines()
        ]
        self.corpus = open_corpus(CorpusSettings(path="ubuntu/corpus.jsonl"), base=data)
        golds = [self.corpus.get(row["gold"]) for row in rows]
        window = choose_window([len(gold.text) for gold in golds if gold is not None]).window
        assert window is not None
        self.leaking = Leaking(self.corpus, window=window)
        self.overlaps = [
            self.leaking.measure_text(row["query"], gold, "en").overlap.value
            for row, gold in zip(rows, golds, strict=True)
            if gold is not None
        ]
        sizes = Counter(row["gold"] for row in rows)
        self.weights = [1 / sizes[row["gold"]] for row in rows]


@pytest.fixture(scope="module")
def real() -> dict[str, RealSample]:
    """Return where the sample is kept once it is read."""
    return {}


@pytest.fixture
def sample(data: Path, real: dict[str, RealSample]) -> RealSample:
    """Return the real sample, read once."""
    if "ubuntu" not in real:
        real["ubuntu"] = RealSample(data)
    return real["ubuntu"]


def write(document: Document, random: Random, *, most: float = 1.0) -> str:
    """Return what a scripted writer of known overlap writes: words of the document, filled up with others."""
    own = list(find_content_words(document.text[:400], "en"))
    wanted = random.choice([0.0, 0.15, 0.35, 0.6, 1.0])
    shared = round(min(wanted, most) * 8)
    return " ".join([*random.sample(own, min(shared, len(own))), *random.sample(FOREIGN, 8 - shared)])


def test_300_accepted_texts_follow_the_real_overlap(sample: RealSample) -> None:
    """Every bucket's share among 300 accepted texts is within 5 points of its share of 348 real questions."""
    quotas = read_quotas("ubuntu", sample.overlaps, 300, weights=sample.weights)
    random, tries = Random(4), 0
    listed = list(sample.corpus)
    while quotas.left and tries < 20_000:
        document = random.choice(listed)
        overlap = sample.leaking.measure_text(write(document, random), document, "en").overlap.value
        quotas.note(overlap)
        quotas.offer(overlap)
        tries += 1
    matching = quotas.settle()
    assert matching.refusal is None
    assert matching.accepted == 300
    weighed = Counter[str]()
    for overlap, weight in zip(sample.overlaps, sample.weights, strict=True):
        if overlap is not None:
            weighed[bucket_of(overlap)] += weight  # type: ignore[assignment]
    for bucket in matching.buckets:
        assert bucket.accepted / 300 == pytest.approx(weighed[bucket.bucket] / weighed.total(), abs=0.05)
        assert bucket.accepted <= bucket.tried
    assert sum(bucket.real for bucket in matching.buckets) + matching.left_out == 348
    assert 100 < matching.effective < 348


def test_a_bucket_the_writer_cannot_fill_is_refused_by_name(sample: RealSample) -> None:
    """A writer that never gets beyond half of the words leaves buckets empty, and the refusal counts them."""
    overlaps = [*sample.overlaps, *[0.9] * 40]
    quotas = read_quotas("ubuntu and 40 close ones", overlaps, 300)
    random = Random(4)
    listed = list(sample.corpus)
    for _ in range(1_500):
        document = random.choice(listed)
        overlap = sample.leaking.measure_text(write(document, random, most=0.6), document, "en").overlap.value
        quotas.note(overlap)
        quotas.offer(overlap)
    matching = quotas.settle()
    last = matching.buckets[-1]
    assert matching.accepted == 300 - last.quota
    measured = sum(bucket.tried for bucket in matching.buckets)
    assert 1_450 < measured <= 1_500
    assert matching.refusal == f"bucket .75-1 got 0 of {last.quota} (0 of {measured} texts fell into it)"


def test_a_full_bucket_turns_texts_away_and_says_where_to_go() -> None:
    """What is told points to where texts are still lacking, in findback's words."""
    quotas = read_quotas("even", EVEN, 5)
    assert [quotas.offer(overlap) for overlap in (0.0, 0.2, 0.4, 0.6)] == [None] * 4
    rejection = quotas.offer(0.1)
    assert rejection is not None
    assert (rejection.by, rejection.reason) == ("match", FULL)
    assert rejection.told == "Stay closer to the usual words for the matter."
    assert quotas.has_room(0.8)
    assert quotas.offer(0.8) is None
    assert quotas.left == 0
    lowest = read_quotas("even", EVEN, 5)
    assert [lowest.offer(overlap) for overlap in (0.9, 0.2, 0.4, 0.6)] == [None] * 4
    told = lowest.offer(0.9)
    assert told is not None
    assert told.told == "Move further away from the usual words for the matter."


def test_looking_takes_no_place() -> None:
    """Asking whether there is room changes nothing, so that texts may be checked in any order."""
    quotas = read_quotas("even", EVEN, 5)
    assert all(quotas.has_room(0.0) and quotas.refuse(0.0) is None for _ in range(9))
    assert quotas.offer(0.0) is None
    assert not quotas.has_room(0.0)


def test_an_overlap_nobody_can_measure_takes_no_place() -> None:
    """Such a text is accepted for a person to decide, and counted apart."""
    quotas = read_quotas("even", EVEN, 5)
    assert quotas.has_room(None)
    assert quotas.offer(None) is None
    assert quotas.left == 5
    assert quotas.settle().unmeasured == 1


def test_a_shortage_within_five_points_is_no_refusal() -> None:
    """97 of 100, with three lacking in one bucket, still follow the sample; 90 of 100 do not."""
    for lacking, refused in ((3, False), (10, True)):
        quotas = read_quotas("even", EVEN, 100)
        for overlap in [0.0] * 20 + [0.2] * 20 + [0.4] * 20 + [0.6] * 20 + [0.9] * (20 - lacking):
            assert quotas.offer(overlap) is None
        assert (quotas.settle().refusal is not None) is refused


def test_nothing_accepted_is_refused() -> None:
    """A writer that wrote nothing fills no bucket."""
    refusal = read_quotas("even", EVEN, 5).settle().refusal
    assert refusal is not None
    assert refusal.count("got 0 of 1") == 5


def test_a_heavy_bucket_needs_ten_real_queries() -> None:
    """Nine queries that carry a third of a sample are too few to follow; one that carries 3 % is not asked for."""
    with pytest.raises(UsageError, match=r"too small to be followed \(bucket 0: 33% from 9\.0 queries\)"):
        read_quotas("thin", [0.0] * 9 + [0.2] * 18, 10)
    quotas = read_quotas("light", [0.0] + [0.2] * 30, 10)
    assert [bucket.quota for bucket in quotas.settle().buckets] == [0, 10, 0, 0, 0]


def test_queries_that_lean_on_each_other_count_as_fewer() -> None:
    """Twelve queries, ten of them of one cluster, are worth 4.3: by hand (1 + 1 + 1)² / (1 + 1 + 10 / 100)."""
    weights = [1.0, 1.0, *[0.1] * 10, *[1.0] * 40]
    with pytest.raises(UsageError, match=r"bucket 0: 7% from 4\.3 queries"):
        read_quotas("leaning", [0.0] * 12 + [0.2] * 40, 10, weights=weights)


def test_a_sample_without_overlap_cannot_be_followed() -> None:
    """Unmeasurable queries alone give no quota."""
    with pytest.raises(UsageError, match="no overlap is known"):
        read_quotas("blank", [None, None], 10)


def test_quotas_add_up_to_what_is_wanted() -> None:
    """Remainders go to the largest first, to the first of equals."""
    assert apportion(dict.fromkeys(NAMES, 0.2), 7) == dict(zip(NAMES, (2, 2, 1, 1, 1), strict=True))
    assert apportion({"a": 0.61, "b": 0.39}, 10) == {"a": 6, "b": 4}
    assert apportion({"a": 1.0, "b": 0.0}, 3) == {"a": 3, "b": 0}
