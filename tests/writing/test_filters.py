"""Every text goes through all filters in their order, and the first that rejects says why, in three languages."""

import asyncio
import tomllib
from pathlib import Path

import pytest

from builders.judges import FirstFitJudge, KnowingJudge, judging
from findback.llm.ask import Ask, ScriptedModel
from findback.model.document import Document
from findback.model.record import Record
from findback.model.written import Fidelity
from findback.writing.ambiguity import ANOTHER
from findback.writing.fidelity import Choice, Judging
from findback.writing.filters import Around, Checked, Filters, Wanted
from findback.writing.leaking import UNMEASURABLE, Leaking
from findback.writing.matching import UNMEASURABLE as NO_OVERLAP
from findback.writing.matching import Quotas, read_quotas
from findback.writing.prompts import open_prompts

PLANTED = tomllib.loads((Path(__file__).parent.parent / "data" / "planted_texts.toml").read_text(encoding="utf-8"))
LANGUAGES = sorted(PLANTED)
INSTRUCTIONS = ("Write two sentences in which a courier says that the lamp of the box is red again.",)


def documents_of(language: str) -> tuple[Document, Document]:
    """Return the two planted documents of a language."""
    planted = PLANTED[language]
    return (
        Document("d", planted["document"].strip(), language=language),
        Document("o", planted["other"].strip(), language=language),
    )


def truth_of(language: str) -> KnowingJudge:
    """Return a judge that knows what the planted texts are about, and finds no document for any other."""
    planted, (source, other) = PLANTED[language], documents_of(language)
    known = {"good": [source], "of_other": [other], "of_both": [source, other]}
    return KnowingJudge({planted[kind]: [one.text[:20] for one in about] for kind, about in known.items()})


def check(
    text: str,
    language: str,
    *,
    judge: KnowingJudge | FirstFitJudge | None = None,
    duplicates: frozenset[str] = frozenset(),
    quotas: Quotas | None = None,
) -> Checked:
    """Return what all filters say about a text."""
    source, other = documents_of(language)
    filters = Filters(
        Leaking([source, other], window=1_000),
        judging(judge or truth_of(language)),
        leak_limit=0.35,
        quotas=quotas,
    )
    around = Around(nearest=(other,), duplicates=duplicates)
    return asyncio.run(filters.check(text, source, around, Wanted(language, INSTRUCTIONS)))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("kind", "by"),
    [
        ("copied_sentence", "leak"),
        ("inflected_copy", "leak"),
        ("hyphen_copy", "leak"),
        ("camel_copy", "leak"),
        ("empty_talk", "form"),
        ("of_other", "fidelity"),
        ("chatter", "form"),
        ("chatter_end", "form"),
        ("wrong_language", "form"),
        ("cut", "form"),
        ("cut_open", "form"),
        ("heading", "form"),
        ("list", "form"),
        ("pointing", "form"),
        ("too_long", "form"),
        ("markup", "form"),
    ],
)
def test_each_planted_text_is_rejected_by_the_right_filter(language: str, kind: str, by: str) -> None:
    """What was planted is turned away once, by the filter it was planted for, with a reason and something to tell."""
    checked = check(PLANTED[language][kind], language)
    (rejection,) = checked.rejections
    assert rejection.by == by
    assert rejection.reason
    assert rejection.told
    assert not any(word in rejection.told for word in ("courier", "Kurier", "quarantine", "隔離"))


def test_a_prompt_echo_is_rejected_by_form() -> None:
    """The writer's own instructions given back are no description."""
    (rejection,) = check("A courier says that the lamp of the box is red again.", "en").rejections
    assert (rejection.by, rejection.reason) == ("form", "prompt echo")


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_faithful_description_passes(language: str) -> None:
    """The good text passes every filter; its figures are kept, and a leak nobody can tell is a doubt."""
    checked = check(PLANTED[language]["good"], language)
    assert checked.rejections == ()
    assert checked.fidelity == Fidelity(asked=3, source=3)
    assert checked.doubts == ((UNMEASURABLE,) if checked.leak is None else ())
    assert checked.alternatives == ()


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_text_that_fits_two_documents_goes_to_a_person(language: str) -> None:
    """Where the judge says that another document fits as well, the text is doubtful and says so."""
    checked = check(PLANTED[language]["of_both"], language)
    assert checked.rejections == ()
    assert ANOTHER in checked.doubts
    assert checked.fidelity == Fidelity(asked=3, source=3, others={"o": 3})


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_text_that_fits_a_near_duplicate_has_two_golds(language: str) -> None:
    """The near-duplicate becomes gold as well, and is not shown to the judge."""
    checked = check(PLANTED[language]["good"], language, duplicates=frozenset({"o"}))
    assert checked.rejections == ()
    assert checked.alternatives == ("o",)
    assert ANOTHER not in checked.doubts


def test_vague_talk_that_passes_the_form_is_caught_by_the_judge() -> None:
    """A text that leaks nothing because it says little is turned away where no document is meant."""
    text = "The people in the building told me to wait for a green light before I start in the evening."
    (rejection,) = check(text, "en").rejections
    assert (rejection.by, rejection.reason) == ("fidelity", "no document fits")


def test_the_judge_is_not_asked_about_what_was_turned_away_before() -> None:
    """Form and leak come first, so that no call is spent on what they reject; a good text costs three."""
    source, other = documents_of("en")
    model = ScriptedModel(truth_of("en"))
    filters = Filters(Leaking([source, other], window=1_000), Judging(model, open_prompts(), seed=1), leak_limit=0.35)

    async def ask(kind: str) -> int:
        await filters.check(PLANTED["en"][kind], source, Around((other,)), Wanted("en"))
        return len(model.asked)

    assert asyncio.run(ask("chatter")) == 0
    assert asyncio.run(ask("copied_sentence")) == 0
    assert asyncio.run(ask("good")) == 3


def test_the_answer_does_not_depend_on_what_was_checked_before() -> None:
    """The same text gets the same figures and orders, alone or after others."""
    source, other = documents_of("en")
    seen: list[str] = []

    def answer(ask: Ask[Record]) -> Choice:
        seen.append(ask.user)
        return truth_of("en")(ask)

    filters = Filters(
        Leaking([source, other], window=1_000),
        Judging(ScriptedModel(answer), open_prompts(), seed=1),
        leak_limit=0.35,
    )

    async def ask(*kinds: str) -> list[Checked]:
        return list(
            await asyncio.gather(
                *(filters.check(PLANTED["en"][kind], source, Around((other,)), Wanted("en")) for kind in kinds)
            )
        )

    alone = asyncio.run(ask("good"))
    asked = seen.copy()
    together = asyncio.run(ask("of_both", "good", "copied_sentence"))
    assert together[1] == alone[0]
    assert set(asked) <= set(seen[3:])


def test_a_source_without_neighbours_goes_to_a_person() -> None:
    """Where no other document can be shown, the judge's choice proves little."""
    source, _ = documents_of("en")
    filters = Filters(Leaking([source], window=1_000), judging(truth_of("en")), leak_limit=0.35)
    checked = asyncio.run(filters.check(PLANTED["en"]["good"], source, Around(), Wanted("en")))
    assert "nothing to choose from" in checked.doubts


def test_with_quotas_a_full_bucket_rejects_and_no_place_is_taken() -> None:
    """Under quotas leak has no limit, a full bucket turns a text away before the judge is asked, others pass."""
    sample = [0.0] * 20 + [0.2] * 20 + [0.4] * 20 + [0.6] * 20 + [0.9] * 20
    quotas = read_quotas("real", sample, 5)
    judge = FirstFitJudge([documents_of("en")[0].text[:20]])
    leaking = PLANTED["en"]["inflected_copy"]
    checked = check(leaking, "en", judge=judge, quotas=quotas)
    assert checked.rejections == ()
    assert checked.leak is not None
    assert checked.leak > 0.35
    assert quotas.left == 5
    assert quotas.offer(checked.overlap) is None
    full = check(leaking, "en", judge=judge, quotas=quotas)
    assert [(one.by, one.reason) for one in full.rejections] == [("match", "bucket full")]
    assert full.fidelity is None
    assert sum(bucket.tried for bucket in quotas.settle().buckets) == 2


def test_with_quotas_an_unmeasurable_overlap_is_a_doubt() -> None:
    """A text whose overlap nobody can tell, here in another language, is for a person, and takes no place."""
    source, other = documents_of("en")
    quotas = read_quotas("real", [0.0] * 20 + [0.9] * 20, 4)
    filters = Filters(
        Leaking([source, other], window=1_000),
        judging(FirstFitJudge([source.text[:20]])),
        leak_limit=0.35,
        quotas=quotas,
    )
    checked = asyncio.run(filters.check(PLANTED["de"]["good"], source, Around((other,)), Wanted(None)))
    assert (checked.overlap, checked.rejections) == (None, ())
    assert NO_OVERLAP in checked.doubts
    assert UNMEASURABLE in checked.doubts
