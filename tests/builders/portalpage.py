"""A documentation portal on this machine whose pages carry the widget under a strict content security policy."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

POLICY = (
    "default-src 'none'; script-src {server}; connect-src {server}; style-src 'self'; base-uri 'none'; "
    "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
"""What docs/flags.md says a portal needs, and nothing else: no inline code or style, no other address."""
PAGE = """<!doctype html>
<html lang="{language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><link rel="stylesheet" href="/docs/page.css">
<title>Mixer manual</title></head>
<body><main><h1>Search</h1>
<label>Search <input id="q" type="search"></label>
<ol id="results">
<li><a href="/howto/vpn.md?session=7#top">VPN</a></li>
<li><a href="/howto/badge.md" data-id="howto/badge.md">Badge</a></li>
</ol></main>
{tag}
</body></html>
"""
STYLE = "body { background: Canvas; color: CanvasText }"
TAG = """<script src="{server}/flag.js" data-token="{token}" data-query-from="#q" data-results="#results a" {more}>
</script>"""


class Portal:
    """A portal that runs; what its page holds is decided when it is asked for."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.page = ""
        self.policy = ""

    def show(self, server: str, *, token: str, language: str = "en", more: str = "") -> None:
        """Say what its page holds from now on."""
        tag = TAG.format(server=server, token=token, more=more)
        self.page = PAGE.format(language=language, tag=tag)
        self.policy = POLICY.format(server=server)


@contextmanager
def serve_portal() -> Iterator[Portal]:
    """Run a portal on a free port for a while."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = self.path.startswith("/docs/")
            self.send_response(200 if found else 404)
            style = self.path.endswith(".css")
            self.send_header("content-type", f"text/{'css' if style else 'html'}; charset=utf-8")
            self.send_header("content-security-policy", portal.policy)
            self.end_headers()
            body = STYLE if style else portal.page
            self.wfile.write(body.encode() if found else b"")

        def log_message(self, *_: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        portal = Portal(f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield portal
        finally:
            server.shutdown()
            thread.join(timeout=10)
