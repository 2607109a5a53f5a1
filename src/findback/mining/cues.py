"""Cues: what people write when they did not find something, by language, with vetoes."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Literal, NamedTuple

from findback.errors import SettingsError

if TYPE_CHECKING:
    # Processes that screen messages start without pydantic.
    from findback.model.candidate import Strength

CueKind = Literal[
    "failed",
    "where",
    "doc",
    "searched",
    "absent",
    "thanks",
    "found",
    "announcement",
    "greeting",
    "asks",
    "request",
    "laughs",
    "meant",
]
"""Failed look-up; where is it; is there a document; I searched. Then: there is no document; thanks; never mind; news;
a bare greeting; any question or trouble; something to be done by others; laughter; a correction."""

LANGUAGES = ("de", "en", "es", "fr", "ja", "pt")
SEEKING: frozenset[CueKind] = frozenset(("failed", "where", "doc", "searched"))
"""Kinds that say somebody looks for something."""

_SENTENCE_END = re.compile(r"[.!?。！？\n]")
_AROUND = 80
_STRENGTHS: dict["Strength", int] = {"weak": 0, "medium": 1, "strong": 2}
_NAME = re.compile(r"\{(\w+)\}")


class Cue(NamedTuple):
    """One cue."""

    id: str
    """Language and name: en.cant-find."""
    language: str
    kind: CueKind
    strength: "Strength"
    pattern: re.Pattern[str]
    vetoes: tuple[re.Pattern[str], ...]
    needs: frozenset[str]
    """One of them is in every text the pattern matches; empty when any text may match."""
    also: frozenset[str]
    """One of these too, unless it is empty."""
    spaced: bool
    """Whether `needs` are whole words; in scripts without blanks they are looked for anywhere."""

    def matches(self, folded: str) -> bool:
        """Return whether a folded text holds the cue and no veto stands in the same sentence."""
        if not self.vetoes:
            return self.pattern.search(folded) is not None
        first = self.pattern.search(folded)
        if first is None:
            return False
        return any(not self._is_vetoed(folded, match) for match in self.pattern.finditer(folded, first.start()))

    def _is_vetoed(self, folded: str, match: re.Match[str]) -> bool:
        start = max(match.start() - _AROUND, 0)
        before = [end.end() for end in _SENTENCE_END.finditer(folded, start, match.start())]
        # The sign that ends the sentence belongs to it: a question mark can be a veto.
        end = _SENTENCE_END.search(folded, match.end(), match.end() + _AROUND)
        stop = end.end() if end is not None else match.end() + _AROUND
        sentence = folded[before[-1] if before else start : stop]
        return any(veto.search(sentence) for veto in self.vetoes)


class Cues:
    """The cues of some languages, less those a team switched off."""

    def __init__(self, languages: Iterable[str] = LANGUAGES, *, without: Iterable[str] = ()) -> None:
        """Read the shipped files.

        Raises:
            SettingsError: If there is no such language or cue.
        """
        chosen = tuple(dict.fromkeys(languages))
        unknown = [language for language in chosen if language not in LANGUAGES]
        if unknown:
            raise SettingsError(f"no cues for {', '.join(unknown)}", hint=f"known: {', '.join(LANGUAGES)}")
        every = [cue for language in chosen for cue in load_cues(language)]
        off = set(without)
        missing = off - {cue.id for language in LANGUAGES for cue in load_cues(language)}
        if missing:
            raise SettingsError(f"no cue named {', '.join(sorted(missing))}", hint="cues are named like en.cant-find")
        self.all = tuple(cue for cue in every if cue.id not in off)
        self.languages = frozenset(chosen)
        self._order = {cue.id: place for place, cue in enumerate(self.all)}
        self._by_kind: dict[CueKind, list[Cue]] = {}
        self._by_word: dict[bytes, list[tuple[Cue, frozenset[bytes]]]] = {}
        self._anywhere: list[Cue] = []
        for cue in self.all:
            self._by_kind.setdefault(cue.kind, []).append(cue)
            if cue.kind not in SEEKING:
                continue
            if not (cue.spaced and cue.needs):
                self._anywhere.append(cue)
                continue
            also = frozenset(map(str.encode, cue.also))
            for word in cue.needs:
                self._by_word.setdefault(word.encode(), []).append((cue, also))

    @property
    def words(self) -> frozenset[bytes]:
        """Return the words one of which is in every text with a seeking cue, in languages that have blanks."""
        return frozenset(self._by_word)

    def seek(self, folded: str) -> list[Cue]:
        """Return the cues by which a text says that its author looks for something, strongest first."""
        held = frozenset(split_raw_words(folded))
        candidates = {
            cue.id: cue
            for word in self._by_word.keys() & held
            for cue, also in self._by_word[word]
            if not also or not also.isdisjoint(held)
        }
        found = [cue for cue in candidates.values() if cue.matches(folded)]
        if not folded.isascii():
            found += [cue for cue in self._anywhere if any(map(folded.__contains__, cue.needs)) and cue.matches(folded)]
        return sorted(found, key=lambda cue: (-_STRENGTHS[cue.strength], self._order[cue.id]))

    def may_seek(self, folded: str, words: Iterable[bytes]) -> bool:
        """Return whether a text matches a seeking cue, vetoes left aside; `words` are those it holds."""
        held = frozenset(words)
        for word in self._by_word.keys() & held:
            for cue, also in self._by_word[word]:
                if not (also and also.isdisjoint(held)) and cue.pattern.search(folded) is not None:
                    return True
        return not folded.isascii() and any(
            any(map(folded.__contains__, cue.needs)) and cue.pattern.search(folded) is not None
            for cue in self._anywhere
        )

    def say(self, kind: CueKind, folded: str, language: str | None = None) -> Cue | None:
        """Return a cue of one kind that a text holds, or None; of one language, if one is given."""
        for cue in self._by_kind.get(kind, ()):
            # What is written without blanks is written in other letters too.
            heard = cue.language == language if language is not None else cue.spaced or not folded.isascii()
            if heard and cue.matches(folded):
                return cue
        return None

    def asks(self, folded: str, language: str | None = None) -> bool:
        """Return whether a text asks or reports trouble at all.

        >>> Cues().asks("the vpn dies after ten minutes"), Cues().asks("lovely weather today")
        (True, False)
        """
        return "?" in folded or self.say("asks", folded, language) is not None or bool(self.seek(folded))


TO_WORDS = bytes(
    ord(chr(code).lower()) if code < 128 and (chr(code).isalnum() or chr(code) == "_") else 32 for code in range(256)
)
"""Byte by byte: ASCII letters, digits and `_` in lower case, a blank for everything else."""


def split_raw_words(text: str) -> Sequence[bytes]:
    """Return the words of a text in lower case, cut at everything but ASCII letters, digits and `_`.

    >>> split_raw_words("Can't find it/there?")
    [b'can', b't', b'find', b'it', b'there']
    """
    return text.encode("utf-8", "surrogatepass").translate(TO_WORDS).split()


@lru_cache(maxsize=len(LANGUAGES))
def load_cues(language: str) -> tuple[Cue, ...]:
    """Return the shipped cues of one language."""
    path = files("findback.mining") / "cues" / f"{language}.toml"
    listed = tomllib.loads(path.read_text(encoding="utf-8"))
    words: dict[str, str] = listed.get("words", {})

    def compiled(pattern: str) -> re.Pattern[str]:
        return re.compile(_NAME.sub(lambda name: words.get(name[1], name[0]), pattern))

    def spelled(needs: Iterable[str]) -> Iterator[str]:
        for need in needs:
            yield from listed["needs"][need[1:-1]] if need.startswith("{") else (need,)

    return tuple(
        Cue(
            f"{language}.{entry['id']}",
            language,
            entry["kind"],
            entry["strength"],
            compiled(entry["pattern"]),
            tuple(map(compiled, entry["veto"])),
            frozenset(spelled(entry["needs"])),
            frozenset(spelled(entry.get("also", ()))),
            listed.get("spaced", True),
        )
        for entry in listed["cue"]
    )


def stronger(one: "Strength", other: "Strength") -> "Strength":
    """Return the stronger of two strengths."""
    return max(one, other, key=_STRENGTHS.__getitem__)
