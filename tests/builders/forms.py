"""Forms sent as a browser sends them."""

import re
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
