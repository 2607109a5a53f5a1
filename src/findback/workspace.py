"""A workspace: findback.toml, where its values came from, and where things live."""

import hashlib
import os
import re
import shutil
import stat
import time
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal
from urllib.parse import urlsplit, urlunsplit

from pydantic import ValidationError

from findback.errors import Fault, MissingError, SettingsError
from findback.files import private_folder, storage_errors, sweep
from findback.model.settings import Settings
from findback.places import PLACES
from findback.text.safe import escape_terminal

FILE_NAME = "findback.toml"
TEMPORARY_SECONDS = 24 * 60 * 60
"""Age from which temporary files are nobody's any more."""
DEEPEST = 32
"""Most tables and lists inside each other that a setting may have."""
ENVIRONMENT_PREFIX = "FINDBACK_"
RESERVED = frozenset(
    {"FINDBACK_TRUST", "FINDBACK_DATA", "FINDBACK_MODELS", "FINDBACK_KEY", "FINDBACK_TRACEBACK", "FINDBACK_NO_SKIPS"}
)
"""Environment variables that are not settings."""


Origin = Literal["default", "file", "environment", "argument"]
Tree = dict[str, Any]


@dataclass(frozen=True)
class Workspace:
    """A folder with a findback.toml, or a folder treated as one."""

    root: Path
    """Folder of findback.toml, absolute."""
    settings: Settings
    origins: Mapping[str, Origin]
    """Where each value that is not a default came from, by dotted name."""
    file: Path | None
    """The findback.toml itself; None when there is none."""
    environment: Mapping[str, str]
    """Environment variables, for secrets named in settings."""

    @cached_property
    def id(self) -> str:
        """Return a name for this workspace on this machine, made from its place."""
        digest = hashlib.sha256(str(self.root).encode()).hexdigest()[:12]
        slug = re.sub(r"[^a-z0-9]+", "-", self.root.name.lower())[:40].strip("-")
        return f"{slug or 'workspace'}-{digest}"

    @property
    def private(self) -> Path:
        """Return the private folder's path, whether or not it exists yet.

        Raises:
            SettingsError: If the setting is no path.
        """
        if self.settings.private:
            return self._place(self.settings.private, "private").absolute()
        return state_home(self.environment) / self.id

    def private_part(self, name: str) -> Path:
        """Return one of `PLACES` inside the private folder, made with mode 0700 if it is not there.

        What killed processes left there goes once it is a day old.

        Raises:
            SettingsError: If the setting is no path.
            StorageError: If the disk refuses.
        """
        if name not in PLACES:
            raise ValueError(f"{name} is no private place")
        if not self.settings.private:
            sweep(state_home(self.environment))
        sweep(private_folder(self.private))
        place = private_folder(self.private / name)
        sweep(place)
        return place

    def temporary(self) -> Path:
        """Return the folder for temporary files of children, rid of what is older than a day.

        Raises:
            StorageError: If the disk refuses.
        """
        place = self.private_part("tmp")
        with storage_errors(place):
            for path in place.iterdir():
                if time.time() - path.lstat().st_mtime > TEMPORARY_SECONDS:
                    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)
        return place

    @property
    def evalset(self) -> Path:
        """Return the folder of the published set.

        Raises:
            SettingsError: If the setting is no path.
        """
        return self._place(self.settings.evalset, "evalset", home=False)

    def path(self, named: str) -> Path:
        """Return a path as findback.toml means it: relative to its own folder.

        Raises:
            SettingsError: If it is no path.
        """
        return self._place(named, "a path")

    def named_secret(self, named: str | None) -> str | None:
        """Return the secret that a setting names as env:NAME; None where it, or its variable, is not there."""
        kind, _, name = (named or "").partition(":")
        return self.environment.get(name) or None if kind == "env" else None

    def _place(self, named: str, setting: str, *, home: bool = True) -> Path:
        try:
            place = self.root / (Path(named).expanduser() if home else Path(named))
            # Nothing but this tells a path that no disk could hold: too long, or with a NUL in it.
            os.lstat(place)
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            pass
        except OSError as error:
            raise self._no_path(named, setting, (error.strerror or type(error).__name__).lower()) from None
        except RuntimeError:
            raise self._no_path(named, setting, "there is no such user") from None
        except ValueError:
            raise self._no_path(named, setting, "it holds characters that no path may have") from None
        return place

    def _no_path(self, named: str, setting: str, why: str) -> SettingsError:
        shown = escape_terminal(named if len(named) <= 80 else f"{named[:80]}…")
        return SettingsError(
            f"{shown_path(self.file or Path(FILE_NAME))}: {setting}: '{shown}' cannot be used: {why}",
            hint="write a path relative to findback.toml, or from ~ or /",
        )


def state_home(environment: Mapping[str, str]) -> Path:
    """Return the folder under which findback keeps private things of every workspace."""
    base = environment.get("XDG_STATE_HOME", "")
    home = Path(environment.get("HOME") or Path.home())
    return (Path(base) if Path(base).is_absolute() else home / ".local" / "state") / "findback"


def models_home(environment: Mapping[str, str]) -> Path:
    """Return the folder of pulled models; every workspace of a user shares it."""
    named = environment.get("FINDBACK_MODELS")
    return Path(named) if named else state_home(environment) / "models"


def open_workspace(
    start: Path | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    arguments: Mapping[str, Any] | None = None,
    required: bool = True,
) -> Workspace:
    """Find findback.toml in `start` or above and read it.

    Args:
        start: Where to look first; the current folder when None.
        environment: Variables; the process' own when None.
        arguments: Values by dotted name that win over file and environment.
        required: Whether a missing file is an error; otherwise `start` itself is the workspace.

    Raises:
        MissingError: If there is no findback.toml and one is required.
        SettingsError: If a value makes no sense; all faults at once.
    """
    variables = MappingProxyType(dict(os.environ if environment is None else environment))
    folder = (start or Path.cwd()).absolute()
    file = find_file(folder)
    if file is None and required:
        raise MissingError(
            f"no {FILE_NAME} in {folder} or above it",
            hint="findback init writes one; or go to the right folder",
        )
    tree = read_toml(file) if file else {}
    where = shown_path(file) if file else FILE_NAME
    _refuse_deep(tree, where)
    origins: dict[str, Origin] = dict.fromkeys(_leaves(tree), "file")
    layers: tuple[tuple[Origin, Mapping[str, Any]], ...] = (
        ("environment", _from_environment(variables)),
        ("argument", arguments or {}),
    )
    for origin, values in layers:
        for name, value in values.items():
            _refuse_deep(value, f"the {origin}: {name[:80]}", name.count("."))
            _put(tree, name, value, origin)
            origins[name] = origin
    try:
        settings = Settings.model_validate(tree)
    except ValidationError as error:
        raise SettingsError(explain(error, where, origins)) from None
    return Workspace(
        root=file.parent if file else folder,
        settings=settings,
        origins=MappingProxyType(origins),
        file=file,
        environment=variables,
    )


def find_file(folder: Path) -> Path | None:
    """Return the findback.toml of a folder or of the nearest folder above, or None.

    Raises:
        SettingsError: If what has that name is no file that can be read.
    """
    for candidate in (folder, *folder.parents):
        file = candidate / FILE_NAME
        try:
            if os.path.lexists(file):
                return _regular(file)
            if (candidate / ".git").exists():
                return None
        except PermissionError:
            # A folder above that may not be looked into has no settings for anybody in here.
            continue
    return None


def _regular(file: Path) -> Path:
    """Return a settings file; anything else of its name would be taken for none at all."""
    try:
        mode = file.stat().st_mode
    except PermissionError:
        raise SettingsError(f"{shown_path(file)} may not be read", hint="check its permissions") from None
    except (OSError, RuntimeError):
        raise SettingsError(
            f"{shown_path(file)} is a symbolic link that leads nowhere", hint="remove it, or mend where it points"
        ) from None
    if not stat.S_ISREG(mode):
        found = "a folder" if stat.S_ISDIR(mode) else "not a regular file"
        raise SettingsError(f"{shown_path(file)} is {found}", hint="remove it; findback init writes a settings file")
    return file


def read_toml(file: Path) -> Tree:
    """Return the tables of a TOML file.

    Raises:
        SettingsError: If it cannot be read; names file and line.
    """
    shown = shown_path(file)
    try:
        return tomllib.loads(file.read_text("utf-8-sig"))
    except OSError as error:
        raise SettingsError(f"cannot read {shown}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"{shown}: not UTF-8 at byte {error.start}", hint="save it as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        said = escape_terminal(str(error))
        raise SettingsError(f"{shown}: {said}", hint="see docs/reference.md for the shape of each table") from None
    except RecursionError:
        raise _too_deep(shown) from None
    except ValueError:
        raise SettingsError(f"{shown}: a number has too many digits", hint="write a smaller one") from None


def shown_path(path: Path) -> str:
    """Return a path as one line of a message, whatever its name holds."""
    return escape_terminal(str(path))


def _refuse_deep(tree: Any, where: str, depth: int = 0) -> None:
    """Stop before settings that are nested more deeply than anything that reads them can follow."""
    waiting = [(tree, depth)]
    while waiting:
        value, level = waiting.pop()
        if level > DEEPEST:
            raise _too_deep(where)
        inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
        waiting.extend((one, level + 1) for one in inner)


def _too_deep(where: str) -> SettingsError:
    return SettingsError(f"{where}: nested too deeply", hint=f"at most {DEEPEST} tables and lists inside each other")


def explain(error: ValidationError, where: str, origins: Mapping[str, Origin] | None = None) -> str:
    """Return a validation error in sentences, one setting a line, without the values."""
    lines = []
    for fault in error.errors(include_url=False, include_input=False, include_context=False):
        name = escape_terminal(".".join(str(part) for part in fault["loc"]))
        origin = (origins or {}).get(name, "file")
        place = where if origin == "file" else f"the {origin}"
        message = "unknown setting" if fault["type"] == "extra_forbidden" else fault["msg"]
        lines.append(str(Fault(place, None, f"{name}: {message[:1].lower()}{message[1:]}")))
    return "\n".join(lines)


def without_credentials(value: str) -> str:
    """Return an address without user, password and query values; anything else unchanged."""
    if "://" not in value:
        return value
    try:
        parts = urlsplit(value)
    except ValueError:
        return "(an address that cannot be read)"
    host = parts.netloc.rpartition("@")[2]
    kept = f"***@{host}" if "@" in parts.netloc else host
    return urlunsplit((parts.scheme, kept, parts.path, "***" if parts.query else "", ""))


def flatten(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return the leaves of nested tables by dotted name."""
    flat: dict[str, Any] = {}
    for key, value in tree.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping) and value:
            flat.update(flatten(value, f"{name}."))
        else:
            flat[name] = value
    return flat


def _leaves(tree: Tree) -> list[str]:
    return list(flatten(tree))


def _put(tree: Tree, name: str, value: Any, origin: Origin) -> None:
    *tables, last = name.split(".")
    place = tree
    for table in tables:
        place = place.setdefault(table, {})
        if not isinstance(place, dict):
            raise SettingsError(f"the {origin} sets {name}, but {table} is not a table")
    place[last] = value


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    """Return settings given as FINDBACK_TABLE__KEY; a value is TOML where it reads as TOML, else text."""
    top = set(Settings.model_fields)
    found: dict[str, Any] = {}
    for variable, text in environment.items():
        if not variable.startswith(ENVIRONMENT_PREFIX) or variable in RESERVED:
            continue
        name = variable.removeprefix(ENVIRONMENT_PREFIX).lower().replace("__", ".")
        if name.partition(".")[0] not in top:
            raise SettingsError(
                f"the environment variable {variable} names no setting",
                hint="settings are FINDBACK_TABLE__KEY, for example FINDBACK_MEASURES__DEPTH=50",
            )
        found[name] = _read_value(variable, text)
    return found


def _read_value(variable: str, text: str) -> Any:
    try:
        read = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text
    except RecursionError:
        raise _too_deep(f"the environment variable {variable}") from None
    except ValueError:
        raise SettingsError(f"the environment variable {variable}: a number has too many digits") from None
    if read.keys() != {"value"}:
        raise SettingsError(
            f"the environment variable {variable} holds more than one value",
            hint="a variable sets one setting; set the others in variables of their own",
        )
    return read["value"]
