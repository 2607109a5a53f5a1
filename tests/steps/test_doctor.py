"""What doctor and status say."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

from builders.portal import write_portal
from findback.retrievers.build import list_trusted
from findback.steps.doctor import CheckItem, DoctorRequest, doctor
from findback.steps.evaluate import EvaluateRequest, evaluate
from findback.steps.opening import open_documents
from findback.steps.status import status
from findback.trust import digest_of
from findback.workspace import Workspace, open_workspace


def workspace(root: Path, **environment: str) -> Workspace:
    return open_workspace(root, environment={"XDG_STATE_HOME": str(root.parent / "state")} | environment)


def item(items: tuple[CheckItem, ...], what: str) -> CheckItem:
    return next(one for one in items if what in one.what)


@contextmanager
def server(status_code: int, body: bytes) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status_code)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    httpd = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=httpd.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{httpd.server_port}"
    finally:
        httpd.shutdown()
        httpd.server_close()
        thread.join()


def test_healthy_workspace_is_well(tmp_path: Path) -> None:
    """A workspace whose parts are all there has nothing to mend."""
    checkup = doctor(workspace(write_portal(tmp_path / "portal")), DoctorRequest())
    assert checkup.well
    assert "6 documents" in item(checkup.items, "corpus").found


def test_each_fault_says_what_to_do(tmp_path: Path) -> None:
    """A missing corpus, a wrong setting and a missing model are faults with a next step each."""
    root = write_portal(
        tmp_path / "portal",
        "[retrievers.a]\nkind = 'bm25'\nk1 = 'high'\n[retrievers.b]\nkind = 'dense'\nmodel = 'minilm-l6'\n",
    )
    checkup = doctor(workspace(root, FINDBACK_MODELS=str(tmp_path / "none")), DoctorRequest())
    assert not checkup.well
    assert "k1" in item(checkup.items, "retrievers.a").found
    assert "models pull" in (item(checkup.items, "retrievers.b").todo or "")
    (root / "findback.toml").write_text("[corpus]\npath = 'gone'\n")
    assert item(doctor(workspace(root), DoctorRequest()).items, "corpus").state == "fault"


def test_engines_are_asked(tmp_path: Path) -> None:
    """An engine that answers is well, one that answers 404 is a fault with its status; offline asks nobody."""
    with server(200, b'{"hits": [{"id": "a"}]}') as good, server(404, b"no such index") as bad:
        settings = "".join(
            f"[retrievers.{name}]\nkind = 'http'\nurl = '{url}/s?q={{{{query}}}}'\nretries = 0\n"
            for name, url in (("good", good), ("bad", bad))
        )
        root = write_portal(tmp_path / "portal", settings)
        there = workspace(root)
        digest = digest_of(there.root, list_trusted(there.settings.retrievers))
        trusted = workspace(root, FINDBACK_TRUST=digest)
        items = doctor(trusted, DoctorRequest()).items
        assert "answers" in item(items, "good").found
        assert "404" in item(items, "bad").found
        assert item(doctor(trusted, DoctorRequest(offline=True)).items, "bad").state == "ok"


def test_status_names_the_next_step(tmp_path: Path) -> None:
    """Status follows the way: audit first, then real queries, then scores, then the report."""
    root = write_portal(tmp_path / "portal")
    there = workspace(root)
    assert "findback audit" in status(there).next
    evaluate(there, EvaluateRequest(set=root / "asked.jsonl"))
    assert "findback audit" in status(there).next
    assert open_documents(there, EvaluateRequest()) is not None


def test_metrics_that_do_not_exist_are_faults(tmp_path: Path) -> None:
    """A primary metric with a cut-off of 0 and a misspelt one in the list are faults, each in its place."""
    root = write_portal(tmp_path / "portal", "[measures]\nprimary = 'RR@0'\nmetrics = ['RR@10', 'Sucess@1']\n")
    checkup = doctor(workspace(root), DoctorRequest())
    assert not checkup.well
    assert "'RR@0' must be 1 or more" in item(checkup.items, "[measures] primary").found
    assert "no metric 'Sucess'" in item(checkup.items, "[measures] metrics").found
