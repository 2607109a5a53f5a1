"""Prompts: Jinja files in a sandbox, in which every text of others is data.

A prompt is a file `NAME.j2` with two blocks, `system` and `user`. What `Prompts.render` is given as a plain text is
somebody else's: `{{ query }}` prints it between marks, and what stands between them cannot close them. Texts that
may tell the model what to do, such as the words of a filter, are handed over as `Instruction`. `language` is given
as a code, and printed as the English name of the language. What the marks mean is said at the end of each system
prompt.
"""

import hashlib
import re
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from jinja2 import BaseLoader, Environment, StrictUndefined, Template, TemplateError, TemplateSyntaxError, meta
from jinja2.exceptions import TemplateNotFound
from jinja2.sandbox import ImmutableSandboxedEnvironment

from findback.errors import DataError, Fault, MissingError
from findback.model.trusted import Trusted
from findback.writing.delimiting import Data, Instruction, delimit
from findback.writing.languages import name_language

SUFFIX = ".j2"
DATA_RULE = "_data"
"""Prompt that says what the marks mean; it ends every system prompt and cannot be left out."""
MOST_BYTES = 100_000
"""Bytes of one prompt file."""
MOST_RENDERED = 400_000
"""Characters of one rendered prompt: beyond the window of any model it is meant for."""
BLOCKS = ("system", "user")
_NAME = re.compile(r"_?[a-z][a-z0-9_-]{0,39}")

__all__ = ["Data", "Instruction", "Prompts", "Rendered", "open_prompts"]


class Rendered(NamedTuple):
    """A prompt with its values."""

    system: str
    user: str
    label: str
    """Name and the first twelve digits of the digest of the files it is made of, `describe@3f2a9c…`."""


@dataclass(frozen=True, slots=True)
class _Folder:
    """Prompts of one place; they include only each other."""

    shown: str
    """How faults name the place."""
    texts: dict[str, str]
    """By name, with the suffix."""
    environment: Environment


class Prompts:
    """The prompts in use: findback's, and those of a workspace in the place of those of the same name."""

    def __init__(self, folder: Path | None = None) -> None:
        """Read the prompts.

        Args:
            folder: Prompts of the workspace's own; None for findback's alone.

        Raises:
            MissingError: If the folder is not there.
            DataError: If a file of it is no prompt; every fault with file and line.
        """
        self._labels: dict[str, str] = {}
        self._shipped = _open(_read_shipped(), "findback")
        self._own = _open(_read_folder(folder), str(folder)) if folder is not None else None
        faults = _list_faults(self._own, self._shipped) if self._own is not None else []
        if faults:
            raise DataError("the prompts cannot be used as they are", faults=faults)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of all prompts; those that begin with `_` are parts of others."""
        own = self._own.texts if self._own is not None else {}
        return tuple(sorted(name.removesuffix(SUFFIX) for name in {*self._shipped.texts, *own}))

    def label(self, name: str) -> str:
        """Return name and digest of a prompt; the digest covers what it includes.

        Raises:
            MissingError: If there is no such prompt.
        """
        if name in self._labels:
            return self._labels[name]
        place = self._place_of(name)
        digest = hashlib.sha256()
        for held, file in (*((place, one) for one in _list_parts(place, name + SUFFIX)), self._rule()):
            content = held.texts[file].encode()
            digest.update(f"{file}\0{len(content)}\0".encode() + content)
        return self._labels.setdefault(name, f"{name}@{digest.hexdigest()[:12]}")

    def list_trusted(self) -> tuple[Trusted, ...]:
        """Return the prompts of the workspace's own, for the trust question: another text is asked about again."""
        own = self._own.texts if self._own is not None else {}
        return tuple(Trusted("prompt", self.label(name.removesuffix(SUFFIX))) for name in sorted(own))

    def render(self, name: str, /, *, language: str | None = None, **values: Any) -> Rendered:
        """Return a prompt with its values.

        Args:
            name: Which one.
            language: Code of the language to write in; the template sees its English name, or that it is the
                language of the text where none is given.
            values: Texts of others, which become data, also in lists and tables; `Instruction`, `Data` (a text
                with a bound of its own), numbers and None.

        Raises:
            MissingError: If there is no such prompt.
            DataError: If the template has a fault; with file and line.
        """
        place = self._place_of(name)
        seen = {key: delimit(value, key) for key, value in values.items()}
        seen["language"] = Instruction(name_language(language))
        system, user = (_render(place, name + SUFFIX, block, seen) for block in BLOCKS)
        rule_place, rule = self._rule()
        return Rendered(f"{system}\n\n{_render(rule_place, rule, None, {})}", user, self.label(name))

    def _place_of(self, name: str) -> _Folder:
        for place in (self._own, self._shipped):
            if place is not None and name + SUFFIX in place.texts:
                return place
        raise MissingError(f"there is no prompt {name[:60]!r}", hint=f"known: {', '.join(self.names)}")

    def _rule(self) -> tuple[_Folder, str]:
        return self._shipped, DATA_RULE + SUFFIX


def open_prompts(folder: Path | None = None) -> Prompts:
    """Return findback's prompts, those of a folder in the place of those of the same name.

    Raises:
        MissingError: If the folder is not there.
        DataError: If a file of it is no prompt; every fault with file and line.
    """
    return Prompts(folder)


class _Loader(BaseLoader):
    """Gives prompts by name and nothing else: no path leads anywhere."""

    def __init__(self, texts: dict[str, str], shown: str) -> None:
        self._texts, self._shown = texts, shown

    def get_source(self, environment: Environment, template: str) -> tuple[str, str, None]:
        if template not in self._texts:
            raise TemplateNotFound(template)
        return self._texts[template], f"{self._shown}/{template}", None


def _open(texts: dict[str, str], shown: str) -> _Folder:
    environment = ImmutableSandboxedEnvironment(
        loader=_Loader(texts, shown),
        # Prompts are no HTML: texts of others are delimited instead.
        autoescape=False,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals = {"range": environment.globals["range"]}
    return _Folder(shown, texts, environment)


def _read_shipped() -> dict[str, str]:
    folder = files("findback.writing") / "prompts"
    return {one.name: one.read_text(encoding="utf-8") for one in folder.iterdir() if one.name.endswith(SUFFIX)}


def _read_folder(folder: Path) -> dict[str, str]:
    if not folder.is_dir():
        raise MissingError(
            f"the folder of prompts {folder} is not there", hint="see [writing] prompts in findback.toml"
        )
    texts: dict[str, str] = {}
    faults: list[Fault] = []
    real = folder.resolve()
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        if _NAME.fullmatch(path.name.removesuffix(SUFFIX)) is None:
            faults.append(Fault(str(path), None, "a prompt's name is made of a-z, 0-9, - and _"))
        elif path.resolve().parent != real or not path.is_file():
            faults.append(Fault(str(path), None, "a prompt is a file of this folder, and no link out of it"))
        elif path.stat().st_size > MOST_BYTES:
            faults.append(Fault(str(path), None, f"a prompt has at most {MOST_BYTES:,} bytes"))
        else:
            try:
                texts[path.name] = path.read_text(encoding="utf-8-sig")
            except (OSError, UnicodeDecodeError):
                faults.append(Fault(str(path), None, "the file cannot be read as UTF-8"))
    if faults:
        raise DataError(f"prompts in {folder} cannot be read", faults=faults)
    return texts


def _list_faults(place: _Folder, shipped: _Folder) -> list[Fault]:
    """Return what is wrong with the prompts of a folder without rendering any."""
    faults: list[Fault] = []
    for file in sorted(place.texts):
        shown = f"{place.shown}/{file}"
        if file == DATA_RULE + SUFFIX:
            faults.append(Fault(shown, None, "what the marks mean cannot be said otherwise"))
        elif not file.startswith("_") and file not in shipped.texts:
            known = ", ".join(sorted(one.removesuffix(SUFFIX) for one in shipped.texts if not one.startswith("_")))
            faults.append(Fault(shown, None, f"replaces no prompt; known: {known}. Parts of prompts begin with _"))
        try:
            parts = _list_parts(place, file)
        except TemplateSyntaxError as error:
            # One in a part is that part's own fault.
            if error.filename in (None, shown):
                faults.append(Fault(shown, error.lineno, error.message or "not a template"))
        except DataError as error:
            faults += error.faults
        else:
            blocks = {block for part in parts for block in place.environment.get_template(part).blocks}
            if not file.startswith("_") and not blocks.issuperset(BLOCKS):
                faults.append(Fault(shown, 1, "a prompt has the blocks system and user"))
    return faults


def _list_parts(place: _Folder, file: str) -> tuple[str, ...]:
    """Return the file and all it includes, imports or extends, each once.

    Raises:
        DataError: If what it includes is not there, or named by more than a plain text.
    """
    found = [file]
    for one in found:
        tree = place.environment.parse(place.texts[one], filename=f"{place.shown}/{one}")
        for named in meta.find_referenced_templates(tree):
            if named is None or named not in place.texts:
                shown = "what a value names" if named is None else repr(named[:60])
                fault = Fault(f"{place.shown}/{one}", None, f"includes {shown}, which is no prompt of {place.shown}")
                raise DataError("a prompt may include only others of its folder, by name", faults=(fault,))
            if named not in found:
                found.append(named)
    return tuple(found)


def _render(place: _Folder, file: str, block: str | None, values: dict[str, Any]) -> str:
    shown = f"{place.shown}/{file}"
    try:
        template = place.environment.get_template(file)
        if block is None:
            pieces = template.root_render_func(template.new_context(values))
        else:
            pieces = _find_block(template, block, values)
        text = "".join(pieces).strip()
    except TemplateSyntaxError as error:
        raise _fault(error.filename or shown, error.lineno, error.message or "not a template") from None
    except TemplateError as error:
        # Jinja's own messages name variables of the template, and no values.
        raise _fault(*_locate(error.__traceback__, shown), error.message or type(error).__name__) from None
    except Exception as error:  # noqa: BLE001 (whatever a template does wrong is its fault, and may quote a text)
        raise _fault(*_locate(error.__traceback__, shown), f"cannot be rendered ({type(error).__name__})") from None
    if len(text) > MOST_RENDERED:
        raise _fault(shown, None, f"renders to more than {MOST_RENDERED:,} characters")
    return text


def _find_block(template: Template, block: str, values: dict[str, Any]) -> Any:
    context = template.new_context(values)
    # Run as far as `extends`, which is what fills in the parents' blocks.
    for _ in template.root_render_func(context):
        pass
    if not context.blocks.get(block):
        raise TemplateError(f"the block {block} is missing")
    return context.blocks[block][0](context)


def _fault(file: str, line: int | None, message: str) -> DataError:
    return DataError("a prompt cannot be rendered", faults=(Fault(file, line, message),))


def _locate(traceback: TracebackType | None, shown: str) -> tuple[str, int | None]:
    """Return file and line of the innermost template in a traceback."""
    found: tuple[str, int | None] = (shown, None)
    while traceback is not None:
        template = traceback.tb_frame.f_globals.get("__jinja_template__")
        if template is not None:
            found = (template.filename or shown, template.get_corresponding_lineno(traceback.tb_lineno))
        traceback = traceback.tb_next
    return found
