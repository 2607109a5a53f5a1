"""Names nobody listed: what two things agree on is applied, the rest suggested."""

import time

import pytest

from findback.model.document import Document
from findback.model.protocols import RawText
from findback.model.settings import PrivacySettings
from findback.privacy.addresses import StreetRules
from findback.privacy.key import Key
from findback.privacy.name_rules import NameRules
from findback.privacy.opening import describe_names, open_redactor
from findback.privacy.vocabulary import read_vocabulary

RULES = NameRules()


def bands(text: str, rules: NameRules = RULES, model: str = "") -> list[tuple[str, str]]:
    spans = [(text.index(model), text.index(model) + len(model))] if model else []
    return [(text[f.start : f.end], f.band) for f in rules.find(text, spans)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("spoke to Nadia Petrescu from support", [("Nadia Petrescu", "applied")]),
        ("thanks fatima", [("fatima", "applied")]),
        ("the copy fatima made", [("fatima", "applied")]),
        ("nobody but fatima has it", [("fatima", "suggested")]),
        ("seen by delphine", [("delphine", "applied")]),
        ("built for delphine", [("delphine", "suggested")]),
        ("delphine's notebook", [("delphine", "applied")]),
        ("Zdenko notebook", [("Zdenko", "suggested")]),
        ("delphine abernathy", [("delphine abernathy", "applied")]),
        ("tell delphine m. abernathy now", [("delphine m. abernathy", "applied")]),
        ("my name is qorvix zuntara", [("qorvix zuntara", "applied")]),
        ("my name is missing in the list", []),
        ("Bertrix Q. Zuntara was here", [("Bertrix Q. Zuntara", "suggested")]),
        ("the page that I read about Živkovar is gone", [("Živkovar", "suggested")]),
        ("the yefremova index", [("yefremova", "suggested")]),
        ("ping ingrid or tobias they know", [("ingrid", "applied"), ("tobias", "applied")]),
        ("Mrs Okonjo asked", [("Okonjo", "applied")]),
        ("my name is Rubija", [("Rubija", "applied")]),
        ("hey Zdenko", [("Zdenko", "applied")]),
        ("hey Qorvix", [("Qorvix", "suggested")]),
        ("ask Jenkins to rebuild", [("Jenkins", "suggested")]),
        ("Kafka and Cassandra in Grafana", []),
        ("Spring Boot, Visual Studio, Apache Airflow", []),
        ("will the page load, may I mark it", []),
        ("elena_test.py and elena.example.org", []),
        ("the LAN and the NAT", []),
    ],
)
def test_evidence(text: str, expected: list[tuple[str, str]]) -> None:
    """Listed names go where a cue or a capital agrees; software, words and identifiers stay."""
    assert bands(text) == expected


@pytest.mark.parametrize(
    ("text", "model", "expected"),
    [
        ("by Szabina Gelencser", "Szabina Gelencser", "applied"),
        ("the Eklund page", "Eklund", "applied"),
        ("the Zuntara page", "Zuntara", "suggested"),
        ("in Grafana today", "Grafana", None),
        ("ask zuntara", "zuntara", "applied"),
        ("Darwin build", "Darwin", "suggested"),
        ("goroutine 4711 dies", "goroutine 4711", None),
    ],
)
def test_a_model_alone_only_suggests(text: str, model: str, expected: str | None) -> None:
    """One unknown word that a model names is suggested; numbers and software are not even that."""
    assert [band for _, band in bands(text, model=model)] == ([expected] if expected else [])


def test_the_teams_own_words() -> None:
    """A service of the team that is called like a person is suggested at most."""
    assert bands("ask Fatima", NameRules({"fatima"})) == [("Fatima", "suggested")]


def test_vocabulary_of_a_corpus() -> None:
    """Titles and identifiers in code make the vocabulary; one title with a person's name does not."""

    class Corpus(list[Document]):
        pass

    made = Corpus(
        [
            Document(id="a", title="Deploying Zorblax", text="run `FizzbinServer.start()` and `ask fatima`"),
            Document(id="b", title="Fatima's guide", text="Nothing in code"),
        ]
    )
    vocabulary = read_vocabulary(made, shown=("Quuxer",))  # type: ignore[arg-type]
    words = vocabulary.words
    assert vocabulary.frequent == {"quuxer"}
    assert {"zorblax", "fizzbin", "server", "quuxer", "deploying"} <= words
    assert "fatima" not in words
    assert "nothing" not in words


def test_street_addresses_are_suggested() -> None:
    """Addresses are suggested, never applied, and ordinary numbers are not."""
    texts = ["to 12 Long Acre Road, Apt. 5", "moved to Friedrichstraße 68", "10 rue de la Paix", "404 pages, 12 of 90"]
    found = StreetRules().find_all(texts)
    shown = [[(text[f.start : f.end], f.band) for f in fs] for text, fs in zip(texts, found, strict=True)]
    assert shown == [
        [("12 Long Acre Road, Apt. 5", "suggested")],
        [("Friedrichstraße 68", "suggested")],
        [("10 rue de la Paix", "suggested")],
        [],
    ]


@pytest.mark.parametrize(
    "address",
    [
        "5533 119 Long Acre Close, Suite 868, Norrhaven, 12345",
        "12 Long Acre Road\nApt. 5\nNorrhaven\nFreeland 12345",
        "PSC 6293, Box 8158\nAPO AP 04336",
        "77009 P.O. Box 255",
        "Kossuth Lajos utca 12.",
        "Karl Johans gate 5",
        "2456 Rue de Virton 38",
        "Hersnapvej 75",
    ],
)
def test_an_address_is_suggested_whole(address: str) -> None:
    """Unit, town, code and country go with the street, over lines and commas, in several languages."""
    text = f"please send it to {address}"
    covered = {at for finding in StreetRules().find_all([text])[0] for at in range(finding.start, finding.end)}
    assert covered >= set(range(text.index(address), len(text.rstrip("."))))


@pytest.mark.parametrize(
    "piece", ["12 Ab ", "1 ", "Ab ", "anna ", "my name is ", "Ab C ", "\n", "12 Long Road, ", "Éa "]
)
def test_no_text_makes_names_and_streets_slow(piece: str) -> None:
    """Fifty thousand characters of one piece are looked through in a moment, whatever the piece."""
    text = piece * (50_000 // len(piece))
    started = time.process_time()
    RULES.find(text)
    StreetRules().find_all([text])
    assert time.process_time() - started < 4


def test_spacy_adds_what_lists_lack() -> None:
    """The model finds an unlisted full name that lists alone miss, and its version is recorded."""
    pytest.importorskip("spacy")
    opened = open_redactor(Key(b"k" * 32), PrivacySettings(), names="model")
    (redacted,) = opened.redactor.redact_all([RawText("I spoke with Beauregard Plimpton about the old page")])
    assert redacted.text == "I spoke with ⟦PERSON_1⟧ about the old page"
    assert "spacy:en_core_web" in redacted.spans[0].version
    assert "spacy:en_core_web" in opened.redactor.version


def test_long_texts_reach_the_model_in_pieces() -> None:
    """A name after fifty thousand characters is found at its place."""
    pytest.importorskip("spacy")
    from findback.privacy.names import SpacyNames

    text = "the page is not there. " * 2_200 + "I met Caroline Abernathy."
    (found,) = SpacyNames().find_all([text])
    assert ("Caroline Abernathy", "applied") in [(text[f.start : f.end], f.band) for f in found]


def test_languages_without_a_model_are_named() -> None:
    """What the model does not know is said, by language."""
    assert describe_names({"en", "de", None}, "model") == [
        "de: names by roster and lists only",
        "unknown language: names by roster and lists only",
    ]
    assert describe_names({"en"}, "roster") == ["en: names by roster only"]
