"""What to do about golds that changed: per case, by what is left of each part."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from findback.model.stale import Proposal, Staleness
from findback.steps.refresh_golds import Sighted
from findback.steps.refresh_words import explain_fate


def propose(sighted: Iterable[Sighted]) -> list[Staleness]:
    """Return a finding for every gold that does not stand as it did, with what to do about it.

    One of several alternatives is gone: drop it. A part has no document left: label it anew. All are gone: retire the
    case. What is under another id: move the label. Everything else: look.
    """
    by_case: dict[str, list[Sighted]] = defaultdict(list)
    for one in sighted:
        by_case[one.label.case.id].append(one)
    return [finding for golds in by_case.values() for finding in _propose(golds)]


def _propose(golds: Sequence[Sighted]) -> Iterator[Staleness]:
    for one in golds:
        judgement, fate = one.label.judgement, one.fate
        if fate.kind == "exact":
            continue
        proposal = _choose(one, golds)
        yield Staleness(
            case=one.label.case.id,
            kind=fate.kind,
            document=judgement.doc,
            part=judgement.part,
            targets=fate.targets,
            share=fate.share,
            proposal=proposal,
            certain=fate.certain and proposal == "move",
            why=explain_fate(fate, proposal, there=one.there, quoted=judgement.anchor is not None),
        )


def _choose(one: Sighted, golds: Sequence[Sighted]) -> Proposal:
    kind, targets = one.fate.kind, one.fate.targets
    if kind == "edited":
        return "none"
    if one.there:
        return "look"
    others = [other for other in golds if other is not one]
    if targets and kind != "weak":
        return _place(one, golds)
    return _mend(one, [other.label.judgement.part for other in others if _stands(other)])


def _place(one: Sighted, golds: Sequence[Sighted]) -> Proposal:
    """Return what to do about a gold whose text is elsewhere: a document is judged once a case."""
    target, parts = one.fate.targets[0], set()
    before = True
    for other in golds:
        if other is one:
            before = False
        elif other.label.judgement.doc == target or (
            before and not other.there and other.fate.targets[:1] == (target,)
        ):
            parts.add(other.label.judgement.part)
    if not parts:
        return "move"
    return "drop" if one.label.judgement.part in parts else "look"


def _mend(one: Sighted, standing: Sequence[int]) -> Proposal:
    """Return what to do about a document that is gone, by the parts that still have one."""
    if one.label.judgement.part in standing:
        return "drop"
    return "relabel" if standing or one.fate.kind == "weak" else "retire"


def _stands(one: Sighted) -> bool:
    """Return whether something of a gold is left to label."""
    return one.there or one.fate.kind not in {"gone", "weak"}
