"""Secrets that somebody wrote into the settings are not shown."""

from pathlib import Path

import pytest

from builders.portal import write_portal
from findback.steps.configuration import show_configuration
from findback.steps.doctor import DoctorRequest, doctor
from findback.steps.masking import mask_setting, mask_text
from findback.workspace import open_workspace

SECRET = "hunter" + "2"
TOKEN = "gh" + "p_" + "a9f3kQ82mZx01LbTa9f3kQ82mZx01LbTa9f3"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("headers.Authorization", f"Bearer {SECRET}"),
        ("headers.authorization", SECRET),
        ("headers.Cookie", f"session={SECRET}"),
        ("headers.X-Api-Key", SECRET),
        ("headers.Proxy-Authorization", f"Basic {SECRET}"),
        ("headers.X-Whatever", TOKEN),
        ("body.auth.password", SECRET),
        ("body.api_key", SECRET),
        ("body", f'{{"token": "{SECRET}", "q": "{{{{query}}}}"}}'),
        ("body.filters", [{"access_token": SECRET}]),
        ("command", ["curl", "-H", f"Authorization: {SECRET}"]),
        ("command", ["curl", "-H", f"Authorization: Bearer {SECRET}", "https://example.org"]),
        ("command", ["search", "--token", SECRET]),
        ("command", ["search", f"--api-key={SECRET}"]),
        ("command", ["curl", "-u", f"me:{SECRET}"]),
        ("command", ["sh", "-c", f"curl --token {SECRET} https://me:{SECRET}@example.org/x?q=1"]),
        ("command", ["sh", "-c", f"PASSWORD={SECRET} search"]),
        ("url", f"https://example.org/s?key={SECRET}"),
    ],
)
def test_literal_secrets_are_masked(name: str, value: object) -> None:
    """By its name, by the words before it, or by its own form, a secret is told and masked; the rest is shown."""
    shown = mask_setting(f"retrievers.a.{name}", value)
    assert SECRET not in shown
    assert TOKEN not in shown
    assert "***" in shown


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("retrievers.a.headers.Authorization", "env:TOKEN"),
        ("retrievers.a.headers.Authorization", "Bearer {{env:TOKEN}}"),
        ("retrievers.a.command", "search --token $TOKEN"),
        ("retrievers.token-search.kind", "bm25"),
        ("retrievers.a.body.max_tokens", 512),
        ("retrievers.a.tokenizer", "plain"),
        ("corpus.path", "docs/secrets"),
        ("name", "What does the token endpoint answer?"),
    ],
)
def test_what_is_no_secret_is_shown(name: str, value: object) -> None:
    """References to the environment, numbers, names people gave and plain words stay readable."""
    assert mask_setting(name, value) == str(value)


def test_masking_twice_changes_nothing() -> None:
    """What is masked stays as it is."""
    once = mask_text(f"curl -H 'Authorization: Bearer {SECRET}' --token {SECRET} {TOKEN}")
    assert mask_text(once) == once


def test_config_show_and_doctor_mask(tmp_path: Path) -> None:
    """Neither command prints a secret of findback.toml, trusted or not; doctor separates what is wrong."""
    root = write_portal(
        tmp_path / "portal",
        f"[retrievers.a]\nkind = 'command'\ncommand = ['curl', '-H', 'Authorization: {SECRET}']\n"
        f"[retrievers.b]\nkind = 'http'\nurl = 'http://127.0.0.1/s?q={{{{query}}}}'\n"
        f"[retrievers.b.headers]\nAuthorization = 'Bearer {SECRET}'\nX-Other = '{TOKEN}'\n"
        f"[retrievers.b.body]\npassword = '{SECRET}'\n",
    )
    (root / "docs" / "bad.md").write_bytes(b"\xff\xfe\x00broken")
    (root / "docs" / "worse.md").write_bytes(b"caf\xe9")
    workspace = open_workspace(root, environment={"XDG_STATE_HOME": str(tmp_path / "state")})
    shown = show_configuration(workspace).model_dump_json()
    checked = doctor(workspace, DoctorRequest(offline=True))
    for text in (shown, checked.model_dump_json()):
        assert SECRET not in text
        assert TOKEN not in text
    assert "http://127.0.0.1/s" in shown
    corpus = next(item for item in checked.items if item.what == "corpus")
    assert corpus.state == "fault"
    assert "\n" not in corpus.found
    assert "; " in corpus.found
