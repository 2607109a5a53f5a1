"""Dev and holdout: which cases everyone may look at, and which are kept for a last look."""

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from findback.measure.clusters import code_clusters, join_by_gold
from findback.model.case import Case

HOLDOUT_SHARE = 0.2
"""Share of new groups that is held out."""
FEWEST_HOLDOUT = 30
"""Clusters a holdout has at least; with fewer, there is none."""
MOST_HOLDOUT = 3
"""Of so many new clusters at most one is held out, so that a small set is not halved."""


class Splitting(NamedTuple):
    """Cases with their split."""

    cases: tuple[Case, ...]
    """In the order given."""
    holdout_clusters: int
    """Clusters of active cases held out now."""
    note: str | None
    """Why there is no holdout, or what to know about it."""


class _Group(NamedTuple):
    """Cases joined by cluster and gold: they go to one side together."""

    draw: float
    """Where its keyed hash lies, in [0, 1)."""
    clusters: frozenset[str]
    new: tuple[str, ...]
    """Ids of its cases that have no split yet."""
    settled: frozenset[str]
    """Splits of its cases that have one."""


def assign_splits(cases: Sequence[Case], new: AbstractSet[str], keyed: Callable[[str], str]) -> Splitting:
    """Return the cases with a split for each new one; what was released keeps its own for life.

    Cases that share a cluster or a gold document, directly or through others, go to the same side. A group with
    released cases stays on their side; where they are on both, new ones go to dev. Whole new groups are drawn by
    keyed hash: a fifth of them, or more until the holdout has 30 clusters, at most a third of the new clusters.
    Where it cannot reach 30, nothing new is held out.

    Args:
        cases: The whole set.
        new: Ids of the cases that were never released.
        keyed: A keyed digest of an id, in hexadecimal: without the key nobody can tell what will be held out.
    """
    groups = _group(cases, new, keyed)
    split: dict[str, str] = {}
    straddling = 0
    for group in groups:
        side = "holdout" if group.settled == {"holdout"} else "dev"
        straddling += len(group.new) if len(group.settled) > 1 else 0
        split.update(dict.fromkeys(group.new, side))
    held = {case.cluster for case in cases if case.status == "active" and split.get(case.id, case.split) == "holdout"}
    drawn = _draw([group for group in groups if not group.settled], len(held))
    split.update({id_: "holdout" for group in drawn for id_ in group.new})
    done = tuple(
        case if split.get(case.id, case.split) == case.split else case.model_copy(update={"split": split[case.id]})
        for case in cases
    )
    clusters = len({case.cluster for case in done if case.split == "holdout" and case.status == "active"})
    return Splitting(done, clusters, _describe(clusters, straddling))


def _group(cases: Sequence[Case], new: AbstractSet[str], keyed: Callable[[str], str]) -> list[_Group]:
    living = [case for case in cases if case.status != "withdrawn"]
    codes = code_clusters([case.cluster for case in living], len(living))
    of_cluster = join_by_gold(codes, [{judgement.doc for judgement in case.gold} for case in living])
    members: dict[int, list[Case]] = {}
    for case, code in zip(living, codes.tolist(), strict=True):
        members.setdefault(int(of_cluster[code]), []).append(case)
    groups = []
    for joined in members.values():
        fresh = tuple(sorted(case.id for case in joined if case.id in new))
        if fresh:
            draw = int(keyed(f"split\0{fresh[0]}")[:13], 16) / 16**13
            clusters = frozenset(case.cluster for case in joined)
            groups.append(_Group(draw, clusters, fresh, frozenset(c.split for c in joined if c.id not in new)))
    return sorted(groups)


def _draw(groups: Sequence[_Group], held: int) -> list[_Group]:
    """Return the groups that are held out, of those where nothing was settled before."""
    if held >= FEWEST_HOLDOUT:
        return [group for group in groups if group.draw < HOLDOUT_SHARE]
    room = sum(len(group.clusters) for group in groups) // MOST_HOLDOUT
    drawn: list[_Group] = []
    for group in groups:
        if held >= FEWEST_HOLDOUT and group.draw >= HOLDOUT_SHARE:
            break
        if len(group.clusters) <= room:
            drawn.append(group)
            held += len(group.clusters)
            room -= len(group.clusters)
    return drawn if held >= FEWEST_HOLDOUT else []


def _describe(clusters: int, straddling: int) -> str | None:
    said = []
    if clusters < FEWEST_HOLDOUT:
        have = f"only {clusters} clusters are" if clusters else "nothing is"
        said.append(
            f"{have} held out: a holdout needs {FEWEST_HOLDOUT} clusters, and at most a third of what is new is taken"
        )
    if straddling:
        said.append(f"{straddling} new cases share clusters or gold with both dev and holdout; they went to dev")
    return "; ".join(said) or None
