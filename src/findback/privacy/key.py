"""The key under which people and values are remembered without being kept."""

import binascii
import hashlib
import hmac
import os
import re
import secrets
import stat
from collections.abc import Mapping
from pathlib import Path

from findback.errors import MissingError, RefusedError, SettingsError
from findback.files import PRIVATE_FILE, private_folder, storage_errors
from findback.privacy.folding import find_words

VARIABLE = "FINDBACK_KEY"
FILE_NAME = "hmac.key"

_SIZE = 32
_HEX = re.compile(r"[0-9a-fA-F]{64}")


class Key:
    """A secret key of a workbench; makes digests that nobody without it can try values against."""

    def __init__(self, secret: bytes) -> None:
        if len(secret) != _SIZE:
            raise SettingsError(f"a key has {_SIZE} bytes", hint=f"give {VARIABLE} as 64 hexadecimal digits")
        self._secret = secret
        self.id = self.hmac("findback key")[:16]
        """Tells one key from another and nothing about it: kept beside what it made, to refuse a wrong one."""

    @classmethod
    def make(cls) -> "Key":
        """Return a new random key."""
        return cls(secrets.token_bytes(_SIZE))

    @classmethod
    def parse(cls, text: str) -> "Key":
        """Return the key written as 64 hexadecimal digits.

        Raises:
            SettingsError: If the text is something else; it is not shown.
        """
        if not _HEX.fullmatch(text.strip()):
            raise SettingsError("the key is not 64 hexadecimal digits", hint=f"openssl rand -hex {_SIZE} makes one")
        return cls(binascii.unhexlify(text.strip()))

    def written(self) -> str:
        """Return the key as 64 hexadecimal digits, for a database that keeps it."""
        return self._secret.hex()

    def hmac(self, value: str) -> str:
        """Return the keyed digest of a value: HMAC-SHA256, 64 hexadecimal digits."""
        return hmac.new(self._secret, value.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()

    def check(self, expected: str | None) -> None:
        """Refuse the key where another one made what is there.

        Raises:
            RefusedError: If `expected` is the id of another key.
        """
        if expected is not None and not hmac.compare_digest(expected, self.id):
            raise RefusedError(
                "the key is not the one this workbench was made with",
                hint=f"set {VARIABLE} to the key it was made with, or restore {FILE_NAME}",
            )

    def __repr__(self) -> str:
        return f"Key({self.id})"


def open_key(folder: Path, environment: Mapping[str, str], *, expected: str | None = None) -> Key:
    """Return the key of a workbench: from FINDBACK_KEY, else from its file, else a new one put there.

    Args:
        folder: Private folder of the key's file.
        environment: Environment variables.
        expected: Id of the key that made what the workbench holds; None for an empty workbench.

    Raises:
        SettingsError: If the key is malformed, or others can read its file.
        RefusedError: If it is not the expected one.
        MissingError: If one is expected and there is none.
        StorageError: If the disk refuses.
    """
    given = environment.get(VARIABLE)
    path = folder / FILE_NAME
    if given is not None:
        key = Key.parse(given)
    elif path.exists() or path.is_symlink():
        key = _read(path)
    elif expected is not None:
        raise MissingError(
            f"the key of this workbench is not there: {path}",
            hint=f"restore the file, or set {VARIABLE}; a new key would not know anyone again",
        )
    else:
        key = _create(path)
    key.check(expected)
    return key


def same_value(kind: str, value: str) -> str:
    """Return the form in which two ways to write a value of a type are the same.

    >>> same_value("PHONE", "+1 (212) 555-0147"), same_value("PERSON", "Noor  SØRVIK")
    ('12125550147', 'noor sorvik')
    """
    if kind in ("EMAIL", "HOST", "CUSTOMER_ID"):
        return value.casefold()
    if kind == "PERSON":
        return " ".join(word.folded for word in find_words(value)) or value.casefold()
    if kind == "PHONE":
        return "".join(c for c in value if c.isdigit()).removeprefix("00")
    if kind in ("CARD", "IBAN", "NATIONAL_ID"):
        return "".join(c for c in value if c.isalnum()).upper()
    return value


def _read(path: Path) -> Key:
    with storage_errors(path):
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        with os.fdopen(handle, encoding="ascii", errors="replace") as file:
            if stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
                raise SettingsError(f"others can read the key {path}", hint=f"chmod 600 {path}; consider a new key")
            return Key.parse(file.read(200))


def _create(path: Path) -> Key:
    private_folder(path.parent)
    key = Key.make()
    with storage_errors(path):
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE)
        except FileExistsError:
            # Another process was faster: its key is the key.
            return _read(path)
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(key.written() + "\n")
            file.flush()
            os.fsync(file.fileno())
    return key
