"""Values searched for byte by byte, also encoded, in any amount of data."""

import base64
import html
import json
from collections.abc import Iterable, Iterator
from urllib.parse import quote, quote_plus

_GRAM = 6
_SHORTEST = 10
_STEP = _SHORTEST - _GRAM + 1


class Needles:
    """Many values and their encodings, found in one pass whose cost does not grow with their number.

    Every fifth place of the data is looked up; a value of ten characters or more always has one of its pieces
    there. Case is ignored, so that lower-cased indexes do not hide a value.
    """

    def __init__(self, values: Iterable[str]) -> None:
        """Prepare the values.

        Raises:
            ValueError: If one is shorter than ten bytes: it would turn up by chance.
        """
        self._grams: dict[bytes, list[tuple[int, int]]] = {}
        self._forms: list[tuple[bytes, str]] = []
        for value in dict.fromkeys(values):
            if len(value.encode()) < _SHORTEST:
                raise ValueError("a value to search for has at least ten bytes")
            for form in dict.fromkeys(form.lower() for form in list_encodings(value)):
                self._add(form, value)
        self.longest = max((len(form) for form, _ in self._forms), default=0)

    def __len__(self) -> int:
        """Return how many forms are searched for."""
        return len(self._forms)

    def _add(self, form: bytes, value: str) -> None:
        place = len(self._forms)
        self._forms.append((form, value))
        for offset in range(min(_STEP, len(form) - _GRAM + 1)):
            self._grams.setdefault(form[offset : offset + _GRAM], []).append((place, offset))

    def find(self, data: bytes) -> Iterator[tuple[int, str]]:
        """Yield where a value stands in the data, in any of its forms, and which."""
        lowered = data.lower()
        grams = self._grams
        if not grams:
            return
        for at in range(0, len(lowered), _STEP):
            places = grams.get(lowered[at : at + _GRAM])
            if places is not None:
                for place, offset in places:
                    form, value = self._forms[place]
                    if at >= offset and lowered.startswith(form, at - offset):
                        yield at - offset, value


def list_encodings(value: str) -> list[bytes]:
    """Return a value as bytes in the ways in which files and addresses write it.

    >>> quote("a b c d/e f") .encode() in list_encodings("a b c d/e f")
    True
    """
    plain = value.encode()
    compact = "".join(c for c in value if c.isalnum())
    forms = [
        plain,
        value.encode("utf-16-le"),
        value.encode("utf-16-be"),
        quote(value, safe="").encode(),
        quote(value).encode(),
        quote_plus(value).encode(),
        json.dumps(value)[1:-1].encode(),
        json.dumps(json.dumps(value)[1:-1])[1:-1].encode(),
        html.escape(value).encode(),
        plain.hex().encode(),
        *_in_base64(plain),
    ]
    if len(compact) >= _SHORTEST and compact != value and any(c.isdigit() for c in compact):
        forms.append(compact.encode())
    return [form for form in dict.fromkeys(forms) if len(form) >= _SHORTEST]


def _in_base64(plain: bytes) -> Iterator[bytes]:
    """Yield what base64 makes of a value at each of three places, without the letters its neighbours change."""
    for shift in range(3):
        written = base64.b64encode(b"\0" * shift + plain)
        start = (0, 2, 3)[shift]
        kept = (shift + len(plain)) * 8 // 6
        inner = written[start:kept]
        yield inner
        yield inner.replace(b"+", b"-").replace(b"/", b"_")
