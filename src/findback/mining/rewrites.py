"""An agent's searches for one turn: counted and measured. Their texts never leave this file."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from findback.model.candidate import RewriteCount
from findback.model.protocols import Documents
from findback.model.turn import RetrievalCall, Turn
from findback.text.frequency import list_function_words
from findback.text.languages import guess_language
from findback.text.stems import stem_all
from findback.text.words import words

_FURTHER = re.compile(r"\s+(?:page|seite|pagina|página|p)\s?\d{1,4}$")
_VERSION = re.compile(r"[-_. ]?v?\d{1,4}$")
_SERVER = re.compile(r"mcp__(.{1,200}?)__")


class Chain(NamedTuple):
    """The longest run of one tool family's searches in a turn."""

    calls: int
    """Searches that ran."""
    distinct: int
    """How many of them, one after the other, asked something new."""
    sharing: int
    """How many of those share a content word with the person's wording."""
    common: int
    """Most of those that share one and the same word of it."""


def searches_of(turn: Turn) -> list[RetrievalCall]:
    """Return a turn's searches that ran, in order; failed ones found nothing because nothing was searched."""
    return sorted((call for call in turn.calls if not call.failed), key=lambda call: call.order)


def measure_chain(turn: Turn) -> Chain | None:
    """Return how often the agent searched anew for a turn; None where no query was captured.

    Searches sent together or running at the same time are one step of fan-out, and the same words further down
    the results are none.
    """
    families: dict[str, list[RetrievalCall]] = {}
    for call in searches_of(turn):
        if call.query is not None:
            families.setdefault(tool_family(call.tool), []).append(call)
    language = _language(turn)
    chains = [_chain(calls, turn.text or "", language) for calls in families.values()]
    return max(chains, key=lambda chain: chain.distinct, default=None)


def count_rewrites(turn: Turn, documents: Documents | None = None) -> RewriteCount | None:
    """Return the counts and measures of a turn's searches; None where no query was captured."""
    language = _language(turn)
    wording = content_stems(turn.text or "", language)
    asked: dict[str, list[RetrievalCall]] = {}
    calls = [call for call in searches_of(turn) if call.query is not None]
    for call in calls:
        asked.setdefault(normalise(call.query or "", language), []).append(call)
    if not asked:
        return None
    gold = _resolve(turn.gold, documents)
    shares = [
        len(wording & content_stems(group[0].query or "", language)) / len(wording)
        for group in asked.values()
        if wording
    ]
    return RewriteCount(
        calls=len(calls),
        distinct=len(asked),
        shared_words=round(sum(shares) / len(shares), 4) if shares else None,
        found_gold=tuple(_found(group, gold, documents) for group in asked.values()),
    )


def quotes_rewrite(text: str, turn: Turn) -> bool:
    """Say whether a text repeats one of the agent's searches that the person did not write themselves."""
    spoken = f" {' '.join(words(text))} "
    own = f" {' '.join(words(turn.text or ''))} "
    for call in turn.calls:
        query = " ".join(words(call.query or ""))
        if query and f" {query} " in spoken and f" {query} " not in own:
            return True
    return False


def normalise(query: str, language: str | None) -> str:
    """Return a query in the form in which two of them are the same: folded, no function words, no page number.

    >>> normalise("How to  rotate the CERTS? page 2", "en")
    'rotate certs'
    """
    tokens = words(_FURTHER.sub("", query.casefold().strip()))
    common = list_function_words(language)
    return " ".join(token for token in tokens if token not in common) or " ".join(tokens) or query.strip()


def content_stems(text: str, language: str | None) -> frozenset[str]:
    """Return the stems of a text's words that carry content."""
    common = list_function_words(language)
    return frozenset(stem_all([word for word in words(text) if word not in common], language))


def tool_family(tool: str) -> str:
    """Return what tools of one kind share: the MCP server, or the name without its version.

    >>> tool_family("mcp__docs__search_pages"), tool_family("Search_Docs_v2"), tool_family("search_docs")
    ('mcp__docs', 'search_docs', 'search_docs')
    """
    server = _SERVER.match(tool)
    if server is not None:
        return f"mcp__{server[1]}"
    return _VERSION.sub("", tool.casefold()) or tool


def _language(turn: Turn) -> str | None:
    return guess_language(turn.text or "") or "en"


def _chain(calls: Sequence[RetrievalCall], wording: str, language: str | None) -> Chain:
    asked = content_stems(wording, language)
    seen: set[str] = set()
    shared: list[frozenset[str]] = []
    for together in _rounds(calls):
        texts = {normalise(call.query or "", language): call.query or "" for call in together}
        fresh = set(texts) - seen
        seen |= set(texts)
        if fresh:
            stems = frozenset[str]().union(*(content_stems(texts[text], language) for text in fresh))
            shared.append(stems & asked)
    sharing = [stems for stems in shared if stems]
    common = max(Counter(word for stems in sharing for word in stems).values(), default=0)
    return Chain(len(calls), len(shared), len(sharing), common)


def _rounds(calls: Iterable[RetrievalCall]) -> list[list[RetrievalCall]]:
    """Return searches in groups that were sent together or ran at the same time."""
    rounds: list[list[RetrievalCall]] = []
    until: datetime | None = None
    for call in calls:
        if rounds and _together(call, rounds[-1][0], until):
            rounds[-1].append(call)
        else:
            rounds.append([call])
            until = None
        if call.ended is not None and (until is None or until < call.ended):
            until = call.ended
    return rounds


def _together(call: RetrievalCall, first: RetrievalCall, until: datetime | None) -> bool:
    if call.batch is not None or first.batch is not None:
        return call.batch == first.batch
    if call.started is None or first.started is None or until is None:
        return False
    return first.started <= call.started < until


def _resolve(references: Iterable[str], documents: Documents | None) -> frozenset[str]:
    if documents is None:
        return frozenset(references)
    return frozenset(found for reference in references if (found := documents.resolve(reference)) is not None)


def _found(calls: Sequence[RetrievalCall], gold: frozenset[str], documents: Documents | None) -> bool | None:
    if not gold:
        return None
    returned = [document for call in calls for document in call.documents]
    if not returned:
        return False if any(call.results == 0 for call in calls) else None
    return bool(gold & _resolve(returned, documents))
