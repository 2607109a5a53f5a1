"""Models by name: where their files come from, what their bytes must be, and whether they are here."""

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Literal, NamedTuple

from findback.errors import MissingError, RefusedError
from findback.files import folder_atomically, private_folder, sha256_of
from findback.model.protocols import SILENT, Progress
from findback.model.record import Record

INSTALL_SECONDS = 600
State = Literal["here", "not pulled", "damaged"]


class ModelFile(Record):
    """One file of a model."""

    name: str
    package: str
    """Package and exact version it is taken out of."""
    sha256: str


class Model(Record):
    """One entry of the catalogue."""

    what: str
    licence: str
    megabytes: int
    """Size of its files; the download is larger."""
    for_decisions: bool = True
    """False for a model fit for trying things out only."""
    files: tuple[ModelFile, ...]


class ModelState(NamedTuple):
    """Whether a model of the catalogue is here."""

    name: str
    what: str
    licence: str
    megabytes: int
    state: State
    folder: Path


@lru_cache(maxsize=1)
def read_catalogue() -> dict[str, Model]:
    """Return the models findback knows, by name."""
    content = (files("findback.retrievers") / "catalogue.toml").read_text("utf-8")
    return {name: Model.model_validate(entry) for name, entry in tomllib.loads(content).items()}


def list_models(folder: Path) -> tuple[ModelState, ...]:
    """Return every model of the catalogue with its state in this folder of models."""
    return tuple(
        ModelState(name, model.what, model.licence, model.megabytes, _state(model, folder / name), folder / name)
        for name, model in sorted(read_catalogue().items())
    )


def find_model(model: str, *, base: Path, models: Path | None) -> Path:
    """Return the folder of a model, named by catalogue or as a path relative to `base`.

    Raises:
        MissingError: If it is not there.
        RefusedError: If a file of the catalogue has other bytes than it must have.
    """
    known = read_catalogue().get(model)
    if known is None:
        folder = base / model
        # A home folder that is not known is no folder.
        with suppress(RuntimeError):
            folder = base / Path(model).expanduser()
        if folder.is_dir():
            return folder
        raise MissingError(
            f"there is no model {model!r}: no folder {folder}, and not in the catalogue",
            hint=f"the catalogue has: {', '.join(sorted(read_catalogue()))}",
        )
    found = None if models is None else models / model
    if found is None or not found.is_dir():
        raise MissingError(f"the model {model} has not been pulled", hint=f"findback models pull {model}")
    for file in known.files:
        _check(found / file.name, file)
    return found


def pull(name: str, folder: Path, *, from_folder: Path | None = None, progress: Progress = SILENT) -> tuple[Path, bool]:
    """Bring a model into a folder of models.

    The packages are fetched with the package installer into a temporary folder; only the named files are kept,
    and nothing of the packages is imported.

    Args:
        name: Its name in the catalogue.
        folder: Folder of models; the model gets a folder inside.
        from_folder: Take the files from here instead (a machine without network).
        progress: Told about each file.

    Returns:
        The model's folder, and whether anything had to be fetched.

    Raises:
        MissingError: If the catalogue has no such model, or the package index or the folder has not the files.
        RefusedError: If a file has other bytes than it must have; both digests are named.
        StorageError: If the disk refuses.
    """
    model = read_catalogue().get(name)
    if model is None:
        raise MissingError(
            f"the catalogue has no model {name!r}", hint=f"it has: {', '.join(sorted(read_catalogue()))}"
        )
    target = folder / name
    if _state(model, target) == "here":
        return target, False
    private_folder(folder)
    progress.start(f"Pulling {name}", len(model.files))
    try:
        _pull(model, target, from_folder, progress)
    finally:
        progress.finish()
    return target, True


def _pull(model: Model, target: Path, from_folder: Path | None, progress: Progress) -> None:
    folder = target.parent
    with tempfile.TemporaryDirectory(dir=folder, prefix=".findback-tmp-") as fetched:
        found = []
        for number, file in enumerate(model.files):
            place = from_folder or _install(file.package, Path(fetched) / str(number), Path(fetched))
            found.append(_find_file(file, place))
            progress.advance()
        with folder_atomically(target, private=True) as temporary:
            for file, path in zip(model.files, found, strict=True):
                shutil.copyfile(path, temporary / file.name)


def _state(model: Model, folder: Path) -> State:
    if not folder.is_dir():
        return "not pulled"
    paths = [(folder / file.name, file.sha256) for file in model.files]
    whole = all(path.is_file() and sha256_of(path) == wanted for path, wanted in paths)
    return "here" if whole else "damaged"


def _check(path: Path, file: ModelFile) -> None:
    if not path.is_file():
        raise MissingError(f"{path} is not there", hint=f"the file comes from the package {file.package}")
    found = sha256_of(path)
    if found != file.sha256:
        raise RefusedError(
            f"{path} is not the file it should be: sha256 is {found}, must be {file.sha256}",
            hint="remove it and pull the model again",
        )


def _find_file(file: ModelFile, folder: Path) -> Path:
    """Return the file of this name with the right bytes, wherever a package has put it."""
    named = [path for path in sorted(folder.rglob(file.name)) if path.is_file() and not path.is_symlink()]
    for path in named:
        if sha256_of(path) == file.sha256:
            return path
    _check(named[0] if named else folder / file.name, file)
    raise AssertionError


def _install(package: str, target: Path, scratch: Path) -> Path:
    last = ""
    for command in _installers(package, target):
        try:
            done = subprocess.run(  # noqa: S603 (a list of our own words and a catalogue entry)
                command,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=INSTALL_SECONDS,
                check=False,
                env={**os.environ, "TMPDIR": str(scratch), "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
            )
        except subprocess.TimeoutExpired:
            last = f"no end after {INSTALL_SECONDS} s"
            continue
        if done.returncode == 0:
            return target
        last = _last_line(done.stderr) or last
    raise MissingError(
        f"cannot fetch the package {package}: {last or 'neither pip nor uv is here'}",
        hint="fetch it elsewhere and name its folder with --from",
    )


def _installers(package: str, target: Path) -> Sequence[list[str]]:
    options = ["install", "--no-deps", "--quiet", "--target", str(target), package]
    found = [[sys.executable, "-P", "-m", "pip", *options, "--no-compile", "--no-cache-dir"]]
    if uv := shutil.which("uv"):
        found.append([uv, "pip", *options, "--no-cache"])
    return found


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else ""
