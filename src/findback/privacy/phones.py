"""Telephone numbers: with a plus, a cue word beside them, or the separators of a country."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from findback.privacy.finding import Finding
from findback.privacy.wordlists import cue_pattern, ends_with_cue, has_cue, words_of

_MOST_DIGITS = 15
_FEWEST_DIGITS = 7
_CUED_FEWEST = 6
_WEAK_REACH = 25
_AFTER_REACH = 12
_ADDRESS_REACH = 2_000

_RUN = re.compile(r"(?:\+[ \t]?)?\(?\d[\d ().\-/]*\d\)?")
_EXTENSION = re.compile(r"[ \t]?(?:x|ext\.?|extension)[ \t]?\d{1,6}(?!\w)", re.IGNORECASE)
_DATE = re.compile(
    r"(?<!\d)(?:19|20)\d\d[-/.](?:0?[1-9]|1[0-2])[-/.](?:0?[1-9]|[12]\d|3[01])(?!\d)"
    r"|(?<![\d.\-/])(?:(?:0?[1-9]|[12]\d|3[01])[-/.](?:0?[1-9]|1[0-2])|(?:0?[1-9]|1[0-2])[-/.](?:1[3-9]|2\d|3[01]))"
    r"[-/.](?:19|20)?\d\d(?![-/.]?\d)"
    r"|(?<!\d)(?:19|20)\d\d[ ]?[-/][ ]?(?:19|20)\d\d(?!\d)"
)
_NORTH_AMERICA = re.compile(r"(?:1[-. ])?(?:\([2-9]\d\d\)[ ]?|[2-9]\d\d([-.]))[2-9]?\d{2,3}[-. ]\d{4}")
_BRACKETED_AREA = re.compile(r"\(0?\d{1,4}\)[ -]?\d{2,4}(?:[ -]?\d{2,4}){1,3}")
_TRUNK = re.compile(r"\(?0\d{1,5}\)?(?:[ .\-/]{1,3}\d{2,8}){1,5}")
_EPOCH = re.compile(r"1[5-9]\d{8}(?:\d{3}){0,3}(?:\.\d{1,9})?")
_POSTAL = re.compile(r"\d{5}-\d{4}")
_DECIMAL = re.compile(r"\d+\.\d+")
_REGIONS = (
    "GB",
    "DE",
    "FR",
    "AU",
    "IT",
    "NL",
    "JP",
    "IN",
    "BE",
    "ES",
    "CH",
    "AT",
    "SE",
    "NZ",
    "BR",
    "PL",
    "DK",
    "FI",
    "NO",
)


class _Candidate(NamedTuple):
    start: int
    end: int
    written: str
    digits: str


def find_phones(text: str) -> Iterator[Finding]:
    """Yield telephone numbers; dates, epochs, ISBNs, ids and numbers glued to other text are left alone.

    >>> [f.rule for f in find_phones("call (415) 555-0132 before 2024-11-30 08:51:06")]
    ['phone.number']
    """
    for candidate in _candidates(text):
        if _is_glued(text, candidate):
            continue
        if _is_phone(text, candidate):
            extension = _EXTENSION.match(text, candidate.end)
            end = extension.end() if extension else candidate.end
            yield Finding(candidate.start, end, "PHONE", "phone.number")


def _candidates(text: str) -> Iterator[_Candidate]:
    for run in _RUN.finditer(text):
        start, end = run.span()
        written = run[0]
        if written.count("(") != written.count(")"):
            # A bracket around more than the number, or cut off.
            if written.startswith("(") and ")" not in written:
                start, written = start + 1, written[1:]
            elif written.endswith(")"):
                end, written = end - 1, written[:-1]
        pieces = [(start, written)]
        if sum(c.isdigit() for c in written) > _MOST_DIGITS:
            pieces = [(start + m.start(), m[0]) for m in re.finditer(r"\S+(?:[ ]\S+)*?(?=[ ]{2,}|$)", written)]
        for begin, piece in pieces:
            digits = "".join(c for c in piece if c.isdigit())
            if _CUED_FEWEST <= len(digits) <= _MOST_DIGITS and digits.isascii():
                yield _Candidate(begin, begin + len(piece), piece, digits)


def _is_glued(text: str, candidate: _Candidate) -> bool:
    return (
        _is_glued_before(text, candidate.start)
        or _is_glued_after(text, candidate.end)
        or _is_in_address(text, candidate.start)
    )


def _is_glued_before(text: str, start: int) -> bool:
    before = text[start - 1 : start]
    if before in (":", "=") and before:
        return not _has_strong_cue(text, start)
    return bool(before) and (before.isalnum() or before in "_-/.#@&?%$€£~^\\")


def _is_glued_after(text: str, end: int) -> bool:
    after = text[end : end + 2]
    if not after or _EXTENSION.match(text, end):
        return False
    if after[0].isalnum() or after[0] in "_@%":
        return True
    if len(after) == 2 and after[0] in ":-/+=." and (after[1].isdigit() or after[0] == "="):
        return True
    return after[0] == "-" and after[1:].isalpha() and not _has_cue_after(text, end)


def _is_in_address(text: str, start: int) -> bool:
    begin = max(start - _ADDRESS_REACH, 0)
    return "://" in re.split(r"\s", text[begin:start])[-1]


def _is_phone(text: str, candidate: _Candidate) -> bool:
    written, digits = candidate.written, candidate.digits
    if written.startswith("+"):
        return len(digits) >= _FEWEST_DIGITS and (_is_possible(f"+{digits}") or len(digits) >= 9)
    if _is_other_number(written, digits) or _counts_something(text, candidate):
        return False
    if _has_strong_cue(text, candidate.start) or _has_cue_after(text, candidate.end):
        return True
    if len(digits) < _FEWEST_DIGITS:
        return False
    cued = has_cue(text, candidate.start, "phone", "weak_cues", reach=_WEAK_REACH)
    return cued or _has_national_form(written, digits)


def _counts_something(text: str, candidate: _Candidate) -> bool:
    return ends_with_cue(text, candidate.start, "phone", "counter_cues") or _has_unit(text, candidate.end)


def _has_national_form(written: str, digits: str) -> bool:
    if digits.startswith("00") and len(digits) >= 11 and not written.isdigit():
        return _is_valid(f"+{digits[2:]}", None)
    if _NORTH_AMERICA.fullmatch(written):
        return True
    if len(digits) >= 8 and _BRACKETED_AREA.fullmatch(written):
        return True
    if 9 <= len(digits) <= 12 and _TRUNK.fullmatch(written):
        return any(_is_valid(digits, region) for region in _REGIONS)
    return False


def _is_other_number(written: str, digits: str) -> bool:
    if _DATE.search(written) or _EPOCH.fullmatch(written) or _DECIMAL.fullmatch(written):
        return True
    if _POSTAL.fullmatch(written):
        return True
    return len(digits) == 13 and digits.startswith(("978", "979"))


def _has_strong_cue(text: str, start: int) -> bool:
    return has_cue(text, start, "phone", "cues")


def _has_cue_after(text: str, end: int) -> bool:
    found = cue_pattern("phone", "after").search(text, end, end + _AFTER_REACH)
    return found is not None and not any(c.isalnum() for c in text[end : found.start()])


def _has_unit(text: str, end: int) -> bool:
    word = re.match(r"\s?([^\W\d_]{1,12})", text[end : end + 14])
    return word is not None and word[1].lower() in words_of("phone", "units")


def _is_possible(number: str) -> bool:
    import phonenumbers  # noqa: PLC0415 - costs start-up time

    try:
        return phonenumbers.is_possible_number(phonenumbers.parse(number, None))
    except phonenumbers.NumberParseException:
        return False


def _is_valid(number: str, region: str | None) -> bool:
    import phonenumbers  # noqa: PLC0415 - costs start-up time

    try:
        return phonenumbers.is_valid_number(phonenumbers.parse(number, region))
    except phonenumbers.NumberParseException:
        return False
