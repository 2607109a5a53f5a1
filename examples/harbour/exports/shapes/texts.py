"""Texts with what stands in braces filled in: mentions, addresses, people, and secrets made up on the spot."""

import hashlib
import re
import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

BASE = "https://portal.harbour.example.org/"
SEED = "harbour exports 1"
PLANTED = {"person": "PERSON", "phone": "PHONE", "email": "EMAIL", "mail": "EMAIL", "customer": "CUSTOMER_ID"}
_BRACES = re.compile(r"\{([^{}]+)\}")
_UPPER = string.ascii_uppercase + string.digits
_MIXED = string.ascii_letters + string.digits


def letters(count: int, *parts: object, alphabet: str = _MIXED) -> str:
    """Return letters that look random and are the same in every build."""
    text = ""
    while len(text) < count:
        digest = hashlib.sha256("\0".join(map(str, (SEED, len(text), *parts))).encode()).digest()
        text += "".join(alphabet[byte % len(alphabet)] for byte in digest)
    return text[:count]


def hexadecimal(count: int, *parts: object) -> str:
    """Return hexadecimal digits, the same in every build."""
    return letters(count, *parts, alphabet="0123456789abcdef")


def identity(prefix: str, *parts: object) -> str:
    """Return an id as Slack makes them: a letter for the kind, then ten letters and digits."""
    return prefix + letters(10, prefix, *parts, alphabet=_UPPER)


def make_secret(kind: str, *parts: object) -> str:
    """Return a secret in the form its issuer gives it; nobody ever issued it."""
    makers: Mapping[str, Callable[[], str]] = {
        "github": lambda: "ghp_" + letters(36, kind, *parts),
        "aws-id": lambda: "AKIA" + letters(16, kind, *parts, alphabet=string.ascii_uppercase + "234567"),
        "aws-key": lambda: letters(40, kind, *parts, alphabet=_MIXED + "/+"),
        "webhook": lambda: "whsec_" + letters(32, kind, *parts),
        "jwt": lambda: ".".join(
            ("eyJhbGciOiJIUzI1NiJ9", "eyJ" + letters(40, kind, *parts), letters(43, kind, "signature", *parts))
        ),
        "password": lambda: letters(6, kind, *parts) + "-" + letters(3, kind, "digits", *parts, alphabet="123456789!")
        + letters(7, kind, "end", *parts),
        "plain": lambda: letters(28, kind, *parts),
    }  # fmt: skip
    return makers[kind]()


def make_iban(*parts: object) -> str:
    """Return an account number whose check digits hold, of a bank that does not exist."""
    bank, account = "TDWK", letters(10, "iban", *parts, alphabet=string.digits)
    turned = "".join(str(int(character, 36)) for character in f"{bank}{account}NL00")
    return f"NL{98 - int(turned) % 97:02}{bank}{account}"


class Filled(NamedTuple):
    """A text as the export has it, and as its reader gives it back."""

    source: str
    shown: str


@dataclass(slots=True)
class Texts:
    """Fills texts, and keeps a list of what personal data and secrets were planted where."""

    rosters: Mapping[str, frozenset[str]]
    """By kind of export, the names of its own list of people, in lower case, also first and last alone."""
    planted: list[dict[str, Any]] = field(default_factory=list)

    def fill(
        self,
        text: str,
        source: str,
        place: str,
        write: Callable[[str, str], str | None],
        escape: Callable[[str], str] = str,
    ) -> Filled:
        """Return the text with everything in braces filled in.

        Args:
            text: As it lies in the data files.
            source: Kind of export, for the list of what is planted.
            place: Id of the message, search or turn, likewise.
            write: Gives what the export writes for the word and the rest inside braces; None writes the value itself.
            escape: What the export does to plain text.
        """
        pieces, shown, read = [], [], 0
        for match in _BRACES.finditer(text):
            word, _, rest = match[1].partition(" ")
            value = self._plant(word, rest, source, place)
            written = write(word, rest)
            pieces += [escape(text[read : match.start()]), escape(value) if written is None else written]
            shown += [text[read : match.start()], value if written is None else written]
            read = match.end()
        return Filled("".join([*pieces, escape(text[read:])]), "".join([*shown, text[read:]]))

    def note(self, kind: str, value: str, source: str, place: str) -> None:
        """Keep in mind that something was planted."""
        entry: dict[str, Any] = {"type": kind, "value": value, "source": source, "id": place}
        if kind == "PERSON":
            entry["in_roster"] = value.lower() in self.rosters.get(source, frozenset())
        self.planted.append(entry)

    def _plant(self, word: str, rest: str, source: str, place: str) -> str:
        if word == "secret":
            value = make_secret(rest, place)
            self.note("SECRET", value, source, place)
        elif word == "iban":
            value = make_iban(place)
            self.note("IBAN", value, source, place)
        elif word in PLANTED:
            value = rest
            self.note(PLANTED[word], value, source, place)
        else:
            value = rest
        return value


def address_of(rest: str) -> tuple[str, str]:
    """Return the address and the label that `{doc …}` stands for; the label is empty where there is none.

    >>> address_of("de/urlaub/|Urlaub")
    ('https://portal.harbour.example.org/de/urlaub/', 'Urlaub')
    """
    path, _, label = rest.partition("|")
    return BASE + path, label
