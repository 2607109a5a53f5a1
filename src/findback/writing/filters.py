"""The filters in their order: form, leak or match, fidelity, ambiguity. Novelty follows in the order of the sample."""

from typing import NamedTuple

from findback.model.document import Document
from findback.model.written import Fidelity, Rejection
from findback.writing.ambiguity import find_alternatives
from findback.writing.around import Around
from findback.writing.fidelity import Judging, choose_others, decide, judge
from findback.writing.form import ANY_SENTENCES, reject_form
from findback.writing.leaking import Leaking
from findback.writing.matching import UNMEASURABLE, Quotas

__all__ = ["Around", "Checked", "Filters", "Wanted"]


class Wanted(NamedTuple):
    """What the writer was told to write."""

    language: str | None
    """ISO 639-1 code of the language; None where the document's is unknown."""
    instructions: tuple[str, ...] = ()
    """Everything it was told, without the document: an answer that repeats it is no description."""
    sentences: tuple[int, int] = ANY_SENTENCES
    """Fewest and most sentences that the voice may have."""


class Checked(NamedTuple):
    """What the filters say about a text."""

    leak: float | None = None
    """None where it cannot be measured, or the form was wrong already."""
    overlap: float | None = None
    fidelity: Fidelity | None = None
    rejections: tuple[Rejection, ...] = ()
    """At most one: the filters stop at the first that rejects."""
    doubts: tuple[str, ...] = ()
    """Why a person has to look first."""
    alternatives: tuple[str, ...] = ()
    """Other documents that are gold as well."""


class Filters:
    """The filters of one run. Every text goes through all of them, a rewritten one again."""

    def __init__(self, leaking: Leaking, judging: Judging, *, leak_limit: float, quotas: Quotas | None = None) -> None:
        """Take what is the same for all texts.

        Args:
            leaking: Measures texts against documents.
            judging: How the judge is asked.
            leak_limit: Most leak, in [0, 1].
            quotas: Where given, texts are wanted by their overlap and not below a limit. Places are taken by
                `Quotas.offer` once novelty has spoken, never here: what is said here does not depend on which text
                was checked first.
        """
        self._leaking, self._judging = leaking, judging
        self._limit = None if quotas is not None else leak_limit
        self._quotas = quotas

    async def check(self, text: str, source: Document, around: Around, wanted: Wanted) -> Checked:
        """Return what the filters say about a text.

        Args:
            text: What was written.
            source: The document it was written from.
            around: What stands around that.
            wanted: What the writer was told.

        Raises:
            ItemFailedError: If the judge cannot answer about this text.
            StoppedError: If no further call can go well.
        """
        form = reject_form(
            text,
            language=wanted.language,
            source_text=source.text,
            instructions=wanted.instructions,
            sentences=wanted.sentences,
        )
        if form is not None:
            return Checked(rejections=(form,))
        checked = self._measure(text, source, wanted.language)
        return checked if checked.rejections else await self._judge(text, source, around, checked)

    def _measure(self, text: str, source: Document, language: str | None) -> Checked:
        measured, rejection, doubts = self._leaking.inspect(text, source, language, limit=self._limit)
        overlap = measured.overlap.value
        if self._quotas is not None:
            self._quotas.note(overlap)
            rejection = rejection or self._quotas.refuse(overlap)
            doubts = (*doubts, UNMEASURABLE) if overlap is None else doubts
        rejections = () if rejection is None else (rejection,)
        return Checked(measured.leak.value, overlap, rejections=rejections, doubts=doubts)

    async def _judge(self, text: str, source: Document, around: Around, checked: Checked) -> Checked:
        others = choose_others(source, around.nearest, around.fellows, around.duplicates)
        fidelity = await judge(self._judging, text, source, others, duplicates=around.duplicates)
        verdict = decide(fidelity, alone=not others)
        if verdict.rejection is not None:
            return checked._replace(fidelity=fidelity, rejections=(verdict.rejection,))
        ambiguity = find_alternatives(fidelity, around.duplicates)
        return checked._replace(
            fidelity=fidelity,
            rejections=() if ambiguity.rejection is None else (ambiguity.rejection,),
            doubts=(*checked.doubts, *verdict.doubts, *ambiguity.doubts),
            alternatives=ambiguity.alternatives,
        )
