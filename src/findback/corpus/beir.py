"""Documents from a BEIR folder: `corpus.jsonl` with `_id`, `title`, `text` and perhaps `metadata`."""

from collections.abc import Iterator
from pathlib import Path

from findback.corpus.findings import Findings
from findback.corpus.jsonl import read_rows
from findback.corpus.tables import name_of, shape_rows
from findback.errors import MissingError
from findback.model.document import Document
from findback.model.settings import CorpusSettings

CORPUS = "corpus.jsonl"
_NAMES = {"id_field": "_id"}


def read_beir(path: Path, settings: CorpusSettings, findings: Findings) -> Iterator[Document]:
    """Yield the documents of a BEIR folder, or of its corpus file, in file order.

    Title and text stay apart; what `metadata` holds is read like columns.

    Raises:
        MissingError: If the folder has no `corpus.jsonl`.

    Source:
        beir/datasets/data_loader.py, which joins nothing either but ignores `metadata`.
    """
    file = path / CORPUS if path.is_dir() else path
    if not file.is_file():
        raise MissingError(
            f"{settings.path} holds no {CORPUS}", hint="name a BEIR folder, or another kind under [corpus]"
        )
    shown = name_of(file, path, settings)
    defaults = {option: name for option, name in _NAMES.items() if getattr(settings, option) == _default(option)}
    named = settings.model_copy(update=defaults)
    yield from shape_rows(read_rows(file, shown, findings), shown, named, findings)


def _default(option: str) -> object:
    return CorpusSettings.model_fields[option].default
