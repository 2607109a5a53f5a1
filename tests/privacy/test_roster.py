"""The people of an export are found however they are written."""

import json
import time
import unicodedata
from pathlib import Path

import pytest

from builders.chat_sample import PEOPLE
from findback.model.thread import Person
from findback.privacy.roster import Roster

ROSTER = Roster(
    [
        Person("U1", ("Minh Tran", "minh.tran"), ("m.tran@example.org",), ("+49 30 901820",)),
        Person("U2", ("Seán O'Brien",)),
        Person("U3", ("Mark Page",)),
        Person("U4", ("Jean-Luc Müller",), gone=True),
        Person("U5", ("田中 太郎",)),
        Person("U6", ("Bo Ek",)),
        Person("U7", ("Zoë van der Berg | docs team",)),
        Person("U8", ("Noor Sørvik",)),
        Person("U9", ("Noor Brandão",)),
        Person("B1", ("jira",), bot=True),
    ]
)


def found(text: str, band: str = "applied") -> list[str]:
    return [text[m.finding.start : m.finding.end] for m in ROSTER.find(text) if m.finding.band == band]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ask minh about MINH TRAN", ["minh", "MINH TRAN"]),
        ("Tran, Minh or m. tran or mtran", ["Tran, Minh", "m. tran", "mtran"]),
        ("minh's and Minhs laptop", ["minh", "Minhs"]),
        ("@minh.tran in /home/minh/x", ["@minh.tran", "minh"]),
        ("sean o'brien, O’Brien, obrien", ["sean o'brien", "O’Brien", "obrien"]),
        ("jean-luc, jeanluc, Mueller", ["jean-luc", "jeanluc", "Mueller"]),
        ("Zoe\u0308, zoe, Zo\u200bë, Zoë van der Berg", ["Zoe\u0308", "zoe", "Zo\u200bë", "Zoë van der Berg"]),
        ("SORVIK and sørvik", ["SORVIK", "sørvik"]),
        ("田中さんに、田中太郎に", ["田中", "田中太郎"]),
        ("call 030 901820 or +49 (30) 90-1820", ["030 901820", "+49 (30) 90-1820"]),
        ("the docs team and a jira ticket", []),
        ("minhas, trance, van, der", []),
    ],
)
def test_ways_to_write_a_person(text: str, expected: list[str]) -> None:
    """Case, accents, order, initials, handles, apostrophes and hyphens do not hide a person; bots are none."""
    assert found(text) == expected


@pytest.mark.parametrize(
    ("text", "applied", "suggested"),
    [
        ("thanks mark, that helped", ["mark"], []),
        ("mark said so", ["mark"], []),
        ("where do I mark it", [], ["mark"]),
        ("Mark Page wrote it", ["Mark Page"], []),
        ("will page load, mark my words", [], ["page", "mark"]),
        ("ask Bo", ["Bo"], []),
        ("the bo is here, Bo", [], []),
        ("@bo knows", ["@bo"], []),
        ("@pytest.mark.skip", [], []),
    ],
)
def test_ordinary_words_need_a_cue(text: str, applied: list[str], suggested: list[str]) -> None:
    """A name that is a word too counts with a cue beside it, and of two letters only with capital and cue or @."""
    assert found(text) == applied
    assert found(text, "suggested") == suggested


def test_who_is_named_beside_somebody_is_a_person_too() -> None:
    """Short names and names that are words count after "and" and a certain name; words that are rarely names do not."""
    assert found("Minh Tran and bo looked") == ["Minh Tran", "bo"]
    assert found("minh+bo") == ["minh", "bo"]
    assert found("the doc and bo") == []
    assert found("minh and mark it as done") == ["minh"]


def test_namesakes_are_all_named() -> None:
    """A first name that two people bear names both, a full name one."""
    people = [mention.people for mention in ROSTER.find("noor, noor sørvik")]
    assert people == [("U8", "U9"), ("U8",)]


def test_ambiguous_words_of_the_team() -> None:
    """A person called like one of the team's services needs a cue too."""
    roster = Roster([Person("U1", ("Zelda Ostrom",))], ambiguous=("zelda",))
    bands = [mention.finding.band for mention in roster.find("restart zelda; ask zelda")]
    assert bands == ["suggested", "applied"]


def test_every_user_of_a_real_export_is_found(data: Path) -> None:
    """Each name of each user, in four spellings and three sentences, leaves no letter of it behind."""
    users = [u for u in json.loads((data / "slack-shaped" / "users.json").read_text("utf-8")) if not u["is_bot"]]
    people = [
        Person(u["id"], (u["real_name"], u["name"], u["profile"]["display_name"]), (u["profile"]["email"],))
        for u in users
    ]
    roster = Roster(people)
    left = []
    for person in people:
        for name in {word for full in person.names for word in (full, *full.split())}:
            plain = "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))
            for spelled in (name, name.upper(), name.lower(), plain):
                for sentence in ("I asked {} yesterday", "{}: it is under tools", "is it in {}'s folder?"):
                    text = sentence.format(spelled)
                    start = text.index(spelled)
                    covered = {at for m in roster.find(text) for at in range(m.finding.start, m.finding.end)}
                    if not set(range(start, start + len(spelled))) <= covered:
                        left.append(text)
    assert len(people) == 40
    assert left == []


def test_work_grows_with_the_text_not_with_the_people() -> None:
    """Ten thousand people and half a megabyte of text take under three seconds of search."""
    people = [Person(str(n), (f"Given{n} Family{n}",)) for n in range(10_000)]
    roster = Roster(people)
    start = time.process_time()
    assert len(roster.find("given77 and o'family78 went " * 18_000)) == 36_000
    assert time.process_time() - start < 3


def test_sample_people_are_distinct() -> None:
    """The people of the labelled sample have ids of their own."""
    assert len({person.id for person in PEOPLE}) == len(PEOPLE)
