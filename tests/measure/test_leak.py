"""Leak and overlap: what counts, in which direction, and when nothing can be said."""

import json
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from findback.measure.comparable import explain
from findback.measure.leak import measure_leak
from findback.measure.overlap import measure_overlap
from findback.measure.rarity import DocumentFrequencies, RareWords

DATA = Path(__file__).parent.parent / "data"
GOLD = (
    "The ingest worker applies an exponential backoff policy on HTTP 429 responses from the vendor API, starting at "
    "2s and capping at 5 minutes. Retries are disabled when VENDOR_STRICT_MODE is set."
)


def load_wordings(language: str) -> list[dict[str, str]]:
    lines = (DATA / f"wording_{language}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("language", ["ko", "ja"])
def test_copied_wording_leaks_and_own_wording_does_not(language: str) -> None:
    """Thirty pairs: the copied question reads .5 or more on both measures, the own one below, none undefined."""
    pairs = load_wordings(language)
    assert len(pairs) == 30
    for pair in pairs:
        for measure in (measure_leak, measure_overlap):
            copied, own = measure(pair["copied"], pair["gold"]), measure(pair["own"], pair["gold"])
            assert copied.ratio is not None
            assert copied.ratio >= 0.5, pair
            assert own.ratio is not None
            assert own.ratio < 0.5, pair


@pytest.mark.parametrize("language", ["ko", "ja"])
def test_pairs_across_languages_are_unmeasurable(language: str) -> None:
    """A question in one language against a text in another has no figure, in either direction."""
    for pair in load_wordings(language):
        for measure in (measure_leak, measure_overlap):
            assert measure(pair["own"], GOLD).unmeasurable == "different-languages"
            assert measure("how does the ingest worker back off", pair["gold"]).unmeasurable == "different-languages"


@pytest.mark.parametrize(
    ("query", "gold", "reason"),
    [
        ("ᚠᚢᚦ ᚨᚱᚲ ᚷᚹᚺ", "ᚠᚢᚦ ᚨᚱᚲ ᚷᚹᚺ", "unknown-script"),
        ("ꦲꦏ꧀ꦱꦫ ꦗꦮ", "ꦲꦏ꧀ꦱꦫ ꦗꦮ", "unknown-script"),
        ("🙂🙂🙂", "a text about smiling", "no-words"),
        ("⟦USER_1⟧ ⟦HOST_2⟧", "a text about someone", "no-words"),
        ("is it on", "it is on the table in the room", "no-words"),
        ("backoff throttling endpoint", "", "no-words"),
        ("wo ist die Anleitung für das Gerät", GOLD, "different-languages"),
        ("vendor policy", GOLD, "few-rare-words"),
        ("\x00\x00", GOLD, "no-words"),
    ],
)
def test_what_cannot_be_told_is_unmeasurable(query: str, gold: str, reason: str) -> None:
    """Nothing that cannot be read or compared gets a number, least of all 0."""
    leak = measure_leak(query, gold)
    assert (leak.ratio, leak.verbatim, leak.weighted, leak.unmeasurable) == (None, None, None, reason)
    assert explain(leak.unmeasurable)
    if reason != "few-rare-words":
        assert measure_overlap(query, gold).ratio is None


def test_without_a_list_rarity_needs_a_corpus() -> None:
    """A language nobody has a frequency list for is measured only where 200 documents say what is rare."""
    query, gold = "athchóiriú seirbhís fhreastalaí uathoibríoch", "athchóiriú uathoibríoch"
    assert measure_leak(query, gold, language="ga", gold_language="ga").unmeasurable == "rarity-unknown"
    frequencies = DocumentFrequencies()
    for _ in range(200):
        frequencies.add("seirbhís", "ga")
    told = measure_leak(query, gold, language="ga", gold_language="ga", frequencies=frequencies)
    assert (told.terms, told.found) == (3, 2)


def test_counts_of_a_leak_by_hand() -> None:
    """Rare here are exponential, backoff, 429, ingest and worker, all in the text; policy is common."""
    leak = measure_leak("exponential backoff policy for 429 in the ingest worker?", GOLD, language="en")
    assert (leak.ratio, leak.terms, leak.found) == (1.0, 5, 5)
    assert leak.copied == ("exponential", "backoff", "429", "ingest", "worker")


def test_stems_and_spelling_stand_side_by_side() -> None:
    """Policies and policy share a stem, not a spelling."""
    overlap = measure_overlap("retry policies hammering", "a policy to retry", language="en")
    assert (overlap.ratio, overlap.verbatim) == (2 / 3, 1 / 3)


def test_direction_is_the_querys() -> None:
    """A short question wholly inside a long text overlaps fully; the other way round hardly."""
    assert measure_overlap("vendor backoff", GOLD, language="en").ratio == 1.0
    backwards = measure_overlap(GOLD, "vendor backoff", language="en").ratio
    assert backwards is not None
    assert backwards < 0.2


def test_common_in_the_corpus_is_not_rare() -> None:
    """A word in more than 5 % of 200 documents is not rare; below 200 documents the corpus has no say."""

    def frequencies(documents: int) -> DocumentFrequencies:
        counted = DocumentFrequencies()
        for number in range(documents):
            counted.add("kubernetes" if number < documents * 0.06 else "other", "en")
        return counted

    assert not RareWords("en", frequencies(200)).is_rare("kubernetes", "kubernet")
    assert RareWords("en", frequencies(199)).is_rare("kubernetes", "kubernet")
    assert not RareWords("en").is_rare("nfs", "nfs")
    assert RareWords("en").is_rare("k8s", "k8s")
    assert RareWords("ja").is_rare("返金", "返金")


def test_rare_words_weigh_more() -> None:
    """Sharing the one word few documents hold counts more than sharing the one most hold."""
    frequencies = DocumentFrequencies()
    for number in range(100):
        frequencies.add("deploy rollback" if number == 0 else "deploy", "en")
    rare = measure_overlap("deploy rollback", "rollback", language="en", frequencies=frequencies).weighted
    common = measure_overlap("deploy rollback", "deploy", language="en", frequencies=frequencies).weighted
    assert rare is not None
    assert common is not None
    assert rare > 0.9 > 0.1 > common


def test_mixed_script_query_is_compared() -> None:
    """A Korean question full of English terms still reads as Korean beside a Korean text."""
    overlap = measure_overlap("OAuth refresh token 만료", "OAuth 토큰이 만료되면 다시 로그인합니다")
    assert overlap.unmeasurable is None
    assert overlap.copied == ("oauth", "만료")


WORDS = st.lists(
    st.sampled_from(
        [
            "backoff",
            "throttle",
            "429",
            "endpoints",
            "vendor",
            "policies",
            "ingest",
            "hammering",
            "返金",
            "환불",
            "the",
            "⟦USER_1⟧",
            "🙂",
            "x",
        ]
    ),
    max_size=12,
).map(" ".join)
LANGUAGES = st.sampled_from(["en", "de", None])


@settings(deadline=None)  # The first example loads word lists.
@given(WORDS | st.text(max_size=40), WORDS | st.text(max_size=40), LANGUAGES)
def test_figures_are_shares_or_undefined(query: str, gold: str, language: str | None) -> None:
    """Whatever the text, a figure is in [0, 1], or None with a reason, and its counts agree."""
    for measure in (measure_leak, measure_overlap):
        figure = measure(query, gold, language=language, gold_language=language)
        if figure.ratio is None:
            assert figure.unmeasurable is not None
        else:
            assert figure.unmeasurable is None
            assert 0 <= figure.ratio == figure.found / figure.terms <= 1
            assert figure.verbatim is not None
            assert 0 <= figure.verbatim <= 1


@given(WORDS, WORDS, WORDS)
def test_more_gold_text_never_lowers_a_figure(query: str, gold: str, more: str) -> None:
    """Adding text to the gold adds words, so nothing found is lost."""
    for measure in (measure_leak, measure_overlap):
        before = measure(query, gold, language="en", gold_language="en").ratio
        after = measure(query, f"{gold} {more}", language="en", gold_language="en").ratio
        if before is not None and after is not None:
            assert after >= before


@given(WORDS, WORDS)
def test_placeholders_never_count(query: str, gold: str) -> None:
    """A placeholder in both texts changes nothing."""
    for measure in (measure_leak, measure_overlap):
        plain = measure(query, gold, language="en", gold_language="en")
        redacted = measure(f"{query} ⟦EMAIL_3⟧", f"⟦EMAIL_3⟧ {gold}", language="en", gold_language="en")
        assert plain == redacted


@given(WORDS)
def test_a_copied_query_is_contained(query: str) -> None:
    """A query inside its gold text has 1 wherever it has a figure."""
    for measure in (measure_leak, measure_overlap):
        assert measure(query, f"x {query} y", language="en", gold_language="en").ratio in (1.0, None)


@pytest.mark.parametrize(
    "text", ["x" * 1_000_000, "a\x00" * 500_000, "\u202eשלום" * 200_000, "\ud800 b" * 300_000, "'" * 1_000_000]
)
def test_hostile_text_is_measured_in_linear_time(text: str) -> None:
    """A megabyte of one line, NULs, right-to-left text or lone surrogates gives a share or a reason, in seconds."""
    started = time.process_time()
    for measure in (measure_leak, measure_overlap):
        figure = measure(text, text)
        assert (figure.ratio is None) == (figure.unmeasurable is not None)
    assert time.process_time() - started < 20
