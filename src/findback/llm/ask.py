"""What a language model is asked, what it answers, and how it can fail."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Generic, NamedTuple, Protocol, TypeVar

from findback.departures import TextState
from findback.errors import EngineError
from findback.model.record import Record
from findback.model.settings import EgressLevel

Given = TypeVar("Given", bound=Record)


class ItemFailedError(EngineError):
    """The model cannot answer this one: it refused, or its answers made no sense; others may go well."""

    code = "item-failed"


class StoppedError(EngineError):
    """No further call can go well: a bad key, a used-up quota, an unknown model, a first batch that failed whole."""

    code = "model-stopped"


class BudgetError(StoppedError):
    """The budget is used up; what was answered is kept."""

    code = "budget"


@dataclass(frozen=True, slots=True)
class Ask(Generic[Given]):
    """One question to a model."""

    system: str
    user: str
    answer: type[Given]
    """Record that the answer must be, every text in it bounded."""
    prompt: str
    """Name and digest of the prompt, `describe@3f2a9c…`."""
    state: TextState
    """The most private text in it."""
    item: str
    """How progress and errors call what is asked about; it is never sent."""
    attempt: int = 1
    """Which try this is; another one is another call, not the same answer out of the cache."""


class Usage(NamedTuple):
    """What a call used."""

    tokens_in: int = 0
    tokens_out: int = 0


@dataclass(frozen=True, slots=True)
class Reply(Generic[Given]):
    """What a model answered."""

    value: Given
    usage: Usage
    """What it used when it was first asked."""
    cached: bool
    """Whether it was known already and nothing was paid."""
    at: datetime
    """When the model answered, in UTC."""


class Model(Protocol):
    """A language model that is asked one thing at a time; callers ask many at once, the model keeps its own pace."""

    @property
    def name(self) -> str:
        """Its name in findback.toml."""
        ...

    @property
    def label(self) -> str:
        """Provider and model, as kept with what it writes."""
        ...

    @property
    def for_decisions(self) -> bool:
        """Whether what it writes may enter a set on which somebody decides."""
        ...

    @property
    def egress(self) -> EgressLevel:
        """Where texts go."""
        ...

    @property
    def parameters(self) -> dict[str, str | int | float | None]:
        """Parameters that change answers."""
        ...

    async def ask(self, ask: Ask[Given]) -> Reply[Given]:
        """Return the answer, from the cache where it is known.

        Raises:
            ItemFailedError: If this one cannot be answered.
            StoppedError: If no further call can go well.
            RefusedError: If the text may not go there.
        """
        ...

    async def close(self) -> None:
        """Let go of connections and of the model's memory."""
        ...


class ScriptedModel:
    """A model whose answers a function gives: for tests, and for trying a pipeline without any model."""

    def __init__(
        self,
        answer: Callable[[Ask[Record]], Record],
        *,
        name: str = "scripted",
        egress: EgressLevel = "local",
        for_decisions: bool = True,
        at: datetime = datetime(2026, 1, 1, tzinfo=UTC),
    ) -> None:
        """Answer from a function.

        Args:
            answer: Gives the answer to each question; it may raise what a model may raise.
            name: How it is called.
            egress: Where its texts would go.
            for_decisions: Whether what it writes may enter a set.
            at: When it answers.
        """
        self._answer, self._at = answer, at
        self.name = name
        self.label = f"scripted:{name}"
        self.egress = egress
        self.for_decisions = for_decisions
        self.parameters: dict[str, str | int | float | None] = {}
        self.asked: list[Ask[Record]] = []
        """Everything it was asked, in order."""

    async def ask(self, ask: Ask[Given]) -> Reply[Given]:
        """Return what the function says."""
        self.asked.append(ask)  # type: ignore[arg-type]
        value = self._answer(ask)  # type: ignore[arg-type]
        if not isinstance(value, ask.answer):
            raise ItemFailedError(f"the script answers {type(value).__name__} where {ask.answer.__name__} is asked for")
        return Reply(value, Usage(len(ask.user) // 4, 20), cached=False, at=self._at)

    async def close(self) -> None:
        """Do nothing."""
