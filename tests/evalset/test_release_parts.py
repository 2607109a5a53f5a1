"""Clusters, splits, looks and differences of a set."""

import hashlib
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.ready import asked
from builders.sets import case
from findback.errors import DataError
from findback.evalset.cases import write_cases
from findback.evalset.clusters import find_alike, settle_clusters
from findback.evalset.format import ReadOptions
from findback.evalset.formats.findback import read
from findback.evalset.looks import Look, add_look, describe_looks, read_looks
from findback.evalset.releasediff import compare_cases
from findback.evalset.split import assign_splits
from findback.model.case import Case
from findback.text.shingles import shingle_hashes
from findback.text.words import words


def keyed(value: str) -> str:
    return hashlib.sha256(b"key" + value.encode()).hexdigest()


def about(number: int, *docs: str, **changes: object) -> Case:
    golds = [{"doc": doc, "grade": 2, "found_by": "reviewer"} for doc in docs or (f"d{number}.md",)]
    return case(number, **({"query": asked(number), "judged": golds} | changes))


def sides(cases: tuple[Case, ...]) -> dict[str, str]:
    return {one.id: one.split for one in cases}


def test_thread_root_and_near_duplicates_are_one_cluster() -> None:
    """Cases of one thread, a paraphrase, and a query with one letter changed count as one, called as the oldest is."""
    root = about(1, query="the signing key of the gateway does not rotate", cluster="a", added_in=2)
    near = about(2, query="The signing key of the gateway does not rotate!!", cluster="b", added_in=1)
    made = about(3, origin="paraphrase", root=root.id, cluster="a", query="keys stay the same forever")
    mate = about(4, cluster="b")
    other = about(5, cluster="c")
    settled = settle_clusters([root, near, made, mate, other])
    assert [one.cluster for one in settled] == ["b", "b", "b", "b", "c"]


def test_placeholders_make_no_query_alike() -> None:
    """Two queries that share nothing but their placeholders are no near-duplicates; without words there are none."""
    assert list(find_alike(["⟦PERSON_1⟧ ⟦ORG_1⟧ vpn", "⟦PERSON_1⟧ ⟦ORG_1⟧ leave", "⟦PERSON_1⟧", "⟦PERSON_1⟧"])) == []


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(alphabet="abc ", min_size=1, max_size=14), min_size=2, max_size=14))
def test_alike_is_what_comparing_all_pairs_gives(queries: list[str]) -> None:
    """The groups are those of every pair whose distinct runs overlap by four fifths, compared one by one."""

    def groups(pairs: list[tuple[int, int]]) -> set[frozenset[int]]:
        joined = [{at} for at in range(len(queries))]
        for one, other in pairs:
            whole = joined[one] | joined[other]
            for at in whole:
                joined[at] = whole
        return {frozenset(group) for group in joined}

    plain = [" ".join(words(query)) for query in queries]
    runs = [set(shingle_hashes(text).tolist()) for text in plain]
    every = [
        (one, other)
        for other in range(len(queries))
        for one in range(other)
        if runs[one] and runs[other] and len(runs[one] & runs[other]) >= 0.8 * len(runs[one] | runs[other])
    ]
    assert groups(list(find_alike(queries))) == groups(every)


def test_below_thirty_nothing_is_held_out() -> None:
    """89 new clusters cannot give 30 and keep two thirds; 90 can, and then exactly 30 are drawn."""
    few = [about(n) for n in range(89)]
    none = assign_splits(few, {one.id for one in few}, keyed)
    assert (none.holdout_clusters, set(sides(none.cases).values())) == (0, {"dev"})
    assert none.note is not None
    enough = [about(n) for n in range(90)]
    some = assign_splits(enough, {one.id for one in enough}, keyed)
    assert some.holdout_clusters == 30
    assert some.note is None


def test_a_fifth_is_drawn_of_many() -> None:
    """Of 1,000 clusters about 200 are held out, and another key holds out others."""
    many = [about(n) for n in range(1000)]
    new = {one.id for one in many}
    drawn = assign_splits(many, new, keyed)
    assert 160 <= drawn.holdout_clusters <= 240
    other = assign_splits(many, new, lambda value: keyed(value + "!"))
    assert sides(drawn.cases) != sides(other.cases)


def test_a_split_is_kept_for_life() -> None:
    """What was released stays on its side whatever comes; what joins it by gold or cluster follows it."""
    first = [about(n) for n in range(100)]
    settled = [
        one.model_copy(update={"added_in": 1}) for one in assign_splits(first, {one.id for one in first}, keyed).cases
    ]
    before = sides(tuple(settled))
    held = next(one for one in settled if one.split == "holdout")
    dev = next(one for one in settled if one.split == "dev")
    follows = about(500, *[judgement.doc for judgement in held.gold])
    mate = about(501, cluster=held.cluster)
    both = about(502, *[judgement.doc for one in (held, dev) for judgement in one.gold])
    only = assign_splits([*settled, follows, mate], {follows.id, mate.id}, keyed)
    assert (sides(only.cases)[follows.id], sides(only.cases)[mate.id]) == ("holdout", "holdout")
    assert {id_: side for id_, side in sides(only.cases).items() if id_ in before} == before
    astride = assign_splits([*settled, both], {both.id}, keyed)
    assert sides(astride.cases)[both.id] == "dev"
    assert astride.note is not None
    assert "1 new cases" in astride.note


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 80), st.integers(0, 80)), min_size=1, max_size=160), st.integers(0, 160))
def test_no_gold_and_no_cluster_is_on_both_sides(drawn: list[tuple[int, int]], released: int) -> None:
    """Whatever clusters and golds cases share, after a first release nothing is shared between dev and holdout."""
    cases = [about(n, f"d{gold}.md", cluster=f"k{cluster}") for n, (cluster, gold) in enumerate(drawn)]
    first = assign_splits(cases, {one.id for one in cases}, keyed).cases
    for key in (lambda one: one.cluster, lambda one: one.gold[0].doc):
        assert not {key(one) for one in first if one.split == "dev"} & {
            key(one) for one in first if one.split == "holdout"
        }
    old = tuple(one.model_copy(update={"added_in": 1}) for one in first[:released])
    later = assign_splits([*old, *cases[released:]], {one.id for one in cases[released:]}, keyed)
    assert sides(later.cases[:released]) == sides(old)
    held = {one.cluster for one in later.cases if one.split == "holdout"}
    assert later.holdout_clusters == len(held)
    assert not held or len(held) >= 30 or any(one.split == "holdout" for one in old)


def test_only_dev_is_read_unless_asked(tmp_path: Path) -> None:
    """A set gives its dev cases, or what is held out, never both."""
    write_cases(tmp_path / "cases.jsonl", [about(1), about(2, split="holdout"), about(3, split="holdout")])
    dev = read(tmp_path / "cases.jsonl", ReadOptions())
    held = read(tmp_path / "cases.jsonl", ReadOptions(holdout=True))
    assert [one.id for one in dev.questions] == ["c0000000001"]
    assert [one.id for one in held.questions] == ["c0000000002", "c0000000003"]
    assert "2 held-out cases left out" in dev.notes


def test_looks_are_counted_and_the_eleventh_says_so(tmp_path: Path) -> None:
    """Ten looks leave the holdout fresh; from the eleventh on every heading says that it is no longer unseen."""
    look = Look(at=datetime(2024, 6, 3, tzinfo=UTC), release=2, retrievers=("bm25",), findback="1")
    assert [add_look(tmp_path, look) for _ in range(11)] == list(range(1, 12))
    assert len(read_looks(tmp_path)) == 11
    assert "unseen" not in describe_looks(10)
    assert "no longer unseen" in describe_looks(11)
    (tmp_path / "looks.jsonl").write_text('{"release": 0}\n')
    with pytest.raises(DataError, match=r"looks.jsonl:1"):
        read_looks(tmp_path)


def test_each_kind_of_change_is_told_apart() -> None:
    """Added, retired, relabelled, withdrawn, reinstated, changed, missing: each case once, under one name."""
    old = [about(n) for n in range(7)] + [about(7, status="retired", retired_because="old")]
    gone = {"status": "withdrawn", "judged": (), "no_answer_reason": "withdrawn"}
    new = [
        old[0],
        old[1].model_copy(update={"status": "retired", "retired_because": "moved"}),
        old[2].model_copy(update={"judged": old[3].judged}),
        old[3].model_copy(update=gone),
        old[4].model_copy(update={"wording": "vague"}),
        old[5].model_copy(update={"judged": (), "no_answer_reason": "nobody wrote it"}),
        old[7].model_copy(update={"status": "active", "retired_because": None}),
        about(8),
    ]
    diff = compare_cases(old, new)
    ids = [one.id for one in old]
    assert diff.model_dump(exclude={"by", "same"}) == {
        "added": ("c0000000008",),
        "retired": (ids[1],),
        "relabelled": (ids[2], ids[5]),
        "withdrawn": (ids[3],),
        "reinstated": (ids[7],),
        "changed": (ids[4],),
        "missing": (ids[6],),
    }
    assert diff.same == 1
    assert {row.value: row.counts for row in diff.by if row.axis == "answer"} == {
        "no-answer": {"relabelled": 1},
        "one": {"added": 1, "retired": 1, "relabelled": 1, "withdrawn": 1, "reinstated": 1, "changed": 1, "missing": 1},
    }
