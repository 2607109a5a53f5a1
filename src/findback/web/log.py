"""One line of JSON for each request and each fault: which route, how it ended, how long it took. Never a text."""

import json
import logging
import sys
import time
from datetime import UTC, datetime
from typing import TextIO

from starlette.types import ASGIApp, Message, Receive, Scope, Send

ACCESS = logging.getLogger("findback.web.access")


class RequestLog:
    """Writes down each request by the name of its route: addresses hold keys and searches, so they are left out."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.perf_counter(), 0

        async def watch(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, watch)
        finally:
            took = round((time.perf_counter() - began) * 1000, 1)
            route = getattr(scope.get("route"), "name", None)
            fields = {"method": scope["method"], "route": route, "status": status, "ms": took}
            ACCESS.info("request", extra={"fields": fields})


class JsonLines(logging.Formatter):
    """Formats a record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        return json.dumps(line)


def log_to(stream: TextIO | None = None) -> None:
    """Send findback's own log lines to a stream, stderr when None; other loggers stay as they are."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines())
    logger = logging.getLogger("findback.web")
    logger.handlers[:] = [handler]
    logger.setLevel(logging.INFO)
    logger.propagate = False
