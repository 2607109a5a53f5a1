"""How much of what people labelled is covered: our own targets, and the others beside them."""

import json
import random
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from builders.chat_sample import CUSTOMER_PATTERNS, PEOPLE, read_sample
from findback.errors import DataError
from findback.model.settings import PrivacySettings
from findback.privacy.addresses import StreetRules
from findback.privacy.article_rules import find_as_article
from findback.privacy.canaries import make_canaries
from findback.privacy.evaluation import Score, evaluate
from findback.privacy.finding import Finding
from findback.privacy.key import Key
from findback.privacy.labelled import Label, Labelled, read_labelled
from findback.privacy.name_rules import NameRules
from findback.privacy.roster import Roster
from findback.privacy.thread_redactor import JointRedactor

SAMPLE = Path(__file__).resolve().parents[1] / "data" / "chat_labelled.jsonl"
SETTINGS = PrivacySettings(customer_id_patterns=CUSTOMER_PATTERNS)
OURS = {
    "STREET_ADDRESS": "ADDRESS",
    "CREDIT_CARD": "CARD",
    "EMAIL_ADDRESS": "EMAIL",
    "IBAN_CODE": "IBAN",
    "IP_ADDRESS": "IP",
    "PERSON": "PERSON",
    "PHONE_NUMBER": "PHONE",
    "US_SSN": "NATIONAL_ID",
}


@cache
def redactor(names: str) -> JointRedactor:
    people = PEOPLE if names != "rules" else ()
    detectors: list[object] = []
    if names == "model":
        from findback.privacy.names import SpacyNames

        detectors = [StreetRules(), SpacyNames()]
    elif names == "lists":
        detectors = [StreetRules(), NameRules()]
    return JointRedactor(Key(b"k" * 32), settings=SETTINGS, roster=Roster(people), detectors=detectors)  # type: ignore[arg-type]


@cache
def nobody_listed() -> JointRedactor:
    from findback.privacy.names import SpacyNames

    return JointRedactor(Key(b"k" * 32), settings=SETTINGS, roster=Roster(()), detectors=[StreetRules(), SpacyNames()])


@cache
def score(part: str | None, names: str) -> Score:
    return evaluate({names: redactor(names).find_all}, read_sample(SAMPLE, part=part))[0]


def presidio(texts: Sequence[str]) -> list[list[Finding]]:
    from findback.privacy.presidio import ENTITIES, THRESHOLD, analyze, build_analyzer

    engine = build_analyzer()
    return [
        [
            Finding(r.start, r.end, ENTITIES[r.entity_type], "presidio")
            for r in analyze(engine, t, list(ENTITIES), THRESHOLD)
        ]
        for t in texts
    ]


def test_counting() -> None:
    """A stretch counts when every letter of it is covered; half of one is a leak; other texts must stay."""
    sample = [
        Labelled("ask Bo Ek now", (Label(4, 9, "PERSON", "x"),)),
        Labelled("pw abcdef", (Label(3, 9, "SECRET"),)),
        Labelled("v1.2.3", (), technical=True),
        Labelled("v1.2.4", (), technical=True),
    ]
    found = [
        [Finding(4, 6, "PERSON", "r"), Finding(7, 9, "PERSON", "r")],
        [Finding(3, 5, "SECRET", "r"), Finding(5, 9, "SECRET", "r", "suggested")],
        [Finding(0, 2, "IP", "r")],
        [Finding(0, 2, "IP", "r", "suggested")],
    ]
    (scored,) = evaluate({"x": lambda _: found}, sample)
    person, secret = scored.recall("PERSON", "x"), scored.recall("SECRET")
    assert person is not None
    assert secret is not None
    assert (person.labels, person.applied.value, person.half) == (1, 1.0, 0)
    assert (secret.applied.value, secret.either.value, secret.half) == (0.0, 1.0, 1)
    assert (scored.altered.value, scored.suggested.value) == (0.5, 0.5)
    assert scored.precision.value == pytest.approx(3 / 4)
    assert scored.recall("IBAN") is None


def test_reading_a_labelled_sample(tmp_path: Path) -> None:
    """Spans and marks are two ways to label; faults come all at once, with their lines and without texts."""
    path = tmp_path / "sample.jsonl"
    path.write_text(
        '{"text": "ask bo", "spans": [{"start": 4, "end": 6, "type": "PERSON.short"}]}\n'
        '{"marked": "mail [[EMAIL:jo [at] example.org]] or [[USER:[~bo]]]", "technical": false}\n\n'
        '{"text": "v1.2.3", "technical": true}\n'
    )
    first, second, third = read_labelled(path)
    assert first == Labelled("ask bo", (Label(4, 6, "PERSON", "short"),))
    assert [second.text[label.start : label.end] for label in second.labels] == ["jo [at] example.org", "[~bo]"]
    assert third.technical
    path.write_text(
        '{"spans": []}\nnope\n{"text": "ab", "spans": [{"start": 0, "end": 9, "type": "PERSON"}]}\n'
        '{"marked": "[[NAME:x]]"}'
    )
    with pytest.raises(DataError) as error:
        read_labelled(path)
    assert [fault.line for fault in error.value.faults] == [1, 2, 3, 4]


def test_the_sample_is_as_promised() -> None:
    """Two hundred messages and more, half of them technical, and no secret in the file."""
    sample = read_sample(SAMPLE)
    assert len(sample) >= 200
    assert sum(entry.technical for entry in sample) >= len(sample) / 2
    assert not any(entry.labels for entry in sample if entry.technical)
    again = read_sample(SAMPLE, seed=2)
    assert [e.text for e in sample] != [e.text for e in again]


@pytest.mark.parametrize(
    ("kind", "finer", "least"),
    [
        ("SECRET", "", 0.99),
        ("SECRET", "keyword", 0.90),
        ("EMAIL", "", 0.995),
        ("EMAIL", "spoken", 0.90),
        ("USER", "", 1.0),
        ("IBAN", "", 0.99),
        ("CARD", "", 0.99),
        ("IP", "", 0.99),
        ("NATIONAL_ID", "", 0.99),
        ("PHONE", "", 0.95),
        ("CUSTOMER_ID", "", 0.98),
        ("HOST", "", 0.98),
        ("PERSON", "roster", 0.97),
    ],
)
def test_targets_of_rules_and_roster(kind: str, finer: str, least: float) -> None:
    """Without any model each type reaches its target on the whole sample, and no secret is half covered."""
    recall = score(None, "roster").recall(kind, finer)
    assert recall is not None
    assert recall.applied.value is not None
    assert recall.applied.value >= least
    assert recall.half == 0
    assert recall.applied.low is None or recall.applied.low <= recall.applied.value


@pytest.mark.parametrize("part", ["tuned", "held-out"])
def test_technical_messages_stay(part: str) -> None:
    """Rules and roster alter at most 1 % of the technical messages, with a model 2 %; suggestions touch 12 %."""
    for names, most in (("roster", 0.01), ("lists", 0.02), ("model", 0.02)):
        if names == "model":
            pytest.importorskip("spacy")
        scored = score(part, names)
        assert scored.altered.n >= 100
        assert scored.altered.value is not None
        assert scored.altered.value <= most
        assert scored.suggested.value is not None
        assert scored.suggested.value <= 0.12


@pytest.mark.parametrize(
    ("part", "finer", "applied", "either"),
    [
        (None, "roster", 0.97, 1.0),
        (None, "other", 0.75, 0.90),
        (None, "lower", 0.50, 0.70),
        ("held-out", "other", 0.75, 0.90),
        # Eight names only; `test_presidio_research_in_lower_case` asks the same of hundreds.
        ("held-out", "lower", 0.50, 0.70),
    ],
)
def test_people(part: str | None, finer: str, applied: float, either: float) -> None:
    """With the small model people are found in this share; the rest is for a person to see."""
    pytest.importorskip("spacy")
    recall = score(part, "model").recall("PERSON", finer)
    assert recall is not None
    assert recall.applied.value is not None
    assert recall.either.value is not None
    assert recall.applied.value >= applied
    assert recall.either.value >= either


def test_addresses_are_suggested() -> None:
    """At least half of the street addresses are suggested, none is applied."""
    recall = score(None, "lists").recall("ADDRESS")
    assert recall is not None
    assert recall.applied.value == 0
    assert recall.either.value is not None
    assert recall.either.value >= 0.5


def test_random_values_of_every_type() -> None:
    """Of 300 random values of each type all are covered, which bounds what gets through at 1.3 % (exact, 95 %)."""
    patterns = ("ACME-#######", "cus_????????##")
    made = make_canaries(300, random.Random(23), customer_patterns=patterns)
    sample = [
        Labelled(c.text, (Label(c.text.index(c.value), c.text.index(c.value) + len(c.value), c.type),))
        for c in made.canaries
    ]
    redact = JointRedactor(
        Key(b"k" * 32), settings=PrivacySettings(customer_id_patterns=patterns), roster=Roster(made.people)
    )
    (scored,) = evaluate({"ours": redact.find_all}, sample)
    assert len(scored.recalls) == 11
    for recall in scored.recalls:
        assert (recall.labels, recall.applied.value) == (300, 1.0), recall.type
        assert recall.applied.low == pytest.approx(0.9878, abs=0.0001)


def test_the_articles_expressions_beside() -> None:
    """On the same messages the articles' expressions find less of every type and alter more."""
    sample = read_sample(SAMPLE)
    theirs, ours = evaluate({"article": find_as_article, "ours": redactor("roster").find_all}, sample)
    for recall in theirs.recalls:
        own = ours.recall(recall.type, recall.kind)
        assert own is not None
        assert (own.applied.value or 0) >= (recall.applied.value or 0), recall.type
    assert theirs.altered.value is not None
    assert ours.altered.value is not None
    assert theirs.altered.value > 0.15 > 0.01 >= ours.altered.value


def test_presidio_beside() -> None:
    """On the same messages Presidio, asked for ten entities, finds less of every type and alters far more."""
    pytest.importorskip("presidio_analyzer")
    sample = read_sample(SAMPLE)
    theirs, ours = evaluate({"presidio": presidio, "ours": redactor("model").find_all}, sample)
    for recall in theirs.recalls:
        own = ours.recall(recall.type, recall.kind)
        assert own is not None
        assert (own.applied.value or 0) >= (recall.applied.value or 0), recall.type
    assert theirs.altered.value is not None
    assert ours.altered.value is not None
    assert theirs.altered.value > 10 * ours.altered.value


@pytest.fixture(scope="module")
def research(data: Path) -> list[Labelled]:
    entries = json.loads((data / "presidio-research" / "synth_dataset_v2.json").read_text("utf-8"))
    return [
        Labelled(
            entry["full_text"],
            tuple(
                Label(s["start_position"], s["end_position"], OURS[s["entity_type"]])
                for s in entry["spans"]
                if s["entity_type"] in OURS
            ),
        )
        for entry in entries
    ]


@pytest.mark.parametrize(
    ("half", "lower"),
    [(None, False), (1, False), (None, True), (1, True)],
    ids=["all", "unseen", "all-lower", "unseen-lower"],
)
def test_presidio_research_names(
    research: list[Labelled], half: int | None, lower: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of names nobody lists .75 are applied and .90 at least suggested, .50 and .70 where all is in lower case.

    Rules and lists were made looking at every other sentence; the other half was only counted.
    """
    pytest.importorskip("spacy")
    sample = [entry for at, entry in enumerate(research) if half is None or at % 2 == half]
    if lower:
        sample = [
            entry._replace(text="".join(c.lower() if len(c.lower()) == 1 else c for c in entry.text))
            for entry in sample
        ]
    (ours,) = evaluate({"ours": nobody_listed().find_all}, sample)
    person, street = ours.recall("PERSON"), ours.recall("ADDRESS")
    assert person is not None
    assert street is not None
    case = "in lower case " if lower else ""
    with capsys.disabled():
        for band, found in (("applied", person.applied), ("or suggested", person.either)):
            print(f"\nnames {case}{band}: {found.value:.2f} [{found.low:.2f}, {found.high:.2f}] n={found.n}", end="")
    assert (person.labels, street.labels) == ((857, 598) if half is None else (426, 298))
    assert (person.applied.value or 0) >= (0.5 if lower else 0.75)
    assert (person.either.value or 0) >= (0.7 if lower else 0.9)
    assert (street.either.value or 0) >= (0.4 if lower else 0.75)


def test_presidio_research(research: list[Labelled]) -> None:
    """On 1,500 independent sentences numbers are at target, and the articles' expressions find less."""
    pytest.importorskip("spacy")
    theirs, ours = evaluate({"article": find_as_article, "ours": nobody_listed().find_all}, research)
    least = {"EMAIL": 0.995, "PHONE": 0.95, "CARD": 0.98, "IBAN": 0.99, "IP": 0.99, "NATIONAL_ID": 0.99}
    for kind, share in least.items():
        recall = ours.recall(kind)
        assert recall is not None
        assert recall.applied.value is not None
        assert recall.applied.value >= share, kind
    # The articles' fifth expression takes any run of digits, and so every card.
    better = {
        r.type for r in theirs.recalls if (r.applied.value or 0) > ((ours.recall(r.type) or r).applied.value or 0)
    }
    assert better <= {"CARD", "ADDRESS"}


def test_presidio_on_its_own_sentences(research: list[Labelled]) -> None:
    """On 300 of its own sentences Presidio finds no more of any type than we do, streets as suggestions."""
    pytest.importorskip("presidio_analyzer")
    sample = research[::5]
    theirs, ours = evaluate({"presidio": presidio, "ours": redactor("model").find_all}, sample)
    for recall in theirs.recalls:
        own = ours.recall(recall.type)
        assert own is not None
        share = own.either.value if recall.type == "ADDRESS" else own.applied.value
        assert (share or 0) >= (recall.applied.value or 0), recall.type
