"""Which other sites' pages may send to this one: those named, to one address, and never as somebody."""

from collections.abc import Collection

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from findback.web.faults import answer_fault


class CrossOrigin:
    """Lets the pages of some sites send to one path, and answers the question browsers ask before.

    No header ever allows credentials, so that what a page sends is never sent as somebody.
    """

    def __init__(self, app: ASGIApp, path: str, origins: Collection[str], headers: Collection[str]) -> None:
        self._app = app
        self._path = path
        self._origins = frozenset(origins)
        self._headers = ", ".join(headers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http" or scope["path"] != self._path:
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        origin = request.headers.get("origin")
        if origin is not None and origin not in self._origins:
            await answer_fault(request, 403, "not-allowed", "flags are not taken from this site")(scope, receive, send)
            return

        async def add(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *self._answers(origin)]
            await send(message)

        if request.method == "OPTIONS":
            asked = {"Access-Control-Allow-Methods": "POST", "Access-Control-Allow-Headers": self._headers}
            await Response(status_code=204, headers=asked | {"Access-Control-Max-Age": "600"})(scope, receive, add)
            return
        await self._app(scope, receive, add)

    @staticmethod
    def _answers(origin: str | None) -> list[tuple[bytes, bytes]]:
        pairs = [(b"vary", b"Origin")]
        if origin is not None:
            pairs.append((b"access-control-allow-origin", origin.encode("latin-1")))
            pairs.append((b"access-control-expose-headers", b"Retry-After"))
        return pairs
