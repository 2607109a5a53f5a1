"""A judge is tried on texts known to be about something else, and on whether it prefers leaking text."""

import asyncio
from collections.abc import Sequence

import pytest
from scipy.stats import mannwhitneyu

from builders.judges import FirstFitJudge, KnowingJudge, documents, judging, shown_documents
from findback.llm.ask import Ask, ItemFailedError, ScriptedModel, StoppedError
from findback.model.calibrated import Calibration, LeakBucket
from findback.model.record import Record
from findback.writing.around import Around
from findback.writing.calibration import Judged, Passed, calibrate, count_by_leak, find_preference, swap
from findback.writing.fidelity import Choice, Judging
from findback.writing.prompts import open_prompts

CORPUS = documents(60)


def passed(count: int) -> list[Passed]:
    """Return texts about the first documents, each with those that follow its document around it."""
    return [
        Passed(
            f"what the person says in case {number}",
            document,
            Around(CORPUS[number + 1 : number + 6], CORPUS[number + 6 : number + 12]),
        )
        for number, document in enumerate(CORPUS[:count])
    ]


def truth(texts: Sequence[Passed]) -> dict[str, list[str]]:
    """Return what each text is about."""
    return {one.text: [one.source.text] for one in texts}


def run(answer: KnowingJudge | FirstFitJudge, texts: Sequence[Passed], judged: Sequence[Judged] = ()) -> Calibration:
    """Return the calibration of a scripted judge."""
    return asyncio.run(calibrate(judging(answer), texts, judged, seed=3))


def test_a_judge_with_realistic_errors_turns_down_19_of_20_swapped() -> None:
    """A judge that answers at random one time in twenty rejects at least 19 of 20 texts about something else."""
    texts = passed(40)
    found = run(KnowingJudge(truth(texts), errors=0.05), texts)
    assert found.swapped == 20
    assert found.rejected >= 19
    assert found.trusted is True
    assert found.trusted_reason == f"{found.rejected} of 20 texts swapped between documents were turned down"
    assert found.rejected + found.doubtful <= 20


def test_such_a_judge_is_rarely_warned_about() -> None:
    """Of 30 judges that err one time in twenty at most three are called untrustworthy by chance."""
    texts = passed(40)
    warned = [run(KnowingJudge(truth(texts), errors=0.05, seed=seed), texts).trusted for seed in range(30)]
    assert warned.count(False) <= 3
    assert None not in warned


def test_a_judge_that_guesses_is_not_trusted() -> None:
    """Random letters hit the document now and then: fewer than 19 rejections, and the report warns."""
    texts = passed(40)
    found = run(KnowingJudge({}, errors=1.0), texts)
    assert found.trusted is False
    assert found.rejected < 19
    assert found.doubtful > 0
    assert found.trusted_reason.endswith("the verdicts of this judge cannot be trusted")


def test_a_judge_that_never_says_none_is_not_trusted() -> None:
    """Taking whatever stands first, it accepts texts about something else."""
    found = run(FirstFitJudge(["Field note"]), passed(40))
    assert found.trusted is False


def test_too_few_texts_tell_nothing() -> None:
    """Nine swapped texts are no proof, and the verdict is undefined with its reason."""
    found = run(KnowingJudge({}), passed(9))
    assert (found.swapped, found.rejected, found.trusted) == (9, 9, None)
    assert found.trusted_reason.endswith("too few to tell whether this judge can be trusted")
    assert run(KnowingJudge({}), passed(1)).swapped == 0
    assert run(KnowingJudge({}), []).swapped == 0


def test_swapped_texts_stand_at_another_document() -> None:
    """Each text is used once, none at its own document, and the same seed swaps the same."""
    texts = passed(40)
    own = {one.text: one.source.id for one in texts}
    pairs = swap(texts, seed=5)
    assert len({text for text, _ in pairs}) == 20
    assert len({place.source.id for _, place in pairs}) == 20
    assert all(own[text] != place.source.id for text, place in pairs)
    assert pairs == swap(texts, seed=5)
    assert pairs != swap(texts, seed=6)


def test_near_duplicates_are_not_swapped() -> None:
    """A text laid at its document's near-duplicate is no mistake, and is left out."""
    first, second = passed(2)
    alike = first._replace(around=first.around._replace(duplicates=frozenset({second.source.id})))
    assert [place.source.id for _, place in swap([alike, second], seed=1)] == [second.source.id]


def test_texts_the_judge_fails_on_are_left_out() -> None:
    """A refusal costs one swapped text and not the run; what stops a run comes through."""

    def refuse_one(ask: Ask[Record]) -> Choice:
        if "case 7\n" in ask.user:
            raise ItemFailedError("refused")
        return Choice(best="none")

    async def ask(model: ScriptedModel) -> Calibration:
        return await calibrate(Judging(model, open_prompts(), seed=1), passed(20), (), seed=3)

    assert asyncio.run(ask(ScriptedModel(refuse_one))).swapped == 19

    def stop(_: Ask[Record]) -> Choice:
        raise StoppedError("no money")

    with pytest.raises(StoppedError):
        asyncio.run(ask(ScriptedModel(stop)))


def test_the_judge_sees_what_stands_around_the_other_document() -> None:
    """A swapped text is laid among the documents around its new place, as a real one would be."""
    texts = passed(10)
    how = judging(KnowingJudge({}))
    asyncio.run(calibrate(how, texts, (), seed=3))
    assert isinstance(how.model, ScriptedModel)
    by_source: dict[str, Passed] = {one.source.id: one for one in texts}
    for ask in how.model.asked:
        place = by_source[ask.item]
        around = {place.source.text, *(one.text for one in (*place.around.nearest, *place.around.fellows))}
        assert set(shown_documents(ask).values()) <= around


def test_rejections_are_counted_by_leak() -> None:
    """Each stretch of leak says how many were judged and turned down; the unmeasurable ones are apart."""
    rows = [Judged(0.0, True), Judged(0.0, False), Judged(0.1, False), Judged(0.35, True), Judged(None, True)]
    assert count_by_leak(rows) == (
        LeakBucket(bucket="0", judged=2, rejected=1),
        LeakBucket(bucket="0-.1", judged=1, rejected=0),
        LeakBucket(bucket=".2-.35", judged=1, rejected=1),
        LeakBucket(bucket="not measurable", judged=1, rejected=1),
    )


def test_a_judge_that_prefers_leaking_text_is_reported() -> None:
    """Where rejections pile up at low leak the report says so, with the numbers."""
    rows = [Judged(0.0, True)] * 8 + [Judged(0.1, True)] * 4 + [Judged(0.3, False)] * 9 + [Judged(0.0, False)] * 3
    found = run(KnowingJudge({}), passed(20), rows)
    assert found.prefers_leaking is True
    assert found.prefers_leaking_reason.startswith(
        "this judge prefers leaking text: mean leak 0.03 of 12 texts turned down, 0.22 of 12 let through"
    )
    assert [(one.bucket, one.judged, one.rejected) for one in found.buckets] == [
        ("0", 11, 8),
        ("0-.1", 4, 4),
        (".2-.35", 9, 0),
    ]


def test_a_judge_that_does_not_mind_leak_is_not_reported() -> None:
    """Equal leaks on both sides, or more rejections at high leak, are no preference."""
    level = [Judged(leak, rejected) for leak in (0.0, 0.1, 0.2, 0.3) for rejected in (True, False)] * 3
    assert find_preference(level)[0] is False
    assert find_preference([Judged(0.3, True)] * 9 + [Judged(0.0, False)] * 9)[0] is False


def test_the_chance_is_that_of_the_rank_sum_test() -> None:
    """The p-value equals scipy's one-sided one with ties and continuity."""
    rows = [Judged(leak / 20, leak % 3 == 0) for leak in (0, 0, 3, 3, 1, 2, 4, 4, 5, 6, 6, 7, 9, 12)]
    down = [one.leak for one in rows if one.rejected]
    through = [one.leak for one in rows if not one.rejected]
    expected = mannwhitneyu(down, through, alternative="less", method="asymptotic").pvalue
    assert find_preference(rows)[2] == pytest.approx(expected)


def test_a_preference_that_cannot_be_told_is_undefined() -> None:
    """Few texts on one side, or one leak for all, give None and a reason."""
    few = find_preference([Judged(0.1, True)] * 4 + [Judged(0.2, False)] * 40)
    assert few == (
        None,
        "4 texts turned down and 40 let through are too few to tell whether this judge prefers leaking text",
        None,
    )
    same = find_preference([Judged(0.1, True)] * 9 + [Judged(0.1, False)] * 9 + [Judged(None, True)])
    assert same[0] is None
    assert same[1].startswith("all texts leak the same")
