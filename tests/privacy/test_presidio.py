"""Presidio as a further detector: named entities, a named threshold, and no network."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("presidio_analyzer")

PROGRAM = """
import socket
tried = []
def refuse(*args, **kwargs):
    tried.append(args[:1])
    raise OSError("no network")
socket.getaddrinfo = socket.create_connection = socket.socket.connect = refuse
{before}
from findback.privacy.presidio import PresidioDetector
text = "mail bo.ek@example.org about 4111 1111 1111 1111, asks Caroline Abernathy"
detector = PresidioDetector()
found = detector.find_all([text])[0]
assert sorted((f.type, f.band, text[f.start:f.end]) for f in found) == [
    ("CARD", "suggested", "4111 1111 1111 1111"),
    ("EMAIL", "suggested", "bo.ek@example.org"),
    ("PERSON", "applied", "Caroline Abernathy"),
], found
assert "EMAIL_ADDRESS" in detector.version and detector.version.endswith("@0.4")
assert tried == [], tried
"""


@pytest.mark.parametrize("before", ["", "import tldextract"])
def test_no_network_even_from_an_empty_cache(tmp_path: Path, before: str) -> None:
    """With an empty cache and home nothing is looked up, also where the library was imported before."""
    environment = {
        **{name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ},
        "HOME": str(tmp_path),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "TLDEXTRACT_CACHE": str(tmp_path / "tld"),
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.replace("{before}", before)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2_000:]
