"""Asking a model about many things: at once, each with one end, counted, and never what may not leave."""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Generic, NamedTuple, TypeVar

from pydantic import Field, PositiveInt

from findback.errors import RefusedError
from findback.llm.ask import Ask, ItemFailedError, Model, Reply, StoppedError
from findback.llm.budget import Budget, count_tokens, estimate
from findback.model.assisted import Ended
from findback.model.bill import Bill, Estimate
from findback.model.case import Name
from findback.model.protocols import SILENT, Progress
from findback.model.record import Record, Request
from findback.steps.atonce import handle_all
from findback.steps.waiting import wait_for
from findback.steps.writers import model_settings, open_budget, open_writer
from findback.workspace import Workspace

Item = TypeVar("Item")
Value = TypeVar("Value")
Given = TypeVar("Given", bound=Record)


class AssistRequest(Request):
    """What every kind of help is asked for with."""

    model: Name | None = None
    """Name under [models]; the one that writes when left out."""
    limit: PositiveInt | None = None
    """Most questions to ask about."""
    budget: Annotated[float, Field(gt=0)] | None = None
    """Most it may cost, in the model's currency; that of [writing] when left out."""
    dry_run: bool = False
    """Ask and store nothing; say what it would cost at most."""


class Answer(NamedTuple, Generic[Value]):
    """How asking about one thing ended."""

    ended: Ended
    value: Value | None = None
    """What came of it; only where it was answered."""
    reason: str | None = None
    """Why there is none."""


@dataclass(frozen=True, slots=True)
class Assistant:
    """A model with what its calls may cost; good for one run."""

    model: Model
    budget: Budget
    attempts: int
    """Most times one thing is asked."""
    owned: bool
    """Whether the model is to be closed after the run."""

    def answer_all(
        self,
        items: Sequence[Item],
        handle: Callable[[Item], Awaitable[Value]],
        *,
        label: str,
        progress: Progress = SILENT,
    ) -> list[Answer[Value]]:
        """Return how each thing ended, in their order.

        Args:
            items: What is asked about.
            handle: Asks about one, as often as it needs to; may raise what a model may raise.
            label: What progress calls it.
            progress: Told of each.

        Raises:
            RefusedError: If a text may not go to the model.
        """

        async def run() -> list[Answer[Value]]:
            try:
                return await _answer_all(items, handle, progress)
            finally:
                if self.owned:
                    await self.model.close()

        progress.start(label, len(items))
        try:
            return wait_for(run())
        finally:
            progress.finish()

    async def insist(
        self, make: Callable[[int], Ask[Given]], accept: Callable[[Reply[Given]], Value | None], *, why: str
    ) -> Value:
        """Ask until an answer makes sense, each time anew, and return what it comes to.

        Args:
            make: Makes the question of each attempt, from 1.
            accept: What an answer comes to; None where it makes no sense.
            why: What is wrong with one that makes none.

        Raises:
            ItemFailedError: If none does.
        """
        for attempt in range(1, self.attempts + 1):
            reply = await self.model.ask(make(attempt))
            if (value := accept(reply)) is not None:
                return value
        raise ItemFailedError(why)

    def bills(self) -> tuple[Bill, ...]:
        """Return what was asked and what it cost."""
        return self.budget.bills()


def open_assistant(
    workspace: Workspace,
    request: AssistRequest,
    *,
    unreviewed: bool,
    given: Model | None = None,
    ask: Callable[[str], bool] | None = None,
) -> Assistant:
    """Return the model that helps.

    Args:
        workspace: Where it is named.
        request: Which one, and what it may cost.
        unreviewed: Whether it will be sent text that nobody reviewed.
        given: A model at hand, in place of that.
        ask: Asks a person the trust question; None where nobody is there.

    Raises:
        RefusedError: If unreviewed text may not go there.
        FindbackError: As `findback.steps.writers.open_writer`.
    """
    budget = open_budget(workspace, request.budget)
    model = given or open_writer(workspace, name=request.model, budget=budget, ask=ask)
    if unreviewed:
        refuse_unreviewed_text(model, workspace.settings.egress.unreviewed_to)
    return Assistant(model, budget, workspace.settings.writing.attempts, owned=given is None)


def refuse_unreviewed_text(model: Model, allowed: Sequence[str]) -> None:
    """Stop before text that nobody reviewed leaves this machine.

    Raises:
        RefusedError: If the model is not local and not allowed by name.
    """
    if model.egress == "local" or model.name in allowed:
        return
    listed = ", ".join(f'"{name}"' for name in dict.fromkeys([*allowed, model.name]))
    raise RefusedError(
        f"text that nobody reviewed would leave this machine: {model.name} ({model.egress})",
        hint=f"allow it in findback.toml: [egress] unreviewed_to = [{listed}]; or name a model on this machine",
    )


def estimate_asks(workspace: Workspace, request: AssistRequest, asks: Iterable[Ask[Any]]) -> Estimate:
    """Return what asking everything once costs at most, the cache not counted; nothing is asked.

    Raises:
        UsageError: If no model is named, or several and none is chosen.
        MissingError: If there is none of that name.
    """
    name, settings = model_settings(workspace, request.model)
    calls = tokens = 0
    for one in asks:
        calls += 1
        tokens += count_tokens(one.system, one.user)
    return estimate(name, settings, calls=calls, tokens_in=tokens, tokens_out=calls * settings.max_tokens)


def count_ends(answers: Iterable[Answer[Value]]) -> dict[Ended, int]:
    """Return how many ended how, every end named."""
    counted = Counter(one.ended for one in answers)
    return {ended: counted[ended] for ended in ("answered", "error", "not reached")}


def count_errors(answers: Iterable[Answer[Value]]) -> dict[str, int]:
    """Return why things failed or were not reached, the most frequent first."""
    return dict(Counter(one.reason for one in answers if one.reason is not None).most_common())


def note_model(model: Model) -> Iterator[str]:
    """Yield what should be said about what a model wrote."""
    if not model.for_decisions:
        yield f"{model.label} is fit for trying things out only"


def chosen(
    items: Sequence[Item], limit: int | None, left_out: Mapping[str, int]
) -> tuple[Sequence[Item], dict[str, int]]:
    """Return the first items up to a limit, and what was left out with those beyond it."""
    kept = items if limit is None else items[:limit]
    beyond = {"beyond the limit": len(items) - len(kept)}
    return kept, {reason: count for reason, count in {**left_out, **beyond}.items() if count}


async def _answer_all(
    items: Sequence[Item], handle: Callable[[Item], Awaitable[Value]], progress: Progress
) -> list[Answer[Value]]:
    answers: list[Answer[Value]] = [Answer("not reached")] * len(items)
    stopped: list[str] = []

    async def answer(place: int) -> None:
        if stopped:
            answers[place] = Answer("not reached", reason=stopped[0])
        else:
            answers[place] = await _answer(items[place], handle, stopped)
        progress.advance()

    await handle_all(range(len(items)), answer)
    return answers


async def _answer(item: Item, handle: Callable[[Item], Awaitable[Value]], stopped: list[str]) -> Answer[Value]:
    try:
        return Answer("answered", await handle(item))
    except StoppedError as error:
        stopped.append(error.message)
        return Answer("not reached", reason=stopped[0])
    except ItemFailedError as error:
        return Answer("error", reason=error.message)
