"""Why labels do not meet documents, and the option that would join them."""

import difflib
import heapq
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from findback.model.protocols import Documents

SAMPLE = 500
"""Most references that are tried."""

_POOL = 60
_ID_LENGTH = 200
_ADDRESS = re.compile(r"(https?://[^/?#\s]+)/?([^?#]*)", re.IGNORECASE)
_ENDINGS = ("", ".md", ".html", ".rst", ".txt", "/index.md", "/index.html", "/README.md", ".htm")
_PAGE_ENDING = re.compile(r"(?:/index)?\.(?:html?|md|rst|txt)$|/$", re.IGNORECASE)


class Join(NamedTuple):
    """What would make references meet documents."""

    advice: str
    """A sentence with the option to give."""
    joined: int
    """References tried that would then resolve."""
    tried: int


class Nearest(NamedTuple):
    """A reference that is no document, beside the ids most like it."""

    reference: str
    ids: tuple[str, ...]


def suggest_join(references: Sequence[str], documents: Documents) -> Join | None:
    """Return the one change that makes most references meet documents; None when nothing makes any meet."""
    sample = list(dict.fromkeys(references))[:SAMPLE]
    advice: Counter[str] = Counter()
    for reference in sample:
        advice.update(set(_strip_base(reference, documents)))
    for sentence, joined in _compare_documents(sample, documents).items():
        advice[sentence] += joined
    if not advice:
        return None
    sentence, joined = advice.most_common(1)[0]
    return Join(sentence, joined, len(sample))


def nearest_ids(references: Sequence[str], documents: Documents, *, count: int = 2) -> tuple[Nearest, ...]:
    """Return for each of a few references the ids most like it, best first.

    Only ids that share a piece (between `/`, `-`, `.` and the like) are compared letter by letter.
    """
    wanted = [(reference, _pieces(reference)) for reference in references]
    pools: list[list[tuple[int, str]]] = [[] for _ in wanted]
    for document in documents:
        have = _pieces(document.id)
        for pool, (_, pieces) in zip(pools, wanted, strict=True):
            entry = (len(pieces & have), document.id)
            if len(pool) < _POOL:
                heapq.heappush(pool, entry)
            elif entry > pool[0]:
                heapq.heapreplace(pool, entry)
    return tuple(
        Nearest(reference, _closest(reference, [identity for _, identity in pool], count))
        for (reference, _), pool in zip(wanted, pools, strict=True)
    )


def _closest(reference: str, ids: Sequence[str], count: int) -> tuple[str, ...]:
    short = reference[-_ID_LENGTH:].casefold()

    def likeness(identity: str) -> float:
        return difflib.SequenceMatcher(None, short, identity[-_ID_LENGTH:].casefold(), autojunk=False).ratio()

    return tuple(sorted(ids, key=lambda identity: (-likeness(identity), identity))[:count])


def _pieces(identity: str) -> frozenset[str]:
    return frozenset(re.findall(r"[^\W_]{2,40}", identity[:1_000].casefold()))


def _strip_base(reference: str, documents: Documents) -> Iterator[str]:
    """Yield the advice whose base, taken off the reference, leaves a document's id."""
    address = _ADDRESS.match(reference)
    host, path = (address[1], address[2]) if address else ("", reference)
    steps = [step for step in path.strip("/").split("/") if step][:40]
    for taken in range(0 if address else 1, len(steps)):
        rest = _PAGE_ENDING.sub("", "/".join(steps[taken:]))
        if not any(documents.resolve(rest + ending) for ending in _ENDINGS):
            continue
        base = "/".join(steps[:taken])
        if address:
            yield f"the labels are addresses: give --base-url {host}/{base + '/' if base else ''}"
        else:
            yield (f"the labels' paths start with '{base}/': give --base-url {base}/")
        return


def _compare_documents(references: Sequence[str], documents: Documents) -> Counter[str]:
    wanted = set(references)
    folded = {reference.casefold() for reference in references}
    found: dict[str, set[str]] = {}

    def meet(sentence: str, reference: str) -> None:
        found.setdefault(sentence, set()).add(reference)

    for document in documents:
        for field, value in document.metadata.items():
            if value in wanted:
                meet(f"the labels name the field {field!r}: give --id-from field --id-field {field}", value)
        steps = document.id.split("/")
        for taken in range(1, min(len(steps), 40)):
            if (rest := "/".join(steps[taken:])) in wanted:
                base = "/".join(steps[:taken])
                meet(f"the labels' paths start below '{base}/': read the documents from that folder", rest)
        bare = _PAGE_ENDING.sub("", document.id)
        if bare != document.id and bare in wanted:
            ending = document.id[len(bare) :]
            meet(f"the documents' ids end in '{ending}' and the labels do not: write the labels with it", bare)
        elif document.id.casefold() in folded:
            meet("ids and labels differ in upper and lower case: write the labels as the ids", document.id)
    return Counter({sentence: len(met) for sentence, met in found.items()})
