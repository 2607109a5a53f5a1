"""What must go with texts that are erased: what reviewers said about them, and what the cases said."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from sqlalchemy import Connection, select, update

from findback.model.review import Review
from findback.workbench.basis import read_basis, without_lines, write_basis
from findback.workbench.rows import in_chunks
from findback.workbench.tables import CASE_CHANGES, CASES, REVIEWS, SPANS


def forget_changes(connection: Connection, case_ids: Iterable[str]) -> None:
    """Take the texts out of the history of some cases; that something happened stays."""
    for chunk in in_chunks(sorted(case_ids)):
        values = {"before": None, "after": None, "why": None}
        connection.execute(update(CASE_CHANGES).where(CASE_CHANGES.c.case_id.in_(chunk)).values(**values))


def forget_changes_of(connection: Connection, keys: Iterable[str]) -> None:
    """Take the texts out of the history of the cases that some candidates became."""
    for chunk in in_chunks(sorted(keys)):
        ids = connection.scalars(select(CASES.c.case_id).where(CASES.c.candidate_key.in_(chunk))).all()
        forget_changes(connection, ids)


def forget_lines(connection: Connection, left: Mapping[int, Collection[str]]) -> None:
    """Take what was said about erased lines out of every revision of the reviews.

    Args:
        connection: Transaction of one who writes much.
        left: Keys of the lines that are still there, by row number of the candidate.
    """
    for chunk in in_chunks(sorted(left)):
        for row in connection.execute(select(REVIEWS).where(REVIEWS.c.candidate.in_(chunk))).all():
            review = Review.model_validate(json.loads(row.content))
            kept, basis = without_lines(review, read_basis(row.basis), left[row.candidate])
            if kept == review and len(basis) == len(read_basis(row.basis)):
                continue
            values = {"content": write_review(kept), "basis": write_basis(basis)}
            connection.execute(update(REVIEWS).where(REVIEWS.c.id == row.id).values(**values))


def forget_restored(connection: Connection, people: Collection[str]) -> None:
    """Take what reviewers gave back of some people's names out of every revision of the reviews.

    Args:
        connection: Transaction of one who writes much; the spans still say who they stand for.
        people: HMACs of the people.
    """
    extents: dict[int, set[tuple[int, int]]] = defaultdict(set)
    for chunk in in_chunks(sorted(people)):
        columns = (SPANS.c.candidate, SPANS.c.begins, SPANS.c.ends)
        for row in connection.execute(select(*columns).where(SPANS.c.value_hmac.in_(chunk))):
            extents[row.candidate].add((row.begins, row.ends))
    for numbers in in_chunks(sorted(extents)):
        for row in connection.execute(select(REVIEWS).where(REVIEWS.c.candidate.in_(numbers))).all():
            review = Review.model_validate(json.loads(row.content))
            theirs = extents[row.candidate]
            spans = tuple(one for one in review.spans if one.action != "restore" or (one.start, one.end) not in theirs)
            if spans != review.spans:
                content = write_review(review.model_copy(update={"spans": spans}))
                connection.execute(update(REVIEWS).where(REVIEWS.c.id == row.id).values(content=content))


def write_review(review: Review) -> str:
    """Return a review as JSON in ASCII: a text in a database can hold neither NUL nor half of a surrogate pair."""
    return json.dumps(review.model_dump(mode="json", exclude_defaults=True), separators=(",", ":"))
