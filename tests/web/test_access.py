"""Every route by every role."""

import pytest


def test_pages_open(client) -> None:
    for address in (
        "/queue",
        "/week",
        "/cases",
        "/cases/c0000000000",
        "/cases?answer=no-answer",
        "/scores",
        "/gaps",
        "/gaps/file?format=csv",
        "/releases",
        "/releases/diff",
        "/jobs",
        "/privacy",
        "/tokens",
        "/v1/queue",
        "/v1/progress",
        "/v1/releases",
    ):
        r = client.get(address)
        assert r.status_code == 200, (address, r.status_code, r.text[:2000])
