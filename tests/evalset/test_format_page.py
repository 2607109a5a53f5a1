"""docs/formats.md says what the formats do."""

import re
from pathlib import Path

from findback.evalset.format import WritableFormat
from findback.evalset.losses import BESIDE_PAIRS, LOSSES
from findback.evalset.open import installed_formats

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "formats.md").read_text("utf-8")


def rows() -> dict[str, tuple[str, str, str]]:
    """Return in, out and losses of each row of the table."""
    found = re.findall(r"^\| `([\w-]+)` \| (.*?) \| (.*?) ?\| (.*?) \|$", PAGE, re.MULTILINE)
    return {name: (read, written, held_not) for name, read, written, held_not in found}


def test_every_format_has_a_row() -> None:
    """The table has every format, and says of each whether it is written."""
    installed = installed_formats()
    table = rows()
    assert set(table) == set(installed)
    for name, form in installed.items():
        assert (table[name][0], table[name][1]) == ("yes", "yes" if isinstance(form, WritableFormat) else ""), name


def test_every_written_format_has_an_example() -> None:
    """Each format that is written has a command on the page."""
    for name, form in installed_formats().items():
        if isinstance(form, WritableFormat) and name not in ("questions", "mapped"):
            assert f"--to {name} " in PAGE, name


def test_losses_are_words_of_one_vocabulary() -> None:
    """What formats say they cannot hold is known, and the starred rows are those that hold pairs alone."""
    for name, form in installed_formats().items():
        if isinstance(form, WritableFormat):
            assert set(form.losses) <= set(LOSSES), name
            assert rows()[name][2].startswith("*") == (set(form.losses) >= set(BESIDE_PAIRS) - {"gold texts", "parts"})
            assert ("ids" in form.losses) == ("ids" in re.findall(r"\w+", rows()[name][2].partition("blanks")[0])), name
