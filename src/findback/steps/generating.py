"""Waves of documents that a model describes, until enough texts passed the filters or the reserve is used up.

What happens is a function of the sample, the settings and the model's answers: nothing depends on which answer came
first. So a killed run that is started again takes its answers from the cache and ends as it would have ended.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from findback.corpus.sampling import Sample
from findback.llm.ask import ItemFailedError, Model, StoppedError
from findback.model.document import Document
from findback.model.protocols import SILENT, Progress
from findback.model.written import Attempt, Described, Outcome, Rejection
from findback.steps.atonce import handle_all
from findback.writing.describe import ask_description
from findback.writing.filters import Around, Filters, Wanted
from findback.writing.matching import Quotas
from findback.writing.novelty import Novelty
from findback.writing.prompts import Prompts
from findback.writing.voices import Option, Voices, name_options


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Plan:
    """What is asked of the model, and what its texts must pass."""

    sample: Sample
    n: int
    """Texts that are wanted."""
    attempts: int
    """Most texts about one document."""
    seed: int
    """Of the voices."""
    writer: Model
    prompts: Prompts
    voices: Voices
    filters: Filters
    novelty: Novelty
    quotas: Quotas | None
    around: Callable[[Document], Around]
    """Documents that stand around one."""
    language: Callable[[Document], str | None]
    tone: Callable[[Document], tuple[str, ...]]
    """Real queries that set the tone of a text about a document; never about what it says."""


@dataclass(slots=True, eq=False)
class Task:
    """One sampled document, and what the model wrote about it so far."""

    document: Document
    voice: dict[str, Option]
    around: Around
    language: str | None
    tone: tuple[str, ...]
    attempts: list[Attempt] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    outcome: Outcome | None = None
    reason: str | None = None
    alternatives: tuple[str, ...] = ()
    prompt: str = ""
    """Label of the prompt of the newest text."""
    at: datetime | None = None
    """When the model wrote it."""

    @property
    def passed(self) -> bool:
        """Return whether its newest text passed every filter."""
        return self.outcome in ("accepted", "doubtful")

    def is_full(self, attempts: int) -> bool:
        """Return whether no further text is wanted for now: the newest one stands, or there were enough."""
        if not self.attempts:
            return False
        return not self.attempts[-1].rejections or len(self.attempts) >= attempts

    def learn(self, rejections: Iterable[Rejection]) -> None:
        """Keep what the next attempt is told."""
        self.told += [one.told for one in rejections if one.told and one.told not in self.told]

    def describe(self) -> Described:
        """Return the document with its outcome."""
        return Described(
            document=self.document.id,
            subject=self.document.subject,
            voice=name_options(self.voice),
            outcome=self.outcome or "not reached",
            reason=self.reason,
            attempts=tuple(self.attempts),
            alternatives=self.alternatives,
        )


class Ran(NamedTuple):
    """How it ended."""

    tasks: tuple[Task, ...]
    """In sampling order, each with an outcome."""
    reserve: int
    """Documents of the reserve that were not needed."""
    stopped: str | None
    """Why it ended before its end."""


async def describe_documents(plan: Plan, *, progress: Progress = SILENT) -> Ran:
    """Have documents described, wave after wave, until as many texts passed as are wanted.

    A wave that lacks some takes as many documents from the reserve. Every document ends in exactly one outcome.

    Raises:
        StoppedError: If no call can go well and nothing was written yet.
        RefusedError: If a text may not go to the model.
    """
    tasks: list[Task] = []
    used: set[str] = set()
    wave: Sequence[Document] = plan.sample.drawn
    stopped: StoppedError | None = None
    while wave and stopped is None:
        new = [_begin(plan, document) for document in wave]
        tasks += new
        stopped = await _describe_wave(plan, new, progress)
        passed = sum(task.passed for task in tasks)
        lacking = plan.n - passed if plan.quotas is None else plan.quotas.left
        failed = [task.document.subject for task in new if not task.passed]
        wave = plan.sample.substitutes(failed[: max(lacking, 0)], used)
        used.update(document.id for document in wave)
    if stopped is not None:
        if not any(task.attempts or task.outcome for task in tasks):
            raise stopped
        used.difference_update(document.id for document in wave)
        for task in tasks:
            if task.outcome is None:
                task.outcome, task.reason = "not reached", _short(stopped.message)
    _check_outcomes(tasks)
    left = len(plan.sample.reserve) - len(used)
    return Ran(tuple(tasks), left, None if stopped is None else stopped.message)


async def _describe_wave(plan: Plan, tasks: Sequence[Task], progress: Progress) -> StoppedError | None:
    """Describe each document, again where a text is turned down; return what stopped it, if anything."""
    again = False
    while waiting := [task for task in tasks if task.outcome is None]:
        progress.start("Writing again" if again else "Writing", len(waiting))
        try:
            stopped = await _write_all(plan, waiting, progress)
        finally:
            progress.finish()
        # Whether a text is new depends on those before it, so this goes by sampling order.
        for task in waiting:
            _settle(plan, task)
        if stopped is not None:
            return stopped
        again = True
    return None


async def _write_all(plan: Plan, tasks: Sequence[Task], progress: Progress) -> StoppedError | None:
    """Have each document described until a text passes what looks at it alone; begin nothing once the model stops."""
    stopped: list[StoppedError] = []

    async def describe(task: Task) -> None:
        try:
            while not stopped and not task.is_full(plan.attempts):
                await _write(plan, task)
        except StoppedError as error:
            stopped.append(error)
        except ItemFailedError as error:
            # Reasons are counted, so the document it is about stays out of them.
            task.outcome, task.reason = "error", _short(error.message.replace(f" about {task.document.id}", ""))
        progress.advance()

    await handle_all(tasks, describe)
    return stopped[0] if stopped else None


async def _write(plan: Plan, task: Task) -> None:
    """Ask for one text, and write down what the filters that look at it alone say."""
    number = len(task.attempts) + 1
    ask = ask_description(
        plan.prompts,
        task.document,
        task.voice,
        language=task.language,
        examples=task.tone,
        told=task.told,
        attempt=number,
    )
    reply = await plan.writer.ask(ask)
    text = reply.value.query.strip()
    wanted = Wanted(task.language, (ask.system, *task.tone))
    checked = await plan.filters.check(text, task.document, task.around, wanted)
    task.prompt, task.at, task.alternatives = ask.prompt, reply.at, checked.alternatives
    task.attempts.append(
        Attempt(
            number=number,
            text=text or "(nothing)",
            leak=checked.leak,
            overlap=checked.overlap,
            fidelity=checked.fidelity,
            rejections=checked.rejections,
            doubts=checked.doubts,
        )
    )
    task.learn(checked.rejections)


def _settle(plan: Plan, task: Task) -> None:
    """Say how a document ended, after the filters that look at all texts together; nothing where it goes on."""
    if task.outcome is not None or not task.attempts:
        return
    attempt = task.attempts[-1]
    if not attempt.rejections:
        found = _compare(plan, task, attempt)
        attempt = attempt.model_copy(update={"rejections": () if found is None else (found,)})
        task.attempts[-1] = attempt
        task.learn(attempt.rejections)
    if not attempt.rejections:
        plan.novelty.add(attempt.text, task.language)
        task.outcome = "doubtful" if attempt.doubts else "accepted"
        task.reason = "; ".join(attempt.doubts) or None
    elif len(task.attempts) >= plan.attempts:
        last = attempt.rejections[0]
        task.outcome, task.reason = "failed", f"{last.by}: {last.reason}"


def _compare(plan: Plan, task: Task, attempt: Attempt) -> Rejection | None:
    found = plan.novelty.reject(attempt.text, task.language)
    if found is None and plan.quotas is not None:
        found = plan.quotas.offer(attempt.overlap)
    return found


def _begin(plan: Plan, document: Document) -> Task:
    return Task(
        document=document,
        voice=plan.voices.draw(document.id, plan.seed),
        around=plan.around(document),
        language=plan.language(document),
        tone=plan.tone(document),
    )


def _check_outcomes(tasks: Iterable[Task]) -> None:
    seen: set[str] = set()
    for task in tasks:
        if task.outcome is None or task.document.id in seen:
            raise AssertionError(f"a sampled document has no outcome, or two: {task.document.id}")
        seen.add(task.document.id)


def _short(message: str) -> str:
    return message if len(message) <= 300 else f"{message[:299]}…"
