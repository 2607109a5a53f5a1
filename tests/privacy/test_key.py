"""The key is private, belongs to one workbench, and is never guessed anew."""

import stat
from pathlib import Path

import pytest

from findback.errors import MissingError, RefusedError, SettingsError
from findback.privacy.key import Key, open_key, same_value


def test_made_once_and_found_again(tmp_path: Path) -> None:
    """The first use makes a key file of mode 0600 in a folder of mode 0700; the next reads the same key."""
    folder = tmp_path / "key"
    first = open_key(folder, {})
    again = open_key(folder, {}, expected=first.id)
    assert first.hmac("minh") == again.hmac("minh")
    assert stat.S_IMODE((folder / "hmac.key").stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert len(bytes.fromhex((folder / "hmac.key").read_text())) == 32


def test_from_the_environment(tmp_path: Path) -> None:
    """FINDBACK_KEY wins, is checked, and leaves no file."""
    key = Key.make()
    assert open_key(tmp_path / "key", {"FINDBACK_KEY": key.written()}).id == key.id
    assert not (tmp_path / "key").exists()


def test_wrong_key_is_refused(tmp_path: Path) -> None:
    """Another key than the workbench was made with is refused, from the file and from the environment."""
    open_key(tmp_path, {})
    with pytest.raises(RefusedError):
        open_key(tmp_path, {}, expected=Key.make().id)
    with pytest.raises(RefusedError):
        open_key(tmp_path, {"FINDBACK_KEY": Key.make().written()}, expected=Key.make().id)


def test_lost_key_is_not_replaced(tmp_path: Path) -> None:
    """A workbench whose key is gone says so instead of getting a new one."""
    with pytest.raises(MissingError):
        open_key(tmp_path, {}, expected=Key.make().id)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["", "abc", "g" * 64, "0" * 63])
def test_malformed_key(text: str, tmp_path: Path) -> None:
    """What is not 64 hexadecimal digits is refused without being shown."""
    with pytest.raises(SettingsError) as error:
        open_key(tmp_path, {"FINDBACK_KEY": text})
    assert not text or text not in str(error.value)


def test_readable_by_others_is_refused(tmp_path: Path) -> None:
    """A key file that others can read is refused."""
    open_key(tmp_path, {})
    (tmp_path / "hmac.key").chmod(0o644)
    with pytest.raises(SettingsError):
        open_key(tmp_path, {})


def test_representation_hides_the_key() -> None:
    """Printing a key shows its id, and the id is not the key."""
    key = Key.make()
    assert key.written() not in repr(key)
    assert key.id not in key.written()


def test_equal_values() -> None:
    """Ways to write one value are one value; different ones stay different."""
    assert same_value("EMAIL", "Bo@Example.ORG") == same_value("EMAIL", "bo@example.org")
    assert same_value("PERSON", "O’Brien,  SEÁN") == "o brien sean"
    assert same_value("PHONE", "0049 30 901820") == same_value("PHONE", "+49 (30) 901820")
    assert same_value("IBAN", "de89 3704") == "DE893704"
    assert same_value("USER", "U1") != same_value("USER", "u1")
