"""In what questions may differ: each facet as numbers of the questions of both sides."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from findback.corpus.corpus import Corpus
from findback.measure.clusters import Floats
from findback.measure.containment import find_content_words
from findback.measure.wordings import Wording
from findback.measure.yardstick import choose_window
from findback.model.incoming import Facet
from findback.steps.incomingsides import Asked
from findback.steps.wording import Worded, drawn_from
from findback.text.words import words

MOST_KINDS = 40
"""Kinds of one facet that are told apart; the rest is one kind."""
MOST_WORDS = 200
FEWEST_HOLDERS = 3
"""Clusters that must hold a word, on both sides together, before it is looked at."""
FEWEST_DOCUMENTS = 2
"""Documents that must hold a word before it is named: it is the documents' word then, not somebody's."""
FEWEST_LINKED = 8
"""Clusters with a resolver's link from which these are compared, and not the nearest documents."""
OTHERS = "others"

Near = Callable[[Sequence[str]], list[list[str]]]


class Table(NamedTuple):
    """One facet of both sides; a question of which it is not known is on none."""

    facet: Facet
    basis: str
    names: tuple[str | None, ...]
    """What each kind is called; None for one that must not be named."""
    incoming: Floats
    """Shape (questions, kinds)."""
    incoming_clusters: list[str]
    released: Floats
    released_clusters: list[str]
    unknown: int
    """Questions that came in of which it is not known."""


def tabulate_wordings(incoming: Sequence[Asked], released: Sequence[Asked]) -> Table:
    """Return how questions are worded, as reviewers say."""
    here, there = (_Kinds(side, [_one(asked.wording) for asked in side]) for side in (incoming, released))
    return _categories("wording", "as reviewers classed it", here, there)


def tabulate_languages(incoming: Sequence[Asked], released: Sequence[Asked]) -> Table:
    """Return the languages questions are in; one that is not plain is unknown."""
    here, there = (_Kinds(side, [_one(asked.language) for asked in side]) for side in (incoming, released))
    return _categories("language", "as recorded or plain from the words", here, there)


def tabulate_subjects(incoming: Sequence[Asked], released: Sequence[Asked], documents: Corpus, near: Near) -> Table:
    """Return the subjects of the documents that answer, or of those nearest to the words where few are linked."""
    linked = [_subjects(one.golds, documents) for one in incoming]
    held = {one.cluster for one, found in zip(incoming, linked, strict=True) if found}
    if len(held) >= FEWEST_LINKED:
        there = [_subjects(one.golds, documents) for one in released]
        here, basis = linked, "of the documents that answer"
    else:
        nearest = [_subjects(one[:1], documents) for one in near([one.query for one in (*incoming, *released)])]
        here, there = nearest[: len(incoming)], nearest[len(incoming) :]
        basis = "of the document nearest to the words, on both sides"
    return _categories("subject", basis, _Kinds(incoming, here), _Kinds(released, there))


def tabulate_words(incoming: Sequence[Asked], released: Sequence[Asked], documents: Corpus | None) -> Table:
    """Return which content words questions hold, those that several clusters hold; a column a stem."""
    both = [*incoming, *released]
    stems = [find_content_words(one.query, one.language) for one in both]
    holders: dict[str, set[tuple[bool, str]]] = defaultdict(set)
    spelled: dict[str, Counter[str]] = defaultdict(Counter)
    for place, (one, found) in enumerate(zip(both, stems, strict=True)):
        for word, stem in found.items():
            holders[stem].add((place < len(incoming), one.cluster))
            spelled[stem][word] += 1
    common = sorted((stem for stem, held in holders.items() if len(held) >= FEWEST_HOLDERS))
    chosen = sorted(common, key=lambda stem: -len(holders[stem]))[:MOST_WORDS]
    public = _public({word for stem in chosen for word in spelled[stem]}, documents)
    names = [next((word for word, _ in spelled[stem].most_common() if word in public), None) for stem in chosen]
    rows = np.array([[float(stem in set(found.values())) for stem in chosen] for found in stems])
    rows = rows.reshape(len(both), len(chosen))
    return Table(
        "words",
        f"content words that at least {FEWEST_HOLDERS} clusters hold, by stem",
        tuple(names),
        rows[: len(incoming)],
        [one.cluster for one in incoming],
        rows[len(incoming) :],
        [one.cluster for one in released],
        0,
    )


def tabulate_overlap(incoming: Sequence[Asked], released: Sequence[Asked], documents: Corpus, *, seed: int) -> Table:
    """Return the share of each question's words that stand in its answer, both sides on one window."""
    places = {document.id: place for place, document in enumerate(documents)}
    wordings = [[_word(one, documents, places) for one in side] for side in (incoming, released)]
    lengths = [[len(one.gold) for one in side if one is not None] for side in wordings]
    window = choose_window(*lengths).window
    every = [one for side in wordings for one in side if one is not None]
    values: list[float | None] = []
    if window is not None:
        rows = drawn_from(documents, Worded((), (), ()), {}).measure(every, window=window, seed=seed).rows
        values = [row.overlap.value for row in rows]
    given = iter(values)
    known = [[None if one is None else next(given) for one in side] for side in wordings]
    kept = [
        [(one.cluster, value) for one, value in zip(side, found, strict=True) if value is not None]
        for side, found in zip((incoming, released), known, strict=True)
    ]
    columns = [np.array([[value] for _, value in side]).reshape(len(side), 1) for side in kept]
    clusters = [[cluster for cluster, _ in side] for side in kept]
    return Table(
        "overlap",
        f"words of the question in its answer, best window of {window} characters" if window else "words in the answer",
        ("overlap",),
        columns[0],
        clusters[0],
        columns[1],
        clusters[1],
        len(incoming) - len(kept[0]),
    )


class _Kinds(NamedTuple):
    """The questions of one side, and what each is; nothing for one of which it is not known."""

    asked: Sequence[Asked]
    kinds: Sequence[tuple[str, ...]]

    def rows(self, places: dict[str, int], width: int) -> tuple[Floats, list[str]]:
        """Return a row for each that is known, and its cluster."""
        known = [(one.cluster, found) for one, found in zip(self.asked, self.kinds, strict=True) if found]
        matrix = np.zeros((len(known), width))
        for row, (_, found) in enumerate(known):
            for name in found:
                matrix[row, places[name]] += 1 / len(found)
        return matrix, [cluster for cluster, _ in known]


def _categories(facet: Facet, basis: str, here: _Kinds, there: _Kinds) -> Table:
    counted = Counter(name for side in (here, there) for kinds in side.kinds for name in kinds)
    names = [name for name, _ in sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))]
    told = names[:MOST_KINDS]
    places = {name: min(place, len(told)) for place, name in enumerate(names)}
    shown = (*told, OTHERS) if len(names) > len(told) else tuple(told)
    incoming, clusters = here.rows(places, len(shown))
    released, others = there.rows(places, len(shown))
    return Table(facet, basis, shown, incoming, clusters, released, others, len(here.asked) - len(incoming))


def _one(name: str | None) -> tuple[str, ...]:
    return (name,) if name else ()


def _subjects(documents: Iterable[str], corpus: Corpus) -> tuple[str, ...]:
    found = (corpus.get(one) for one in documents)
    return tuple(dict.fromkeys(one.subject for one in found if one is not None and one.subject))


def _public(wanted: set[str], documents: Corpus | None) -> set[str]:
    """Return those of the words that several documents hold: such a word may be named."""
    if documents is None or not wanted:
        return set()
    held: Counter[str] = Counter()
    for document in documents:
        held.update(wanted.intersection(words(document.text)))
    return {word for word, count in held.items() if count >= FEWEST_DOCUMENTS}


def _word(one: Asked, documents: Corpus, places: dict[str, int]) -> Wording | None:
    document = next((found for gold in one.golds if (found := documents.get(gold)) is not None), None)
    if document is None:
        return None
    return Wording(
        one.query,
        document.text,
        document=places[document.id],
        language=one.language,
        gold_language=document.language,
    )
