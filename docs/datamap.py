"""Write docs/privacy/data-map.md from the code, so that it names what is really kept."""

import ast
import inspect
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from findback.model.settings import RetentionSettings
from findback.places import PLACES
from findback.workbench import tables
from findback.workbench.backup import LEFT_OUT
from findback.workbench.tables import METADATA, WITH_TEXT

TARGET = Path(__file__).parent / "privacy" / "data-map.md"

OPENING = """\
# Data map

Made from the code by `python docs/generate.py`; do not edit. What findback keeps, where, and how it goes away.

Raw exports are not in it: they stay where you keep them, and findback remembers file and offset.
"""
PRIVATE = """\
## The private folder

Outside the work tree; `findback config show` names it. Folders have mode 0700, files 0600.
"""
WORKBENCH = """\
## Tables of the workbench

In `workbench/workbench.sqlite`, or in the PostgreSQL database that `[mining] workbench` names. *Texts*: the table holds
redacted words or what stands for people, and its bytes are overwritten when somebody is erased. *Backup*: `findback
backup` writes it.
"""
RETENTION = """\
## How long

Days, as `[retention]` in findback.toml sets them. What is over its time goes by itself: whenever something is mined or
generated, once a day while the page is served, and with `findback privacy sweep`.
"""
PUBLISHED = """\
## The published set

In the work tree, reviewed, redacted, and committed by you: pseudonymised, and still personal data.

| place | what | how it goes away |
|---|---|---|
| `evalset/cases.jsonl`, `evalset/releases/` | questions in their original wording, redacted, with documents | \
`findback withdraw`; a tombstone stays. Version control keeps what was committed: the command says what holds it |
| `evalset/baselines/`, `evalset/scores.jsonl`, `evalset/looks.jsonl` | scores and ranks, no texts | \
`findback withdraw`, with the case |
| `evalset/glossary.toml` | terms people search with | `findback withdraw`, with the case; by hand |
"""
ELSEWHERE = """\
## Files you ask for

| what | how it goes away |
|---|---|
| `findback backup FILE` | by hand: erasure does not reach into it. A restore takes out again what was erased since |
| reports, exports, spreadsheets (`-o FILE`) | by hand |
"""


def data_map() -> str:
    """Return the whole page."""
    parts = [OPENING, PRIVATE, *places(), "", WORKBENCH, *workbench(), "", RETENTION, *retention(), "", PUBLISHED]
    return "\n".join([*parts, ELSEWHERE]).rstrip() + "\n"


def places() -> Iterator[str]:
    """Yield the parts of the private folder."""
    yield "| place | what | how it goes away |"
    yield "|---|---|---|"
    for name, place in PLACES.items():
        yield f"| `{name}/` | {place.content} | {place.erased} |"


def workbench() -> Iterator[str]:
    """Yield the tables, each with what the code says of it."""
    said = docstrings()
    yield "| table | what | texts | backup |"
    yield "|---|---|---|---|"
    for table in sorted(METADATA.tables.values(), key=lambda one: one.name):
        what = said[table.name].replace("\n", " ").replace("|", "\\|")
        yield f"| `{table.name}` | {what} | {yes(table in WITH_TEXT)} | {yes(table.name not in LEFT_OUT)} |"


def docstrings() -> dict[str, str]:
    """Return what stands under each table in the code, by its name in the database."""
    body = ast.parse(inspect.getsource(tables)).body
    found: dict[str, str] = {}
    for made, below in pairwise(body):
        if not isinstance(made, ast.Assign) or not isinstance(made.value, ast.Call):
            continue
        first = made.value.args[0] if made.value.args else None
        if isinstance(first, ast.Constant) and isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            found[str(first.value)] = str(below.value.value)
    return found


def yes(holds: object) -> str:
    """Return a word for a cell."""
    return "yes" if holds else "–"


def retention() -> Iterator[str]:
    """Yield what is kept how long."""
    yield "| setting | days, if not set | what |"
    yield "|---|---|---|"
    for name, field in RetentionSettings.model_fields.items():
        yield f"| `{name}` | {field.default} | {field.description} |"
