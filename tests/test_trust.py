"""The trust question."""

import stat
from pathlib import Path

import pytest

from findback.errors import SettingsError, UntrustedError
from findback.model.trusted import Trusted
from findback.trust import digest_of, is_trusted, require

ITEMS = (Trusted("command", "python search.py"), Trusted("variable", "SEARCH_TOKEN"))


def test_nothing_to_trust_asks_nothing(tmp_path: Path) -> None:
    """A workspace without code, hosts and variables runs without a question."""
    require(tmp_path, (), {"HOME": str(tmp_path)})


def test_without_a_person_the_digest_is_needed(tmp_path: Path) -> None:
    """Where nobody can be asked, the error shows each item and the digest that would allow them."""
    environment = {"HOME": str(tmp_path)}
    with pytest.raises(UntrustedError) as caught:
        require(tmp_path, ITEMS, environment)
    assert "python search.py" in str(caught.value)
    assert "SEARCH_TOKEN" in str(caught.value)
    digest = digest_of(tmp_path, ITEMS)
    assert digest in (caught.value.hint or "")
    require(tmp_path, ITEMS, environment | {"FINDBACK_TRUST": digest})


def test_agreement_is_remembered_outside_the_repository(tmp_path: Path) -> None:
    """A yes is asked for once, kept privately, and ends when any item changes."""
    environment = {"XDG_STATE_HOME": str(tmp_path / "state")}
    asked: list[str] = []

    def agree(question: str) -> bool:
        asked.append(question)
        return True

    root = tmp_path / "repository"
    require(root, ITEMS, environment, ask=agree)
    require(root, ITEMS, environment, ask=agree)
    assert len(asked) == 1
    file = tmp_path / "state" / "findback" / "trust.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    changed = (Trusted("command", "python other.py"), ITEMS[1])
    assert not is_trusted(root, changed, environment)
    assert not is_trusted(tmp_path / "elsewhere", ITEMS, environment)


def test_no_is_no(tmp_path: Path) -> None:
    """Who says no runs nothing, and is asked again next time."""
    environment = {"HOME": str(tmp_path)}
    with pytest.raises(UntrustedError):
        require(tmp_path, ITEMS, environment, ask=lambda _: False)
    assert not is_trusted(tmp_path, ITEMS, environment)


def test_no_item_can_look_like_another_one(tmp_path: Path) -> None:
    """An item with line breaks and terminal codes stays on its own line."""
    items = (Trusted("command", "find\n  module    fine:thing\x1b[2K"),)
    with pytest.raises(UntrustedError) as caught:
        require(tmp_path, items, {"HOME": str(tmp_path)})
    assert "\n  module" not in str(caught.value)
    assert "\x1b" not in str(caught.value)


def test_broken_trust_file_trusts_nothing(tmp_path: Path) -> None:
    """A trust file that cannot be read is an error that names it, never a yes."""
    folder = tmp_path / "findback"
    folder.mkdir()
    (folder / "trust.json").write_text('{"format": 9}')
    with pytest.raises(SettingsError, match=r"trust\.json"):
        is_trusted(tmp_path, ITEMS, {"XDG_STATE_HOME": str(tmp_path)})
