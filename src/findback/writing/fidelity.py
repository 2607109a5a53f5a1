"""The fidelity filter: is a text about the document it was written from? A judge says, who does not know which."""

import asyncio
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Annotated, Literal, NamedTuple, TypeAlias

from pydantic import Field

from findback.departures import TextState
from findback.llm.ask import Ask, Model, StoppedError
from findback.model.document import Document
from findback.model.record import Record
from findback.model.written import Fidelity, Rejection
from findback.writing.delimiting import Data
from findback.writing.prompts import Prompts

PROMPT = "judge"
SHOWN_NEAREST = 4
"""Documents most like the source that are shown beside it."""
SHOWN_FELLOWS = 3
"""Others of its subject."""
MOST_DOCUMENT = 4_000
"""Characters of each document that are shown, its title included: the beginning, of the source as of the others. Any
choice of extract by the text's words would have the judge prefer what copies."""
MOST_TEXT = 2_000

Letter: TypeAlias = Literal["A", "B", "C", "D", "E", "F", "G", "H"]
LETTERS: tuple[Letter, ...] = ("A", "B", "C", "D", "E", "F", "G", "H")

UNSURE = "judge not sure"
"""Doubt about a text whose source the judge chose in some orders only."""
ALONE = "nothing to choose from"
"""Doubt about a text whose source no other document could be shown beside."""
NO_DOCUMENT = "no document fits"
OTHER_DOCUMENT = "another document's description"

_TOLD = {
    NO_DOCUMENT: "Nobody could tell from it which document the person needs. Say more precisely what the person sees, "
    "does or wants, in ordinary words.",
    OTHER_DOCUMENT: "It describes what another document of the same kind is about. Say what sets this one apart, in "
    "ordinary words.",
}


class Choice(Record):
    """What the judge answers."""

    best: Literal[Letter, "none"]
    """The document that fits best, or none."""
    also: Annotated[tuple[Letter, ...], Field(max_length=len(LETTERS))] = ()
    """Others that fit as well."""


@dataclass(frozen=True, slots=True)
class Judging:
    """How a judge is asked."""

    model: Model
    prompts: Prompts
    seed: int
    """Of the orders in which documents are shown."""
    judgings: int = 3
    """How often it is asked about each text."""
    self_judged: bool = False
    """Whether it is the model that wrote."""
    state: TextState = "document"
    """The most private text that the writer saw."""


class Verdict(NamedTuple):
    """What the fidelity filter says."""

    fidelity: Fidelity
    rejection: Rejection | None
    doubts: tuple[str, ...]


def choose_others(
    source: Document, nearest: Sequence[Document], fellows: Sequence[Document], duplicates: Collection[str] = ()
) -> tuple[Document, ...]:
    """Return the documents to show beside the source: four that are most like it, three of its subject.

    Near-duplicates of the source are passed over, since both are the answer. Where there are fewer fellows, more of
    the nearest stand in, and the other way round.
    """
    near = _pick_new(nearest, {source.id, *duplicates})
    beside = _pick_new(fellows, {source.id, *duplicates, *(one.id for one in near[:SHOWN_NEAREST])})
    chosen = [*near[:SHOWN_NEAREST], *beside[:SHOWN_FELLOWS]]
    rest = _pick_new([*near, *beside], {one.id for one in chosen})
    return tuple([*chosen, *rest][: SHOWN_NEAREST + SHOWN_FELLOWS])


def _pick_new(documents: Sequence[Document], known: Collection[str]) -> list[Document]:
    return list({document.id: document for document in documents if document.id not in known}.values())


def ask_choice(
    prompts: Prompts, text: str, documents: Sequence[Document], *, state: TextState, item: str, attempt: int
) -> Ask[Choice]:
    """Return the question which of some documents a text is about.

    Ids and addresses are not sent, and nothing says which document the text was written from.

    Args:
        prompts: The prompts in use.
        text: What was written.
        documents: At most eight, in the order shown.
        state: The most private text among all.
        item: How progress and errors call it; it is never sent.
        attempt: Which asking about the text this is; each one is a call of its own.
    """
    rendered = prompts.render(
        PROMPT,
        text=Data(text, most=MOST_TEXT),
        document={
            letter: Data(_show(document), most=MOST_DOCUMENT)
            for letter, document in zip(LETTERS, documents, strict=False)
        },
        shown=len(documents),
    )
    return Ask(
        system=rendered.system,
        user=rendered.user,
        answer=Choice,
        prompt=rendered.label,
        state=state,
        item=item,
        attempt=attempt,
    )


def _show(document: Document) -> str:
    title = document.title or ""
    return document.text if document.text.lstrip("# \n").startswith(title) else f"{title}\n\n{document.text}"


async def judge(
    judging: Judging,
    text: str,
    source: Document,
    others: Sequence[Document],
    *,
    duplicates: Collection[str] = (),
) -> Fidelity:
    """Return what a judge says a text is about, asked several times in different orders.

    The source stands in another place each time. Choosing a near-duplicate of the source counts as choosing it.

    Args:
        judging: How the judge is asked.
        text: What was written.
        source: The document it was written from.
        others: Documents to show beside it; see `choose_others`.
        duplicates: Ids of the source's near-duplicates.

    Raises:
        ItemFailedError: If the judge cannot answer about this text.
        StoppedError: If no further call can go well.
    """
    orders = list(shuffle(source, others[: len(LETTERS) - 1], judging.judgings, f"{judging.seed}\0{source.id}\0{text}"))
    asks = [
        ask_choice(judging.prompts, text, order, state=judging.state, item=source.id, attempt=number)
        for number, order in enumerate(orders, 1)
    ]
    # Every call ends before an error is passed on: none is left running behind the caller's back.
    answered = await asyncio.gather(*map(judging.model.ask, asks), return_exceptions=True)
    failed = [one for one in answered if isinstance(one, BaseException)]
    if failed:
        raise min(failed, key=lambda error: not isinstance(error, StoppedError))
    choices = [one.value for one in answered if not isinstance(one, BaseException)]
    return _count(choices, orders, {source.id, *duplicates}, source.id, self_judged=judging.self_judged)


def shuffle(source: Document, others: Sequence[Document], times: int, seed: str) -> Iterator[tuple[Document, ...]]:
    """Yield the documents in random orders, the source in another place each time until it has been in all."""
    random = Random(seed)  # noqa: S311 (no secret hangs on it)
    places = list(range(len(others) + 1))
    random.shuffle(places)
    for number in range(times):
        order = list(others)
        random.shuffle(order)
        order.insert(places[number % len(places)], source)
        yield tuple(order)


def _count(
    choices: Sequence[Choice],
    orders: Sequence[Sequence[Document]],
    right: Collection[str],
    source: str,
    *,
    self_judged: bool,
) -> Fidelity:
    hits, none, others = 0, 0, Counter[str]()
    for choice, order in zip(choices, orders, strict=True):
        by_letter: Mapping[str, str] = {letter: document.id for letter, document in zip(LETTERS, order, strict=False)}
        # A letter that stands at no document names none.
        best = by_letter.get(choice.best)
        hits += best in right
        none += best is None
        named = {best, *map(by_letter.get, choice.also)} if best is not None else set()
        others.update(sorted(one for one in named if one is not None and one != source))
    return Fidelity(
        asked=len(choices), source=hits, none=none, others=dict(sorted(others.items())), self_judged=self_judged
    )


def decide(fidelity: Fidelity, *, alone: bool = False) -> Verdict:
    """Return what follows from what the judge said.

    Args:
        fidelity: What it said.
        alone: Whether no other document was shown.

    Returns:
        Nothing against a text whose source was chosen each time, a doubt where it was chosen sometimes, a rejection
        where never.
    """
    if fidelity.source == 0:
        reason = NO_DOCUMENT if 2 * fidelity.none >= fidelity.asked else OTHER_DOCUMENT
        return Verdict(fidelity, Rejection(by="fidelity", reason=reason, told=_TOLD[reason]), ())
    doubts = [UNSURE] if fidelity.source < fidelity.asked else []
    return Verdict(fidelity, None, (*doubts, ALONE) if alone else tuple(doubts))
