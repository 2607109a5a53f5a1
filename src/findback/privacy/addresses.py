"""Street addresses: only ever suggested, because a number beside a name is mostly something else."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from findback.privacy.finding import Finding, merge_findings
from findback.privacy.wordlists import read_rules

_NAME = r"[^\W\d_][\w.'’-]{0,30}"
_CAPITAL = r"[^\W\d_a-zß-ÿ][\w.'’-]{1,30}"
_NUMBER = r"\d{1,5}[A-Za-z]?"


@lru_cache(maxsize=1)
def _patterns() -> tuple[re.Pattern[str], ...]:
    words = read_rules("addresses.toml")
    ends, starts, glued, units = ("|".join(map(re.escape, words[key])) for key in ("ends", "starts", "glued", "units"))
    cues = "|".join(rf"(?i:{re.escape(cue)})" for cue in words["cues"])
    unit = rf"(?:,?\s{{1,3}}(?:{units})\.?\s{{0,2}}#?\w{{1,6}})?"
    postal = r"(?:,?\s{0,2}[A-Z]{0,2}-?\d{4,6}(?:-\d{4})?)?"
    town = rf"(?:,\s{{0,2}}{_NAME}(?:\s{_NAME}){{0,2}}(?:,?\s[A-Z]{{2}})?)?{postal}"
    code = rf"(?:,?\s{{1,3}}(?:[A-Z]{{1,2}}-)?\d{{4,6}}\s{_NAME})?"
    return (
        # 12 Long Acre Road, 12B Baker St.
        re.compile(rf"(?<![\w.#:/-]){_NUMBER}\s(?:{_NAME}\s){{1,3}}(?:{ends})\b\.?{unit}{town}", re.IGNORECASE),
        # 10 rue de la Paix, Calle Mayor 5
        re.compile(rf"(?<![\w.#:/-]){_NUMBER}(?:bis|ter)?,?\s(?:{starts})\s(?:{_NAME}\s?){{1,4}}{code}", re.IGNORECASE),
        re.compile(rf"(?<![\w-])(?:{starts})\s(?:{_NAME}\s){{1,4}}(?:nº\s?|n\.\s?)?{_NUMBER}(?![\w.])", re.IGNORECASE),
        # Hauptstraße 12, Keizersgracht 5, 80331 München
        re.compile(
            rf"(?<![\w-])(?:(?-i:{_CAPITAL})[\s-]){{0,2}}[^\W\d_][\w-]{{1,30}}(?:{glued})\s{_NUMBER}(?![\w.]){code}",
            re.IGNORECASE,
        ),
        # 6750 Koskikatu 25, and after a cue without the second number: lives at 12 Elm Hollow
        re.compile(rf"(?<![\w.#:/-]){_NUMBER}\s(?:{_CAPITAL}\s){{1,4}}{_NUMBER}(?![\w.:]){unit}"),
        re.compile(
            rf"(?<![\w-])(?:{cues})\s{{1,3}}(?:is\s|to\s|:\s{{0,3}}){{0,2}}({_NUMBER}\s(?:{_CAPITAL}[,\s]{{1,3}}){{1,4}})"
        ),
        # Apt. 5, Suite 200
        re.compile(rf"(?<![\w-])(?:{units})\.?\s{{1,2}}#?\d{{1,5}}[A-Z]?(?!\w)", re.IGNORECASE),
        re.compile(r"(?<!\w)P\.?\s?O\.?\s?Box\s\d{1,6}(?!\w)", re.IGNORECASE),
    )


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
            yield Finding(start, start + len(text[start:end].rstrip(" ,\n")), "ADDRESS", "address.street", "suggested")


class StreetRules:
    """Suggests street addresses; one of the detectors a redactor can be given."""

    version = "street-1"

    def find_all(self, texts: Sequence[str]) -> list[list[Finding]]:
        """Return what each text holds."""
        return [merge_findings(find_addresses_of_streets(text)) for text in texts]
