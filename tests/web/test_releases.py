"""Releases, and the jobs that make them."""

import threading
import time
from typing import Any

import pytest
from fastapi.testclient import TestClient

from builders.forms import send
from findback.evalset.cases import read_cases, write_cases
from findback.evalset.release import list_numbers
from findback.model.record import Record
from findback.model.review import Review
from findback.steps.review import open_item, submit
from findback.steps.reviewchange import begin_review, refuse_answer
from findback.web import jobs
from findback.web.jobs import Stopped, Worker, add_job, newest_result
from findback.web.sessions import local_visitor, reviewer_of
from findback.web.site import Site
from findback.web.work import NoRequest

FIRST = "c0000000000"


def make_ready(site: Site, key: str) -> None:
    """Review a candidate as the only person there is, so that it is ready."""
    who = reviewer_of(site, local_visitor())
    item = open_item(site.desk, who, key, now=site.now())
    review = begin_review(item.evidence, lambda _: True) if item.evidence else Review()
    if not item.evidence:
        review = refuse_answer(review, "nobody wrote it down", wanted=True)
    submit(site.desk, who, key, review.model_copy(update={"wording": "vague"}), revision=0, now=site.now())


def key_of(site: Site, words: str) -> str:
    return next(one.candidate.key for one in site.bench.list_candidates() if words in one.candidate.query.text)


def retire(site: Site, case_id: str) -> None:
    path = site.workspace.evalset / "cases.jsonl"
    gone = {"status": "retired", "retired_because": "nobody asks it"}
    write_cases(path, [one.model_copy(update=gone) if one.id == case_id else one for one in read_cases(path)])


def work(client: TestClient) -> None:
    """Do every job that waits, as the server's thread would."""
    worker: Worker = client.app.state.worker  # type: ignore[attr-defined]
    while worker.work_once():
        pass


def test_releases_are_listed_with_what_changed(client: TestClient, site: Site) -> None:
    """Number, note and counts of each, and since the newest; two can be compared."""
    retire(site, FIRST)
    page = client.get("/releases").text
    assert "first" in page
    assert "second" in page
    assert "1 retired since the last one" in page.replace("in the set, ", "")
    diff = client.get("/releases/diff", params={"before": 1, "after": 2}).text
    assert 'added <span class="count">9</span>' in diff
    assert f"/cases/{FIRST}" not in diff
    assert f"/cases/{FIRST}" in client.get("/releases/diff").text
    assert client.get("/releases/diff", params={"before": 7}).status_code == 404
    assert client.get("/releases/diff", params={"before": 0}).status_code == 422


def test_a_button_makes_the_next_release(client: TestClient, site: Site) -> None:
    """A ready candidate becomes a case of release 3, by way of a stored job whose page says so."""
    make_ready(site, key_of(site, "lost my card"))
    assert site.bench.count()["ready"] == 1
    started = send(client, "/releases", do="release", message="third")
    assert started.status_code == 303
    page = client.get(started.headers["location"])
    assert 'http-equiv="refresh"' in page.text
    assert "A release is being made" in client.get("/releases").text
    work(client)
    done = client.get(started.headers["location"]).text
    assert "Release 3 is made" in done
    assert 'http-equiv="refresh"' not in done
    assert list_numbers(site.workspace.evalset) == [1, 2, 3]
    assert site.bench.count()["released"] == 1
    (case,) = [one for one in read_cases(site.workspace.evalset / "cases.jsonl") if one.added_in == 3]
    assert case.query == "lost my card for the door"
    assert send(client, "/releases", do="release", message=" ").status_code == 422


def test_what_stands_in_the_way_is_a_list_with_links(client: TestClient, site: Site) -> None:
    """A look writes nothing; each obstacle leads to its case or candidate, and the texts are not in it."""
    path = site.workspace.evalset / "cases.jsonl"
    cases = list(read_cases(path))
    cases[0] = cases[0].model_copy(update={"tags": ("mail ana@example.org",)})
    write_cases(path, cases)
    location = send(client, "/releases", do="look").headers["location"]
    work(client)
    for page in (client.get(location).text, client.get("/releases").text):
        assert f'<a href="/cases/{cases[0].id}">' in page
        assert "EMAIL" in page
        assert "ana@example.org" not in page
    assert list_numbers(site.workspace.evalset) == [1, 2]


def test_a_failed_job_says_why(client: TestClient, site: Site) -> None:
    """Nothing changed: the job fails with findback's own sentence and hint."""
    location = send(client, "/releases", do="release", message="again").headers["location"]
    work(client)
    page = client.get(location).text
    assert "nothing changed since release 2" in page
    assert site.bench.jobs()[0].error == "usage"


def test_scores_of_two_releases_are_compared_by_a_job(client: TestClient, site: Site) -> None:
    """The comparison runs as a job and can be done again."""
    location = send(client, "/releases/diff", before=1, after=2).headers["location"]
    work(client)
    assert "9 added" in client.get(location).text
    again = send(client, f"{location}/again")
    assert again.headers["location"] != location
    assert [job.state for job in site.bench.jobs()] == ["waiting", "done"]


class Done(Record):
    """What a job of the tests gives."""

    turns: int


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A kind of job that goes on until it is told to stop or to end."""
    state: dict[str, Any] = {"end": threading.Event(), "turns": 0}

    def turn(site: Site, job: Any, request: NoRequest, progress: Any) -> Done:
        progress.start("turning", 1_000)
        while not state["end"].is_set():
            state["turns"] += 1
            progress.advance()
            time.sleep(0.01)
        progress.finish()
        return Done(turns=state["turns"])

    monkeypatch.setattr(jobs, "WORK", {**jobs.WORK, "gaps": (NoRequest, Done, turn)})
    monkeypatch.setattr(jobs, "BEAT", 0.05)
    return state


def wait_for(holds: Any) -> None:
    for _ in range(500):
        if holds():
            return
        time.sleep(0.02)
    pytest.fail("it never came true")


def test_a_running_job_shows_how_far_it_is_and_can_be_cancelled(
    client: TestClient, site: Site, slow: dict[str, Any]
) -> None:
    """Progress is written down while it runs; cancelled, it stops at its next step."""
    worker: Worker = client.app.state.worker  # type: ignore[attr-defined]
    number = add_job(site, worker, "gaps", NoRequest(), reviewer=local_visitor().subject)
    worker.start()
    wait_for(lambda: site.bench.job(number).done > 0)
    assert "of 1000" in client.get(f"/jobs/{number}").text
    assert send(client, f"/jobs/{number}/cancel").status_code == 303
    wait_for(lambda: site.bench.job(number).state == "cancelled")
    worker.stop()
    assert "It was cancelled" in client.get(f"/jobs/{number}").text


def test_a_stopped_server_leaves_a_job_to_the_next(
    client: TestClient, site: Site, slow: dict[str, Any], clock: Any
) -> None:
    """A job whose server went away stays running, and is done by another once nothing was heard of it for a minute."""
    worker: Worker = client.app.state.worker  # type: ignore[attr-defined]
    number = add_job(site, worker, "gaps", NoRequest(), reviewer=local_visitor().subject)
    worker.start()
    wait_for(lambda: site.bench.job(number).done > 0)
    worker.stop()
    assert site.bench.job(number).state == "running"
    slow["end"].set()
    other = Worker(site)
    assert not other.work_once()
    clock.move(seconds=61)
    assert other.work_once()
    assert site.bench.job(number).state == "done"
    found = newest_result(site, "gaps")
    assert found is not None
    assert found[0].number == number


def test_a_job_that_breaks_does_not_end_the_thread(
    client: TestClient, site: Site, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """An unforeseen error fails the job, without its text in log or page, and the next job is done."""

    def break_(site: Site, job: Any, request: NoRequest, progress: Any) -> Done:
        raise RuntimeError("the words of a person")

    monkeypatch.setattr(jobs, "WORK", {**jobs.WORK, "gaps": (NoRequest, Done, break_)})
    worker: Worker = client.app.state.worker  # type: ignore[attr-defined]
    number = add_job(site, worker, "gaps", NoRequest(), reviewer=local_visitor().subject)
    work(client)
    assert site.bench.job(number).error == "internal"
    assert "the words of a person" not in client.get(f"/jobs/{number}").text + caplog.text


def test_jobs_of_others_are_not_there(team_client: Any, team_site: Site) -> None:
    """A reviewer sees their own jobs; a lead sees all, without a name."""
    lead, reviewer = team_client("lead"), team_client("reviewer", name="bo")
    location = send(lead, "/releases", do="look").headers["location"]
    assert reviewer.get(location).status_code == 404
    assert location not in reviewer.get("/jobs").text
    assert location in team_client("lead", name="cy").get("/jobs").text
    assert send(reviewer, f"{location}/cancel").status_code == 404


def test_a_release_that_runs_is_not_cancelled(client: TestClient, site: Site) -> None:
    """Half of a release would only be finished by the next one, so it runs to its end."""
    location = send(client, "/releases", do="look").headers["location"]
    site.bench.start_job(now=site.now(), stale_before=site.now())
    assert send(client, f"{location}/cancel").status_code == 422


def test_progress_stops_only_what_may_stop() -> None:
    """Told to stop, progress ends a job; a release goes on."""
    for stoppable in (True, False):
        progress = jobs.JobProgress(stoppable=stoppable)
        progress.start("x", 2)
        progress.stopped.set()
        if stoppable:
            with pytest.raises(Stopped):
                progress.advance()
        else:
            progress.advance()
        assert progress.done == 1


def test_results_hold_no_texts(client: TestClient, site: Site) -> None:
    """What jobs leave on the disk is readable by its owner alone and holds none of the set's queries."""
    make_ready(site, key_of(site, "lost my card"))
    send(client, "/releases", do="release", message="third")
    send(client, "/releases/diff", before=1, after=2)
    send(client, "/gaps")
    work(client)
    files = sorted((site.workspace.private / "tmp").glob("job-*.json"))
    assert len(files) == 3
    queries = [one.query for one in read_cases(site.workspace.evalset / "cases.jsonl")]
    for file in files:
        assert file.stat().st_mode & 0o777 == 0o600
        assert not any(query in file.read_text("utf-8") for query in queries)
