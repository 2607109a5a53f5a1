"""A server of this machine that answers as a test tells it to."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, NamedTuple, Protocol
from urllib.parse import parse_qsl, urlsplit


class Asked(NamedTuple):
    """One request."""

    method: str
    path: str
    query: dict[str, str]
    form: dict[str, str]
    headers: dict[str, str]
    """By lower-case name."""
    raw: str = ""


class Answer(NamedTuple):
    """What is answered."""

    body: Any
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()


class Double(Protocol):
    """What plays a system."""

    def answer(self, asked: Asked) -> Answer: ...


@contextmanager
def serve(double: Double) -> Iterator[str]:
    """Serve a double on a free port of this machine, and give its address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._do()

        def do_POST(self) -> None:
            self._do()

        def _do(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            raw = self.rfile.read(size).decode()
            parts = urlsplit(self.path)
            form = dict(parse_qsl(raw)) if "form" in (self.headers.get("Content-Type") or "") else {}
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = double.answer(Asked(self.command, parts.path, dict(parse_qsl(parts.query)), form, headers, raw))
            body = json.dumps(answer.body).encode()
            self.send_response(answer.status)
            for name, value in (("Content-Type", "application/json"), *answer.headers):
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    task = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    task.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        task.join()
        server.server_close()
