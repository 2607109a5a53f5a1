"""Random values of every type, put into an import to see whether any of them gets anywhere."""

import random
import string
from collections.abc import Callable, Iterable
from typing import NamedTuple

from findback.model.protocols import RawText
from findback.model.thread import Person
from findback.privacy.wordlists import read_rules

_ALNUM = string.ascii_letters + string.digits
_STARTS = (
    "Bra",
    "Cel",
    "Dro",
    "Fen",
    "Gor",
    "Hul",
    "Jav",
    "Kel",
    "Lom",
    "Mor",
    "Nev",
    "Pri",
    "Quo",
    "Rud",
    "Sev",
    "Tor",
    "Vel",
    "Wim",
    "Zor",
)
_MIDDLES = ("ba", "do", "fi", "gu", "ka", "lo", "mi", "nu", "pe", "ra", "so", "ti", "vo", "ze")
_ENDS = ("dric", "lan", "mund", "nor", "quist", "rell", "seth", "tav", "vik", "wyn")


class Canary(NamedTuple):
    """One made-up value."""

    type: str
    value: str
    text: str
    """A message with the value in it."""


class Canaries(NamedTuple):
    """Made-up values, and the made-up people among them."""

    canaries: tuple[Canary, ...]
    people: tuple[Person, ...]
    """To be added to the roster of the import."""

    def texts(self) -> list[RawText]:
        """Return their messages."""
        return [RawText(canary.text) for canary in self.canaries]


def make_canaries(count: int, chance: random.Random, *, customer_patterns: Iterable[str] = ()) -> Canaries:
    """Return that many random values of each type, each in a message of its own.

    Args:
        count: Values of a type. None found among n bounds the share that gets through at 3/n (95 %).
        chance: Source of randomness; one from the system for real imports.
        customer_patterns: The team's patterns of customer ids; without any, that type has no canaries.
    """
    makers: dict[str, Callable[[random.Random], str]] = dict(_MAKERS)
    patterns = list(customer_patterns)
    if patterns:
        makers["CUSTOMER_ID"] = lambda chance: _of_pattern(chance.choice(patterns), chance)
    made: dict[str, Canary] = {}
    carriers: dict[str, list[str]] = read_rules("canaries.toml")
    for kind, make in makers.items():
        values: set[str] = set()
        while len(values) < count:
            value = make(chance)
            if value not in made and value not in values:
                values.add(value)
                text = chance.choice(carriers[kind]).replace("{value}", value)
                made[value] = Canary(kind, value, text)
    people = tuple(
        Person(f"canary {place}", (canary.value,))
        for place, canary in enumerate(made.values())
        if canary.type == "PERSON"
    )
    return Canaries(tuple(made.values()), people)


def _token(chance: random.Random) -> str:
    pieces = chance.choice(
        (
            ("gh" + "p_", _ALNUM, 36),
            ("AK" + "IA", string.ascii_uppercase + string.digits, 16),
            ("xo" + "xb-", _ALNUM, 40),
            ("gl" + "pat-", _ALNUM, 20),
            ("sk" + "_live_", _ALNUM, 24),
            ("AI" + "za", _ALNUM, 35),
            ("np" + "m_", _ALNUM, 36),
            ("h" + "f_", _ALNUM, 34),
        )
    )
    return pieces[0] + "".join(chance.choices(pieces[1], k=pieces[2] - 1)) + chance.choice("23456789")


def _mail(chance: random.Random) -> str:
    first, last = _name(chance).lower().split()
    return f"{first}{chance.choice(('.', '_', '-', ''))}{last}{chance.randrange(1000)}@{_word(chance)}.example.org"


def _word(chance: random.Random) -> str:
    return "".join(chance.choices(string.ascii_lowercase, k=7))


def _name(chance: random.Random) -> str:
    def one() -> str:
        return chance.choice(_STARTS) + "".join(chance.choices(_MIDDLES, k=2)) + chance.choice(_ENDS)

    return f"{one()} {one()}"


def _phone(chance: random.Random) -> str:
    area, number = chance.randrange(30, 90), chance.randrange(10**6, 10**7)
    return f"+49 {area} {number}"


def _card(chance: random.Random) -> str:
    body = "4" + "".join(chance.choices(string.digits, k=14))
    total = 0
    for place, digit in enumerate(reversed(body)):
        doubled = int(digit) * (2 if place % 2 == 0 else 1)
        total += doubled - 9 if doubled > 9 else doubled
    digits = body + str(-total % 10)
    return " ".join(digits[at : at + 4] for at in range(0, 16, 4)) if chance.random() < 0.5 else digits


def _iban(chance: random.Random) -> str:
    body = "".join(chance.choices(string.digits, k=18))
    check = 98 - int(body + "131400") % 97
    return f"DE{check:02d}{body}"


def _national(chance: random.Random) -> str:
    return f"{chance.randrange(100, 650)}-{chance.randrange(10, 100)}-{chance.randrange(1000, 10_000)}"


def _address(chance: random.Random) -> str:
    return ".".join(["10", *(str(chance.randrange(100, 255)) for _ in range(3))])


def _host(chance: random.Random) -> str:
    return f"db{chance.randrange(10, 100)}.{_word(chance)}.internal"


def _user(chance: random.Random) -> str:
    return "U0" + "".join(chance.choices(string.ascii_uppercase + string.digits, k=9))


def _of_pattern(pattern: str, chance: random.Random) -> str:
    return "".join(
        chance.choice(string.digits) if c == "#" else chance.choice(string.ascii_lowercase) if c == "?" else c
        for c in pattern
    )


_MAKERS: dict[str, Callable[[random.Random], str]] = {
    "SECRET": _token,
    "EMAIL": _mail,
    "PERSON": _name,
    "PHONE": _phone,
    "CARD": _card,
    "IBAN": _iban,
    "NATIONAL_ID": _national,
    "IP": _address,
    "HOST": _host,
    "USER": _user,
}
