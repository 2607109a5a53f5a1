"""Identifiers that carry a checksum or a fixed form: IBAN, cards, national numbers, hardware addresses."""

import re
from collections.abc import Iterator

from findback.privacy.finding import Finding
from findback.privacy.wordlists import cue_pattern, has_cue

_IBAN_LENGTHS = range(34, 14, -1)
_IBAN = re.compile(
    r"(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}(?=[ -]?[A-Za-z0-9]{4})[A-Za-z0-9]{0,30}(?:[ -][A-Za-z0-9]{1,30}){0,8}"
)
_CARD = re.compile(r"(?<![\w.\-/#=+])\d(?:[ -]?\d){11,18}(?![\w]|[-./+]\d)")
_GROUPS = re.compile(r"\d{4}(?:([ -])\d{4})(?:\1\d{4}){1,3}(?:\1\d{1,3})?|\d{4}([ -])\d{6}\2\d{4,5}")
_SSN = re.compile(r"(?<![\w-])\d{3}([- ])\d{2}\1\d{4}(?![\w-])")
_NINE = re.compile(r"(?<![\w.-])\d{9}(?![\w-])")
_NHS = re.compile(r"(?<![\w-])\d{3}([ -]?)\d{3}\1\d{4}(?![\w-])")
_DOCUMENT = re.compile(
    r"\s{0,2}(?:number|no\.?|nr\.?|#|is|:|=|\s){0,4}\s{0,2}([A-Z]{0,3}\d[A-Z0-9]{5,17})\b", re.IGNORECASE
)
_MAC = re.compile(
    r"(?<![\w:.-])[0-9A-Fa-f]{2}([:-])[0-9A-Fa-f]{2}(?:\1[0-9A-Fa-f]{2}){4}(?![\w]|[:-][0-9A-Fa-f])"
    r"|(?<![\w:.-])[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}(?![\w]|\.[0-9A-Fa-f])"
)
_MASTERCARD = range(2_221, 2_721)


def find_ids(text: str) -> Iterator[Finding]:
    """Yield identifiers; digits alone are one only where a cue says so."""
    if not any(c.isdigit() for c in text):
        return
    yield from _find_ibans(text)
    yield from _find_cards(text)
    yield from _find_national(text)
    for match in _MAC.finditer(text):
        if len(set(re.sub(r"[:.-]", "", match[0]).lower())) > 1:
            yield Finding(match.start(), match.end(), "HOST", "id.mac")


def _find_ibans(text: str) -> Iterator[Finding]:
    for match in _IBAN.finditer(text):
        end = _iban_end(match[0])
        if end:
            yield Finding(match.start(), match.start() + end, "IBAN", "id.iban")


def _iban_end(candidate: str) -> int | None:
    """Return how many characters of a candidate are an IBAN, or None."""
    from stdnum import iban  # noqa: PLC0415 - costs start-up time

    places = [place for place, c in enumerate(candidate) if c.isalnum()]
    compact = "".join(candidate[place] for place in places).upper()
    if not compact.isascii():
        return None
    for length in _IBAN_LENGTHS:
        if length > len(compact):
            continue
        end = places[length - 1] + 1
        at_boundary = end == len(candidate) or not candidate[end].isalnum()
        if at_boundary and iban.is_valid(compact[:length], check_country=False):
            return end
    return None


def _find_cards(text: str) -> Iterator[Finding]:
    for match in _CARD.finditer(text):
        digits = re.sub(r"[ -]", "", match[0])
        if not digits.isascii() or not _is_card(digits):
            continue
        spaced = len(digits) != len(match[0])
        if spaced and not _GROUPS.fullmatch(match[0]) and not _is_cued_card(text, match.start()):
            continue
        # Twelve and thirteen digits are more often an article number than a card.
        if len(digits) < 14 and not _is_cued_card(text, match.start()):
            continue
        yield Finding(match.start(), match.end(), "CARD", "id.card")


def _is_cued_card(text: str, start: int) -> bool:
    return has_cue(text, start, "ids", "card_cues")


def _is_card(digits: str) -> bool:
    from stdnum import luhn  # noqa: PLC0415 - costs start-up time

    if len(set(digits)) < 2 or not luhn.is_valid(digits):
        return False
    length, two, four = len(digits), int(digits[:2]), int(digits[:4])
    return (
        (digits[0] == "4" and length in (13, 16, 19))
        or ((51 <= two <= 55 or four in _MASTERCARD) and length == 16)
        or (two in (34, 37) and length == 15)
        or ((two in (36, 38, 39) or 300 <= int(digits[:3]) <= 305) and 14 <= length <= 19)
        or (two == 35 and 16 <= length <= 19)
        or (four in (1800, 2131) and length == 15)
        or ((digits[0] == "6" or two in (50, 56, 57, 58)) and 12 <= length <= 19)
    )


def _find_national(text: str) -> Iterator[Finding]:
    from stdnum.gb import nhs  # noqa: PLC0415 - costs start-up time

    for match in _SSN.finditer(text):
        cued = has_cue(text, match.start(), "ids", "ssn_cues")
        if (_is_ssn(match[0]) if match[1] == "-" else cued) or cued:
            yield Finding(match.start(), match.end(), "NATIONAL_ID", "id.us-ssn")
    for match in _NINE.finditer(text):
        if has_cue(text, match.start(), "ids", "ssn_cues"):
            yield Finding(match.start(), match.end(), "NATIONAL_ID", "id.us-ssn")
    for match in _NHS.finditer(text):
        if has_cue(text, match.start(), "ids", "nhs_cues") and nhs.is_valid(match[0]):
            yield Finding(match.start(), match.end(), "NATIONAL_ID", "id.gb-nhs")
    for cue in cue_pattern("ids", "document_cues").finditer(text):
        number = _DOCUMENT.match(text, cue.end())
        if number and sum(c.isdigit() for c in number[1]) >= 4:
            yield Finding(number.start(1), number.end(1), "NATIONAL_ID", "id.document")


def _is_ssn(written: str) -> bool:
    area, group, serial = written[:3], written[4:6], written[7:]
    return area not in ("000", "666") and area < "900" and group != "00" and serial != "0000"
