"""Flags as a portal's page sends them."""

from typing import Any

import httpx2
from fastapi.testclient import TestClient

from findback.web.site import Site

TOKEN = "public-widget-token"
ORIGIN = "https://docs.example.org"
FLAGS = f"""
[mining]
names = false
[retention]
undecided = 45
[flags]
token = "{TOKEN}"
origins = ["{ORIGIN}", "https://help.example.org"]
"""
QUERY = "cant reach bo.lind@example.org about the mixer"
"""What rules alone redact: settings leave the model that finds names out, which takes seconds to open."""


def flag(client: TestClient, *, origin: str | None = ORIGIN, token: str = TOKEN, **fields: Any) -> httpx2.Response:
    """Send a flag and return the answer."""
    headers = {"x-findback-token": token} | ({} if origin is None else {"origin": origin})
    return client.post("/v1/flags", json={"query": QUERY, **fields}, headers=headers)


def flagged(site: Site) -> list[Any]:
    """Return the candidates that flags became."""
    return [one for one in site.bench.list_candidates(limit=500) if one.candidate.origin == "flagged"]
