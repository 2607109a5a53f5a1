"""The words behind a placeholder: read from the export again, or not at all."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from builders.candidates import NOON
from builders.portal import write_portal
from builders.reread import ASKED, open_portal, write_slack
from findback.errors import MissingError, RefusedError, UsageError
from findback.model.case import Judgement
from findback.model.review import Review
from findback.model.reviewer import Reviewer
from findback.privacy.core import CoreRedactor
from findback.privacy.finding import Finding
from findback.steps.bench import open_bench
from findback.steps.casemaking import BenchCases
from findback.steps.mine import MineRequest, mine
from findback.steps.review import Desk, open_desk, open_item, submit, undo
from findback.steps.reviewfalse import is_false_positive
from findback.steps.revieworiginal import ask_original, give_back, note_shown, read_original
from findback.steps.reviewspans import SpanPlace
from findback.workbench.reviews import Saved
from findback.workspace import open_workspace

ANA = Reviewer("ana", None, ("reviewer",), ("public",))
VPN = "howto/vpn.md"


@pytest.fixture(params=[True, False], ids=["archive", "folder"])
def at(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[SimpleNamespace]:
    place = tmp_path / "exports" / "slack.zip" if request.param else tmp_path / "export"
    workspace, export = open_portal(tmp_path, place, packed=request.param)
    mine(workspace, MineRequest(exports=(export,)))
    with open_bench(workspace) as bench, open_desk(workspace, bench) as desk:
        (stored,) = bench.list_candidates()
        yield SimpleNamespace(
            workspace=workspace, export=export, bench=bench, desk=desk, key=stored.candidate.key, packed=request.param
        )


def show_original(desk: Desk, who: Reviewer, key: str, where: SpanPlace, reason: str) -> str:
    """Ask for words, have them read and look at them."""
    ask_original(desk, who, key, where, reason, now=NOON)
    words = read_original(desk, key, where, reviewer=who.subject, now=NOON)
    note_shown(desk, who, key, now=NOON)
    return words


def restore_span(at: SimpleNamespace, where: SpanPlace, reason: str) -> Saved:
    """Have words shown, and give them back."""
    words = show_original(at.desk, ANA, at.key, where, reason)
    return give_back(at.desk, ANA, at.key, where, words, revision=0, now=NOON)


def place_of(at: SimpleNamespace, kind: str, place: str = "query", position: int = 0) -> SpanPlace:
    item = open_item(at.desk, ANA, at.key, now=NOON)
    view = item.query if place == "query" else item.thread[position]
    found = next(one for one in view.segments if one.type == kind)
    return SpanPlace(place, position, found.start, found.end)


def test_an_original_is_read_from_the_export_and_logged(at: SimpleNamespace) -> None:
    """Found by its HMAC, shown once, kept nowhere; who asked, when and why is written down."""
    where = place_of(at, "PERSON")
    assert show_original(at.desk, ANA, at.key, where, "is it a product?") == "Minh Tran"
    events = [one for one in at.bench.events() if one.kind == "original"]
    assert [(one.candidate, one.reviewer, one.details["outcome"]) for one in events] == [
        (at.key, "ana", "asked"),
        (at.key, "ana", "shown"),
    ]
    assert [one.text for one in at.bench.texts() if one.place == "reason"] == ["is it a product?"]
    written = b"".join(one.read_bytes() for one in at.workspace.private.rglob("*") if one.is_file())
    assert b"Minh Tran" not in written
    in_reply = place_of(at, "PERSON")
    assert in_reply == where


def test_without_the_permission_nothing_is_read(at: SimpleNamespace, tmp_path: Path) -> None:
    """Off by default; roles that see no texts have it never; a reason is needed; secrets are never shown."""
    where = place_of(at, "PERSON")
    for reason in ("", " ", "x" * 501):
        with pytest.raises(UsageError, match="needs a reason"):
            show_original(at.desk, ANA, at.key, where, reason)
    with pytest.raises(RefusedError):
        show_original(at.desk, Reviewer("p", None, ("privacy",), ("public",)), at.key, where, "why")
    with pytest.raises(RefusedError, match="never given back"):
        show_original(at.desk, ANA, at.key, place_of(at, "SECRET", "line", 1), "why")
    with pytest.raises(UsageError, match="no placeholder exactly there"):
        show_original(at.desk, ANA, at.key, where._replace(start=where.start + 1), "why")
    assert [one for one in at.bench.events() if one.kind == "original"] == []
    root = write_portal(tmp_path / "other", "")
    closed = open_workspace(root, environment={"XDG_STATE_HOME": str(tmp_path / "state")})
    with open_desk(closed, at.bench, key=at.desk.key) as desk, pytest.raises(RefusedError, match="does not show"):
        show_original(desk, ANA, at.key, where, "why")


def test_an_export_that_changed_or_went_gives_nothing(at: SimpleNamespace) -> None:
    """Edited, or no longer there: it is said, logged as not shown, and other words never appear."""
    where = place_of(at, "PERSON")
    write_slack(at.export, ASKED.replace("Minh", "Mona"), packed=at.packed)
    with pytest.raises(MissingError, match="keep the placeholder"):
        show_original(at.desk, ANA, at.key, where, "why")
    (at.export if at.packed else at.export / "users.json").rename(at.export.parent / "moved")
    if not at.packed:
        (at.export / "help-desk").rename(at.export.parent / "moved too")
    with pytest.raises(MissingError):
        show_original(at.desk, ANA, at.key, where, "why")
    assert [one.details["outcome"] for one in at.bench.events() if one.kind == "original"] == [
        "asked",
        "unreadable",
    ] * 2


def test_what_is_given_back_is_published_and_remembered_by_its_digest(at: SimpleNamespace) -> None:
    """A false alarm of a rule: the words stand in the case, today's rules honour it, and undone it is forgotten."""
    where = place_of(at, "EMAIL")
    saved = restore_span(at, where, "a package, not an address")
    item = open_item(at.desk, ANA, at.key, now=NOON)
    assert item.query.text == "how do i get in from home with grafana@tool.example, ask ⟦PERSON_2⟧?"
    review = item.review.model_copy(
        update={"wording": "plain", "judged": (Judgement(doc=VPN, grade=3, found_by="pool"),)}
    )
    done = submit(at.desk, ANA, at.key, review, revision=saved.revision, now=NOON)
    assert done.state == "ready"
    (ready,) = BenchCases(at.bench, at.desk.key, at.desk.settings, CoreRedactor(), reviewer="lea").collect()
    assert ready.obstacles == ()
    assert ready.case.query == item.query.text
    known = at.bench.false_positives()
    assert "grafana" not in repr(known)
    check = is_false_positive(at.desk.key, known)
    assert check(Finding(0, 17, "EMAIL", "mail"), "Grafana@tool.example")
    assert not check(Finding(0, 17, "SECRET", "mail"), "grafana@tool.example")
    assert not check(Finding(0, 17, "EMAIL", "mail"), "other@tool.example")
    undo(at.desk, ANA, at.key, revision=done.revision, now=NOON)
    assert at.bench.false_positives() == frozenset()


def test_a_reviewer_cannot_send_words_of_their_own(at: SimpleNamespace) -> None:
    """What is given back comes from the server's own reading alone: a changed original is put right."""
    where = place_of(at, "PERSON")
    saved = restore_span(at, where, "why")
    item = open_item(at.desk, ANA, at.key, now=NOON)
    forged = item.review.spans[0].model_copy(update={"original": "anything else"})
    review = Review(spans=(forged,), wording="plain", judged=(Judgement(doc=VPN, grade=3, found_by="pool"),))
    submit(at.desk, ANA, at.key, review, revision=saved.revision, now=NOON)
    assert at.bench.reviews_of(at.key)[0].review.spans[0].original == "Minh Tran"
