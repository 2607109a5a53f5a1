"""A scripted model that describes documents and judges descriptions, from its prompts alone, and errs now and then."""

import hashlib
import re
from collections.abc import Iterable
from typing import Any

from builders.judges import asked_text, shown_documents
from findback.llm.ask import Ask
from findback.model.document import Document
from findback.model.record import Record
from findback.writing.describe import Description
from findback.writing.fidelity import Choice

_DESCRIBED = re.compile(r"⟪document⟫\n(.*?)\n⟪end of document⟫", re.DOTALL)
_JUDGED = re.compile(r"⟪document ([A-H])⟫\n(.*?)\n⟪end of document \1⟫", re.DOTALL)
_TEXT = re.compile(r"⟪text⟫\n(.*?)\n⟪end of text⟫", re.DOTALL)


def _words(*lines: str) -> list[str]:
    return " ".join(lines).split()


_SENTENCE = re.compile(r"[A-Z][^.!?\n#|`*:]{60,160}[.]")

THINGS = _words(
    "umbrella kettle bicycle curtain violin ladder blanket candle mirror basket hammer pillow lantern carpet bucket",
    "scissors trumpet saddle feather balloon compass thimble anchor whistle ribbon pebble teapot puppet goblet quilt",
    "cactus turnip walnut parsley cinnamon raspberry cucumber asparagus hazelnut apricot",
)
DEEDS = _words(
    "wobbles rattles vanishes melts squeaks crumbles flickers stumbles drifts shrinks wanders sputters tumbles",
    "freezes bounces sinks slips leaks wilts rusts",
)
PLACES = _words(
    "balcony meadow attic harbourside bakery stairway courtyard orchard pantry gallery cloister hallway veranda",
    "greenhouse workshop tavern lighthouse",
)


def draw(*parts: object) -> int:
    """Return a number that is always the same for the same parts."""
    return int.from_bytes(hashlib.blake2b("\0".join(map(str, parts)).encode(), digest_size=6).digest())


def plain_description(document: str) -> str:
    """Return two sentences about a document that share no rare word with it, and are like no other's."""

    def pick(listed: list[str], at: int) -> str:
        return listed[draw(document, at) % len(listed)]

    things, deeds = [pick(THINGS, at) for at in range(5)], [pick(DEEDS, at) for at in range(10, 14)]
    places = [pick(PLACES, at) for at in range(20, 22)]
    return (
        f"My {things[0]} {deeds[0]} and the {things[1]} {deeds[1]} as soon as a {things[2]} by the {places[0]} "
        f"{deeds[2]}. Why does nobody tell me how my {things[3]} {deeds[3]} with that {things[4]} at the {places[1]}?"
    )


class Describer:
    """Writes about some documents and knows what it wrote about which."""

    def __init__(self, documents: Iterable[Document], *, faulty: bool = True, unsure: int = 0) -> None:
        """Take the documents.

        Args:
            documents: All that it may be asked about.
            faulty: Whether some first texts are copied, empty or about another document, and some always are.
            unsure: Of a thousand judgements, how many are a shrug.
        """
        self._documents = list(documents)
        self._by_beginning = {_beginning(one.text): one for one in self._documents}
        self._places = {one.id: at for at, one in enumerate(self._documents)}
        self._faulty, self._unsure = faulty, unsure
        self._about = {plain_description(one.id): one.id for one in self._documents}

    def fault_of(self, document: str) -> str | None:
        """Return what is wrong with the first text about a document, if anything."""
        drawn = draw("fault", document) % 100
        if not self._faulty or drawn >= 25:
            return None
        return "always bad" if drawn < 4 else "copied" if drawn < 12 else "empty" if drawn < 18 else "another's"

    def describe(self, document: Document, *, told: int = 0) -> str:
        """Return what it writes about a document that was turned down for so many reasons."""
        fault = self.fault_of(document.id)
        if (fault == "always bad" and told != 1) or (fault == "copied" and not told):
            found = _SENTENCE.search(document.text)
            return found[0] if found else " ".join(document.text.split()[:30]) + "."
        if (fault == "always bad" and told == 1) or (fault == "empty" and not told):
            return "I have a problem with something here. What should I do about it now?"
        if fault == "another's" and not told:
            return plain_description(self._documents[self._places[document.id] - 1].id)
        return plain_description(document.id)

    def choose(self, text: str, shown: dict[str, str]) -> str:
        """Return the letter of the document a text is about, or none."""
        if draw("shrug", text, *shown.values()) % 1000 < self._unsure:
            return "none"
        about = self._about.get(" ".join(text.split()))
        found = (letter for letter, one in shown.items() if (known := self._find(one)) and known.id == about)
        return next(found, "none")

    def answer(self, ask: Ask[Record]) -> Record:
        """Answer as a `ScriptedModel` does."""
        if ask.answer is Choice:
            shown: dict[str, str] = {str(letter): text for letter, text in shown_documents(ask).items()}
            return Choice.model_validate({"best": self.choose(asked_text(ask), shown)})
        return Description.model_validate(self.reply(ask.system, ask.user))

    def reply(self, system: str, user: str) -> dict[str, Any]:
        """Answer as a server does, which sees prompts only."""
        text = _TEXT.search(user)
        if text is not None:
            return {"best": self.choose(text[1], dict(_JUDGED.findall(user))), "also": []}
        described = _DESCRIBED.search(user)
        document = self._find(described[1]) if described else None
        if document is None:
            return {"query": "I have a problem with something here."}
        return {"query": self.describe(document, told=_count_told(system))}

    def _find(self, shown: str) -> Document | None:
        if (found := self._by_beginning.get(_beginning(shown))) is not None:
            return found
        # A judge is shown the title before the text.
        _, _, rest = shown.partition("\n\n")
        return self._by_beginning.get(_beginning(rest))


def _count_told(system: str) -> int:
    _, found, rest = system.partition("Earlier tries were turned down")
    return len(re.findall(r"^- ", rest.partition("Answer with")[0], re.MULTILINE)) if found else 0


def _beginning(text: str) -> str:
    return " ".join(text.split())[:150]
