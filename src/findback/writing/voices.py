"""Voices: who asks, and how; drawn from categories whose probabilities are written down."""

import hashlib
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from math import isclose
from pathlib import Path
from typing import Any, NamedTuple

from findback.errors import DataError, Fault, MissingError

PRESETS = ("docs-portal", "patents", "product-search", "support")
"""The voices findback ships."""
SUFFIX = ".toml"
TOLERANCE = 1e-6
"""How far the probabilities of a category may be from 1 together."""
MOST_CATEGORIES = 10
MOST_OPTIONS = 30
MOST_TEXT = 500
MOST_BYTES = 100_000
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
_KEYS = {"share", "text"}
_AT_LINE = re.compile(r"\s*\(at line (\d+), column \d+\)$")


class Option(NamedTuple):
    """One way to be within a category."""

    name: str
    share: float
    """Probability with which it is drawn, in [0, 1]."""
    text: str
    """What the prompt says about it."""


@dataclass(frozen=True, slots=True)
class VoiceShare:
    """How often an option should be drawn, and was."""

    category: str
    option: str
    stated: float
    drawn: float | None
    """Share of the draws; None where nothing was drawn."""
    count: int


class Voices:
    """Categories of voices, each with its options."""

    def __init__(self, name: str, categories: Mapping[str, tuple[Option, ...]]) -> None:
        self.name = name
        """The preset, or the file's name."""
        self.categories = dict(categories)
        """Options by category, in the order of the file."""

    def draw(self, document_id: str, seed: int) -> dict[str, Option]:
        """Return the voice in which a document is described: one option of each category.

        It depends on seed, id and category alone, so that other documents change nothing.
        """
        return {
            category: _pick(options, f"{seed}\0{category}\0{document_id}")
            for category, options in self.categories.items()
        }

    def tally(self, drawn: Iterable[Mapping[str, str]]) -> tuple[VoiceShare, ...]:
        """Return stated beside drawn shares.

        Args:
            drawn: The name of the option drawn in each category, for each document.
        """
        counts: Counter[tuple[str, str]] = Counter()
        for voice in drawn:
            counts.update(voice.items())
        table = []
        for category, options in self.categories.items():
            total = sum(counts[category, option.name] for option in options)
            for option in options:
                count = counts[category, option.name]
                share = count / total if total else None
                table.append(VoiceShare(category, option.name, option.share, share, count))
        return tuple(table)


def name_options(voice: Mapping[str, Option]) -> dict[str, str]:
    """Return the names of the options drawn, as they are kept with what is written."""
    return {category: option.name for category, option in voice.items()}


def read_voices(preset: str | Path, *, base: Path | None = None) -> Voices:
    """Return the voices of a preset or of a TOML file.

    Args:
        preset: Name of a preset, or path of a file.
        base: Folder that a relative path is relative to; the current one when left out.

    Raises:
        MissingError: If there is no such preset or file.
        DataError: If the file holds no voices; every fault with the file.
    """
    if isinstance(preset, str) and preset in PRESETS:
        shipped = files("findback.writing") / "voices" / f"{preset}{SUFFIX}"
        return parse_voices(shipped.read_text(encoding="utf-8"), preset, shown=f"{preset}{SUFFIX}")
    path = (base or Path()) / preset
    if not path.is_file():
        raise MissingError(
            f"there are no voices {str(preset)[:200]!r}",
            hint=f"known: {', '.join(PRESETS)}; or the path of a TOML file",
        )
    try:
        if path.stat().st_size > MOST_BYTES:
            raise DataError(f"{path} is too large to hold voices", hint=f"at most {MOST_BYTES:,} bytes are read")
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read as UTF-8") from error
    return parse_voices(text, path.stem[:40], shown=str(preset))


def parse_voices(text: str, name: str, *, shown: str) -> Voices:
    """Return the voices a TOML text states.

    Args:
        text: For each category a table, in it for each option a table with `share` and `text`.
        name: How the voices are called.
        shown: The file's name, for faults.

    Raises:
        DataError: With every fault.
    """
    try:
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        place = _AT_LINE.search(str(error))
        line = int(place[1]) if place else None
        raise DataError(
            f"{shown} is not TOML", faults=(Fault(shown, line, _AT_LINE.sub("", str(error))[:200]),)
        ) from None
    faults: list[str] = []
    categories = {key: _read_category(key, value, faults) for key, value in table.items() if key != "format"}
    if table.get("format", 1) != 1:
        faults.append("format: findback reads format 1")
    if not 1 <= len(categories) <= MOST_CATEGORIES:
        faults.append(f"there are {len(categories)} categories; voices have 1 to {MOST_CATEGORIES}")
    if faults:
        lines = _lines_of(text)
        raise DataError(
            f"{shown} states no voices",
            faults=[Fault(shown, lines.get(fault.partition(":")[0]), fault) for fault in faults],
            hint='write [who.newcomer] with share = 0.5 and text = "…" for each option of each category',
        )
    return Voices(name, categories)


def _read_category(category: str, table: Any, faults: list[str]) -> tuple[Option, ...]:
    category = _checked_name(category, "", faults)
    if not isinstance(table, dict) or not 1 <= len(table) <= MOST_OPTIONS:
        faults.append(f"{category}: a category is a table of 1 to {MOST_OPTIONS} options")
        return ()
    before = len(faults)
    options = tuple(_read_option(category, name, value, faults) for name, value in table.items())
    total = sum(option.share for option in options)
    if len(faults) == before and not isclose(total, 1, rel_tol=0, abs_tol=TOLERANCE):
        faults.append(f"{category}: the shares add up to {total:.6g}, not to 1")
    return options


def _read_option(category: str, name: str, table: Any, faults: list[str]) -> Option:
    where = f"{category}.{_checked_name(name, f'{category}.', faults)}"
    if not isinstance(table, dict):
        faults.append(f"{where}: an option is a table with share and text")
        return Option(name, 0.0, "")
    unknown = sorted(table.keys() - _KEYS)
    if unknown:
        faults.append(f"{where}: unknown {', '.join(key[:40] for key in unknown[:5])}")
    share, text = table.get("share"), table.get("text")
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
        faults.append(f"{where}: share is a number from 0 to 1")
        share = 0.0
    if not isinstance(text, str) or not 1 <= len(text.strip()) <= MOST_TEXT:
        faults.append(f"{where}: text has 1 to {MOST_TEXT} characters")
        text = ""
    return Option(name, float(share), " ".join(text.split()))


def _checked_name(name: str, where: str, faults: list[str]) -> str:
    if _NAME.fullmatch(name) is None:
        faults.append(f"{where}{name[:40]}: a name is made of a-z, 0-9 and -, at most 40")
    return name[:40]


def _lines_of(text: str) -> dict[str, int]:
    """Return on which line each table of a TOML text begins, as far as a look at headings tells."""
    lines: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if stripped.startswith("[") and stripped.endswith("]"):
            named = stripped.strip("[] ")
            lines.setdefault(named, number)
            lines.setdefault(named.partition(".")[0], number)
    return lines


def _pick(options: tuple[Option, ...], key: str) -> Option:
    digest = hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    # 53 bits are what a float holds exactly, so that this is below 1.
    point = (int.from_bytes(digest) >> 11) / (1 << 53)
    for option in options:
        point -= option.share
        if point < 0:
            return option
    # What rounding left over belongs to the last option that can be drawn.
    return next(option for option in reversed(options) if option.share > 0)
