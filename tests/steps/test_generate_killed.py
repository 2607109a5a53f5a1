"""A run against a server that behaves like the real API, and runs of it that are killed."""

import json
import random
import signal
import time
from pathlib import Path

import pytest

from builders.generaterun import Place, moody, read_documents, same_result, serve, write_documents
from builders.llmserver import LlmServer
from findback.corpus.corpus import Corpus
from findback.model.generated import Generated

N = 40
KILLS = 10
CONNECTIONS = 16


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_documents(tmp_path_factory.mktemp("pages"), 70)


@pytest.fixture(scope="module")
def documents(pages: Path) -> Corpus:
    return read_documents(pages)


def paid(result: Generated) -> int:
    return sum(bill.calls for bill in result.bills)


def known(result: Generated) -> int:
    return sum(bill.cached for bill in result.bills)


def test_killed_ten_times_it_pays_nothing_twice_and_ends_the_same(
    tmp_path: Path, pages: Path, documents: Corpus
) -> None:
    """Errors, cut and broken answers included: same record, same candidates; only what was under way is asked again."""
    with serve(documents, mood=moody) as server:
        place = Place(tmp_path / "whole", pages, server, connections=CONNECTIONS)
        place.run(N)
        whole, candidates = place.result(), place.candidates()
        assert server.counts.duplicates == 0
    assert (whole.got, len(candidates)) == (N, N)
    assert len({one.document for one in whole.described}) == len(whole.described)
    with serve(documents, mood=moody, latency=0.02) as server:
        place = Place(tmp_path / "killed", pages, server, connections=CONNECTIONS)
        draw = random.Random(7)
        for _ in range(KILLS):
            place.kill(N, server, draw.randrange(1, 2 * paid(whole) // KILLS))
        again = _finish(place, server)
        assert same_result(whole, again)
        assert place.candidates() == candidates
        # What was under way when it was killed had not reached the disk.
        assert server.counts.duplicates <= KILLS * CONNECTIONS


def _finish(place: Place, server: LlmServer) -> Generated:
    """Run to the end, twice: the second time everything is known."""
    kept = place.answers()
    place.run(N)
    done = place.result()
    # Every answer on the disk was used, and none of those was asked for again.
    assert known(done) == kept
    before = server.counts.accepted
    place.run(N)
    over = place.result()
    assert server.counts.accepted == before
    assert (paid(over), known(over)) == (0, place.answers())
    assert same_result(done, over)
    return done


def test_a_budget_stops_cleanly_and_a_higher_one_goes_on(tmp_path: Path, pages: Path, documents: Corpus) -> None:
    """What was answered is kept and paid once; the record says what was not reached, the status that it is less."""
    with serve(documents) as server:
        place = Place(tmp_path, pages, server, connections=4)
        child = place.start(N, "--budget", "0.02", "--json")
        printed, said = child.communicate(timeout=300)
        assert child.returncode == 1, said
        result = Generated.model_validate(json.loads(printed))
        assert "budget" in (result.stopped or "")
        assert {one.outcome for one in result.ended} >= {"not reached"}
        assert sum(bill.price or 0 for bill in result.bills) <= 0.02
        assert " calls, " in said
        assert said.rstrip().endswith("the budget of 0.02 USD does not bear another call") or "USD" in said
        place.run(N)
        assert place.result().got == N
        assert server.counts.duplicates == 0


def test_ctrl_c_keeps_every_answer(tmp_path: Path, pages: Path, documents: Corpus) -> None:
    """It ends at once with 130 and one line; what was answered is on the disk, and nothing is in the workbench yet."""
    with serve(documents, latency=0.05) as server:
        place = Place(tmp_path, pages, server, connections=4)
        child = place.start(N)
        while child.poll() is None and server.counts.accepted < 20:
            time.sleep(0.01)
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=60)
    assert child.returncode == 130, said
    assert "interrupted; what was finished is kept" in said
    assert "Traceback" not in said
    assert place.answers() >= 10
    assert place.candidates() == []


def test_a_used_up_quota_is_said_and_nothing_is_lost(tmp_path: Path, pages: Path, documents: Corpus) -> None:
    """It ends with the server's class of error, without a text of a document in what it says."""
    with serve(documents, mood=lambda question, times: "quota") as server:
        place = Place(tmp_path, pages, server)
        child = place.start(N)
        printed, said = child.communicate(timeout=300)
        assert child.returncode not in (0, 1)
        assert "quota" in said
        shown = {line for document in documents for line in document.text.splitlines() if len(line) > 30}
        assert not [line for line in shown if line in said or line in printed]
