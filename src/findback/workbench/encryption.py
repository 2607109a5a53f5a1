"""Backups that only named people can read: the age format, by the library pyrage."""

from pathlib import Path
from typing import BinaryIO

import pyrage  # type: ignore[import-untyped]

from findback.errors import DataError, UsageError
from findback.files import storage_errors

LARGEST_IDENTITY = 100_000


def encrypt(source: BinaryIO, target: BinaryIO, recipients: tuple[str, ...]) -> None:
    """Encrypt a stream for some public keys.

    Raises:
        UsageError: If one is no public key of age.
    """
    pyrage.encrypt_io(source, target, [_recipient(one) for one in recipients])


def decrypt(source: BinaryIO, target: BinaryIO, identity: Path, shown: str) -> None:
    """Decrypt a stream with the private keys of a file.

    Raises:
        UsageError: If the file holds no private key, or none that the backup is for.
        DataError: If the stream is damaged.
    """
    identities = _identities(identity)
    try:
        pyrage.decrypt_io(source, target, identities)
    except pyrage.DecryptError as error:
        if "key" in str(error).lower():
            raise UsageError(f"no key of {identity} opens {shown}", hint="--identity FILE with another one") from None
        raise DataError(f"{shown} is damaged: it cannot be decrypted", hint="take another backup") from None
    except OSError as error:
        if error.errno is not None:
            raise
        raise DataError(f"{shown} is damaged: it cannot be decrypted", hint="take another backup") from None


def _recipient(written: str) -> "pyrage.x25519.Recipient":
    try:
        return pyrage.x25519.Recipient.from_str(written.strip())
    except pyrage.RecipientError:
        raise UsageError("a recipient is no public key of age", hint="age1…, as age-keygen prints it") from None


def _identities(file: Path) -> list["pyrage.x25519.Identity"]:
    with storage_errors(file):
        content = file.read_bytes()[:LARGEST_IDENTITY].decode("utf-8", "replace")
    found = []
    for line in content.splitlines():
        if line.strip() and not line.startswith("#"):
            try:
                found.append(pyrage.x25519.Identity.from_str(line.strip()))
            except pyrage.IdentityError:
                raise UsageError(
                    f"{file} holds a line that is no private key of age", hint="AGE-SECRET-KEY-1…, a line each"
                ) from None
    if not found:
        raise UsageError(f"{file} holds no private key of age", hint="AGE-SECRET-KEY-1…, a line each")
    return found
