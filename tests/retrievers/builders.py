"""Small corpora and servers that behave and misbehave on demand."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from findback.model.document import Document, Passage
from findback.model.hits import Span

TEXTS = {
    "tracing.md": "How to trace a lost parcel. Open the tracing form and enter the parcel number.",
    "claims.md": "File a claim for a damaged parcel within seven days.",
    "gate hours.md": "The gate opens at six in the morning and closes at ten.",
    "zoll/ausfuhr-prüfung.md": "Ausfuhr: die Prüfung der Papiere dauert einen Tag.",
}


class SmallPassages:
    """Passages of a few documents, cut at sentences."""

    def __init__(self, texts: dict[str, str], *, cut: bool = True) -> None:
        self._passages = [passage for name, text in texts.items() for passage in _cut(name, text, cut=cut)]
        self.digest = f"small-{hash(tuple(texts.items())) & 0xFFFFFFFF:x}"

    def __len__(self) -> int:
        return len(self._passages)

    def __getitem__(self, index: int) -> Passage:
        return self._passages[index]

    def __iter__(self) -> Iterator[Passage]:
        return iter(self._passages)


class SmallDocuments:
    """A few documents."""

    name = "small"
    digest = "small"

    def __init__(self, texts: dict[str, str], language: str | None = "en") -> None:
        self._documents = {name: Document(name, text, language=language) for name, text in texts.items()}

    def __len__(self) -> int:
        return len(self._documents)

    def __iter__(self) -> Iterator[Document]:
        return iter(self._documents.values())

    def get(self, document: str) -> Document | None:
        return self._documents.get(document)

    def resolve(self, reference: str) -> str | None:
        return reference if reference in self._documents else None


@dataclass
class Reply:
    """What a server answers."""

    status: int = 200
    body: bytes = b'{"hits": []}'
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})
    wait: float = 0.0


@dataclass
class Seen:
    """What a server was asked."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def parameters(self) -> dict[str, list[str]]:
        return parse_qs(urlsplit(self.path).query)

    @property
    def content(self) -> dict:
        return json.loads(self.body)


class Server:
    """A loopback HTTP server that answers by a function."""

    def __init__(self, answer: Callable[[Seen], Reply]) -> None:
        self.seen: list[Seen] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self) -> None:
                size = int(self.headers.get("Content-Length") or 0)
                asked = Seen(self.command, self.path, dict(self.headers.items()), self.rfile.read(size))
                outer.seen.append(asked)
                reply = answer(asked)
                end = time.monotonic() + reply.wait
                while time.monotonic() < end and not outer.closing.is_set():
                    time.sleep(0.01)
                try:
                    self.send_response(reply.status)
                    for name, value in reply.headers.items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", str(len(reply.body)))
                    self.end_headers()
                    self.wfile.write(reply.body)
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True

            do_GET = do_POST = do_PUT = do_HEAD = handle_any  # noqa: N815

            def log_message(self, *_: object) -> None:
                pass

        self.closing = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@contextmanager
def serving(answer: Callable[[Seen], Reply] | Reply) -> Iterator[Server]:
    """Run a server while the block runs; a single reply is given to every request."""
    server = Server((lambda _seen: answer) if isinstance(answer, Reply) else answer)
    try:
        yield server
    finally:
        server.close()


def json_reply(content: object, status: int = 200) -> Reply:
    """Return a reply with a JSON body."""
    return Reply(status, json.dumps(content).encode())


def _cut(name: str, text: str, *, cut: bool) -> Iterator[Passage]:
    at = 0
    for piece in text.split(". ") if cut else [text]:
        start = text.index(piece, at)
        at = start + len(piece)
        yield Passage(name, Span(start, at), piece)
