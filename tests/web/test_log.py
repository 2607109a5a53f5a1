"""What the page writes into its log."""

import io
import json
import logging
from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from findback.web.log import log_to


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    logger = logging.getLogger("findback.web")
    before = (logger.handlers[:], logger.level, logger.propagate)
    stream = io.StringIO()
    log_to(stream)
    yield stream
    logger.handlers[:], level, logger.propagate = before
    logger.setLevel(level)


def test_a_request_is_one_line_of_json_without_its_address(client: TestClient, lines: io.StringIO) -> None:
    """The route, the status and the time are there; what was searched for, keys and cookies are not."""
    client.get("/cases", params={"words": "canary-of-the-search"})
    client.get("/items/canary-of-the-key")
    found = [json.loads(line) for line in lines.getvalue().splitlines()]
    assert [(one["method"], one["route"], one["status"]) for one in found if one["event"] == "request"] == [
        ("GET", "cases", 200),
        ("GET", "item", 404),
    ]
    assert all(one["ms"] >= 0 and one["level"] == "info" for one in found)
    assert "canary" not in lines.getvalue()
