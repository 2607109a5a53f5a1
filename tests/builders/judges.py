"""Scripted judges: they read the prompt as a model would, and err as models do."""

import re
from collections.abc import Collection, Mapping
from random import Random
from typing import cast

from findback.llm.ask import Ask, ScriptedModel
from findback.model.document import Document
from findback.model.record import Record
from findback.writing.fidelity import Choice, Judging, Letter
from findback.writing.prompts import open_prompts

_SHOWN = re.compile(r"⟪document ([A-H])⟫\n(.*?)\n⟪end of document \1⟫", re.DOTALL)
_TEXT = re.compile(r"⟪text⟫\n(.*?)\n⟪end of text⟫", re.DOTALL)


def shown_documents(ask: Ask[Record]) -> dict[Letter, str]:
    """Return what a judge is shown, by letter."""
    return {cast("Letter", letter): text for letter, text in _SHOWN.findall(ask.user)}


def asked_text(ask: Ask[Record]) -> str:
    """Return the text a judge is asked about."""
    found = _TEXT.search(ask.user)
    assert found is not None
    return found[1]


class KnowingJudge:
    """Knows which documents each text is about, and now and then says something else."""

    def __init__(self, fits: Mapping[str, Collection[str]], *, errors: float = 0.0, seed: int = 0) -> None:
        """Take what it knows.

        Args:
            fits: Beginnings of the documents that each text is about, the best one first.
            errors: How often it says any letter or none, whatever is true.
            seed: Of the errors; the same question gets the same answer.
        """
        self._fits, self._errors, self._seed = fits, errors, seed

    def __call__(self, ask: Ask[Record]) -> Choice:
        """Answer one question."""
        shown = shown_documents(ask)
        random = Random(f"{self._seed} {ask.attempt} {ask.user}")
        if random.random() < self._errors:
            return Choice(best=random.choice([*shown, "none"]))
        fitting = [
            letter
            for beginning in self._fits.get(asked_text(ask), ())
            for letter, text in shown.items()
            if text.startswith(beginning)
        ]
        return Choice(best=fitting[0] if fitting else "none", also=tuple(fitting[1:]))


class FirstFitJudge:
    """Takes whichever fitting document stands first, as judges do that are swayed by order."""

    def __init__(self, fitting: Collection[str]) -> None:
        self._fitting = fitting

    def __call__(self, ask: Ask[Record]) -> Choice:
        """Answer one question."""
        for letter, text in sorted(shown_documents(ask).items()):
            if any(text.startswith(one) for one in self._fitting):
                return Choice(best=letter)
        return Choice(best="none")


def judging(
    answer: "KnowingJudge | FirstFitJudge", *, seed: int = 7, judgings: int = 3, self_judged: bool = False
) -> Judging:
    """Return how a scripted judge is asked."""
    return Judging(ScriptedModel(answer), open_prompts(), seed, judgings, self_judged)


def documents(count: int, *, subject: str = "field") -> tuple[Document, ...]:
    """Return documents of one subject that differ in a number."""
    return tuple(
        Document(f"{subject}{number}", f"Field note {number:03d} of the {subject}.", subject=subject, language="en")
        for number in range(count)
    )
