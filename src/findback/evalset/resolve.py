"""Gold, as a set names it, met with the documents of a corpus."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from findback.evalset.extra import best_grades
from findback.evalset.joins import Join, Nearest, nearest_ids, suggest_join
from findback.evalset.mapping import ANCHOR_LIMIT
from findback.evalset.textfile import shown
from findback.evalset.textmatch import CONTAINMENT, Place, find_quote, place_texts
from findback.model.case import Judgement
from findback.model.protocols import Documents, Redactor
from findback.model.question import Question, QuestionSet

UNCHECKED = "gold was not checked against documents: no corpus was given"
"""Noted until a set meets a corpus."""
MUCH = 0.1
"""Share of unresolved gold above which examples and the joining option are looked for."""
EXAMPLES = 3

_SEPARATORS = ("\n", ";", "|", ",")
_TEXT_SHOWN = 80
_QUOTE = "“"


class Resolution(NamedTuple):
    """A set whose gold has met a corpus."""

    set: QuestionSet
    """With document ids in the judgements; what met nothing is in `unresolved`."""
    ways: dict[str, int]
    """Gold references that resolved, by how: id, URL, alias, title, list, text, shingles."""
    references: int
    """Gold references in all; a gold text without a document counts as one."""
    dangling: tuple[str, ...]
    """Distinct references that are no document, in order."""
    examples: tuple[Nearest, ...]
    """A few of them beside their nearest ids, where more than a tenth dangles."""
    join: Join | None
    """What would join them, where something does."""

    @property
    def unresolved_share(self) -> float | None:
        """Return the share of gold that met nothing, in [0, 1]; None when the set names none."""
        resolved = sum(self.ways.values())
        return (self.references - resolved) / self.references if self.references else None


class _Named(NamedTuple):
    """Where a reference leads."""

    documents: tuple[str, ...]
    way: str


def resolve(
    questions: QuestionSet,
    documents: Documents | None,
    *,
    containment: float = CONTAINMENT,
    redactor: Redactor | None = None,
) -> Resolution:
    """Return the set with gold as document ids: by id, address, alias, title, and then by text.

    Gold that is text only stays beside the ids, so that wording can be measured without a corpus, too.

    Args:
        questions: A set as it was read.
        documents: The corpus; without one nothing is resolved.
        containment: Least share of a gold text's runs of words that its document must hold, in (0, 1].
        redactor: Goes over references before they are shown.
    """
    if documents is None:
        return Resolution(_with_notes(questions, [UNCHECKED]), {}, 0, (), (), None)
    names = _resolve_names(questions.questions, documents)
    places = place_texts(_texts_to_place(questions.questions, names), documents, containment=containment)
    work = _Work(names, places, documents)
    done = [work.resolve(question) for question in questions.questions]
    ways, lost_anchors = work.ways, work.lost_anchors
    unresolved = sum(len(question.unresolved) for question in done)
    references = sum(ways.values()) + unresolved
    examples: tuple[Nearest, ...] = ()
    join = None
    if references and unresolved / references > MUCH:
        lost = [reference for reference in _list_unresolved(done) if not reference.startswith(_QUOTE)]
        examples = nearest_ids(lost[:EXAMPLES], documents)
        join = suggest_join(lost, documents)
    if redactor is not None:
        done = [_redact_unresolved(question, redactor) for question in done]
        examples = tuple(example._replace(reference=redactor.redact(example.reference).text) for example in examples)
    updated = questions.model_copy(update={"questions": tuple(done)})
    resolution = Resolution(updated, dict(ways), references, _list_unresolved(done), examples, join)
    notes = _notes(resolution, unresolved, lost_anchors)
    return resolution._replace(set=_with_notes(updated, notes))


def _list_unresolved(questions: Iterable[Question]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(reference for question in questions for reference in question.unresolved))


def _redact_unresolved(question: Question, redactor: Redactor) -> Question:
    """Return the question with references fit to be shown: they lead nowhere, so nothing joins on them."""
    if not question.unresolved:
        return question
    clean = {reference: redactor.redact(reference).text for reference in question.unresolved}
    judged = tuple(
        judgement.model_copy(update={"doc": clean.get(judgement.doc, judgement.doc)})
        for judgement in question.judged or ()
    )
    return question.model_copy(
        update={
            "unresolved": tuple(clean.values()),
            "judged": judged if question.judged is not None else None,
        }
    )


class _Work:
    """The resolving of one question after the other."""

    def __init__(self, names: dict[str, _Named], places: dict[str, Place], documents: Documents) -> None:
        self.names = names
        self.places = places
        self.documents = documents
        self.judged: list[Judgement] = []
        self.unresolved: list[str] = []
        self.lost: list[Judgement] = []
        """Gold that is no document: it stays gold, which search cannot find."""
        self.ways: Counter[str] = Counter()
        """How the gold of all questions so far resolved."""
        self.lost_anchors = 0

    def resolve(self, question: Question) -> Question:
        """Return the question with what its gold leads to."""
        self.question = question
        self.judged, self.unresolved, self.lost = [], [], []
        counted: set[str] = set()
        for judgement in self.question.judged or ():
            self._resolve_judgement(judgement, counted)
        placed = 0
        if not any(judgement.grade for judgement in self.judged):
            placed = self._resolve_texts()
        if self.unresolved and placed >= len(self.unresolved):
            # The texts stand for the same gold as the names that led nowhere.
            self.unresolved, self.lost = [], []
        settled = _settle([*self.judged, *self.lost])
        judged = settled if self.question.judged is not None or settled else None
        if judged == self.question.judged and not self.unresolved:
            return self.question
        unresolved = (*self.question.unresolved, *dict.fromkeys(self.unresolved))
        return self.question.model_copy(update={"judged": judged, "unresolved": unresolved})

    def _resolve_judgement(self, judgement: Judgement, counted: set[str]) -> None:
        named = self.names.get(judgement.doc)
        first = judgement.doc not in counted
        counted.add(judgement.doc)
        if named is not None:
            for document in named.documents:
                moved = judgement if judgement.doc == document else judgement.model_copy(update={"doc": document})
                self.judged.append(self._with_quote(moved))
            if first and judgement.grade:
                self.ways[named.way] += 1
        elif not judgement.grade:
            # Known not to be an answer: outside the corpus that says nothing, and costs nothing to keep.
            self.judged.append(judgement)
        elif (
            judgement.anchor is None or not self._take_matches(judgement.anchor, judgement, count=first)
        ) and judgement.doc not in self.unresolved:
            self.unresolved.append(judgement.doc)
            self.lost.append(judgement)

    def _resolve_texts(self) -> int:
        placed = 0
        named_only = bool(self.unresolved)
        for text in self.question.gold_texts:
            judgement = Judgement(doc="?", grade=1, found_by="import")
            if self._take_matches(text, judgement, count=True):
                placed += 1
            elif not named_only:
                self.unresolved.append(_quoted(text))
        return placed

    def _take_matches(self, text: str, judgement: Judgement, *, count: bool) -> bool:
        place = self.places.get(text)
        if place is None or not place.matches:
            return False
        for match in place.matches:
            quote = match.quote if match.quote and len(match.quote) <= ANCHOR_LIMIT else None
            self.judged.append(judgement.model_copy(update={"doc": match.document, "anchor": quote}))
        if count:
            self.ways[place.matches[0].way] += 1
        return True

    def _with_quote(self, judgement: Judgement) -> Judgement:
        """Return the judgement with its anchor in the document's own characters, where it is there."""
        if judgement.anchor is None:
            return judgement
        document = self.documents.get(judgement.doc)
        span = find_quote(document.text, judgement.anchor) if document else None
        if document is None or span is None:
            self.lost_anchors += 1
            return judgement
        quote = document.text[span.start : span.end]
        return judgement if quote == judgement.anchor else judgement.model_copy(update={"anchor": quote})


def _settle(judged: Sequence[Judgement]) -> tuple[Judgement, ...]:
    """Return judgements without repetitions: two names of one document share the better grade."""
    if len(judged) < 2:
        return tuple(judged)
    best = best_grades(judged)
    settled: dict[tuple[str, int, str | None], Judgement] = {}
    for judgement in judged:
        if judgement.grade or not best[judgement.doc]:
            key = (judgement.doc, judgement.part, judgement.anchor)
            if key not in settled or settled[key].grade < judgement.grade:
                settled[key] = judgement
    return tuple(settled.values())


def _resolve_names(questions: Iterable[Question], documents: Documents) -> dict[str, _Named]:
    references = dict.fromkeys(judgement.doc for question in questions for judgement in question.judged or ())
    found: dict[str, _Named] = {}
    left: dict[str, None] = {}
    for reference in references:
        if named := _look_up(reference, documents):
            found[reference] = named
        else:
            left[reference] = None
    if left:
        for reference, document in _by_title(left, documents).items():
            found[reference] = _Named((document,), "title")
            del left[reference]
    for reference in left:
        if pieces := _split(reference, documents):
            found[reference] = _Named(pieces, "list")
    return found


def _look_up(reference: str, documents: Documents) -> _Named | None:
    if documents.get(reference) is not None:
        return _Named((reference,), "id")
    document = documents.resolve(reference)
    if document is None:
        return None
    return _Named((document,), "URL" if "://" in reference else "alias")


def _by_title(references: Iterable[str], documents: Documents) -> dict[str, str]:
    """Return the document for each reference that is the title of exactly one."""
    wanted = {" ".join(reference.split()).casefold(): reference for reference in references}
    holders: dict[str, list[str]] = {}
    for document in documents:
        if document.title is not None:
            reference = wanted.get(" ".join(document.title.split()).casefold())
            if reference is not None:
                holders.setdefault(reference, []).append(document.id)
    return {reference: ids[0] for reference, ids in holders.items() if len(ids) == 1}


def _split(reference: str, documents: Documents) -> tuple[str, ...] | None:
    """Return the documents of a list in one cell, where every piece is one."""
    for separator in _SEPARATORS:
        pieces = [piece.strip() for piece in reference.split(separator) if piece.strip()]
        if 1 < len(pieces) <= 100:
            ids = [documents.resolve(piece) for piece in pieces]
            if all(ids):
                return tuple(identity for identity in ids if identity)
    return None


def _texts_to_place(questions: Iterable[Question], names: dict[str, _Named]) -> list[str]:
    texts: list[str] = []
    for question in questions:
        gold = [judgement for judgement in question.judged or () if judgement.grade]
        texts += [j.anchor for j in gold if j.doc not in names and j.anchor is not None]
        if not any(judgement.doc in names for judgement in gold):
            texts += question.gold_texts
    return texts


def _quoted(text: str) -> str:
    flat = " ".join(text.split())
    return f"{_QUOTE}{flat[:_TEXT_SHOWN]}{'…' if len(flat) > _TEXT_SHOWN else ''}”"


def _notes(resolution: Resolution, unresolved: int, lost_anchors: int) -> list[str]:
    notes = []
    if resolution.ways:
        listed = ", ".join(f"{count:,} by {way}" for way, count in resolution.ways.items())
        notes.append(f"gold resolved: {listed}")
    if unresolved:
        share = unresolved / resolution.references
        named = ", ".join(shown(reference) for reference in resolution.dangling[:EXAMPLES])
        more = len(resolution.dangling) - EXAMPLES
        tail = f" and {more:,} more" if more > 0 else ""
        count = f"{unresolved:,} of {resolution.references:,} gold references ({share:.1%})"
        notes.append(f"{count} are no document of the corpus: {named}{tail}")
    for reference, ids in resolution.examples:
        nearest = " or ".join(map(shown, ids)) or "nothing like it"
        notes.append(f"unresolved {shown(reference)}: nearest id {nearest}")
    if resolution.join is not None:
        join = resolution.join
        notes.append(f"{join.advice} (joins {join.joined:,} of {join.tried:,} tried)")
    if lost_anchors:
        notes.append(f"{lost_anchors:,} quoted passages are not in their document as it is now")
    return notes


def _with_notes(questions: QuestionSet, notes: Sequence[str]) -> QuestionSet:
    earlier = (note for note in questions.notes if note != UNCHECKED)
    return questions.model_copy(update={"notes": (*earlier, *notes)})
