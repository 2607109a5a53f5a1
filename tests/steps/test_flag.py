"""Taking a flag in: redacted, in its own words, and with what speaks about it."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pydantic import ValidationError

from builders.portal import write_portal
from builders.ready import portal
from findback.errors import MissingError, RefusedError
from findback.evalset.cases import read_cases
from findback.model.case import Judgement
from findback.model.flag import FlagRequest
from findback.model.review import Review
from findback.model.reviewer import Reviewer
from findback.steps.bench import open_bench
from findback.steps.erase import ExcludeRequest, exclude
from findback.steps.flag import FlagDesk, open_flag_desk
from findback.steps.release import ReleaseRequest, release
from findback.steps.review import submit
from findback.steps.reviewdesk import open_desk
from findback.steps.withdraw import WithdrawRequest, withdraw
from findback.workbench.reviews import SaveOptions
from findback.workspace import Workspace, open_workspace

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
SETTINGS = """
[mining]
names = false
[flags]
fold_days = 7
selected_on = "portal"
"""


def open_at(folder: Path, settings: str = SETTINGS) -> Workspace:
    variables = {"HOME": str(folder), "FINDBACK_PRIVATE": str(folder / "private")}
    return open_workspace(write_portal(folder / "portal", settings), environment=variables)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return open_at(tmp_path)


@pytest.fixture
def desk(workspace: Workspace) -> Iterator[FlagDesk]:
    with open_flag_desk(workspace) as opened:
        yield opened


def send(desk: FlagDesk, query: str = "where is the mixer", now: datetime = NOON, **fields: object) -> str:
    return desk.flag(FlagRequest(query=query, **fields), via="widget", now=now).status  # type: ignore[arg-type]


def test_redaction_is_the_only_edit_of_the_words(desk: FlagDesk) -> None:
    """Spaces, case, odd characters and line breaks stay; what stands for a person does not."""
    words = "  WHY cant\tbo.lind@example.org  SEE “it” \N{PILE OF POO}\n?? "
    send(desk, words)
    (stored,) = desk._bench.list_candidates()
    assert stored.candidate.query.text == words.replace("bo.lind@example.org", "⟦EMAIL_1⟧")


def test_one_person_is_one_placeholder_over_words_note_and_page(desk: FlagDesk) -> None:
    """All texts of a flag are redacted together."""
    mail = "bo.lind@example.org"
    send(desk, f"where is {mail}", note=f"{mail} or cy@example.org", page=f"/people/{mail}")
    (stored,) = desk._bench.list_candidates()
    texts = [stored.candidate.query.text, *(one.body.text for one in stored.candidate.thread)]
    assert texts == ["where is ⟦EMAIL_1⟧", "⟦EMAIL_1⟧ or ⟦EMAIL_2⟧", "on the page /people/⟦EMAIL_1⟧"]
    assert [one.role for one in stored.candidate.thread] == ["asker", "bot"]


def test_names_are_found_as_in_mining(tmp_path: Path) -> None:
    """What can be a name is marked for the reviewer, where findback.toml does not say that none are looked for."""
    found = []
    for settings in ("", "[mining]\nnames = false\n"):
        with open_flag_desk(open_at(tmp_path, settings)) as desk:
            send(desk, "why did Bo Lind move the mixer page", page=f"/{len(found)}")
            found.append({span.type for span in desk._bench.list_candidates()[-1].candidate.query.spans})
    assert found == [{"PERSON"}, set()]


def test_what_speaks_about_it_is_kept_and_what_could_be_anything_is_not(desk: FlagDesk) -> None:
    """Documents shown are links that speak for nothing; other addresses and an agent's wordings are only counted."""
    shown = ("howto/vpn.md", "howto/vpn.md", "https://elsewhere.example.org/?user=ana")
    send(desk, "cant get in from home", shown=shown, tried=("vpn access home", "tunnel"), language="en-GB")
    (stored,) = desk._bench.list_candidates()
    one = stored.candidate
    assert [(link.document, link.line, link.by, link.kind) for link in one.links] == [
        ("howto/vpn.md", -1, "bot", "shown")
    ]
    assert [(hit.rule, hit.strength, hit.evidence) for hit in one.rules] == [
        ("flag", "strong", "3 results shown, 1 of them documents; 2 more wordings tried")
    ]
    assert (one.rewrites.calls, one.rewrites.distinct) == (2, 2)  # type: ignore[union-attr]
    assert (one.origin, one.stratum, one.source, one.selected_on) == ("flagged", "failure", "widget", "portal")
    assert (one.asker_hmac, one.language, one.seen_on) == (None, "en", "2026-03")
    for word in ("tunnel", "elsewhere", "ana"):
        assert word not in one.model_dump_json()


def test_like_flags_fold_within_the_days_of_the_settings(desk: FlagDesk) -> None:
    """Same words, same page, seven days; another page, another way in or a later week is another flag."""
    send(desk, page="/a")
    send(desk, page="/a", now=NOON + timedelta(days=6))
    send(desk, page="/b")
    desk.flag(FlagRequest(query="where is the mixer", page="/a"), via="form", now=NOON)
    send(desk, page="/a", now=NOON + timedelta(days=20))
    counted = [(one.candidate.asked, one.candidate.source) for one in desk._bench.list_candidates()]
    assert counted == [("2-4", "widget"), ("1", "widget"), ("1", "form"), ("1", "widget")]


def test_two_namesakes_behind_one_placeholder_are_told_apart_by_nothing(desk: FlagDesk) -> None:
    """Words that are the same once redacted count as the same: who stood there is not what was searched."""
    send(desk, "where does ana@example.org sit")
    send(desk, "where does bo@example.org sit")
    assert [one.candidate.asked for one in desk._bench.list_candidates()] == ["2-4"]


def test_the_link_tells_each_step(desk: FlagDesk) -> None:
    """Waits, read, reviewed, released with its number; a question without an answer says so."""
    bench = desk._bench
    link, other = send(desk), send(desk, "where is the aquarium")
    assert desk.status(link).state == "waits"
    key, gap = (one.candidate.key for one in bench.list_candidates())
    answered = Review(judged=(Judgement(doc="howto/vpn.md", grade=3, found_by="pool"),), wording="plain")
    unanswered = Review(no_answer_reason="nobody wrote it down", wording="plain")
    for one, review in ((key, answered), (gap, unanswered)):
        options = SaveOptions("bo", "reviewer", "submitted", 0)
        bench.save_review(one, review, options, now=NOON, rule=lambda *_: "ready")
    assert (desk.status(link).state, "next release" in desk.status(link).says) == ("in-review", True)
    known = bench.assign_case_ids([key, gap], now=NOON)
    bench.mark_released({one.case_id: "dev" for one in known.values()}, 4, reviewer="bo", now=NOON + timedelta(days=1))
    found = desk.status(link)
    assert (found.state, found.release, found.since.isoformat()) == ("became-case", 4, "2026-03-03")
    assert "release 4" in found.says
    assert (desk.status(other).state, desk.status(other).release) == ("no-answer", 4)
    with pytest.raises(MissingError):
        desk.status("made up")


def test_a_flag_goes_all_the_way_to_a_case(tmp_path: Path) -> None:
    """Flagged, reviewed, released: its words as typed, its origin, a link that names the release; then withdrawn."""
    workspace = portal(tmp_path, f"[review]\noverlap = 0.0\n{SETTINGS}")
    with open_flag_desk(workspace) as desk:
        link = send(desk, "LOST my card, mail bo.lind@example.org??", shown=("howto/vpn.md",))
        key = desk._bench.list_candidates()[0].candidate.key
    gold = Judgement(doc="howto/badge.md", grade=3, found_by="reviewer")
    noor = Reviewer("noor", "Noor", ("reviewer",), ("public",))
    with open_bench(workspace) as bench, open_desk(workspace, bench) as desk:
        assert submit(desk, noor, key, Review(judged=(gold,), wording="plain"), revision=0, now=NOON).state == "ready"
    release(workspace, ReleaseRequest(message="flags"), reviewer="noor", made=NOON)
    (case,) = read_cases(workspace.evalset / "cases.jsonl")
    assert (case.query, case.origin, case.source, case.rule, case.selected_on) == (
        "LOST my card, mail ⟦EMAIL_1⟧??",
        "flagged",
        "widget",
        "flag",
        "portal",
    )
    # What was shown and did not help is nobody's label.
    assert [one.doc for one in case.judged] == ["howto/badge.md"]
    with open_flag_desk(workspace) as desk:
        assert (desk.status(link).state, desk.status(link).release) == ("became-case", 1)
    withdraw(workspace, WithdrawRequest(cases=(case.id,), reason="erased on request"))
    with open_flag_desk(workspace) as desk, pytest.raises(MissingError):
        desk.status(link)


def test_a_place_that_objected_is_refused(workspace: Workspace, desk: FlagDesk) -> None:
    """Once a page is kept out, its flags are."""
    exclude(workspace, ExcludeRequest(channel=("widget:/a",)))
    with pytest.raises(RefusedError, match="objected"):
        send(desk, page="/a")
    send(desk, page="/b")


def test_documents_that_cannot_be_read_lose_no_flag(workspace: Workspace, desk: FlagDesk) -> None:
    """It is kept without what was shown."""
    (workspace.root / "docs").rename(workspace.root / "gone")
    send(desk, shown=("howto/vpn.md",))
    (stored,) = desk._bench.list_candidates()
    assert stored.candidate.links == ()


@pytest.mark.parametrize("page", ["docs", "/a?b", "/a#b", "/a b", "/a\n", "/a\\b", "https://x.example.org/a", ""])
def test_a_page_is_a_path_and_nothing_more(page: str) -> None:
    """Query, fragment, host and spaces are refused, not cut: whoever sends them sends too much."""
    with pytest.raises(ValidationError):
        FlagRequest(query="x", page=page)


def test_no_remote_field_names_code_or_files() -> None:
    """What a flag holds may come from anywhere."""
    assert FlagRequest.local_only_fields() == frozenset()
