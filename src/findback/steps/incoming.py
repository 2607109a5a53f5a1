"""Is the exam still like the questions? What came in since, against the newest release."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime

from findback.corpus.corpus import Corpus
from findback.evalset.release import read_release, release_folder
from findback.measure.paired import adjust_holm
from findback.measure.shares import ShareDifference, Shares, compare_shares, judge_shares
from findback.model.incoming import Incoming, IncomingFacet, IncomingKind, IncomingMonth, Likeness
from findback.model.protocols import SILENT, Progress
from findback.steps.expected import NEAR, ExamWords
from findback.steps.gaps import open_near
from findback.steps.incomingfacets import (
    Table,
    tabulate_languages,
    tabulate_overlap,
    tabulate_subjects,
    tabulate_wordings,
    tabulate_words,
)
from findback.steps.incomingsides import Asked, take_exam, take_incoming
from findback.steps.opening import newest_release
from findback.workbench.store import Workbench
from findback.workspace import Workspace

SHOWN = 8
"""Kinds of a facet that are listed."""
MONTHS = 12
UNLIKELY = 0.05
NO_DOCUMENTS = "no documents were at hand: subjects, and overlap with what answers, are not compared"


def compare_incoming(
    workspace: Workspace, bench: Workbench, documents: Corpus | None, *, made: datetime, progress: Progress = SILENT
) -> Incoming | None:
    """Return whether what comes in is still like the newest release; None before the first.

    Each facet is tested by dealing whole clusters at random, and the facets' chances are adjusted together (Holm).

    Raises:
        DataError: If the release is not as it was published.
    """
    number = newest_release(workspace)
    if number is None:
        return None
    cases = read_release(release_folder(workspace.evalset, number)).content.cases
    released = take_exam(cases, documents)
    exam = ExamWords(case for case in cases if case.status == "active")
    incoming = [
        one._replace(nearness=exam.nearness(one.query, one.language)) for one in take_incoming(bench, documents)
    ]
    seed = workspace.settings.measures.seed
    tables = _tabulate(workspace, incoming, released, documents, progress)
    found = [_compare(table, seed) for table in tables]
    tested = [place for place, shares in enumerate(found) if shares.p is not None]
    adjusted = dict(zip(tested, adjust_holm([found[place].p or 0.0 for place in tested]), strict=True))
    facets = tuple(
        _facet(table, shares, adjusted.get(place))
        for place, (table, shares) in enumerate(zip(tables, found, strict=True))
    )
    return Incoming(
        release=number,
        questions=len(incoming),
        flagged=sum(one.flagged for one in incoming),
        clusters=len({one.cluster for one in incoming}),
        cases=len(released),
        case_clusters=len({one.cluster for one in released}),
        likeness=join_likeness(facets),
        facets=facets,
        months=_months(incoming, documents),
        made=made,
        seed=seed,
        notes=() if documents is not None else (NO_DOCUMENTS,),
    )


def join_likeness(facets: Sequence[IncomingFacet]) -> Likeness:
    """Return what the facets say together: apart where one is, alike where all are that could be tested."""
    if any(one.likeness == "apart" for one in facets):
        return "apart"
    tested = [one for one in facets if one.p is not None]
    return "alike" if tested and all(one.likeness == "alike" for one in tested) else "cannot tell"


def _tabulate(
    workspace: Workspace,
    incoming: Sequence[Asked],
    released: Sequence[Asked],
    documents: Corpus | None,
    progress: Progress,
) -> list[Table]:
    tables = [tabulate_wordings(incoming, released)]
    if documents is not None and incoming:
        with open_near(workspace, documents, most=1, progress=progress) as near:
            tables.append(tabulate_subjects(incoming, released, documents, near))
    tables.append(tabulate_words(incoming, released, documents))
    if documents is not None and incoming:
        tables.append(tabulate_overlap(incoming, released, documents, seed=workspace.settings.measures.seed))
    return [*tables, tabulate_languages(incoming, released)]


def _compare(table: Table, seed: int) -> Shares:
    return compare_shares(table.incoming, table.released, table.incoming_clusters, table.released_clusters, seed=seed)


def _facet(table: Table, shares: Shares, p: float | None) -> IncomingFacet:
    likeness = judge_shares(shares, p)
    named = [(name, one) for name, one in zip(table.names, shares.kinds, strict=False) if name is not None]
    kinds = sorted(
        (_kind(name, one, likeness, table) for name, one in named),
        key=lambda kind: (kind.p, -abs(kind.incoming - kind.released)),
    )
    return IncomingFacet(
        facet=table.facet,
        likeness=likeness,
        p=p,
        basis=table.basis,
        incoming=shares.first,
        released=shares.second,
        unknown=table.unknown,
        widest=shares.widest,
        kinds=tuple(kinds[:SHOWN]),
        more=len(shares.kinds) - min(len(kinds), SHOWN),
        reason=shares.reason,
    )


def _kind(name: str, found: ShareDifference, likeness: Likeness, table: Table) -> IncomingKind:
    # The set lacks questions with little overlap where overlap is high in it: that is no kind to go and look for.
    lacking = likeness == "apart" and found.p <= UNLIKELY and found.difference > 0 and table.facet != "overlap"
    return IncomingKind(
        name=name,
        incoming=found.first,
        released=found.second,
        low=found.low,
        high=found.high,
        p=found.p,
        lacking=lacking,
    )


def _months(incoming: Sequence[Asked], documents: Corpus | None) -> tuple[IncomingMonth, ...]:
    by_month: dict[str, list[Asked]] = defaultdict(list)
    for one in incoming:
        if one.month:
            by_month[one.month].append(one)
    return tuple(
        IncomingMonth(
            month=month,
            questions=len(asked),
            flagged=sum(one.flagged for one in asked),
            near=sum(one.nearness >= NEAR for one in asked),
            subject=_main_subject(asked, documents),
        )
        for month, asked in sorted(by_month.items())[-MONTHS:]
    )


def _main_subject(asked: Sequence[Asked], documents: Corpus | None) -> str | None:
    if documents is None:
        return None
    found = (documents.get(gold) for one in asked for gold in one.golds[:1])
    counted = Counter(one.subject for one in found if one is not None and one.subject)
    return min(counted, key=lambda name: (-counted[name], name), default=None)
