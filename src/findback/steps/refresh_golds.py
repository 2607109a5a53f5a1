"""What became of every gold of a set: where its document, its text and its quote are now."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from findback.corpus.corpus import Corpus, digest_text
from findback.measure.fates import Fate, Holder, judge_changed, judge_removed
from findback.model.case import Case, Judgement
from findback.model.document import Document
from findback.model.protocols import SILENT, Progress
from findback.steps.refresh_past import Past, PastGold, stand
from findback.steps.refresh_places import Looked, Place, look_through, weigh, weigh_together
from findback.steps.refresh_scope import Scope
from findback.text.reattach import attach_anchor
from findback.text.runs import Hashes, WordHashes

_NO_TEXT = digest_text("")


class Label(NamedTuple):
    """A gold of a case."""

    case: Case
    judgement: Judgement


class Sighted(NamedTuple):
    """A gold, and what became of it."""

    label: Label
    fate: Fate
    there: bool
    """Whether the document is still there."""


class _Sought(NamedTuple):
    """A gold that has to be looked for."""

    label: Label
    past: PastGold | None
    here: Document | None
    named: Document | None
    text: int | None
    """Number of its text among what is looked for; None where it is not remembered."""
    anchor: int | None


def sight_golds(
    cases: Iterable[Case], past: Past, documents: Corpus, scope: Scope, *, progress: Progress = SILENT
) -> tuple[list[Sighted], Looked]:
    """Return what became of every gold of some cases, and what looking through the documents gave.

    Args:
        cases: Active ones that are no paraphrase.
        past: What is known of earlier releases.
        documents: The corpus as it is now.
        scope: Which documents are looked through.
        progress: Shows how far it has come.
    """
    return _Sighting(past, documents).sight(cases, scope, progress)


class _Sighting:
    def __init__(self, past: Past, documents: Corpus) -> None:
        self._past, self._documents = past, documents
        self._digests = documents.text_digests
        self._hashes = WordHashes()
        self._texts: list[Hashes] = []
        self._numbers: dict[tuple[str, str | None], int] = {}
        self._weights: dict[tuple[str, str], tuple[float, float]] = {}

    def sight(self, cases: Iterable[Case], scope: Scope, progress: Progress) -> tuple[list[Sighted], Looked]:
        found: list[Sighted | _Sought] = [
            self._sight(Label(case, judgement)) for case in cases for judgement in case.gold
        ]
        looked = look_through(self._documents, self._texts, scope, progress=progress)
        by_text: dict[str, list[str]] = defaultdict(list)
        for name, digest in self._digests.items():
            if digest != _NO_TEXT:
                by_text[digest].append(name)
        judged = [one if isinstance(one, Sighted) else self._judge(one, looked, by_text) for one in found]
        return self._join_merged(judged), looked

    def _join_merged(self, sighted: Sequence[Sighted]) -> list[Sighted]:
        """Return the same with golds of different texts that moved to one document told as merged."""
        claims: dict[str, set[str]] = defaultdict(set)
        for one in sighted:
            past = self._past.gold_of(one.label.judgement.doc, one.label.case.added_in)
            if one.fate.kind == "moved" and past is not None:
                claims[one.fate.targets[0]].add(past.sha256)
        return [
            one._replace(fate=one.fate._replace(kind="merged", certain=False))
            if one.fate.kind == "moved" and len(claims[one.fate.targets[0]]) > 1
            else one
            for one in sighted
        ]

    def _sight(self, label: Label) -> Sighted | _Sought:
        """Return what can be said of a gold without looking through the documents, or what to look for."""
        gold, anchor = label.judgement.doc, label.judgement.anchor
        past = self._past.gold_of(gold, label.case.added_in)
        here, named = self._find(gold, past)
        if here is not None:
            same = past is None or self._digests[here.id] == past.sha256
            if same and (anchor is None or anchor in here.text):
                return Sighted(label, Fate("exact"), there=True)
            fate = judge_changed(self._hold(here, past, anchor), (), together=None)
            if fate.kind in ("exact", "edited"):
                return Sighted(label, fate, there=True)
        runs = past.runs if past is not None else None
        return _Sought(
            label,
            past,
            here,
            named,
            None if runs is None else self._number(gold, None, runs),
            None if anchor is None else self._number(gold, anchor, self._hashes.hash_runs(anchor)),
        )

    def _find(self, gold: str, past: PastGold | None) -> tuple[Document | None, Document | None]:
        """Return the document of a gold's id, and else what its old name leads to."""
        here = self._documents.get(gold)
        if here is not None:
            return here, None
        name = self._documents.resolve(gold)
        found = None if name is None else self._documents.get(name)
        snapshot = self._past.snapshot_of(past.release if past is not None else None)
        if found is not None and past is not None and snapshot is not None and gold not in snapshot.documents:
            # The label named the document by another of its names from the start.
            return found, None
        return None, found

    def _number(self, gold: str, anchor: str | None, runs: Hashes) -> int:
        key = (gold, anchor)
        if key not in self._numbers:
            self._numbers[key] = len(self._texts)
            self._texts.append(runs)
        return self._numbers[key]

    def _judge(self, sought: _Sought, looked: Looked, by_text: Mapping[str, Sequence[str]]) -> Sighted:
        anchor, past = sought.label.judgement.anchor, sought.past
        apart = {one.id for one in (sought.here, sought.named) if one is not None}
        others = [
            self._hold(document, past, anchor)
            for name in _list_names(looked.places, sought)
            if name not in apart and (document := self._documents.get(name)) is not None
        ]
        together = self._weigh_together(sought, others)
        if sought.here is not None:
            here = self._hold(sought.here, past, anchor)
            return Sighted(sought.label, judge_changed(here, others, together=together), there=True)
        named = None if sought.named is None else self._hold(sought.named, past, anchor)
        same = by_text.get(past.sha256, ()) if past is not None else ()
        fate = judge_removed(same, named, others, together=together)
        if sought.text is None and sought.anchor is None and fate.kind == "gone":
            fate = fate._replace(share=None)
        return Sighted(sought.label, fate, there=False)

    def _hold(self, document: Document, past: PastGold | None, anchor: str | None) -> Holder:
        snapshot = self._past.snapshot_of(past.release if past is not None else None)
        text, fill = self._weigh(document, past)
        return Holder(
            document.id,
            stand(document.id, self._digests, snapshot),
            text,
            fill,
            None if anchor is None else attach_anchor(anchor, document.text),
        )

    def _weigh(self, document: Document, past: PastGold | None) -> tuple[float | None, float | None]:
        if past is None or past.runs is None or not len(past.runs):
            return None, None
        key = (past.sha256, document.id)
        if key not in self._weights:
            self._weights[key] = weigh(past.runs, document, self._hashes)
        return self._weights[key]

    def _weigh_together(self, sought: _Sought, others: Sequence[Holder]) -> float | None:
        runs = sought.past.runs if sought.past is not None else None
        if runs is None:
            return None
        came = (self._documents.get(one.document) for one in others if one.standing != "unchanged")
        holders = [one for one in (sought.here, sought.named, *came) if one is not None]
        return weigh_together(runs, holders, self._hashes)


def _list_names(places: Sequence[Sequence[Place]], sought: _Sought) -> list[str]:
    numbers = [number for number in (sought.text, sought.anchor) if number is not None]
    return list(dict.fromkeys(one.document for number in numbers for one in places[number]))
