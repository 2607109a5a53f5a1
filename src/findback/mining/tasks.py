"""Tasks that succeeded and failed, by whether the searches for them found a right document."""

from dataclasses import dataclass, field

from findback.measure.gap import measure_gap
from findback.mining.rewrites import count_rewrites
from findback.model.protocols import Documents
from findback.model.tasks import TaskOutcomes
from findback.model.turn import Turn


@dataclass(slots=True)
class TaskTally:
    """Counts tasks over every turn that is read, before any is chosen for how it ended."""

    ended: dict[bool, list[bool]] = field(default_factory=lambda: {True: [], False: []})
    """How tasks ended, by whether retrieval hit."""
    askers: dict[bool, list[str]] = field(default_factory=lambda: {True: [], False: []})
    """Who asked: one person's tasks count as one."""
    unknown: int = 0

    def add(self, turn: Turn, documents: Documents | None) -> None:
        """Count a turn whose trace says how the task ended.

        Retrieval hit where a search returned a document that the trace names as right, and missed where every
        search is known to have returned none.
        """
        if turn.outcome is None:
            return
        counted = count_rewrites(turn, documents)
        found = () if counted is None else counted.found_gold
        hit = True if True in found else False if found and None not in found else None
        if hit is None:
            self.unknown += 1
            return
        self.ended[hit].append(turn.outcome)
        self.askers[hit].append(turn.user or turn.conversation or turn.id)

    def summarise(self, *, seed: int) -> TaskOutcomes | None:
        """Return success by retrieval, with intervals; None where no trace says how a task ended."""
        if not any(self.ended.values()):
            return None
        gap = measure_gap(
            [float(ended) for ended in self.ended[True]],
            [float(ended) for ended in self.ended[False]],
            self.askers[True],
            self.askers[False],
            seed=seed,
        )
        return TaskOutcomes(hit=gap.first, missed=gap.second, difference=gap.difference, unknown=self.unknown)
