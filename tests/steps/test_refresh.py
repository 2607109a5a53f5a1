"""Reading the corpus again: which cases became stale, and what is done about it."""

import shutil
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from builders.harbour import RELEASED, change_pages, load_changed, read_asked, released
from builders.ready import Ready
from builders.sets import case
from findback.errors import MissingError, RefusedError, UsageError
from findback.evalset.cases import read_cases
from findback.evalset.release import read_release, release_folder
from findback.model.case import Case
from findback.model.reviewer import Reviewer
from findback.model.stale import Refreshed, Staleness
from findback.reporting.refreshed import say_refreshed
from findback.steps.bench import open_bench
from findback.steps.casechange import CaseChangeRequest, change_case, digest_case
from findback.steps.caselist import list_questioned
from findback.steps.flagmiss import keep_label, read_doubt
from findback.steps.opening import SetRequest, open_documents
from findback.steps.refresh import RefreshRequest, refresh
from findback.steps.refresh_accept import accept_moves
from findback.steps.refresh_kept import list_stale, read_refreshed
from findback.steps.release import ReleaseRequest, release
from findback.workspace import Workspace, open_workspace

LATER = RELEASED + timedelta(days=90)
LEAD = Reviewer("ana", None, ("lead",), ("public",))


def look(workspace: Workspace, *, moment: datetime = LATER, **asked: object) -> Refreshed:
    return refresh(workspace, RefreshRequest.model_validate(asked), moment=moment)


def golds(result: Refreshed) -> dict[tuple[str, str], Staleness]:
    """Return what was found about golds, by case and document."""
    found = {(one.case, one.document): one for one in result.found if one.part is not None and one.document}
    assert len(found) == sum(one.part is not None for one in result.found)
    return found


def heads(workspace: Workspace) -> Mapping[str, Case]:
    return {one.id: one for one in read_cases(workspace.evalset / "cases.jsonl")}


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Harbour released, then its pages changed; tests that write take a copy."""
    workspace = released(tmp_path_factory.mktemp("harbour"))
    change_pages(workspace)
    return workspace


@pytest.fixture(scope="module")
def found(changed: Workspace) -> Refreshed:
    return look(changed)


@pytest.fixture
def own(changed: Workspace, tmp_path: Path) -> Workspace:
    """A copy of changed Harbour to write in."""
    shutil.copytree(changed.root, tmp_path / "own")
    return open_workspace(tmp_path / "own")


def test_nothing_is_stale_where_nothing_changed(tmp_path: Path) -> None:
    """The pages as they were released: 149 labels of 129 cases hold, and nothing is found."""
    result = look(released(tmp_path))
    assert (result.cases, result.golds, result.held, result.found, result.notes) == (129, 149, 149, (), ())
    assert not result.too_old


def test_harbours_pages_are_classed_exactly(found: Refreshed) -> None:
    """Every label of a moved, merged, split, deleted or superseded page is said to be that, and no other label is.

    Of pages that were only edited, and of the one whose end was moved out, the quotes tell which labels hold.
    """
    changes: Mapping[str, str] = load_changed().CHANGES
    by_quote = {
        "Report before your shift begins, by phone to the shift leader.": "gone",
        "Duplicates appear when the key differs although the charge is the same.": "gone",
        "Up to five days carry over until 31 March, then they lapse, unless illness or parental leave prevented you"
        " from taking them.": "exact",
        "After a survey, construction work or a change of the map projection the polygons may sit several metres beside"
        " the asphalt.": "exact",
    }
    told = golds(found)
    for one in read_asked():
        for gold in one.gold:
            wanted = by_quote.get(gold.anchor or "", changes.get(gold.doc, "exact"))
            kind = told[one.id, gold.doc].kind if (one.id, gold.doc) in told else "exact"
            assert kind == wanted, (one.id, gold.doc)


def test_labels_are_led_to_the_right_places(found: Refreshed) -> None:
    """Each class names where the text is now; the piece with the quote comes first."""
    told = golds(found)
    assert told["cteybqlhl87", "runbooks/carrier-ingest-429.md"].targets == (
        "runbooks/carrier-ingest-429-why.md",
        "runbooks/carrier-ingest-429-what-to-do.md",
    )
    assert told["cgz4dw1qzpm", "how-to/replace-mfa-device.md"].targets == ("how-to/request-access.md",)
    assert told["c8wejvc2eay", "runbooks/geofence-drift.md"].targets == ("runbooks/geofence-correction.md",)
    assert told["cm94bq6548s", "how-to/print-gate-pass-norrhaven.md"].targets == ("how-to/print-gate-pass.md",)
    moved: Mapping[str, str] = load_changed().MOVED
    assert {(one.document, one.targets) for one in told.values() if one.kind == "moved"} == {
        (old, (new,)) for old, new in moved.items()
    }
    assert all(one.certain == (one.kind == "moved") for one in told.values())


def test_what_is_left_of_each_part_says_what_to_do(found: Refreshed) -> None:
    """An alternative left: drop. A part empty: relabel. Nothing left: retire. Counted by hand from the labels."""
    told = golds(found)
    assert told["c8bp7e1lsoz", "services/weigh-link.md"].proposal == "drop"
    assert told["c8nzka7h6pv", "policies/travel.md"].proposal == "relabel"
    both = [told["c8d5vd68ins", gold].proposal for gold in ("how-to/claim-expenses.md", "policies/travel.md")]
    assert both == ["retire", "retire"]
    assert Counter(one.proposal for one in told.values() if one.kind == "gone") == {
        "retire": 7,
        "look": 2,
        "drop": 1,
        "relabel": 1,
    }
    assert {one.proposal for one in told.values() if one.kind == "edited"} == {"none"}
    twins = [told["cm94bq6548s", f"how-to/print-gate-pass-{site}.md"] for site in ("norrhaven", "castell-bay")]
    assert [(one.kind, one.proposal) for one in twins] == [("merged", "move"), ("merged", "drop")]


def test_a_new_page_may_answer_what_had_no_answer(found: Refreshed) -> None:
    """Of eleven questions without an answer two meet the new pages about them; old texts that moved are not new."""
    assert [(one.case, one.document, one.certain) for one in found.found if one.kind == "may-answer"] == [
        ("ca1yvjzp1lv", "services/barge-times.md", False),
        ("co0mwwjcpxg", "policies/staff-parking.md", False),
    ]


def test_a_word_that_left_the_pages_is_said(found: Refreshed) -> None:
    """The only mention of a former name went: three questions use it. Words of deleted pages are gone as well."""
    lost = {one.case: one.terms for one in found.found if one.kind == "vanished-terms"}
    assert {case for case, terms in lost.items() if "dockmaster" in terms} == {
        "c4z1c5o2hlg",
        "chxhgsb1wtk",
        "cstk0tu38c5",
    }
    assert lost["c0ujzqp757d"] == ("diem", "abroad")


def test_a_gold_written_after_the_question(tmp_path: Path) -> None:
    """A page created in a later month than the question was asked is said, unless an alternative was there before."""
    old, new = "runbooks/clock-skew.md", "policies/travel.md"
    judged = [{"doc": doc, "grade": 3, "found_by": "reviewer"} for doc in (new, old)]
    workspace = released(
        tmp_path,
        case(1, query="who pays for the hotel", judged=judged[:1], seen_on="2020-01"),
        case(2, query="clocks at the gate are wrong", judged=judged, seen_on="2024-06"),
        case(3, query="hosts drift apart in time", judged=judged[1:], seen_on="2024-06"),
    )
    page = workspace.root / "docs" / new
    page.write_text(page.read_text("utf-8").replace("created: ", "created: 2026-01-05\nwas: "), "utf-8")
    result = look(workspace)
    assert [(one.case, one.document) for one in result.found if one.kind == "answered-later"] == [("c0000000001", new)]


def test_a_page_that_was_only_moved_is_not_written_later(tmp_path: Path) -> None:
    """A new id comes with a new date of creation; the text stood in the release, so that search could find it."""
    judged = [{"doc": "policies/travel.md", "grade": 3, "found_by": "reviewer"}]
    workspace = released(tmp_path, case(1, query="who pays for the hotel", judged=judged, seen_on="2026-02"))
    old = workspace.root / "docs" / "policies" / "travel.md"
    text = old.read_text("utf-8").replace("created: ", "created: 2026-05-05\nwas: ")
    old.with_name("trips.md").write_text(text, "utf-8")
    old.unlink()
    assert look(workspace, accept_moves=True).moved == ("c0000000001",)
    assert look(workspace).found == ()


def test_an_old_release_is_said(changed: Workspace) -> None:
    """Older than 180 days counts as old; the limit is a setting."""
    assert not look(changed, moment=RELEASED + timedelta(days=180)).too_old
    assert look(changed, moment=RELEASED + timedelta(days=181)).too_old


def test_certain_moves_are_accepted_in_bulk(own: Workspace) -> None:
    """Seven labels of six cases go to the new ids with grade, part and signature; the next release has them."""
    before = heads(own)
    result = look(own, accept_moves=True, by="ana")
    assert sorted(result.moved) == [
        "carsaobgsgp",
        "cfsk26g6kdc",
        "civ6p92abg5",
        "cjvx7ykh1tb",
        "cq5v5eug42v",
        "cu14fjrf1mo",
        "cvx8v222n65",
    ]
    assert result.refused == ()
    after = heads(own)
    moved: Mapping[str, str] = load_changed().MOVED
    for case_id, old in before.items():
        kept = [
            one.model_copy(update={"doc": moved[one.doc]}) if case_id in result.moved and one.doc in moved else one
            for one in old.judged
        ]
        assert sorted(map(repr, after[case_id].judged)) == sorted(map(repr, kept))
        assert (after[case_id].labelled_by, after[case_id].confirmations) == (old.labelled_by, old.confirmations)
    with open_bench(own) as bench:
        assert {change.what for change in bench.case_changes("civ6p92abg5")} == {"moved"}
    made = release(own, ReleaseRequest(message="second"), ready=Ready())
    assert made.number == 2, made.obstacles
    released_now = read_release(release_folder(own.evalset, 2)).content.cases
    assert {one.id: one for one in released_now}["cjvx7ykh1tb"].gold[0].doc == "runbooks/paperchain-out-of-inodes.md"
    assert not any(one.kind == "moved" for one in look(own).found)


def test_a_quote_moves_as_the_document_has_it_now(tmp_path: Path) -> None:
    """A label whose quote stands there with another line break keeps it in the document's own form."""
    quote = "Wear gloves at the quay and never run."
    (tmp_path / "w").mkdir()
    workspace = released(
        tmp_path / "w",
        case(1, query="gloves", judged=[{"doc": "how-to/set-up-vpn.md", "grade": 3, "found_by": "reviewer"}]),
    )
    docs = workspace.root / "docs"
    (docs / "a.md").write_text(f"# A\n\n{quote}\n", "utf-8")
    with open_bench(workspace) as bench:
        [now] = heads(workspace).values()
        judged = [{"doc": "a.md", "grade": 3, "found_by": "reviewer", "anchor": quote}]
        asked = CaseChangeRequest.model_validate(
            {"case": now.id, "seen": digest_case(now), "why": "x", "judged": judged}
        )
        change_case(workspace, bench, LEAD, asked, now=LATER)
    release(workspace, ReleaseRequest(message="second"), ready=Ready(), made=RELEASED)
    (docs / "a.md").unlink()
    (docs / "b.md").write_text("# A\n\nWear gloves at the quay\nand never run.\n", "utf-8")
    (docs / "_redirects").write_text("/a /b 301\n", "utf-8")
    result = look(workspace, accept_moves=True)
    assert result.moved == (now.id,)
    [gold] = heads(workspace)[now.id].gold
    assert (gold.doc, gold.anchor) == ("b.md", "Wear gloves at the quay\nand never run")


def test_moves_that_somebody_made_meanwhile_are_done(own: Workspace) -> None:
    """Of two who accept the same moves at once, the later one moves nothing, and is told of no obstacle."""
    documents = open_documents(own, SetRequest())
    assert documents is not None
    stale = look(own).stale
    with open_bench(own) as bench:
        first = accept_moves(own, bench, LEAD, stale, documents, now=LATER)
        second = accept_moves(own, bench, LEAD, stale, documents, now=LATER)
    assert second == ((), frozenset(first.moved), ())


def test_only_a_lead_accepts_moves(own: Workspace) -> None:
    """A reviewer's moves are refused, and nothing changes."""
    before = heads(own)
    documents = open_documents(own, SetRequest())
    assert documents is not None
    with open_bench(own) as bench, pytest.raises(RefusedError):
        accept_moves(own, bench, LEAD._replace(roles=("reviewer",)), look(own).stale, documents, now=LATER)
    assert heads(own) == before


def test_the_rest_is_sent_to_review_once(own: Workspace) -> None:
    """Every case with something uncertain waits for a lead with the reasons; sending again adds nothing."""
    result = look(own, send=True, by="ana")
    uncertain = {one.case for one in result.stale if not one.certain}
    assert result.sent == len(uncertain)
    with open_bench(own) as bench:
        waiting = list_questioned(bench)
        assert set(waiting) == uncertain
        assert read_doubt(waiting["c8bp7e1lsoz"].after) == ("gold-is-wrong", "services/weigh-link.md")
        assert read_doubt(waiting["co0mwwjcpxg"].after) == ("also-right", "policies/staff-parking.md")
        assert "another document of its part stays" in (waiting["c8bp7e1lsoz"].why or "")
        assert waiting["c4z1c5o2hlg"].why == (
            "dockmaster: words of the question are in no document any more. Have a lead look."
        )
    again = look(own, send=True, by="ana")
    assert (again.sent, again.waiting) == (0, len(uncertain))
    assert f"0 cases sent to review, {len(uncertain)} waited there already." in say_refreshed(again)


def test_a_label_that_was_looked_at_and_kept_is_not_found_again(own: Workspace) -> None:
    """Who leaves a doubted label as it is settles those findings, and no other ones."""
    first = look(own, send=True)
    with open_bench(own) as bench:
        keep_label(own, bench, LEAD, "c4z1c5o2hlg", "people still say it", now=LATER)
    second = look(own)
    assert second.settled == 1
    assert {one.key for one in first.found} - {one.key for one in second.found} == set()
    assert len(first.found) - len(second.found) == 1
    assert "c4z1c5o2hlg" not in {one.case for one in second.found}


def test_the_week_reads_what_waits(own: Workspace) -> None:
    """The last refresh is kept without words of questions; who changes or keeps a case takes it off the list."""
    shutil.rmtree(own.private / "staleness", ignore_errors=True)
    with open_bench(own) as bench:
        assert list_stale(own, bench) == ()
        result = look(own)
        listed = list_stale(own, bench)
        first = [one.certain for one in listed]
        assert first == sorted(first, reverse=True)
        assert {one.case for one in listed} == {one.case for one in result.stale}
        now = heads(own)["chvfefietxi"]
        asked = CaseChangeRequest(case=now.id, seen=digest_case(now), why="the page is gone", status="retired")
        change_case(own, bench, LEAD, asked, now=LATER + timedelta(minutes=1))
        assert {one.case for one in listed} - {one.case for one in list_stale(own, bench)} == {"chvfefietxi"}
    kept = (own.private / "staleness" / "refreshed.json").read_text("utf-8")
    assert "dockmaster" not in kept
    assert (own.private / "staleness" / "refreshed.json").stat().st_mode & 0o777 == 0o600
    assert read_refreshed(own) is not None


@pytest.mark.parametrize("damage", ["", "{}", '{"format": 2}', "[]"])
def test_a_damaged_record_is_none(own: Workspace, damage: str) -> None:
    """What cannot be read lists nothing; the next refresh writes it anew."""
    look(own)
    (own.private / "staleness" / "refreshed.json").write_text(damage, "utf-8")
    with open_bench(own) as bench:
        assert list_stale(own, bench) == ()
        look(own)
        assert list_stale(own, bench)


def test_without_what_was_remembered_less_is_told_and_that_is_said(own: Workspace, found: Refreshed) -> None:
    """Digests and quotes still tell what moved, what is gone, and merges of quotes; a note says what cannot be told."""
    shutil.rmtree(own.private / "snapshots")
    result = look(own)
    assert any("nothing is remembered of the documents of release 1" in note for note in result.notes)
    told, whole = golds(result), golds(found)
    assert told["cjvx7ykh1tb", "runbooks/paperchain-inode-exhaustion.md"].certain
    assert told["c8bp7e1lsoz", "services/weigh-link.md"].kind == "gone"
    assert told["c3w5fq0bze7", "runbooks/duplicate-invoices.md"].kind == "gone"
    assert told["cjmyyn6r1h9", "policies/change-freeze.md"].share is None
    assert told.keys() == whole.keys()
    assert not any(one.kind == "vanished-terms" for one in result.found)


def test_a_damaged_memory_is_said_without_its_place(own: Workspace) -> None:
    """The note names the file to delete, and not the folders of this machine: reports are passed on."""
    (own.private / "snapshots" / "release-1.npz").write_bytes(b"PK")
    result = look(own)
    assert any("release 1 is damaged" in note for note in result.notes)
    assert str(own.private) not in result.model_dump_json()


def test_a_damaged_memory_of_the_very_documents_is_made_anew(tmp_path: Path) -> None:
    """Where nothing changed since the release, the next refresh remembers it again."""
    gold = {"doc": "how-to/set-up-vpn.md", "grade": 3, "found_by": "reviewer"}
    workspace = released(tmp_path, case(1, query="vpn", judged=[gold]))
    memory = workspace.private / "snapshots" / "release-1.npz"
    memory.write_bytes(b"PK")
    assert look(workspace).notes == ()
    assert len(memory.read_bytes()) > 2


def test_since_a_release_looks_only_at_what_changed(own: Workspace, found: Refreshed) -> None:
    """The same golds are found by reading only documents that are new or changed; lost words are not looked for."""
    result = look(own, since="1")
    assert golds(result) == golds(found)
    assert result.since == "release 1"
    assert not any(one.kind == "vanished-terms" for one in result.found)
    assert any("lost words were not looked for" in note for note in result.notes)


def test_since_a_date_is_the_release_before_it(own: Workspace, found: Refreshed) -> None:
    """Texts are compared with the release remembered by then: pages that moved still carry their old times."""
    result = look(own, since="2026-05-15")
    assert result.since == "2026-05-15 (compared with 2026-04-01)"
    assert golds(result) == golds(found)


def test_since_an_earlier_date_goes_by_the_times_of_the_pages(own: Workspace, found: Refreshed) -> None:
    """Before anything was remembered pages count that say they changed since; a page that does not say counts."""
    assert look(own, since="2020-01-01").found == tuple(one for one in found.found if one.kind != "vanished-terms")
    late = golds(look(own, since="2026-03-31"))
    assert late["c8wejvc2eay", "runbooks/geofence-drift.md"].kind == "split"
    assert late["cgz4dw1qzpm", "how-to/replace-mfa-device.md"].kind == "gone"


def test_ids_and_digests_alone_tell_what_is_new(own: Workspace) -> None:
    """Where only the last reading of the corpus fits the release, new pages are told, and a note says what is not."""
    snapshots = own.private / "snapshots"
    (snapshots / "release-1.jsonl").rename(snapshots / "corpus.jsonl")
    (snapshots / "release-1.npz").unlink()
    result = look(own)
    assert [one.case for one in result.found if one.kind == "may-answer"] == ["ca1yvjzp1lv", "co0mwwjcpxg"]
    assert golds(result)["c8bp7e1lsoz", "services/weigh-link.md"].why.startswith("it is gone; where its text went")
    assert golds(result)["cgz4dw1qzpm", "how-to/replace-mfa-device.md"].kind == "merged"
    assert any("of release 1 only ids and digests" in note for note in result.notes)


def test_since_must_be_a_release_or_a_date(changed: Workspace) -> None:
    """Anything else is refused; so is a release that nothing is remembered of."""
    for since in ("yesterday", "2026-13-40", "1.5"):
        with pytest.raises(UsageError):
            look(changed, since=since)
    with pytest.raises(MissingError, match="release 7"):
        look(changed, since="7")


def test_a_set_without_a_release_has_nothing_to_refresh(tmp_path: Path) -> None:
    """The error says what to do first."""
    (tmp_path / "findback.toml").write_text('format = 1\nprivate = "p"\n[corpus]\npath = "docs"\n', "utf-8")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# A\n", "utf-8")
    with pytest.raises(MissingError, match="nothing has been released"):
        look(open_workspace(tmp_path))


def test_releasing_in_between_hides_nothing(own: Workspace, found: Refreshed) -> None:
    """A label is compared with the pages as they were when it was made, not with those of a later release."""
    now = heads(own)["c4sd02bnxqf"]
    with open_bench(own) as bench:
        asked = CaseChangeRequest(case=now.id, seen=digest_case(now), why="x", wording="vague")
        change_case(own, bench, LEAD, asked, now=LATER)
    assert release(own, ReleaseRequest(message="second"), ready=Ready(), made=LATER).number == 2
    assert golds(look(own)) == golds(found)


def test_a_refresh_writes_nothing_but_its_record(own: Workspace) -> None:
    """Set, releases and pages have the same bytes as before."""
    before = {path: path.read_bytes() for path in own.evalset.rglob("*") if path.is_file()}
    look(own, moment=datetime(2026, 8, 1, tzinfo=UTC))
    assert {path: path.read_bytes() for path in own.evalset.rglob("*") if path.is_file()} == before
