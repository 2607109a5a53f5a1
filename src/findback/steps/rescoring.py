"""Did the system change or the exam? Kept runs, scored again on two states of a set."""

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from datetime import date
from typing import NamedTuple

from findback.errors import FindbackError
from findback.evalset.resolve import resolve
from findback.evalset.runs import load_run
from findback.measure.metrics.name import parse_metric
from findback.measure.moved import State, estimate_move
from findback.model.case import Case
from findback.model.estimate import Estimate
from findback.model.protocols import Documents
from findback.model.question import Question, QuestionSet, question_from_case
from findback.model.record import Record
from findback.model.run import Run
from findback.steps.compare_parts import estimate_differences
from findback.steps.gold import label_columns
from findback.steps.paired_scores import pair_scores
from findback.steps.scores import Scored, score_run, silence
from findback.workspace import Workspace

LOOKED_AT = 40
"""Kept runs that are looked at, the newest first."""


class Effect(Record):
    """What the difference between two states of a set does to one retriever's score."""

    retriever: str
    metric: str
    run: str
    """Id of its newest run on either state."""
    earlier_run: str | None = None
    """Id of its newest run from before the added cases; None where the newest run is from before them too."""
    earlier: Estimate | None = None
    """The earlier run's score on the earlier state."""
    before: Estimate
    """The newest run's score on the earlier state, over the cases that both runs were asked."""
    after: Estimate
    """The newest run's score on the later state, over the cases it was asked."""
    not_asked: int
    """Cases of the later state that the newest run was not asked; they are in neither score."""
    by_system: Estimate | None = None
    """What the system moved, case by case: the newest run minus the earlier one on the earlier state."""
    by_exam: Estimate | None = None
    """What the exam moved: the newest run's score on the later state minus that on the earlier one."""

    @property
    def system(self) -> float | None:
        """Return what the system moved: another run, the same exam. None where there is one run only."""
        return _minus(self.before, self.earlier)

    @property
    def exam(self) -> float | None:
        """Return what the exam moved: the same run, another exam."""
        return _minus(self.after, self.before)


class Effects(NamedTuple):
    """The effect on every retriever with a kept run."""

    effects: tuple[Effect, ...]
    notes: tuple[str, ...]


class KeptRun(NamedTuple):
    """A kept run."""

    id: str
    run: Run


class Scorer(NamedTuple):
    """Scores runs in one metric."""

    documents: Documents | None
    metric: str
    seed: int

    def score(self, run: Run, questions: Sequence[Question], asked: AbstractSet[str]) -> Scored | None:
        """Return a run's scores on those of the questions that are counted as asked; None where none is."""
        shared = [question for question in questions if question.id in asked]
        if not shared:
            return None
        return score_run(run, label_columns(shared, self.documents), (self.metric,), seed=self.seed)

    def mean(self, scored: Scored | None) -> Estimate:
        """Return the mean of scores."""
        if scored is None:
            return Estimate(value=None, reason="the run was asked none of these cases")
        return scored.group("all", "all", range(len(scored.labelled.questions))).scores[0].estimate

    def compare(self, scored: Scored | None, earlier: Scored | None) -> Estimate | None:
        """Return how far one run is ahead of another on the same cases; without a value where a search failed."""
        if scored is None or earlier is None:
            return None
        paired = pair_scores((scored, earlier), self.metric, ("newest", "earlier"))
        return estimate_differences(paired, [(0, 1)])[0] if paired.questions else None

    def move(self, before: Scored | None, after: Scored | None) -> Estimate | None:
        """Return how far the same run's mean moves from one state to the other."""
        if before is None or after is None:
            return None
        failed = int(after.scores.failed.sum() + before.scores.failed.sum())
        found = estimate_move(self._state(before), self._state(after), seed=self.seed)
        return silence(found, failed) if failed else found

    def _state(self, scored: Scored) -> State:
        return State(scored.answerable_values(self.metric), scored.answerable_clusters, scored.answerable_golds)


def rescore(
    workspace: Workspace,
    before: Iterable[Case],
    after: Iterable[Case],
    documents: Documents | None,
    *,
    released: date | None = None,
) -> Effects:
    """Score each retriever's newest kept run on two states of a set; only active dev cases count.

    Args:
        workspace: Where runs are kept.
        before: The earlier state.
        after: The later one.
        documents: The documents, where they are at hand.
        released: Day of the later state, which tells runs from before it where it adds no case that could.
    """
    old, new = dev_questions(before, documents), dev_questions(after, documents)
    ids = {question.id for question in (*old, *new)}
    added = {question.id for question in new} - {question.id for question in old}
    measures = workspace.settings.measures
    scorer = Scorer(documents, str(parse_metric(measures.primary)), measures.seed)
    by_name: dict[str, list[KeptRun]] = {}
    notes: list[str] = []
    for kept in load_kept(workspace, notes):
        if ids.intersection(kept.run.queries):
            by_name.setdefault(kept.run.name, []).append(kept)
    effects = []
    for name in sorted(by_name):
        newest, earlier = _choose(by_name[name], added, released)
        asked = frozenset(newest.run.queries)
        shared = asked.intersection(earlier.run.queries) if earlier is not None else asked
        first = scorer.score(earlier.run, old, shared) if earlier is not None else None
        on_old, on_new = scorer.score(newest.run, old, shared), scorer.score(newest.run, new, asked)
        effects.append(
            Effect(
                retriever=name,
                metric=scorer.metric,
                run=newest.id,
                earlier_run=earlier.id if earlier is not None else None,
                earlier=scorer.mean(first) if earlier is not None else None,
                before=scorer.mean(on_old),
                after=scorer.mean(on_new),
                not_asked=sum(question.id not in asked for question in new),
                by_system=scorer.compare(on_old, first),
                by_exam=scorer.move(on_old, on_new),
            )
        )
    return Effects(tuple(effects), tuple(notes))


def _choose(kept: Sequence[KeptRun], added: AbstractSet[str], released: date | None) -> tuple[KeptRun, KeptRun | None]:
    """Return the newest run, and the newest one from before the later state where the newest is not from then too."""
    newest, older = kept[0], [one for one in kept[1:] if added.isdisjoint(one.run.queries)]
    if not added and released is not None and _day(newest) >= released.isoformat():
        return newest, next((one for one in older if _day(one) <= released.isoformat()), None)
    return newest, next(iter(older), None) if not added.isdisjoint(newest.run.queries) else None


def _day(kept: KeptRun) -> str:
    return (kept.run.created or "")[:10]


def load_kept(workspace: Workspace, notes: list[str]) -> Iterator[KeptRun]:
    """Yield the newest kept runs, newest first; what is wrong with any other goes to the notes."""
    folder = workspace.private / "runs"
    names = (
        sorted((p.name for p in folder.iterdir() if not p.name.startswith(".")), reverse=True)
        if folder.is_dir()
        else []
    )
    for name in names[:LOOKED_AT]:
        try:
            yield KeptRun(name, load_run(folder / name))
        except FindbackError as error:
            notes.append(f"a run was not scored again: {error}")


def dev_questions(cases: Iterable[Case], documents: Documents | None) -> tuple[Question, ...]:
    """Return the questions of the active dev cases."""
    kept = tuple(question_from_case(case) for case in cases if case.status == "active" and case.split == "dev")
    if not kept:
        return ()
    return resolve(QuestionSet(name="cases", kind="release", questions=kept), documents).set.questions


def _minus(one: Estimate | None, other: Estimate | None) -> float | None:
    if one is None or other is None or one.value is None or other.value is None:
        return None
    return one.value - other.value
