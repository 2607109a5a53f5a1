"""`glossary.toml`."""

import tomllib
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from findback.errors import DataError, MissingError, StorageError
from findback.evalset.glossary import add_terms, check_terms, forget_cases, read_glossary
from findback.model.glossary import Glossary, Term
from findback.privacy.core import CoreRedactor

CASES = tuple(f"c{n:010d}" for n in range(6))
WIFI = Term(
    when="wifi",
    add="wireless",
    kind="nickname",
    source="alignment",
    cases=CASES[:3],
    clusters=2,
    release=4,
    accepted_by="lead",
    accepted_on=date(2026, 5, 1),
)
HAND = Term(when="c++", add="gcc", source="by hand")


def written(folder: Path, text: str) -> Path:
    file = folder / "glossary.toml"
    file.write_text(text, "utf-8")
    return file


def faults(caught: pytest.ExceptionInfo[DataError]) -> list[tuple[int | None, str]]:
    return [(fault.line, fault.message) for fault in caught.value.faults]


def test_terms_read_back_as_they_were_written(tmp_path: Path) -> None:
    """Every field survives, in the order they were accepted."""
    file = tmp_path / "set" / "glossary.toml"
    assert add_terms(file, [WIFI]) == Glossary(terms=(WIFI,))
    assert add_terms(file, [HAND]) == read_glossary(file) == Glossary(terms=(WIFI, HAND))
    assert tomllib.loads(file.read_text())["terms"][0]["accepted_on"] == date(2026, 5, 1)


def test_what_a_person_wrote_stays(tmp_path: Path) -> None:
    """Comments, order and blank lines are as they were when a term is added."""
    text = 'format = 1\n\n# ours\n[[terms]]\nwhen = "wifi"   # everybody says so\nadd = "wlan"\n'
    file = written(tmp_path, text)
    add_terms(file, [WIFI])
    assert file.read_text().startswith(text)
    assert read_glossary(file).rules == (("wifi", "wlan"), ("wifi", "wireless"))


words = st.text(st.characters(codec="utf-8", exclude_characters="⟦⟧"), min_size=1, max_size=40).map(
    lambda text: " ".join(text.split())
)


@given(st.lists(st.tuples(words, words), min_size=1, max_size=4))
def test_any_printable_words_survive(tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]]) -> None:
    """Quotes, backslashes and every script read back; what is no term is refused, and nothing is written."""
    file = tmp_path_factory.mktemp("glossary") / "glossary.toml"
    if any(not side for pair in pairs for side in pair):
        return
    terms = [Term(when=when, add=add) for when, add in pairs]
    if list(check_terms(terms)):
        with pytest.raises(DataError):
            add_terms(file, terms)
        assert not file.exists()
        return
    add_terms(file, terms)
    assert read_glossary(file).terms == tuple(terms)


def test_every_fault_has_its_line(tmp_path: Path) -> None:
    """Faults of the shape and of what must hold stand together, each at its key."""
    file = written(
        tmp_path,
        "format = 1\n"
        "[[terms]]\n"
        'when = "wifi"\n'
        'add = "wireless"\n'
        'source = "alignment"\n'
        "clusters = 1\n"
        'cases = ["c0000000001"]\n'
        "[[terms]]\n"
        'when = "WIFI"\n'
        'add = "Wireless"\n'
        "[[terms]]\n"
        'when = "desk"\n'
        'colour = "red"\n'
        "[[terms]]\n"
        'when = "ask ⟦USER_1⟧"\n'
        'add = "help"\n'
        'cases = ["x1"]\n',
    )
    with pytest.raises(DataError) as caught:
        read_glossary(file)
    assert faults(caught) == [
        (6, "a term that no person wrote needs 2 clusters or more"),
        (9, "the same term stands in the file already, as number 1"),
        (11, "`add` is missing"),
        (13, "`colour` is not a known key"),
        (17, "`cases[0]` does not have the form it must have"),
    ]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"when": "ask ⟦USER_1⟧"}, "`when` holds a placeholder"),
        ({"add": "…"}, "`add` holds no word"),
        ({"add": " wlan"}, "`add` has blanks at its ends, several in a row, or characters that cannot be seen"),
        ({"when": "a\u202eb"}, "`when` has blanks at its ends, several in a row, or characters that cannot be seen"),
        ({"add": "WiFi"}, "`add` says what `when` says"),
        ({"clusters": 4}, "there are more clusters than cases"),
        ({"cases": (CASES[0], CASES[0])}, "a case is named twice"),
        ({"clusters": 1}, "a term that no person wrote needs 2 clusters or more"),
        ({"source": "model"}, "`model` is for terms whose source is a model, and these have one"),
        ({"model": "openai:x"}, "`model` is for terms whose source is a model, and these have one"),
        ({"add": "mail bo" + "@example.org"}, "`add` holds what looks like EMAIL"),
        ({"when": "ACME-" + "123"}, "`when` holds what looks like CUSTOMER_ID"),
    ],
)
def test_what_no_term_may_be(tmp_path: Path, changes: dict[str, object], said: str) -> None:
    """Each is refused, and the file is as it was before."""
    from findback.model.settings import PrivacySettings

    redactor = CoreRedactor(PrivacySettings(customer_id_patterns=("ACME-###",)))
    file = written(tmp_path, "format = 1\n")
    with pytest.raises(DataError) as caught:
        add_terms(file, [WIFI.model_copy(update=changes)], redactor=redactor)
    assert [message for _, message in faults(caught)] == [said]
    assert file.read_text() == "format = 1\n"


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ('format = 1\n[[terms]]\nwhen = "a\n', 3, "no valid TOML"),
        ("format = 2\n", None, "`format` must be 1"),
        ("terms = 3\nformat = 1\n", None, "`terms` must be a list of tables"),
        ("format = 1\nterms = [3]\n", None, "a term is a table"),
        ("format = 1\nwords = 1\n", None, "`words` is not a known key"),
    ],
)
def test_files_that_are_no_glossary(tmp_path: Path, text: str, line: int | None, said: str) -> None:
    """What is wrong is said with its line where there is one."""
    with pytest.raises(DataError) as caught:
        read_glossary(written(tmp_path, text))
    ((found, message),) = faults(caught)
    assert (found, message[: len(said)]) == (line, said)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    """A missing file, a folder, and bytes that are no text."""
    with pytest.raises(MissingError):
        read_glossary(tmp_path / "none.toml")
    with pytest.raises(DataError, match="is a folder"):
        read_glossary(tmp_path)
    (tmp_path / "bytes.toml").write_bytes(b"format = 1\n\xff")
    with pytest.raises(DataError) as caught:
        read_glossary(tmp_path / "bytes.toml")
    assert faults(caught) == [(2, "not UTF-8")]


def test_terms_written_inline_are_read(tmp_path: Path) -> None:
    """A list of tables is the same; faults have no line then."""
    file = written(tmp_path, 'format = 1\nterms = [{when = "wifi", add = "wlan"}]\n')
    assert read_glossary(file).rules == (("wifi", "wlan"),)
    forget_cases(file, {"c0000000009"})
    with pytest.raises(DataError) as caught:
        read_glossary(written(tmp_path, 'format = 1\nterms = [{when = "wifi"}]\n'))
    assert faults(caught) == [(None, "`add` is missing")]


def test_a_withdrawn_case_takes_its_terms_along(tmp_path: Path) -> None:
    """A term left with one cluster goes; one left with two stays without the case; others stay to the letter."""
    rich = WIFI.model_copy(update={"when": "lan", "cases": CASES[:4], "clusters": 4})
    file = tmp_path / "glossary.toml"
    add_terms(file, [WIFI, HAND, rich])
    file.write_text(file.read_text().replace('when = "c++"', 'when = "c++" # keep'))
    assert forget_cases(file, {CASES[0], CASES[1]}) == 1
    assert read_glossary(file).terms == (
        HAND,
        rich.model_copy(update={"cases": CASES[2:4], "clusters": 2}),
    )
    text = file.read_text()
    assert "# keep" in text
    assert "wifi" not in text
    assert CASES[0] not in text
    before = file.read_bytes()
    assert forget_cases(file, {CASES[0]}) == 0
    assert file.read_bytes() == before
    assert forget_cases(tmp_path / "none.toml", {CASES[0]}) == 0


def test_a_disk_that_refuses_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is lost, and no half file is left beside it."""
    file = written(tmp_path, "format = 1\n")

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", refuse)
    with pytest.raises(StorageError):
        add_terms(file, [WIFI])
    assert [path.name for path in tmp_path.iterdir()] == ["glossary.toml"]
    assert file.read_text() == "format = 1\n"
