"""Street addresses: only ever suggested, because a number beside a name is mostly something else."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from findback.privacy.finding import Finding, merge_findings
from findback.privacy.wordlists import read_rules

_NAME = r"[^\W\d_][\w.'’-]{0,30}"
_CAPITAL = r"[^\W\d_a-zß-ÿ][\w.'’-]{1,30}"
_TOWN = r"[^\W\d_a-zß-ÿ][\w'’]{1,30}"
_NUMBER = r"\d{1,5}[A-Za-z]?"
_MOST_PIECES = 6


@lru_cache(maxsize=1)
def _patterns() -> tuple[re.Pattern[str], ...]:
    words = read_rules("addresses.toml")
    ends, starts, glued, units, inner = (
        "|".join(map(re.escape, words[key])) for key in ("ends", "starts", "glued", "units", "inner")
    )
    cues = "|".join(rf"(?i:{re.escape(cue)})" for cue in words["cues"])
    number = rf"(?<![\w.#:/-])(?:\d{{1,6}}\s)?{_NUMBER}"
    return (
        # 12 Long Acre Road, 12B Baker St.
        re.compile(rf"{number}\s(?:{_NAME}\s){{1,3}}(?:{ends})\b\.?", re.IGNORECASE),
        # 10 rue de la Paix, Calle Mayor 5
        re.compile(rf"{number}(?:bis|ter)?,?\s(?:{starts})\s(?:{_NAME}\s?){{1,4}}", re.IGNORECASE),
        re.compile(rf"(?<![\w-])(?:{starts})\s(?:{_NAME}\s){{1,4}}(?:nº\s?|n\.\s?)?{_NUMBER}(?![\w.])", re.IGNORECASE),
        # Hauptstraße 12, Keizersgracht 5
        re.compile(
            rf"(?<![\w-])(?:(?-i:{_CAPITAL})[\s-]){{0,2}}[^\W\d_][\w-]{{1,30}}(?:{glued})\s{_NUMBER}(?![\w.])",
            re.IGNORECASE,
        ),
        # Kossuth Lajos utca 12., Karl Johans gate 5
        re.compile(rf"(?<![\w.#:/-])(?:\d{{1,6}}\s)?(?:{_CAPITAL}\s){{1,3}}(?i:{inner})\s{_NUMBER}(?!\w)\.?"),
        # 6750 Koskikatu 25, and after a cue without the second number: lives at 12 Elm Hollow
        re.compile(rf"(?<![\w.#:/-]){_NUMBER}\s(?:{_CAPITAL}\s){{1,4}}{_NUMBER}(?![\w.:])"),
        re.compile(
            rf"(?<![\w-])(?:{cues})\s{{1,3}}(?:is\s|to\s|:\s{{0,3}}){{0,2}}({_NUMBER}\s(?:{_CAPITAL}[,\s]{{1,3}}){{1,4}})"
        ),
        # Apt. 5, Suite 200
        re.compile(rf"(?<![\w-])(?:{units})\.?\s{{1,2}}#?\d{{1,5}}[A-Z]?(?!\w)", re.IGNORECASE),
        re.compile(r"(?<!\w)(?:\d{1,6}\s)?P\.?\s?O\.?\s?Box\s\d{1,6}(?!\w)", re.IGNORECASE),
        # Military post of the United States: PSC 1234, Box 5678, APO AP 96319
        re.compile(
            r"(?<!\w)(?:(?:PSC|CMR|Unit)\s\d{1,5},?\s{1,2}Box\s\d{1,5}|US[NC][A-Z]{1,2}\s\w{2,20})[,\s]{1,3}"
            r"[AFD]PO,?\sA[AEP],?\s\d{5}(?!\d)",
            re.IGNORECASE,
        ),
    )


@lru_cache(maxsize=1)
def _further() -> re.Pattern[str]:
    """Return the pattern of one further piece of an address: a unit, a code, a town after a comma or on a new line."""
    units = "|".join(map(re.escape, read_rules("addresses.toml")["units"]))
    town = rf"{_TOWN}(?:[ -]{_TOWN}){{0,3}}"
    break_ = r"(?:\s{0,2},\s{0,2}|[ ]{0,2}\n[ >?]{0,5})"
    return re.compile(
        rf"(?:{break_}|\s)(?:(?i:{units})\.?\s{{0,2}}#?\w{{1,6}}|(?:[A-Z]{{1,2}}-)?\d{{4,6}}(?:-\d{{4}})?|[A-Z]{{2,3}})(?![\w])"
        rf"|{break_}{town}(?![\w@:])|(?<=\d)\s{town}(?![\w@:])"
    )


def _extend(text: str, end: int) -> int:
    """Return where an address ends, with the lines or the parts between commas that belong to it."""
    for _ in range(_MOST_PIECES):
        match = _further().match(text, end)
        if match is None:
            break
        end = match.end()
    return end


def find_addresses_of_streets(text: str) -> Iterator[Finding]:
    """Yield what reads like the address of a house.

    >>> [text[f.start:f.end] for text in ["to 12 Long Acre Road please"] for f in find_addresses_of_streets(text)]
    ['12 Long Acre Road']
    """
    if not any(c.isdigit() for c in text):
        return
    for pattern in _patterns():
        for match in pattern.finditer(text):
            start, end = match.span(1 if pattern.groups else 0)
            end = _extend(text, start + len(text[start:end].rstrip(" ,\n")))
            yield Finding(start, end, "ADDRESS", "address.street", "suggested")


class StreetRules:
    """Suggests street addresses; one of the detectors a redactor can be given."""

    version = "street-2"

    def find_all(self, texts: Sequence[str]) -> list[list[Finding]]:
        """Return what each text holds."""
        return [merge_findings(find_addresses_of_streets(text)) for text in texts]
