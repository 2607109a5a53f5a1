"""What a release measures and notes about its golds."""

from collections.abc import Sequence
from typing import NamedTuple

from findback.corpus.corpus import Corpus
from findback.corpus.duplicates import find_duplicates
from findback.evalset.release import GoldDocument, MeasuredGold
from findback.measure.comparable import explain
from findback.measure.wordings import Measured, Wording
from findback.measure.yardstick import choose_window
from findback.model.case import Case, Judgement
from findback.model.document import Document
from findback.model.hits import Span
from findback.model.protocols import SILENT, Progress
from findback.steps.wording import Worded, drawn_from
from findback.text.words import TOKENIZER_VERSION

NO_DOCUMENTS = "the documents were not at hand"
NO_DOCUMENT = "it is no document of the corpus"


class Measurement(NamedTuple):
    """What was found about the golds of a set."""

    measured: tuple[MeasuredGold, ...]
    documents: tuple[GoldDocument, ...]
    outside: tuple[str, ...] | None
    """Gold that is no document of the corpus; None where there was no corpus to check against."""


def measure_golds(
    cases: Sequence[Case], corpus: Corpus | None, *, seed: int, progress: Progress = SILENT
) -> Measurement:
    """Return leak and overlap of every case with each of its golds, and the digests of the gold documents."""
    golds = [(case, judgement) for case in cases for judgement in case.gold]
    ids = sorted({judgement.doc for _, judgement in golds})
    if corpus is None:
        rows = [_row(case, judgement, None, None, NO_DOCUMENTS) for case, judgement in golds]
        return Measurement(tuple(_once(rows)), tuple(GoldDocument(id=id_, sha256=None) for id_ in ids), None)
    found = {id_: _find(corpus, id_) for id_ in ids}
    digests = {id_: None if one is None else corpus.text_digests[one.id] for id_, one in found.items()}
    return Measurement(
        tuple(_once(_measure(golds, found, corpus, seed, progress))),
        tuple(GoldDocument(id=id_, sha256=digests[id_]) for id_ in ids),
        tuple(id_ for id_, one in found.items() if one is None),
    )


def _find(corpus: Corpus, reference: str) -> Document | None:
    named = corpus.resolve(reference)
    return None if named is None else corpus.get(named)


def _measure(
    golds: Sequence[tuple[Case, Judgement]],
    found: dict[str, Document | None],
    corpus: Corpus,
    seed: int,
    progress: Progress,
) -> list[MeasuredGold]:
    places = {document.id: place for place, document in enumerate(corpus)}
    wordings: list[Wording] = []
    of_gold: dict[int, int] = {}
    for at, (case, judgement) in enumerate(golds):
        document = found[judgement.doc]
        if document is not None:
            of_gold[at] = len(wordings)
            wordings.append(_word(case, judgement, document, places[document.id]))
    window = choose_window([len(wording.gold) for wording in wordings]).window
    rows: Sequence[Measured] = ()
    if wordings and window is not None:
        groups = find_duplicates(corpus, progress=progress).groups
        rows = drawn_from(corpus, Worded((), (), ()), groups).measure(wordings, window=window, seed=seed).rows
    return [
        _row(case, judgement, rows[of_gold[at]] if at in of_gold else None, window, NO_DOCUMENT)
        for at, (case, judgement) in enumerate(golds)
    ]


def _word(case: Case, judgement: Judgement, document: Document, place: int) -> Wording:
    start = document.text.find(judgement.anchor) if judgement.anchor else -1
    anchor = Span(start, start + len(judgement.anchor)) if judgement.anchor and start >= 0 else None
    return Wording(
        case.query,
        document.text,
        document=place,
        anchor=anchor,
        language=case.language,
        gold_language=document.language,
    )


def _row(case: Case, judgement: Judgement, row: Measured | None, window: int | None, lost: str) -> MeasuredGold:
    leak, overlap = (row.leak, row.overlap) if row is not None else (None, None)
    return MeasuredGold(
        case=case.id,
        doc=judgement.doc,
        leak=None if leak is None else leak.value,
        leak_reason=lost if leak is None else explain(leak.unmeasurable) if leak.unmeasurable else None,
        overlap=None if overlap is None else overlap.value,
        overlap_reason=lost if overlap is None else explain(overlap.unmeasurable) if overlap.unmeasurable else None,
        window=None if row is None else window,
        tokenizer=TOKENIZER_VERSION,
    )


def _once(rows: Sequence[MeasuredGold]) -> list[MeasuredGold]:
    """Return a row a case and document: one that answers several parts is measured once."""
    return list({(row.case, row.doc): row for row in reversed(rows)}.values())
