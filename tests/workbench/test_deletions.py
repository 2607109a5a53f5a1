"""What was deleted where it was written leaves the workbench, on each database."""

from builders.candidates import NOON, candidate, digest, line
from findback.model.candidate import DocumentLink
from findback.workbench.store import Workbench


def stored(workbench: Workbench) -> dict[str, list[str]]:
    return {
        one.candidate.query.text: [body.body.text for body in one.candidate.thread]
        for one in workbench.list_candidates()
    }


def put_two(workbench: Workbench) -> None:
    links = (DocumentLink(document="howto/badge.md", line=1, by="resolver", kind="url-in-text"),)
    badge = candidate(
        "badge", replies=[line("r1", "bo", "see the page", 1), line("r2", "ana", "thanks", 2)], links=links
    )
    workbench.put([badge, candidate("vpn", container_hmac=digest("other"))], now=NOON)


def test_deleted_line_goes_and_the_question_stays(workbench: Workbench) -> None:
    """Of a question that is still asked, the deleted line goes; a link in it stays as evidence, without its line."""
    put_two(workbench)
    taken = workbench.take_deleted(lines={digest("badge"): [digest("r1")]}, now=NOON)
    assert (taken.candidates, taken.lines) == (0, 1)
    assert stored(workbench)["where is the page about badge?"] == ["where is the page about badge?", "thanks"]
    assert workbench.get(digest("badge")).candidate.links[0].line == -1


def test_deleted_question_goes_whole_and_may_come_again(workbench: Workbench) -> None:
    """With its own line, or named as deleted, a question goes; no tombstone keeps it out when it is asked again."""
    put_two(workbench)
    taken = workbench.take_deleted(lines={digest("badge"): [digest("badge")]}, questions=[digest("vpn")], now=NOON)
    assert taken.candidates == 2
    assert stored(workbench) == {}
    put_two(workbench)
    assert len(stored(workbench)) == 2


def test_decided_questions_stay(workbench: Workbench) -> None:
    """What a person decided on is not taken away by somebody else's deletion."""
    put_two(workbench)
    workbench.reject(digest("badge"), "out", reviewer="lead", version=1, now=NOON)
    assert not workbench.take_deleted(lines={}, questions=[digest("badge")], now=NOON)
    assert len(stored(workbench)) == 2


def test_only_what_waits_in_the_channel_is_listed(workbench: Workbench) -> None:
    """Undecided questions are listed with their lines and moments; other channels' and decided ones are not."""
    put_two(workbench)
    (waiting,) = workbench.waiting_in(digest("help")).values()
    assert waiting.query_line == 0
    assert [one.key for one in waiting.lines] == [digest("badge"), digest("r1"), digest("r2")]
    assert waiting.lines[0].at == NOON
    workbench.reject(digest("badge"), "out", reviewer="lead", version=1, now=NOON)
    assert workbench.waiting_in(digest("help")) == {}


def test_who_and_what_is_kept_out_is_known(workbench: Workbench) -> None:
    """Channels and people that objected or were erased are told from others."""
    workbench.exclude("container", digest("help"), now=NOON)
    workbench.purge(container_hmac=digest("other"), person_hmac=digest("ana"), now=NOON)
    workbench.exclude("person", digest("bo"), now=NOON)
    assert [workbench.is_kept_out(digest(one)) for one in ("help", "other", "third")] == [True, True, False]
    assert [workbench.is_person_kept_out(digest(one)) for one in ("ana", "bo", "cleo")] == [True, True, False]
