"""Answers of a provider that are not what was asked for."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from fastapi.testclient import TestClient
from joserfc import jwt
from joserfc.jwk import RSAKey

from builders.pagesettings import SECRET, team_settings
from findback.steps.bench import open_bench
from findback.steps.review import open_desk
from findback.web.app import create_app
from findback.web.site import Site
from findback.workspace import open_workspace

BASE = "http://127.0.0.1:8327"
RIGHT = RSAKey.generate_key(2048, {"kid": "right", "use": "sig"})
WRONG = RSAKey.generate_key(2048, {"kid": "right", "use": "sig"})


class Provider(BaseHTTPRequestHandler):
    """Speaks the protocol, and signs whatever the test tells it to."""

    issuer = ""
    token = ""

    def do_GET(self) -> None:
        pages: dict[str, Any] = {
            "/.well-known/openid-configuration": {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}/auth",
                "token_endpoint": f"{self.issuer}/token",
                "userinfo_endpoint": f"{self.issuer}/me",
                "jwks_uri": f"{self.issuer}/keys",
                "id_token_signing_alg_values_supported": ["RS256"],
            },
            "/keys": {"keys": [RIGHT.as_dict(private=False)]},
        }
        self._say(pages.get(self.path))

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self._say({"access_token": "a", "token_type": "Bearer", "id_token": type(self).token})

    def _say(self, value: Any) -> None:
        body = json.dumps(value).encode()
        self.send_response(404 if value is None else 200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


@contextmanager
def run_provider() -> Iterator[type[Provider]]:
    handler = type("Running", (Provider,), {})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    handler.issuer = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield handler
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def provider() -> Iterator[type[Provider]]:
    with run_provider() as running:
        yield running


@pytest.fixture
def client(tmp_path: Path, provider: type[Provider]) -> Iterator[TestClient]:
    settings = team_settings(base=BASE, issuer=provider.issuer, groups={"reviewer": "search"})
    (tmp_path / "findback.toml").write_text(f'private = "private"\n{settings}')
    workspace = open_workspace(tmp_path, environment={SECRET: "not a secret in a test"})
    with open_bench(workspace) as bench, open_desk(workspace, bench) as desk:
        site = Site(desk=desk, local=False, base_url=BASE)
        with TestClient(create_app(site), base_url=BASE, follow_redirects=False) as running:
            yield running


def come_back(
    client: TestClient, provider: type[Provider], key: RSAKey = RIGHT, alg: str = "RS256", **changed: Any
) -> int:
    """Begin a login, let the provider sign an ID token with these claims, and return the status of coming back."""
    asked = parse_qs(urlsplit(client.get("/login").headers["location"]).query)
    now = int(time.time())
    claims = {
        "iss": provider.issuer,
        "sub": "lena",
        "aud": "findback",
        "exp": now + 300,
        "iat": now,
        "nonce": asked["nonce"][0],
        "groups": ["search"],
        **changed,
    }
    kept = {name: value for name, value in claims.items() if value is not None}
    provider.token = jwt.encode({"alg": alg, "kid": "right"}, kept, key, algorithms=[alg])
    return client.get("/login/back", params={"code": "c", "state": asked["state"][0]}).status_code


def test_the_right_token_lets_in(client: TestClient, provider: type[Provider]) -> None:
    """What the others differ from is a login that works."""
    assert come_back(client, provider) == 303
    assert client.get("/queue").status_code == 200


@pytest.mark.parametrize(
    "changed",
    [
        {"key": WRONG},
        {"exp": int(time.time()) - 3_600},
        {"nonce": "of another login"},
        {"aud": "somebody-else"},
        {"iss": "https://elsewhere.example.org"},
        {"sub": None},
    ],
    ids=["another key", "expired", "another nonce", "for another program", "another provider", "about nobody"],
)
def test_a_forged_or_expired_token_lets_nobody_in(
    client: TestClient, provider: type[Provider], changed: dict[str, Any]
) -> None:
    """A signature, a time, a nonce, an audience, an issuer or a subject that is wrong ends the login."""
    assert come_back(client, provider, **changed) == 403
    assert client.get("/queue", headers={"accept": "application/json"}).status_code == 401


def test_a_token_without_a_signature_lets_nobody_in(client: TestClient, provider: type[Provider]) -> None:
    """The algorithm "none" is no algorithm, and a shared secret does not stand in for the provider's key."""
    asked = parse_qs(urlsplit(client.get("/login").headers["location"]).query)

    def part(value: object) -> str:
        import base64

        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()

    now = int(time.time())
    claims = {"iss": provider.issuer, "sub": "lena", "aud": "findback", "exp": now + 300, "iat": now}
    claims |= {"nonce": asked["nonce"][0], "groups": ["search"]}
    provider.token = f"{part({'alg': 'none'})}.{part(claims)}."
    assert client.get("/login/back", params={"code": "c", "state": asked["state"][0]}).status_code == 403
    assert client.get("/queue", headers={"accept": "application/json"}).status_code == 401
