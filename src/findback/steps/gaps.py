"""List what people looked for and no document answers, by theme: the pages nobody has written."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import numpy as np
from pydantic import Field

from findback.corpus.corpus import Corpus
from findback.errors import UsageError
from findback.evalset.clusters import find_alike
from findback.files import write_atomically
from findback.measure.clusters import join_by_gold
from findback.measure.rarity import RareWords
from findback.model.case import Case
from findback.model.gaps import Gap, Gaps, Nearby, Theme
from findback.model.protocols import SILENT, Progress, Query
from findback.model.record import LOCAL_ONLY, Request
from findback.model.settings import RetrieverSettings
from findback.reporting.gaps import render_gaps
from findback.retrievers.build import build_retriever
from findback.steps.caselist import open_head
from findback.steps.casemaking import WANTED_TAG
from findback.steps.misses import collapse
from findback.steps.opening import SetRequest, open_documents, surround
from findback.steps.targets import corpus_place, refuse_targets
from findback.steps.waiting import wait_for
from findback.text.stems import stem
from findback.text.words import words
from findback.workspace import Workspace

ALIKE = 0.5
"""Share of character runs two questions have in common, from which they are about the same thing."""
MOST_SHARED = 0.5
"""A word that more than this share of the questions hold is about the whole team, not about a theme."""
FEW = 6
"""Below this many questions every shared rare word is a theme."""
NEAREST = 3
TIMES = {"1": 1, "2-4": 2, "5-19": 5, "20+": 20}
"""How often a question was asked, at least."""
SUFFIXES: dict[str, Literal["md", "csv"]] = {".md": "md", ".csv": "csv"}

Near = Callable[[Sequence[str]], list[list[str]]]
"""Finds for each of some texts the documents that come nearest."""


class GapsRequest(Request):
    """List the questions that no document answers, by theme."""

    output: Annotated[Path | None, LOCAL_ONLY] = None
    """File to write, .md or .csv; a table is printed when left out."""
    nearest: Annotated[int, Field(ge=0, le=20)] = NEAREST
    """Documents to name beside each; 0 searches nothing."""


class _Unit(NamedTuple):
    """Questions that count as one."""

    cases: tuple[Case, ...]
    stems: frozenset[str]
    """Rare words that any of them holds."""

    @property
    def times(self) -> int:
        return sum(TIMES[case.asked] for case in self.cases)


def find_gaps(workspace: Workspace, request: GapsRequest, *, progress: Progress = SILENT) -> Gaps:
    """Return the questions of the set that no document answers, and write them where a file is named.

    Raises:
        UsageError: If the file's name says no format, or it is a document or part of the set.
        DataError: If head or documents cannot be read.
        StorageError: If the file cannot be written.
    """
    output = request.output
    form = SUFFIXES.get(output.suffix.lower()) if output is not None else None
    if output is not None and form is None:
        raise UsageError(f"cannot tell the format of {output.name}", hint="let -o end in .md or .csv")
    if output is not None:
        refuse_targets(workspace, (output,), read=(), corpus=corpus_place(workspace, SetRequest()))
    found = list_gaps(workspace)
    documents = open_documents(workspace, SetRequest(), progress=progress) if request.nearest and found.count else None
    if documents is not None:
        with open_near(workspace, documents, most=request.nearest, progress=progress) as near:
            found = add_nearest(found, documents, near)
    if output is not None and form is not None:
        write_atomically(output, render_gaps(found, form))
    return found


def list_gaps(workspace: Workspace) -> Gaps:
    """Return the questions that no document answers, without searching; what is held out is only counted.

    Raises:
        DataError: If the head has faults.
    """
    cases = [one for one in open_head(workspace).cases if one.status == "active" and one.answer == "no-answer"]
    shown = [one for one in cases if one.split == "dev"]
    return Gaps(
        workspace=workspace.settings.name,
        themes=tuple(group_themes(shown)),
        held_out=len(cases) - len(shown),
        documents=None,
    )


def group_themes(cases: Sequence[Case]) -> list[Theme]:
    """Return questions grouped by what they are about, the most asked theme first.

    Questions of one cluster, or nearly alike, count as one. Then the rare word that most of them share makes a
    theme, again and again; what is left stands alone. The same cases give the same themes, in any order.
    """
    waiting = _units(cases)
    common = _common(waiting)
    themes = []
    while waiting:
        holders: dict[str, list[_Unit]] = defaultdict(list)
        for unit in waiting:
            for one in unit.stems - common:
                holders[one].append(unit)
        best = max(holders, key=lambda one: (len(holders[one]), _times(holders[one]), _last_first(one)), default=None)
        if best is None or len(holders[best]) < 2:
            break
        themes.append(_theme(holders[best]))
        waiting = [unit for unit in waiting if unit not in holders[best]]
    themes += [_theme([unit]) for unit in waiting]
    return sorted(themes, key=lambda theme: (-theme.times, -len(theme.gaps), theme.gaps[0].case))


def add_nearest(gaps: Gaps, documents: Corpus, near: Near) -> Gaps:
    """Return the same with the documents that come nearest to each question."""
    queries = [gap.query for theme in gaps.themes for gap in theme.gaps]
    found = iter(near(queries))
    return with_nearest(gaps, documents, {gap.case: next(found) for theme in gaps.themes for gap in theme.gaps})


def with_nearest(gaps: Gaps, documents: Corpus, nearest: dict[str, list[str]]) -> Gaps:
    """Return the same with documents found before, by case; those that left the corpus are left out."""
    themes = tuple(
        theme.model_copy(update={"gaps": tuple(_with(gap, documents, nearest.get(gap.case)) for gap in theme.gaps)})
        for theme in gaps.themes
    )
    return gaps.model_copy(update={"themes": themes, "documents": len(documents)})


@contextmanager
def open_near(
    workspace: Workspace, documents: Corpus, *, most: int = NEAREST, progress: Progress = SILENT
) -> Iterator[Near]:
    """Open a search on this machine for the documents that come nearest to some texts."""
    surroundings = surround(workspace, documents, {}, progress)
    search = build_retriever("nearest", RetrieverSettings(kind="bm25"), surroundings)

    async def ask(texts: Sequence[str]) -> list[list[str]]:
        progress.start("Finding the nearest documents", len(texts))
        found = []
        for text in texts:
            hits = (await search.search(Query(text), most * 4)).hits
            found.append([hit.document for hit in collapse(hits)][:most])
            progress.advance()
        progress.finish()
        return found

    try:
        yield lambda texts: wait_for(ask(texts))
    finally:
        wait_for(search.close())


def _units(cases: Sequence[Case]) -> list[_Unit]:
    ordered = sorted(cases, key=lambda case: case.id)
    alike: dict[int, list[str]] = defaultdict(list)
    for number, pair in enumerate(find_alike([case.query for case in ordered], ALIKE)):
        for place in pair:
            alike[place].append(f"near {number}")
    keys = [(f"cluster {case.cluster}", *alike[place]) for place, case in enumerate(ordered)]
    joined = join_by_gold(np.arange(len(ordered), dtype=np.int64), keys).tolist() if ordered else []
    members: dict[int, list[Case]] = defaultdict(list)
    for group, case in zip(joined, ordered, strict=True):
        members[group].append(case)
    return [_Unit(tuple(group), frozenset().union(*map(rare_stems, group))) for group in members.values()]


def rare_stems(case: Case) -> frozenset[str]:
    """Return the stems of a question's rare words."""
    rare = RareWords(case.language)
    stems = {word: stem(word, case.language) for word in words(case.query)}
    return frozenset(stemmed for word, stemmed in stems.items() if rare.is_rare(word, stemmed))


def _common(units: Sequence[_Unit]) -> frozenset[str]:
    if len(units) < FEW:
        return frozenset()
    counted: dict[str, int] = defaultdict(int)
    for unit in units:
        for one in unit.stems:
            counted[one] += 1
    return frozenset(one for one, count in counted.items() if count > MOST_SHARED * len(units))


def _times(units: Sequence[_Unit]) -> int:
    return sum(unit.times for unit in units)


def _last_first(stemmed: str) -> tuple[int, ...]:
    """Return what makes the alphabetically first of two stems the greater one."""
    return (*(-ord(letter) for letter in stemmed), 0)


def _theme(units: Sequence[_Unit]) -> Theme:
    cases = sorted((case for unit in units for case in unit.cases), key=lambda case: (-TIMES[case.asked], case.id))
    return Theme(
        words=_shared_words(cases) if len(cases) > 1 else (), gaps=tuple(map(_gap, cases)), times=_times(units)
    )


def _shared_words(cases: Sequence[Case]) -> tuple[str, ...]:
    """Return the rare words of the first question whose stems all of them hold, in its order."""
    shared = frozenset.intersection(*map(rare_stems, cases))
    first = cases[0]
    named = {stem(word, first.language): word for word in reversed(words(first.query))}
    return tuple(
        dict.fromkeys(named[stem(w, first.language)] for w in words(first.query) if stem(w, first.language) in shared)
    )


def _gap(case: Case) -> Gap:
    return Gap(
        case=case.id,
        query=case.query,
        reason=case.no_answer_reason or "",
        asked=case.asked,
        wanted=WANTED_TAG in case.tags,
        seen_on=case.seen_on,
    )


def _with(gap: Gap, documents: Corpus, found: Sequence[str] | None) -> Gap:
    if found is None:
        return gap
    known = [document for one in found if (document := documents.get(one)) is not None]
    return gap.model_copy(update={"nearest": tuple(Nearby(document=one.id, title=one.title) for one in known)})
