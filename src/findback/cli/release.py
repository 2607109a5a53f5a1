"""`findback release`, `releases`, `diff` and `withdraw`."""

from collections.abc import Iterable, Iterator
from typing import Annotated

from cyclopts import Parameter

from findback.cli.progress import Bars
from findback.cli.requests import make_request
from findback.cli.shown import say, show, show_json, table, warn
from findback.evalset.releasediff import CHANGES, SetDiff
from findback.model.estimate import Estimate
from findback.model.items import ItemEffect
from findback.reporting.figures import estimate_cell, spoken
from findback.steps.release import ReleaseRequest
from findback.steps.release import release as publish
from findback.steps.releases import DiffRequest, compare_releases, list_releases
from findback.steps.rescoring import Effect
from findback.steps.withdraw import WithdrawRequest
from findback.steps.withdraw import withdraw as erase
from findback.workspace import open_workspace

NOT_PASSED = 1
NAMED = 10
"""Relabelled cases that are named, at most."""


def release(
    *,
    message: Annotated[str, Parameter(name=("--message", "-m"))],
    dry_run: bool = False,
    allow_toy_model: bool = False,
    json: bool = False,
) -> int:
    """Release what is ready: a new numbered version of the set.

    Args:
        message: What is to be said about this release; it is published with it.
        dry_run: Say what a release would hold and what stands in its way; write none.
        allow_toy_model: Let in what a model wrote that is not for decisions: the set is for trying findback out.
        json: Print JSON instead of a table.
    """
    request = make_request(ReleaseRequest, message=message, dry_run=dry_run, allow_toy_model=allow_toy_model)
    with Bars() as bars:
        found = publish(open_workspace(), request, progress=bars)
    if json:
        show_json(found)
        return NOT_PASSED if found.obstacles else 0
    if found.finished is not None:
        say(f"release {found.finished} had been interrupted; it is whole now")
    if found.obstacles:
        rows = [(one.case or (one.candidate or "")[:12], one.place, one.rule) for one in found.obstacles]
        show(table(("case", "place", "what is against it"), rows))
        say("")
        for line in found.warnings:
            warn(line)
        say(f"not released: {len(rows)} {'thing stands' if len(rows) == 1 else 'things stand'} in the way")
        return NOT_PASSED
    _show_diff(found.diff, f"release {found.parent}" if found.parent else "nothing before")
    _show_effects(found.effects)
    _show_found(found.found)
    for line in found.warnings:
        warn(line)
    counts = found.counts
    held = f", {counts.holdout_clusters} clusters held out" if counts.holdout_clusters else ""
    say("")
    say(f"{counts.active} active cases in {counts.clusters} clusters{held}")
    say("dry run: nothing was written" if found.number is None else f"release {found.number} is in {found.folder}")
    return 0


def releases(*, json: bool = False) -> int:
    """List the releases of the set.

    Args:
        json: Print JSON instead of a table.
    """
    found = list_releases(open_workspace(required=False))
    damaged = bool(found.unreadable) or any(one.damage for one in found.releases)
    if json:
        show_json(found)
        return NOT_PASSED if damaged else 0
    rows = []
    for one in found.releases:
        made = one.manifest
        state = "damaged" if one.damage else "withdrawn from" if made.withdrawals else ""
        rows.append((made.number, made.date, made.counts.active, made.counts.holdout_clusters, state, made.note))
    show(table(("release", "date", "active cases", "holdout clusters", "state", "note"), rows))
    for line in (*found.unreadable, *(line for one in found.releases for line in one.damage)):
        warn(line)
    if found.unreleased:
        say("")
        say(f"the head has changed since: {_counted(found.unreleased)}")
    return NOT_PASSED if damaged else 0


def diff(before: int | None = None, after: int | None = None, /, *, json: bool = False) -> None:
    """Say what changed between two releases, and whether the system or the exam moved the scores.

    Args:
        before: The earlier release; the newest when left out.
        after: The later release; the cases as they stand now when left out.
        json: Print JSON instead of a table.
    """
    request = make_request(DiffRequest, before=before, after=after)
    with Bars() as bars:
        found = compare_releases(open_workspace(required=False), request, progress=bars)
    if json:
        show_json(found)
        return
    _show_diff(found.diff, f"release {found.before}")
    _show_effects(found.effects)
    _show_found(found.found)
    for line in found.notes:
        warn(line)


def withdraw(*cases: str, reason: str = "", json: bool = False) -> None:
    """Erase cases from the set and from every release, for good; a tombstone stays.

    Args:
        cases: Ids of the cases; their paraphrases go with them.
        reason: Why; it is published in the manifest of each release.
        json: Print JSON instead of lines.
    """
    found = erase(open_workspace(required=False), make_request(WithdrawRequest, cases=cases, reason=reason))
    if json:
        show_json(found)
        return
    say(f"withdrawn: {', '.join(found.cases)}")
    if found.releases:
        say(f"tombstones in releases {', '.join(map(str, found.releases))}, and in the head")
    for name, count in found.dropped.items():
        say(f"{count} {name}")
    for line in found.notes:
        warn(line)
    if found.history is None:
        return
    for what, listed in (
        ("commits that brought the text in; later ones hold it until it is taken out", found.history.commits),
        ("branches and tags that still hold it", found.history.references),
        ("not looked at", found.history.unread),
        (
            "to take it out of the history; all but the first in a fresh clone, and everybody clones again",
            found.history.commands,
        ),
    ):
        if listed:
            say("")
            say(f"{what}:")
            for line in listed:
                say(f"  {line}")


def _show_diff(found: SetDiff, since: str) -> None:
    say(f"against {since}: {_counted(found) or 'no difference'}")
    if found.relabelled:
        more = len(found.relabelled) - NAMED
        say(f"relabelled: {', '.join(found.relabelled[:NAMED])}{f' and {more} more' if more > 0 else ''}")
    kinds = [change for change in CHANGES if getattr(found, change)]
    rows = [(row.axis, row.value, *(row.counts.get(kind, 0) or "" for kind in kinds)) for row in found.by]
    if rows:
        show(table(("type", "", *kinds), rows))


def _counted(found: SetDiff) -> str:
    return ", ".join(f"{len(ids)} {change}" for change in CHANGES if (ids := getattr(found, change)))


def _show_effects(effects: Iterable[Effect]) -> None:
    rows = [row for effect in effects for row in _effect_rows(effect)]
    if rows:
        say("")
        say("the newest kept runs on both; a run does not change, so what moves from before to after is the exam:")
        heads = ("retriever", "metric", "earlier run", "before", "after", "system", "exam", "not asked yet")
        show(table(heads, rows))


def _show_found(effects: Iterable[ItemEffect]) -> None:
    rows = [
        (
            one.retriever,
            one.metric,
            _figure(one.with_found),
            _figure(one.without_found),
            spoken(estimate_cell(one.moved, signed=True, reason="not defined on both")),
            "not known here" if one.own is None else one.own,
            "" if one.without_own is None else _figure(one.without_own),
        )
        for one in effects
    ]
    if rows:
        say("")
        say("labels found by item analysis: scores with, without, and without golds only that system put forward:")
        show(table(("retriever", "metric", "with", "without", "moved", "only its own", "without these"), rows))


def _effect_rows(effect: Effect) -> Iterator[tuple[str | int, ...]]:
    yield (
        effect.retriever,
        effect.metric,
        "" if effect.earlier is None else _figure(effect.earlier),
        _figure(effect.before),
        _figure(effect.after),
        _moved(effect.system),
        _moved(effect.exam),
        effect.not_asked or "",
    )


def _figure(estimate: Estimate) -> str:
    if estimate.value is None:
        return f"– ({estimate.reason})"
    interval = "" if estimate.low is None or estimate.high is None else f" [{estimate.low:.2f}, {estimate.high:.2f}]"
    return f"{estimate.value:.3f}{interval} (n {estimate.n})"


def _moved(value: float | None) -> str:
    return "" if value is None else f"{value:+.3f}"
