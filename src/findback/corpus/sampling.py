"""A sample of documents whose mix of subjects is the index's."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import NamedTuple

from findback.corpus.duplicates import Duplicates, find_duplicates
from findback.corpus.fitness import Fitness
from findback.errors import UsageError
from findback.model.document import Document
from findback.model.protocols import SILENT, Documents, Progress

LEFT_OUT = "left out on request"
NEAR_DUPLICATE = "near-duplicate"

Subject = str | None
"""A document's subject; those without one are a stratum of their own."""


class Skipped(NamedTuple):
    """A document that was not drawn from."""

    document: str
    reason: str
    """One of fitness' reasons, `near-duplicate` of one that stands for both, or `left out on request`."""


@dataclass(frozen=True, slots=True)
class SubjectShare:
    """How much of index and sample one subject is."""

    subject: Subject
    index: float
    """Share of the index' documents, near-duplicates counted once, in [0, 1]."""
    sample: float
    """Share of the sample, in [0, 1]; 0 in an empty one."""
    documents: int
    drawn: int


@dataclass(frozen=True, slots=True)
class Sample:
    """Documents to describe, and what the reader must know about them."""

    asked: int
    seed: int
    drawn: tuple[Document, ...]
    """In sampling order: every beginning of it has about the mix of all of it."""
    reserve: tuple[Document, ...]
    """Those that step in, in the order in which they do; see `substitutes`."""
    skipped: tuple[Skipped, ...]
    """What was not drawn from, by id."""
    mix: tuple[SubjectShare, ...]
    """Index and sample by subject, the most frequent first."""
    distance: float | None
    """Total variation between the two, in [0, 1]; None for an empty sample."""
    documents: int
    """Documents of the corpus."""
    held: int | None
    """How many of them the retriever holds; None where the whole corpus was drawn from."""
    fit: int
    """Documents that could be drawn."""

    @property
    def indexed(self) -> float | None:
        """Return the share of the corpus that the retriever holds, in [0, 1]; None where it was not asked."""
        return None if self.held is None or not self.documents else self.held / self.documents

    @property
    def skipped_by_reason(self) -> dict[str, int]:
        """Return how many documents were skipped for each reason, the most frequent first."""
        return dict(sorted(Counter(one.reason for one in self.skipped).items(), key=lambda one: (-one[1], one[0])))

    @property
    def why_fewer(self) -> str | None:
        """Return why there are fewer documents than asked for; None where there are not."""
        if len(self.drawn) >= self.asked:
            return None
        where = f"there are {self.documents:,} documents"
        if self.held is not None:
            where = f"the retriever holds {self.held:,} of {self.documents:,} documents"
        counts = ", ".join(f"{count:,} {reason}" for reason, count in self.skipped_by_reason.items())
        skipped = f"; of these {counts}" if counts else ""
        return f"asked for {self.asked:,}, found {len(self.drawn):,}: {where}{skipped}"

    def substitutes(self, lacking: Iterable[Subject], used: Collection[str] = ()) -> tuple[Document, ...]:
        """Return the documents of the reserve that step in for others.

        Each is the first unused one of the lacking document's subject; where that has none left, the first
        unused one of all. Fewer come where the reserve is used up.

        Args:
            lacking: The subject of each document that did not make it.
            used: Ids of the reserve that stepped in before.
        """
        gone = frozenset(used)
        waiting = {document.id: document for document in self.reserve if document.id not in gone}
        by_subject: defaultdict[Subject, list[Document]] = defaultdict(list)
        for document in reversed(waiting.values()):
            by_subject[document.subject].append(document)
        chosen: list[Document] = []
        unmet = 0
        for subject in lacking:
            if by_subject[subject]:
                chosen.append(by_subject[subject].pop())
                del waiting[chosen[-1].id]
            else:
                unmet += 1
        return (*chosen, *list(waiting.values())[:unmet])


def sample_documents(
    corpus: Documents,
    n: int,
    *,
    seed: int,
    reserve: float = 1.0,
    held: Collection[str] | None = None,
    exclude: Collection[str] = (),
    not_knowledge: Iterable[str] = (),
    duplicates: Duplicates | None = None,
    progress: Progress = SILENT,
) -> Sample:
    """Return a sample with as many documents of each subject as its share of the index asks for.

    Whole numbers by largest remainder. Which documents of a subject are drawn depends on seed and ids only, so
    that neither the order of the corpus nor documents of other subjects change it. A subject without enough
    fit documents gives all it has, and the rest comes from the others in proportion: the distance tells.

    Args:
        corpus: The documents.
        n: How many to draw.
        seed: Of the draw.
        reserve: How many more to keep in reserve, as a multiple of `n`, of the subjects drawn.
        held: Ids that the retriever holds: then only those are drawn from, and they are the index.
        exclude: Ids that are not to be drawn, nor their near-duplicates: described before, for example.
        not_knowledge: Ids or globs of documents that answer nothing.
        duplicates: Near-duplicates of the corpus where they are known; looked for when left out.
        progress: Told of each document.

    Raises:
        UsageError: If `n` is below 1.
    """
    if n < 1:
        raise UsageError("a sample needs at least one document", hint="ask for 1 or more")
    held, exclude = (None if held is None else frozenset(held)), frozenset(exclude)
    index = sorted((one for one in corpus if held is None or one.id in held), key=lambda one: one.id)
    if duplicates is None:
        duplicates = find_duplicates(index, progress=progress)
    skipped, counted = _sift(index, duplicates.groups, exclude, Fitness(index, not_knowledge, progress=progress))
    fit: defaultdict[Subject, list[Document]] = defaultdict(list)
    for document in index:
        if document.id not in skipped:
            fit[document.subject].append(document)
    for strata in fit.values():
        strata.sort(key=lambda one: (_draw(seed, one.id), one.id))
    weights = Counter(document.subject for document in counted)
    room = {subject: len(documents) for subject, documents in fit.items()}
    first = apportion(n, weights, room, seed=seed)
    further = _reserve(ceil(n * reserve), first, weights, room, seed)
    drawn = _spread({subject: fit[subject][:count] for subject, count in first.items()}, seed)
    mix, distance = compare_mix(weights, (document.subject for document in drawn))
    return Sample(
        asked=n,
        seed=seed,
        drawn=drawn,
        reserve=_spread({one: fit[one][first[one] : first[one] + count] for one, count in further.items()}, seed),
        skipped=tuple(Skipped(*one) for one in sorted(skipped.items())),
        mix=mix,
        distance=distance,
        documents=len(corpus),
        held=None if held is None else len(index),
        fit=sum(room.values()),
    )


def apportion(
    total: int, weights: Mapping[Subject, int], room: Mapping[Subject, int], *, seed: int = 0
) -> dict[Subject, int]:
    """Return whole numbers in proportion to weights, none above its room, by largest remainder.

    What a subject has no room for goes to the others in proportion. Equal remainders are decided by the seed,
    not by the alphabet. The sum is `total`, or all the room of subjects with a weight where that is less.

    >>> apportion(10, {"a": 50, "b": 30, "c": 20}, {"a": 99, "b": 1, "c": 99})
    {'a': 6, 'b': 1, 'c': 3}
    """
    given = {subject: 0 for subject, weight in weights.items() if weight}
    room = {subject: room.get(subject, 0) for subject in given}
    left = min(total, sum(room.values()))
    taking = list(given)
    while left:
        # Every round but the first fills a subject, or is the last.
        whole = sum(weights[subject] for subject in taking)
        lacking: list[tuple[Fraction, bytes, str, Subject]] = []
        quotas = {subject: Fraction(left * weights[subject], whole) for subject in taking}
        for subject, quota in quotas.items():
            more = min(int(quota), room[subject] - given[subject])
            given[subject] += more
            left -= more
            if quota > more and given[subject] < room[subject]:
                lacking.append((more - quota, _draw(seed, subject or ""), subject or "", subject))
        for *_, subject in sorted(lacking, key=lambda one: one[:3])[:left]:
            given[subject] += 1
            left -= 1
        taking = [subject for subject in taking if given[subject] < room[subject]]
    return {subject: count for subject, count in given.items() if room[subject]}


def compare_mix(
    index: Mapping[Subject, int], sample: Iterable[Subject]
) -> tuple[tuple[SubjectShare, ...], float | None]:
    """Return the shares of each subject in index and sample, and the total variation between them.

    Returns:
        The distance is half the sum of absolute differences, in [0, 1]; None where one of them is empty.

    >>> compare_mix({"a": 3, "b": 1}, ["a", "b"])[1]
    0.25
    """
    drawn = Counter(sample)
    documents, size = sum(index.values()), drawn.total()
    subjects = sorted({*index, *drawn}, key=lambda one: (-index.get(one, 0), one is None, one or ""))
    mix = tuple(
        SubjectShare(
            one,
            index.get(one, 0) / documents if documents else 0.0,
            drawn[one] / size if size else 0.0,
            index.get(one, 0),
            drawn[one],
        )
        for one in subjects
    )
    if not documents or not size:
        return mix, None
    off = sum(abs(one.documents * size - one.drawn * documents) for one in mix)
    return mix, off / (2 * documents * size)


def _sift(
    index: Sequence[Document],
    groups: Mapping[str, str],
    exclude: Collection[str],
    fitness: Fitness,
) -> tuple[dict[str, str], list[Document]]:
    """Return why documents are skipped, by id, and the documents of the index with near-duplicates once."""
    skipped: dict[str, str] = {}
    for document in index:
        reason = LEFT_OUT if document.id in exclude else fitness.why_unfit(document)
        if reason is not None:
            skipped[document.id] = reason
    # The first of a group that is fit stands for it. None does where one of it was left out.
    gone = {groups[one] for one in exclude if one in groups}
    stands: dict[str, str] = {}
    members: dict[str, Document] = {}
    for document in index:
        group = groups.get(document.id, document.id)
        if document.id not in skipped:
            if group in gone or group in stands:
                skipped[document.id] = NEAR_DUPLICATE
            else:
                stands[group] = document.id
                members[group] = document
        members.setdefault(group, document)
    return skipped, list(members.values())


def _reserve(
    count: int, first: Mapping[Subject, int], weights: Mapping[Subject, int], room: Mapping[Subject, int], seed: int
) -> dict[Subject, int]:
    """Return how many of each subject are kept in reserve: of those drawn first of all, then of the others."""
    left = {subject: room[subject] - first.get(subject, 0) for subject in room}
    given = Counter(apportion(count, first, left, seed=seed))
    left = {subject: left[subject] - given[subject] for subject in left}
    given.update(apportion(count - given.total(), weights, left, seed=seed))
    return {subject: given[subject] for subject in room if given[subject]}


def _spread(chosen: Mapping[Subject, Sequence[Document]], seed: int) -> tuple[Document, ...]:
    """Return the documents in an order in which every beginning has about the mix of the whole."""
    placed = [
        (Fraction(2 * place + 1, 2 * len(documents)), _draw(seed, document.id), document.id, document)
        for documents in chosen.values()
        for place, document in enumerate(documents)
    ]
    return tuple(document for *_, document in sorted(placed, key=lambda one: one[:3]))


def _draw(seed: int, name: str) -> bytes:
    return hashlib.blake2b(f"{seed}\0{name}".encode("utf-8", "surrogatepass"), digest_size=16).digest()
