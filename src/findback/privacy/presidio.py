"""Microsoft Presidio's analyzer as one more detector; needs `findback[presidio,ner]`. Never its anonymizer."""

import os
from collections.abc import Collection, Sequence
from typing import Any

# Its e-mail recogniser would download a list of suffixes on first use.
os.environ["TLDEXTRACT_PUBLIC_SUFFIX_LIST_URLS"] = ""

import presidio_analyzer
from presidio_analyzer.nlp_engine import NlpEngineProvider
from tldextract import TLDExtract, tldextract

from findback.privacy.finding import Finding
from findback.privacy.name_rules import NameRules
from findback.privacy.names import model_path

ENTITIES = {
    "PERSON": "PERSON",
    "EMAIL_ADDRESS": "EMAIL",
    "PHONE_NUMBER": "PHONE",
    "CREDIT_CARD": "CARD",
    "IBAN_CODE": "IBAN",
    "IP_ADDRESS": "IP",
    "US_SSN": "NATIONAL_ID",
    "UK_NHS": "NATIONAL_ID",
    "MEDICAL_LICENSE": "NATIONAL_ID",
    "CRYPTO": "OTHER",
}
"""What it is asked for, and our type for each. Its other entities take versions and ids for licences and accounts."""
_UNUSED_LABELS = [
    "CARDINAL",
    "EVENT",
    "FAC",
    "LANGUAGE",
    "LAW",
    "MONEY",
    "ORDINAL",
    "PERCENT",
    "PRODUCT",
    "QUANTITY",
    "WORK_OF_ART",
]
THRESHOLD = 0.4
"""Lowest score that counts."""


class PresidioDetector:
    """Asks Presidio for a second opinion: what it alone finds is suggested, a name with evidence applied."""

    def __init__(
        self,
        system_words: Collection[str] = (),
        *,
        entities: Collection[str] = tuple(ENTITIES),
        threshold: float = THRESHOLD,
    ) -> None:
        """Set up the analyzer for English, without any download.

        Args:
            system_words: The team's own vocabulary, see `NameRules`.
            entities: Which of `ENTITIES` to ask for.
            threshold: Lowest score that counts, in [0, 1].

        Raises:
            MissingLibraryError: If no model is installed.
        """
        self._entities = [entity for entity in ENTITIES if entity in entities]
        self._threshold = threshold
        self._rules = NameRules(system_words)
        self._engine = build_analyzer()
        self.version = f"presidio-{_version()}:{'+'.join(self._entities)}@{threshold:g}"

    def find_all(self, texts: Sequence[str]) -> list[list[Finding]]:
        """Return what each text holds."""
        return [self._find(text) for text in texts]

    def _find(self, text: str) -> list[Finding]:
        results = analyze(self._engine, text, self._entities, self._threshold)
        names = [(r.start, r.end) for r in results if r.entity_type == "PERSON"]
        others = [
            Finding(r.start, r.end, ENTITIES[r.entity_type], f"presidio.{r.entity_type.lower()}", "suggested")
            for r in results
            if r.entity_type != "PERSON"
        ]
        return sorted([*self._rules.find(text, names), *others]) if names else others


def build_analyzer() -> Any:
    """Return Presidio's analyzer over the installed spaCy model.

    Raises:
        MissingLibraryError: If no model is installed.
    """
    # Whoever imported the library before this file had it built with addresses to download from.
    tldextract.TLD_EXTRACTOR = TLDExtract(suffix_list_urls=())
    configuration = {
        "nlp_engine_name": "spacy",
        "models": [{"lang_code": "en", "model_name": model_path()}],
        "ner_model_configuration": {"labels_to_ignore": _UNUSED_LABELS},
    }
    engine = NlpEngineProvider(nlp_configuration=configuration).create_engine()
    return presidio_analyzer.AnalyzerEngine(nlp_engine=engine, supported_languages=["en"])


def analyze(engine: Any, text: str, entities: Sequence[str] | None, threshold: float) -> list[Any]:
    """Return Presidio's results for one text; all of its entities where none are named."""
    found = engine.analyze(
        text=text, language="en", entities=list(entities) if entities else None, score_threshold=threshold
    )
    return list(found)


def _version() -> str:
    from importlib.metadata import version  # noqa: PLC0415 - read once

    return version("presidio-analyzer")
