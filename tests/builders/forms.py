"""Forms sent as a browser sends them."""

import re
from html.parser import HTMLParser
from typing import Any

from fastapi.testclient import TestClient

PAGES = ("/releases", "/tokens")
"""Everybody may open one of these, and it holds a form."""


def csrf_of(client: TestClient) -> str:
    """Return the token that forms of this visitor carry."""
    for page in PAGES:
        if found := re.search(r'name="csrf" value="([^"]+)"', client.get(page).text):
            return found[1]
    raise AssertionError("no form anywhere")


def send(client: TestClient, address: str, **values: Any) -> Any:
    """Send a form and return the answer, redirects not followed."""
    return client.post(address, data={"csrf": csrf_of(client), **values})


class Shown(HTMLParser):
    """What a browser makes of a page: its elements, and the text people read."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.text = ""
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self._kept = True
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        # What stands in a field must come back as it was.
        self._kept = tag not in ("script", "style", "textarea")

    def handle_endtag(self, tag: str) -> None:
        self._kept = True

    def handle_data(self, data: str) -> None:
        if self._kept:
            self.text += data


def assert_inert(page: str) -> None:
    """Fail where a page holds a script of anybody's, a handler, an address elsewhere, or text that reorders."""
    shown = Shown(page)
    for tag, attributes in shown.elements:
        assert tag not in ("iframe", "object", "embed", "base"), tag
        assert not [name for name in attributes if name.startswith("on") or name == "style"], (tag, attributes)
        assert tag != "script" or attributes == {"type": "module", "src": "/static/page.js"}
        for name in ("src", "href", "action", "formaction"):
            assert (attributes.get(name) or "/").startswith(("/", "#")), (tag, attributes)
    assert not set("\x00\x1b\x9b\u202e\u2066") & set(shown.text)
