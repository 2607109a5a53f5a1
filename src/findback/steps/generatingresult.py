"""What a run of generate gave, in numbers."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median, quantiles
from typing import NamedTuple, get_args

from findback.corpus.sampling import compare_mix
from findback.measure.buckets import NAMES as OVERLAPS
from findback.measure.buckets import bucket_of
from findback.measure.intervals import estimate_mean
from findback.model.case import Case
from findback.model.evaluation import Count
from findback.model.generated import Ended, LeakRow, Leaks, Lengths, Look, MixRow, SubjectRow, Turned, VoiceRow
from findback.model.protocols import Documents
from findback.model.written import Attempt, Filter, Outcome
from findback.steps.audit import COMMON, HARDLY
from findback.steps.generating import Ran, Task
from findback.steps.generatingcandidates import Passed
from findback.steps.generatingplan import Prepared
from findback.text.words import words
from findback.writing.calibration import NAMES as BUCKETS
from findback.writing.calibration import leak_bucket
from findback.writing.voices import name_options

OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
FILTERS: tuple[Filter, ...] = get_args(Filter)
LENGTHS = ((5, "up to 5 words"), (10, "6 to 10 words"), (20, "11 to 20 words"), (40, "21 to 40 words"))
LONGEST = "over 40 words"
LOOKS = 5
"""Texts shown for the most leak, and as many for the least sure judge."""
NO_SUBJECT = "(no subject)"


class Kinds(NamedTuple):
    """How the questions of people compare with what the model wrote."""

    lengths: Lengths | None
    rows: tuple[MixRow, ...]


def count_ends(ran: Ran, skipped: Mapping[str, int]) -> tuple[Ended, ...]:
    """Return how many documents ended how, and why; what was never drawn is `skipped`."""
    reasons: dict[Outcome, Counter[str]] = {outcome: Counter() for outcome in OUTCOMES}
    counts = Counter(task.outcome for task in ran.tasks)
    for task in ran.tasks:
        if task.outcome is not None and task.reason is not None:
            reasons[task.outcome].update([task.reason])
    reasons["skipped"].update(skipped)
    counts["skipped"] = sum(skipped.values())
    return tuple(
        Ended(outcome=outcome, count=counts[outcome], reasons=_counted(reasons[outcome]))
        for outcome in OUTCOMES
        if counts[outcome]
    )


def count_turned(ran: Ran) -> tuple[Turned, ...]:
    """Return the rejections of all attempts, in the order of the filters and the most frequent first."""
    found = Counter((one.by, one.reason) for attempt in _attempts(ran) for one in attempt.rejections)
    ordered = sorted(found.items(), key=lambda item: (FILTERS.index(item[0][0]), -item[1], item[0][1]))
    return tuple(Turned(by=by, reason=reason, count=count) for (by, reason), count in ordered)


def cut_by_leak(ran: Ran) -> tuple[LeakRow, ...]:
    """Return what became of the texts of like leak; those whose form was wrong were not measured."""
    held: dict[str, list[Attempt]] = {}
    for attempt in _attempts(ran):
        if not any(one.by == "form" for one in attempt.rejections):
            held.setdefault(leak_bucket(attempt.leak), []).append(attempt)
    return tuple(
        LeakRow(
            bucket=bucket,
            texts=len(held[bucket]),
            turned=dict(Counter(one.by for attempt in held[bucket] for one in attempt.rejections)),
            judged=sum(attempt.fidelity is not None for attempt in held[bucket]),
            passed=sum(not attempt.rejections for attempt in held[bucket]),
        )
        for bucket in BUCKETS
        if bucket in held
    )


def sum_leaks(attempts: Iterable[Attempt], *, seed: int) -> Leaks | None:
    """Return how much texts leak; those whose form was wrong were not measured and are left out."""
    measured = [one for one in attempts if not any(rejection.by == "form" for rejection in one.rejections)]
    if not measured:
        return None
    known = [one.leak for one in measured if one.leak is not None]
    return Leaks(
        texts=len(measured),
        unmeasurable=len(measured) - len(known),
        mean=estimate_mean([one.leak for one in measured], seed=seed),
        median=median(known) if known else None,
        buckets=dict(Counter(leak_bucket(one.leak) for one in measured)),
    )


def first_texts(ran: Ran) -> list[Attempt]:
    """Return the first text about each document."""
    return [task.attempts[0] for task in ran.tasks if task.attempts]


def passed_texts(ran: Ran) -> list[Attempt]:
    """Return the texts that passed."""
    return [task.attempts[-1] for task in ran.tasks if task.passed]


def list_subjects(prepared: Prepared, ran: Ran) -> tuple[tuple[SubjectRow, ...], float | None]:
    """Return the subjects of index, sample and what passed, and how far the last is from the first."""
    mix = prepared.plan.sample.mix
    kept = Counter(task.document.subject for task in ran.tasks if task.passed)
    rows = tuple(
        SubjectRow(
            subject=NO_SUBJECT if one.subject is None else one.subject,
            index=one.documents,
            sample=one.drawn,
            passed=kept[one.subject],
        )
        for one in mix
    )
    _, distance = compare_mix({one.subject: one.documents for one in mix}, kept.elements())
    return rows, distance


def list_voices(prepared: Prepared, tasks: Iterable[Task]) -> tuple[VoiceRow, ...]:
    """Return how often each option of a voice should be drawn, and was."""
    return tuple(
        VoiceRow(category=one.category, option=one.option, stated=one.stated, drawn=one.drawn)
        for one in prepared.plan.voices.tally(name_options(task.voice) for task in tasks)
    )


def sum_lengths(queries: Iterable[str]) -> Lengths | None:
    """Return how long questions are, in words; None without any."""
    counts = sorted(len(words(query)) for query in queries)
    if not counts:
        return None
    tenths = quantiles(counts, n=10, method="inclusive") if len(counts) > 1 else [float(counts[0])] * 9
    return Lengths(questions=len(counts), low=tenths[0], median=median(counts), high=tenths[-1])


def compare_kinds(prepared: Prepared, ran: Ran, cases: Sequence[Case], documents: Documents) -> Kinds:
    """Return what people ask beside what the model wrote: how long, how close to the answer, in which wording.

    Wordings are known of what a person reviewed, so the model's are those of its released cases.
    """
    mined = prepared.mined
    if not mined:
        return Kinds(None, ())
    texts = passed_texts(ran)
    sides: list[tuple[str, Sequence[str], Counter[str], Counter[str]]] = [
        (
            "length",
            (*(name for _, name in LENGTHS), LONGEST),
            Counter(_length_of(case.query) for case in mined),
            Counter(_length_of(one.text) for one in texts),
        ),
        (
            "overlap",
            OVERLAPS,
            Counter(_bucketed(_overlap_of(prepared, case, documents) for case in mined)),
            Counter(_bucketed(one.overlap for one in texts)),
        ),
    ]
    reviewed = [case for case in cases if case.origin == "generated" and case.status == "active"]
    if reviewed:
        asked, written = Counter(case.wording for case in mined), Counter(case.wording for case in reviewed)
        sides.append(("wording", [name for name, _ in asked.most_common()], asked, written))
    rows = [
        MixRow.model_validate(
            {
                "axis": axis,
                "value": value,
                "mined": theirs[value],
                "generated": ours[value],
                "lacking": _lacking(theirs, ours, value),
            }
        )
        for axis, values, theirs, ours in sides
        for value in values
        if theirs[value] or ours[value]
    ]
    return Kinds(sum_lengths(case.query for case in mined), tuple(rows))


def choose_looks(passed: Sequence[Passed], shown: Callable[[Passed], str]) -> tuple[Look, ...]:
    """Return what passed with the most leak, and what the judge was least sure of, each once.

    Args:
        passed: What passed, in sampling order.
        shown: The text as it may be shown.
    """
    attempts = {one.candidate.key: one.task.attempts[-1] for one in passed}
    by_leak = sorted((one for one in passed if attempts[one.candidate.key].leak), key=lambda one: -_leak_of(one))
    unsure = sorted((one for one in passed if _sureness(one) < 1), key=_sureness)
    named = [(one, "most leak") for one in by_leak[:LOOKS]] + [(one, "least sure judge") for one in unsure[:LOOKS]]
    why: dict[str, list[str]] = {}
    for one, reason in named:
        why.setdefault(one.candidate.key, []).append(reason)
    chosen = {one.candidate.key: one for one, _ in named}
    return tuple(
        Look(
            candidate=key[:12],
            document=one.task.document.id,
            text=shown(one),
            leak=attempts[key].leak,
            overlap=attempts[key].overlap,
            sure=_sure(attempts[key]),
            why=", ".join(why[key]),
        )
        for key, one in chosen.items()
    )


def _attempts(ran: Ran) -> Iterable[Attempt]:
    return (attempt for task in ran.tasks for attempt in task.attempts)


def _counted(counts: Counter[str]) -> tuple[Count, ...]:
    return tuple(Count(name=name, count=count) for name, count in counts.most_common())


def _length_of(query: str) -> str:
    count = len(words(query))
    return next((name for most, name in LENGTHS if count <= most), LONGEST)


def _overlap_of(prepared: Prepared, case: Case, documents: Documents) -> float | None:
    best = max(case.gold, key=lambda judgement: judgement.grade, default=None)
    resolved = documents.resolve(best.doc) if best is not None else None
    document = documents.get(resolved) if resolved is not None else None
    if document is None:
        return None
    return prepared.leaking.measure_text(case.query, document, case.language).overlap.value


def _bucketed(overlaps: Iterable[float | None]) -> Iterable[str]:
    return (bucket_of(overlap) for overlap in overlaps if overlap is not None)


def _lacking(asked: Counter[str], written: Counter[str], value: str) -> str | None:
    if not written.total() or not asked.total() or asked[value] / asked.total() < COMMON:
        return None
    share = written[value] / written.total()
    return "never" if share == 0 else "rarely" if share < HARDLY else None


def _leak_of(one: Passed) -> float:
    return one.task.attempts[-1].leak or 0.0


def _sureness(one: Passed) -> float:
    fidelity = one.task.attempts[-1].fidelity
    return 1.0 if fidelity is None or not fidelity.asked else fidelity.source / fidelity.asked


def _sure(attempt: Attempt) -> str:
    fidelity = attempt.fidelity
    return "not judged" if fidelity is None else f"{fidelity.source} of {fidelity.asked}"
