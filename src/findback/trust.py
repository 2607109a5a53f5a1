"""The trust question: a workspace that names code or sends secrets is asked about before anything runs."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import orjson

from findback.errors import SettingsError, UntrustedError
from findback.files import private_folder, write_atomically
from findback.model.trusted import Trusted
from findback.text.safe import escape_terminal
from findback.workspace import state_home

TRUST_FORMAT = 1
VARIABLE = "FINDBACK_TRUST"


def digest_of(root: Path, items: Iterable[Trusted]) -> str:
    """Return the digest that stands for these items in this place: twelve hexadecimal digits."""
    listed = sorted({(item.kind, item.text) for item in items})
    return hashlib.sha256(json.dumps([str(root), listed]).encode()).hexdigest()[:12]


def is_trusted(root: Path, items: Iterable[Trusted], environment: Mapping[str, str]) -> bool:
    """Return whether somebody agreed to exactly these items in this place."""
    wanted = digest_of(root, items)
    return environment.get(VARIABLE) == wanted or _remembered(environment).get(str(root)) == wanted


def remember(root: Path, items: Iterable[Trusted], environment: Mapping[str, str]) -> None:
    """Keep the agreement, outside the repository.

    Raises:
        StorageError: If the disk refuses.
    """
    agreed = {**_remembered(environment), str(root): digest_of(root, items)}
    private_folder(state_home(environment))
    content = orjson.dumps({"format": TRUST_FORMAT, "agreed": agreed}, option=orjson.OPT_INDENT_2)
    write_atomically(_file(environment), content, private=True)


def require(
    root: Path,
    items: tuple[Trusted, ...],
    environment: Mapping[str, str],
    *,
    ask: Callable[[str], bool] | None = None,
) -> None:
    """Let the caller go on only if these items are trusted; ask once where somebody can answer.

    Args:
        root: Folder of the workspace.
        items: Each command, module, host and variable that would be used.
        environment: Variables; `FINDBACK_TRUST` holds a digest where nobody can be asked.
        ask: Shows a text and returns the answer; None where nobody is there.

    Raises:
        UntrustedError: If nobody agreed.
    """
    if not items or is_trusted(root, items, environment):
        return
    # Each on one line, so that no text can look like another item.
    listed = "\n".join(f"  {item.kind:<9} {escape_terminal(item.text)}" for item in items)
    question = f"The workspace {escape_terminal(str(root))} wants to use:\n{listed}"
    if ask is not None and ask(question):
        remember(root, items, environment)
        return
    raise UntrustedError(
        f"{question}\nand nobody has agreed to that yet.",
        hint=f"look at each line; then answer yes in a terminal, or set {VARIABLE}={digest_of(root, items)}",
    )


def _file(environment: Mapping[str, str]) -> Path:
    return state_home(environment) / "trust.json"


def _remembered(environment: Mapping[str, str]) -> dict[str, str]:
    file = _file(environment)
    if not file.is_file():
        return {}
    try:
        stored = orjson.loads(file.read_bytes())
        agreed = stored["agreed"] if stored["format"] == TRUST_FORMAT else None
    except (orjson.JSONDecodeError, KeyError, TypeError):
        agreed = None
    if not isinstance(agreed, dict):
        raise SettingsError(f"{file} is not a trust file of this version", hint="remove it; you will be asked again")
    return {str(root): str(digest) for root, digest in agreed.items()}
