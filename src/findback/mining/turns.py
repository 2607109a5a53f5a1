"""Failed searches in agent traces: turns of people to found questions, in the person's first wording."""

import hashlib
import heapq
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from findback.mining.abstentions import find_abstention
from findback.mining.cues import Cue, Cues
from findback.mining.folding import fold, own_words
from findback.mining.rewrites import (
    Chain,
    content_stems,
    count_rewrites,
    measure_chain,
    normalise,
    quotes_rewrite,
    searches_of,
)
from findback.mining.tasks import TaskTally
from findback.model.candidate import DocumentLink, RuleHit
from findback.model.found import Found, FoundLine
from findback.model.protocols import Documents, RawText
from findback.model.turn import RetrievalCall, Turn
from findback.text.languages import guess_language

TURN_RULES = ("zero-result", "reformulation", "i-meant", "no-answer", "thumbs-down")

MULTI_PART = "weak: looks multi-part"

NO_WORDING = "failed searches without a person's wording"
QUOTED = "assistants' answers left out because they repeat a search"
REPEATED_CORRECTION = "corrections of a correction, folded into the first"
NO_SEARCH = "turns without a search"

_THUMBS_DOWN = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnMining:
    """How traces are mined."""

    rules: frozenset[str] = frozenset(TURN_RULES)
    distinct: int = 3
    """Different searches in one turn from which it is a reformulation."""
    control: int = 0
    """How many turns whose searches did not fail are drawn beside them."""
    seed: int = 0
    without_cues: tuple[str, ...] = ()
    """Cues a team switched off."""


@dataclass(slots=True)
class MinedTurns:
    """What traces gave."""

    found: list[Found] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    """Turns and searches read, and turns that satisfy each rule, with or without a wording."""
    unsupported: dict[str, str] = field(default_factory=dict)
    """Rules these traces cannot support, with the reason: missing is not zero."""
    dropped: Counter[str] = field(default_factory=Counter)
    """What was left out, by reason."""
    tasks: TaskTally = field(default_factory=TaskTally)
    """How tasks ended, over every turn."""


def mine_turns(turns: Iterable[Turn], mining: TurnMining, documents: Documents | None = None) -> MinedTurns:
    """Find failed searches in agent traces.

    The query is always the person's own text. What the agent searched for is counted and measured, and its text
    is in nothing that comes back.

    Args:
        turns: As the trace readers give them.
        mining: Which rules, and how.
        documents: Corpus that documents are looked up in; without one no links are kept.
    """
    mined = MinedTurns()
    cues = Cues(without=mining.without_cues)
    controls: list[tuple[int, str, Turn]] = []
    corrected: set[tuple[str | None, str]] = set()
    for turn in turns:
        _count(turn, mined)
        mined.tasks.add(turn, documents)
        if not searches_of(turn):
            continue
        hits = [hit for hit in _hits(turn, mining, cues) if hit.rule in mining.rules]
        for hit in hits:
            mined.counts[hit.rule] += 1
        hits = _fold_corrections(turn, hits, corrected, mined)
        if turn.text is None:
            mined.dropped[NO_WORDING] += bool(hits)
        elif hits:
            mined.found.append(_found(turn, tuple(hits), documents, mined))
        elif mining.control and not _looks_failed(turn):
            mined.counts["not failed"] += 1
            _draw(turn, mining, controls)
    for _, _, turn in sorted(controls, key=lambda drawn: (-drawn[0], drawn[1])):
        evidence = f"drawn from {mined.counts['not failed']:,} turns whose searches did not fail"
        hit = RuleHit(rule="control", strength="weak", evidence=evidence)
        mined.found.append(replace(_found(turn, (hit,), documents, mined), stratum="control"))
    mined.unsupported = _unsupported(mined.counts)
    return mined


def _count(turn: Turn, mined: MinedTurns) -> None:
    counts = mined.counts
    counts["turns"] += 1
    counts["searches"] += len(turn.calls)
    counts["searches with a query"] += sum(call.query is not None for call in turn.calls)
    counts["searches with a result count"] += sum(call.results is not None for call in turn.calls)
    counts["followed turns"] += turn.next_text is not None
    counts["answered turns"] += turn.answer is not None
    counts["turns with feedback"] += turn.feedback is not None
    if not searches_of(turn):
        mined.dropped[NO_SEARCH] += 1


def _hits(turn: Turn, mining: TurnMining, cues: Cues) -> Iterator[RuleHit]:
    for hit in (
        _zero_result(turn),
        _reformulation(turn, mining.distinct),
        _i_meant(turn, cues),
        _no_answer(turn),
        _thumbs_down(turn),
    ):
        if hit is not None:
            yield hit


def _zero_result(turn: Turn) -> RuleHit | None:
    """Every search of the turn whose results are known found nothing."""
    calls = _first_pages(turn)
    known = [call.results for call in calls if call.results is not None]
    if not known or any(known):
        return None
    unknown = len(calls) - len(known)
    evidence = f"{len(known)} searches, 0 results" + (f"; {unknown} more of unknown result" if unknown else "")
    return RuleHit(rule="zero-result", strength="medium" if unknown else "strong", evidence=evidence)


def _first_pages(turn: Turn) -> list[RetrievalCall]:
    """Return a turn's searches without those that only asked for more of the same, whose end is no failure."""
    seen: set[str] = set()
    calls = []
    for call in searches_of(turn):
        key = None if call.query is None else normalise(call.query, "en")
        if call.offset is None or key is None or key not in seen:
            calls.append(call)
        if key is not None:
            seen.add(key)
    return calls


def _reformulation(turn: Turn, distinct: int) -> RuleHit | None:
    chain = measure_chain(turn)
    if chain is None or chain.distinct < distinct:
        return None
    told = f"{chain.distinct} different searches in {chain.calls}, {chain.sharing} share a word with the question"
    if turn.multi_part or not _is_one_need(chain, distinct):
        return RuleHit(rule="reformulation", strength="weak", evidence=f"{MULTI_PART}; {told}")
    return RuleHit(rule="reformulation", strength="medium", evidence=told)


def _is_one_need(chain: Chain, distinct: int) -> bool:
    """Say whether enough searches keep to one word of the question; else they may each seek another part of it."""
    return chain.common >= distinct


def _i_meant(turn: Turn, cues: Cues) -> RuleHit | None:
    if turn.text is None or turn.next_text is None:
        return None
    folded = fold(own_words(turn.next_text))
    cue = cues.say("meant", folded)
    if cue is None:
        return None
    shared = _shared_with_correction(turn.text, folded, cue)
    if not shared:
        return None
    return RuleHit(rule="i-meant", strength="medium", evidence=f"cue {cue.id}, {shared} words kept")


def _shared_with_correction(text: str, folded: str, cue: Cue) -> int:
    language = guess_language(text) or "en"
    rest = cue.pattern.sub(" ", folded, count=1)
    return len(content_stems(fold(text), language) & content_stems(rest, language))


def _no_answer(turn: Turn) -> RuleHit | None:
    found = find_abstention(turn.answer) if turn.answer is not None else None
    if found is None:
        return None
    evidence = "the assistant said that it found nothing" + (", and went on" if found == "partly" else "")
    return RuleHit(rule="no-answer", strength="weak" if found == "partly" else "medium", evidence=evidence)


def _thumbs_down(turn: Turn) -> RuleHit | None:
    if turn.feedback is None or turn.feedback >= _THUMBS_DOWN:
        return None
    return RuleHit(rule="thumbs-down", strength="medium", evidence=f"score {turn.feedback:.2f} of 1")


def _looks_failed(turn: Turn) -> bool:
    """Say whether a turn has any sign of failure besides the rules: such a one is no control."""
    return turn.outcome is False or (turn.feedback is not None and turn.feedback < _THUMBS_DOWN)


def _fold_corrections(
    turn: Turn, hits: list[RuleHit], corrected: set[tuple[str | None, str]], mined: MinedTurns
) -> list[RuleHit]:
    """Leave out the correction of a correction: the first wording is already found."""
    if not any(hit.rule == "i-meant" for hit in hits) or turn.next_text is None:
        return hits
    repeated = turn.text is not None and (turn.conversation, turn.text) in corrected
    corrected.add((turn.conversation, turn.next_text))
    if not repeated:
        return hits
    mined.dropped[REPEATED_CORRECTION] += 1
    return [hit for hit in hits if hit.rule != "i-meant"]


def _draw(turn: Turn, mining: TurnMining, controls: list[tuple[int, str, Turn]]) -> None:
    """Keep the turns with the smallest keyed digests: the same sample in whatever order they come."""
    key = hashlib.blake2b(f"{turn.source}\0{turn.id}".encode(), key=str(mining.seed).encode()[:64], digest_size=8)
    drawn = (-int.from_bytes(key.digest(), "big"), turn.id, turn)
    if any(drawn[:2] == other[:2] for other in controls):
        return
    if len(controls) < mining.control:
        heapq.heappush(controls, drawn)
    elif drawn[:2] > controls[0][:2]:
        heapq.heapreplace(controls, drawn)


def _found(turn: Turn, hits: tuple[RuleHit, ...], documents: Documents | None, mined: MinedTurns) -> Found:
    text = turn.text or ""
    lines = [FoundLine(id=turn.id, role="asker", author=turn.user, at=turn.at, body=RawText(text))]
    if turn.answer is not None:
        if quotes_rewrite(turn.answer, turn):
            mined.dropped[QUOTED] += 1
        else:
            lines.append(
                FoundLine(id=f"{turn.id}/answer", role="agent", author=None, at=None, body=RawText(turn.answer))
            )
    cue_line = None
    rules = {hit.rule for hit in hits}
    if turn.next_text is not None and "i-meant" in rules:
        cue_line = len(lines)
        body = RawText(turn.next_text)
        lines.append(FoundLine(id=f"{turn.id}/next", role="asker", author=turn.user, at=None, body=body))
    return Found(
        source=turn.source,
        id=turn.id,
        container=turn.project or turn.system or turn.source,
        audience=turn.audience,
        query=RawText(text),
        query_line=0,
        cue_line=cue_line,
        lines=tuple(lines),
        rules=hits,
        links=_links(turn, documents),
        asker=turn.user,
        at=turn.at,
        selected_on=None if rules == {"control"} else turn.system,
        language=guess_language(text),
        outcome=turn.outcome,
        rewrites=count_rewrites(turn, documents),
        no_answer_hint=_hint(rules),
        place=turn.place,
    )


def _links(turn: Turn, documents: Documents | None) -> tuple[DocumentLink, ...]:
    if documents is None:
        return ()
    resolved = dict.fromkeys(documents.resolve(reference) for reference in turn.gold)
    return tuple(
        DocumentLink(document=document, line=-1, by="other", kind="structured-attach")
        for document in resolved
        if document is not None
    )


def _hint(rules: set[str]) -> str | None:
    if "no-answer" in rules:
        return "the assistant said that it found nothing"
    return "every search came back empty" if "zero-result" in rules else None


def _unsupported(counts: Counter[str]) -> dict[str, str]:
    reasons = {}
    searches = counts["searches"]
    if searches and not counts["searches with a query"]:
        reasons["reformulation"] = f"{searches:,} retrieval spans, 0 with query text"
    if searches and not counts["searches with a result count"]:
        reasons["zero-result"] = "the traces do not say how many results a search had"
    if searches and not counts["followed turns"]:
        reasons["i-meant"] = "no turn is followed by another of the same conversation"
    if searches and not counts["answered turns"]:
        reasons["no-answer"] = "the traces do not hold what the assistant answered"
    if searches and not counts["turns with feedback"]:
        reasons["thumbs-down"] = "the traces hold no feedback"
    if not searches:
        reasons = dict.fromkeys(TURN_RULES, "the traces hold no search")
    return reasons
