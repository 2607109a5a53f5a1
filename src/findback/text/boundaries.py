"""Places where a text may be cut without breaking a character."""

import unicodedata

_JOINER = "\u200d"


def is_boundary(text: str, place: int) -> bool:
    """Say whether a text may be cut before the code point at `place`.

    Never before a combining mark, variation selector, zero-width joiner or skin tone, after a joiner,
    between the halves of a surrogate pair, of a CR LF, or of the vowels and finals of a Hangul syllable.

    >>> is_boundary("e\u0301a", 1), is_boundary("e\u0301a", 2)
    (False, True)
    """
    if place <= 0 or place >= len(text):
        return True
    before, after = text[place - 1], text[place]
    if after.isascii():
        return not (before == "\r" and after == "\n") and before != _JOINER
    joined = (
        _JOINER in (before, after)
        or unicodedata.category(after)[0] == "M"
        or (_is_high(before) and "\udc00" <= after <= "\udfff")
        or "\U0001f3fb" <= after <= "\U0001f3ff"
        or "\u1160" <= after <= "\u11ff"
    )
    return not joined


def _is_high(character: str) -> bool:
    return "\ud800" <= character <= "\udbff"


def step_back(text: str, place: int, lowest: int) -> int:
    """Return the last boundary up to `place` that is above `lowest`, else the first one after `place`."""
    for candidate in range(min(place, len(text)), lowest, -1):
        if is_boundary(text, candidate):
            return candidate
    return step_on(text, place)


def step_on(text: str, place: int) -> int:
    """Return the first boundary at or after `place`."""
    candidate = place
    while not is_boundary(text, candidate):
        candidate += 1
    return candidate
