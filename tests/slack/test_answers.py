"""What people in Slack are told, and what is kept of what they say."""

from datetime import UTC, datetime, timedelta

import pytest

from builders.slacksocket import command, shortcut
from findback.model.settings import SlackSettings
from findback.slack.answers import BY_PROGRAM, FOLDED, KEPT, TOO_OFTEN, Answers
from findback.steps.bench import open_bench
from findback.steps.erase import ExcludeRequest, PurgeRequest, exclude, purge
from findback.steps.slackflag import SlackDesk
from findback.workbench.rows import StoredCandidate
from findback.workspace import Workspace

NOW = datetime(2026, 9, 21, 12, tzinfo=UTC)


def stored(workspace: Workspace) -> list[StoredCandidate]:
    with open_bench(workspace) as bench:
        return bench.list_candidates()


def message(text: str, user: str | None = "U7654321", **more: object) -> dict[str, object]:
    return {"type": "message", "ts": "1790000000.000100", "text": text, **({"user": user} if user else {}), **more}


def test_words_of_the_command_become_a_redacted_flag(answers: Answers, workspace: Workspace) -> None:
    """The words are kept as typed, save for what is redacted; the person gets a link, and is not stored."""
    said = answers.to_command(command("where is the page &lt;<@U7654321|anja> wrote&gt; on cards? mail a@example.org"))
    assert said.startswith(KEPT)
    assert "https://findback.example.org/flag/" in said
    (one,) = stored(workspace)
    assert one.candidate.query.text == "where is the page <⟦USER_1⟧ wrote> on cards? mail ⟦EMAIL_2⟧"
    assert (one.candidate.origin, one.candidate.source, one.candidate.asker_hmac) == ("flagged", "slack", None)


def test_same_words_count_once(answers: Answers, workspace: Workspace) -> None:
    """A second person with the same words is told that it counts for the first."""
    answers.to_command(command("where is the card page"))
    assert answers.to_command(command("where is the card page", user_id="U2222222")).startswith(FOLDED)
    assert len(stored(workspace)) == 1


def test_status_can_be_asked_for_in_slack(desk: SlackDesk) -> None:
    """Without a page that is served, the answer says how to ask, and asking answers."""
    answers = Answers(desk, SlackSettings(), base_url=None, clock=lambda: NOW)
    said = answers.to_command(command("where is the card page"))
    asking = said.rpartition("`/couldnt-find ")[2].rstrip("`")
    assert answers.to_command(command(asking)) == "It waits for a reviewer."
    assert "no flag has this link" in answers.to_command(command("status " + "x" * 32))


@pytest.mark.parametrize("text", ["", "  ", "help"])
def test_no_words_bring_help(answers: Answers, workspace: Workspace, text: str) -> None:
    """An empty command explains itself and keeps nothing."""
    assert answers.to_command(command(text)).startswith("Type `/couldnt-find`")
    assert stored(workspace) == []


def test_too_many_words_are_said_to_be(answers: Answers, workspace: Workspace) -> None:
    """More than a question may have is refused with the number, and nothing is kept."""
    assert "2,000" in answers.to_command(command("word " * 500))
    assert stored(workspace) == []


def test_shortcut_keeps_the_message(answers: Answers, workspace: Workspace) -> None:
    """The shortcut keeps what somebody wrote, for those who could read it there."""
    answers.to_shortcut(shortcut(message("how do i get in from home"), ""))
    private = {"id": "G1", "name": "privategroup"}
    answers.to_shortcut(shortcut(message("how do i get out from home"), "", channel=private))
    direct = {"id": "D1", "name": "directmessage"}
    answers.to_shortcut(shortcut(message("how do i stay at home"), "", channel=direct))
    kept = {one.candidate.query.text: one.candidate.audience for one in stored(workspace)}
    assert kept == {
        "how do i get in from home": "public",
        "how do i get out from home": "private",
        "how do i stay at home": "direct",
    }


def test_words_of_somebody_else_can_be_erased(answers: Answers, workspace: Workspace) -> None:
    """A colleague's message goes when they ask for it; what somebody flagged in their own words names nobody."""
    answers.to_shortcut(shortcut(message("how do i get in from home"), ""))
    answers.to_shortcut(shortcut(message("how do i stay at home", "U1234567"), ""))
    answers.to_command(command("where is the card page"))
    purge(workspace, PurgeRequest(person=("U7654321", "U1234567")))
    kept = [one.candidate for one in stored(workspace)]
    assert [one.query.text for one in kept] == ["how do i stay at home", "where is the card page"]
    assert {one.asker_hmac for one in kept} == {None}


def test_text_in_blocks_is_kept(answers: Answers, workspace: Workspace) -> None:
    """A message whose words lie in its blocks alone is kept too."""
    blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": "where is the card page"}}]
    answers.to_shortcut(shortcut(message("", blocks=blocks), ""))
    assert [one.candidate.query.text for one in stored(workspace)] == ["where is the card page"]


def test_what_a_program_wrote_is_not_kept(answers: Answers, workspace: Workspace) -> None:
    """A program's message is nobody's question."""
    assert answers.to_shortcut(shortcut(message("build failed", None, bot_id="B1"), "")) == BY_PROGRAM
    assert stored(workspace) == []


def test_who_objected_is_not_kept(answers: Answers, workspace: Workspace) -> None:
    """Neither a message of an excluded person, nor anything said in an excluded channel, is kept."""
    exclude(workspace, ExcludeRequest(person=("U7654321",), channel=("slack:C9",)))
    assert answers.to_shortcut(shortcut(message("how do i get in"), "")).startswith("Nothing was kept")
    assert answers.to_command(command("how do i get in", channel_id="C9")).startswith("Nothing was kept")
    assert stored(workspace) == []


def test_one_person_cannot_fill_the_workbench(desk: SlackDesk, workspace: Workspace) -> None:
    """Over the limit of an hour one person is asked to wait, others are not, and after an hour it goes on."""
    moments = [NOW]
    answers = Answers(desk, SlackSettings(per_person=2), base_url=None, clock=lambda: moments[-1])
    said = [answers.to_command(command(f"where is page {at}")) for at in ("one", "two", "three")]
    assert [one == TOO_OFTEN for one in said] == [False, False, True]
    assert answers.to_command(command("where is page four", user_id="U2222222")) != TOO_OFTEN
    moments.append(NOW + timedelta(hours=1))
    assert answers.to_command(command("where is page three")) != TOO_OFTEN
    assert len(stored(workspace)) == 4
