"""What newer documents and lost words say about cases."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator

import numpy as np

from findback.corpus.corpus import Corpus
from findback.corpus.duplicates import find_duplicates
from findback.measure.overlap import measure_overlap
from findback.model.case import Case
from findback.model.document import Document
from findback.model.protocols import SILENT, Progress
from findback.model.stale import Staleness
from findback.steps.gaps import open_near
from findback.steps.refresh_past import Past, list_newer
from findback.text.runs import Hashes, WordHashes
from findback.text.stems import stem, stem_all
from findback.text.words import words
from findback.workspace import Workspace

FIRST = 3
"""Ranks among which a newer document must come for a question that had no answer."""
LEAST = 0.5
"""Share of such a question's content words of which the document must hold more."""
SHORTEST = 3
"""Letters of a word whose loss is worth saying."""


def find_later(cases: Iterable[Case], past: Past, documents: Corpus) -> Iterator[Staleness]:
    """Yield cases with a part whose every document was written in a later month than the question was asked.

    A page that says it was created after a release that held its very text was only moved since.
    """
    earlier = [(one.snapshot.taken, frozenset(one.snapshot.documents.values())) for one in past.remembered.values()]
    for case in cases:
        parts: dict[int, list[Document | None]] = defaultdict(list)
        for judgement in case.gold:
            parts[judgement.part].append(_find(documents, judgement.doc))
        for part, found in parts.items():
            created = [(one.created, one) for one in found if one is not None and one.created is not None]
            if len(created) < len(found) or not all(f"{at:%Y-%m}" > case.seen_on for at, _ in created):
                continue
            moment, first = min(created, key=lambda pair: pair[0])
            if any(
                taken < at and documents.text_digests[one.id] in digests
                for at, one in created
                for taken, digests in earlier
            ):
                continue
            yield Staleness(
                case=case.id,
                kind="answered-later",
                document=first.id,
                part=part,
                proposal="look",
                why=f"it was written in {moment:%Y-%m}, the question was asked in {case.seen_on}:"
                " no search could have found it then",
            )


def find_answers(
    workspace: Workspace,
    cases: Iterable[Case],
    past: Past,
    documents: Corpus,
    moved: Collection[str],
    *,
    progress: Progress = SILENT,
) -> list[Staleness]:
    """Return, for cases that nothing answered, documents new or changed since that keyword search ranks first.

    The whole corpus is ranked, so that a new document is only named where it comes before what was there already, and
    only where it holds more than half of the question's words. It is a proposal: somebody has to read it. Documents
    in `moved` are old texts at new places.
    """
    asked = [case for case in cases if case.answer == "no-answer"]
    newer = {release: list_newer(past, documents, release) for release in {case.added_in for case in asked}}
    asked = [case for case in asked if newer[case.added_in]]
    if not asked:
        return []
    with open_near(workspace, documents, most=FIRST, progress=progress) as near:
        ranked = near([case.query for case in asked])
    found = []
    for case, nearest in zip(asked, ranked, strict=True):
        judged = {one.doc for one in case.judged}
        new = [
            one
            for one in nearest
            if one in newer[case.added_in]
            and one not in judged
            and one not in moved
            and _fits(case, documents.get(one))
        ]
        found += [
            Staleness(
                case=case.id,
                kind="may-answer",
                document=name,
                proposal="look",
                why=f"it is new or changed since release {case.added_in or past.newest.number}, and keyword search"
                f" ranks it {nearest.index(name) + 1}",
            )
            for name in new
        ]
    return found


def find_superseded(
    cases: Iterable[Case], past: Past, documents: Corpus, moved: Collection[str], *, progress: Progress = SILENT
) -> list[Staleness]:
    """Return golds of which a near-duplicate has been written since: it may answer as well, or better.

    Only golds and new documents are compared. Documents that the case judges, or that somebody confirmed to be the
    same, are no news; neither are those in `moved`, which are old documents at new places.
    """
    listed = list(cases)
    newer = {
        release: list_newer(past, documents, release, changed=False).difference(moved)
        for release in {case.added_in for case in listed}
    }
    twins = _find_twins(listed, documents, frozenset().union(*newer.values()), progress)
    found = []
    for case in listed if twins else ():
        judged = {documents.resolve(one.doc) or one.doc for one in case.judged}
        for gold in case.gold:
            name = documents.resolve(gold.doc) or gold.doc
            targets = tuple(
                twin
                for twin in twins.get(name, ())
                if twin in newer[case.added_in] and twin not in judged and not _are_same(documents, name, twin)
            )
            if targets:
                found.append(
                    Staleness(
                        case=case.id,
                        kind="superseded",
                        document=gold.doc,
                        part=gold.part,
                        targets=targets,
                        proposal="look",
                        why=f"{targets[0]} says nearly the same, and is new since release"
                        f" {case.added_in or past.newest.number}",
                    )
                )
    return found


def _find_twins(
    cases: Iterable[Case], documents: Corpus, newer: frozenset[str], progress: Progress
) -> dict[str, tuple[str, ...]]:
    """Return the near-duplicates among newer documents of each gold that has some."""
    golds = {name for case in cases for one in case.gold if (name := documents.resolve(one.doc)) is not None}
    if not golds or not newer:
        return {}
    compared = (one for name in sorted(golds | newer) if (one := documents.get(name)) is not None)
    groups = find_duplicates(compared, progress=progress).groups
    members: dict[str, list[str]] = defaultdict(list)
    for name in sorted(newer & groups.keys()):
        members[groups[name]].append(name)
    return {
        gold: tuple(twin for twin in members[groups[gold]] if twin != gold)
        for gold in sorted(golds & groups.keys())
        if members[groups[gold]]
    }


def _are_same(documents: Corpus, one: str, other: str) -> bool:
    """Return whether somebody confirmed that two documents are the same."""
    return one in documents.same and documents.same[one] == documents.same.get(other)


def find_vanished(cases: Iterable[Case], past: Past, met: WordHashes) -> Iterator[Staleness]:
    """Yield cases whose questions hold words that the documents of their release had, and that no document has now.

    A word of which another form is still there has not vanished.
    """
    vocabularies = {number: one.words for number, one in past.remembered.items() if len(one.words)}
    if not vocabularies:
        return
    oldest, numbers = min(vocabularies), sorted(vocabularies)
    now: dict[str, frozenset[str]] = {}
    for case in cases:
        then = vocabularies[next((one for one in numbers if one >= (case.added_in or oldest)), numbers[-1])]
        asked = [word for word in dict.fromkeys(words(case.query)) if len(word) >= SHORTEST and word not in met]
        lost = [word for word in asked if _holds(then, WordHashes()[word])]
        if lost and case.language not in now:
            now[case.language] = frozenset(stem_all(list(met), case.language))
        terms = tuple(word for word in lost if stem(word, case.language) not in now[case.language])
        if terms:
            yield Staleness(
                case=case.id,
                kind="vanished-terms",
                document=None,
                proposal="look",
                terms=terms,
                why="words of the question are in no document any more",
            )


def _fits(case: Case, document: Document | None) -> bool:
    if document is None:
        return False
    share = measure_overlap(case.query, document.text, language=case.language, gold_language=document.language).ratio
    return share is not None and share > LEAST


def _find(documents: Corpus, reference: str) -> Document | None:
    name = documents.resolve(reference)
    return None if name is None else documents.get(name)


def _holds(sorted_numbers: Hashes, number: int) -> bool:
    place = int(np.searchsorted(sorted_numbers, np.uint64(number)))
    return place < len(sorted_numbers) and int(sorted_numbers[place]) == number
