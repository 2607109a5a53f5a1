"""Themes: questions about the same thing, and what a theme is called."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from math import log
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from findback.departures import TextState
from findback.llm.ask import Ask
from findback.measure.containment import find_content_words
from findback.model.record import Record
from findback.writing.prompts import Prompts

MOST_QUESTIONS = 5_000
"""Questions that are put into themes at once: every pair is compared."""
SHOWN_QUESTIONS = 12
"""Questions of a theme that the model sees to name it."""
MOST_WORDS = 3
"""Words that name a theme without a model."""
LONGEST_LABEL = 60
_NO_WORDS = re.compile(r"[<>{}`|\\⟦⟧▒]|\*\*|__|\]\(|^[#\[]")
"""Markup, template signs and placeholders."""

Vectors = NDArray[np.float32]


class Worded(NamedTuple):
    """A question as themes are made of it."""

    text: str
    """Redacted and masked."""
    language: str | None


class ThemeLabel(Record):
    """What the model answers."""

    label: Annotated[str, Field(max_length=200)]
    """What the questions are about, in a few words."""


def group_alike(vectors: Vectors, *, alike: float) -> list[int]:
    """Return the number of the theme of each question; themes are numbered by their first question.

    Two groups are joined while the mean cosine between their members is `alike` or more, the most alike first.

    Shape:
        `vectors` is (questions, dimensions), each of length 1; at most 5,000 questions.

    Args:
        vectors: What an embedder made of the questions.
        alike: Mean cosine, in (0, 1).

    Raises:
        ValueError: If there are more questions than are compared.

    Source:
        Average-linkage clustering (Sokal and Michener 1958).
    """
    if len(vectors) > MOST_QUESTIONS:
        raise ValueError(f"{len(vectors)} questions, and at most {MOST_QUESTIONS} are compared")
    if len(vectors) < 2:
        return [0] * len(vectors)
    # Takes long to import, and only this needs it.
    from scipy.cluster.hierarchy import fcluster, linkage  # noqa: PLC0415
    from scipy.spatial.distance import squareform  # noqa: PLC0415

    distances = np.clip(1.0 - vectors @ vectors.T, 0.0, 2.0)
    np.fill_diagonal(distances, 0.0)
    tree = linkage(squareform(distances, checks=False), method="average")
    found = fcluster(tree, t=1.0 - alike, criterion="distance").tolist()
    order = {group: at for at, group in enumerate(dict.fromkeys(found))}
    return [order[group] for group in found]


def name_by_words(themes: Sequence[Sequence[Worded]]) -> list[tuple[str, ...]]:
    """Return the words that tell each theme from the others, the most telling first; as its questions write them.

    A word of a theme of several questions stands in at least two of them.
    """
    counted = [_count_stems(theme) for theme in themes]
    everywhere = Counter(stemmed for stems, _ in counted for stemmed in stems)
    return [
        _best(stems, forms, everywhere, len(themes), len(theme))
        for (stems, forms), theme in zip(counted, themes, strict=True)
    ]


def ask_label(
    prompts: Prompts, questions: Sequence[str], language: str | None, *, state: TextState, item: str, attempt: int = 1
) -> Ask[ThemeLabel]:
    """Return what asks for the name of a theme.

    Args:
        prompts: The prompts in use.
        questions: Some of its questions, redacted, masked, without placeholders.
        language: Language of the label; that of the questions when None.
        state: The most private of the questions' states.
        item: How progress and errors call it; it is never sent.
        attempt: Which try this is.
    """
    rendered = prompts.render("theme", questions=list(questions[:SHOWN_QUESTIONS]), language=language)
    return Ask(
        system=rendered.system,
        user=rendered.user,
        answer=ThemeLabel,
        prompt=rendered.label,
        state=state,
        item=item,
        attempt=attempt,
    )


def tidy_label(answered: str, is_clean: Callable[[str], bool]) -> str | None:
    """Return a label as it can be shown; None for one that is empty, too long, malformed, or may not be shown.

    Args:
        answered: What the model answered.
        is_clean: Says whether a text is free of names, placeholders and all else that redaction takes away.
    """
    label = " ".join(answered.split()).strip(" \"'.:“”„«»「」")
    if not label or len(label) > LONGEST_LABEL or not label.isprintable() or _NO_WORDS.search(label):
        return None
    return label if is_clean(label) else None


def drop_repeated(labels: Sequence[str | None]) -> list[str | None]:
    """Return labels without those that several themes were given: they tell none of them from the others.

    >>> drop_repeated(["Printers", "printers", "Badges", None])
    [None, None, 'Badges', None]
    """
    counted = Counter(label.casefold() for label in labels if label is not None)
    return [label if label is not None and counted[label.casefold()] == 1 else None for label in labels]


def _count_stems(theme: Sequence[Worded]) -> tuple[Counter[str], dict[str, str]]:
    """Return in how many questions each stem stands, and the form of it that stands there first."""
    stems: Counter[str] = Counter()
    forms: dict[str, str] = {}
    for question in theme:
        found = find_content_words(question.text, question.language)
        stems.update(set(found.values()))
        for word, stemmed in found.items():
            forms.setdefault(stemmed, word)
    return stems, forms


def _best(
    stems: Counter[str],
    forms: dict[str, str],
    everywhere: Counter[str],
    themes: int,
    questions: int,
) -> tuple[str, ...]:
    least = min(2, questions)

    def tells(stemmed: str) -> float:
        return stems[stemmed] / questions * log(1 + themes / everywhere[stemmed])

    # In the order of the questions' words, so that equals stand as they are written.
    shared = [stemmed for stemmed in forms if stems[stemmed] >= least]
    ranked = sorted(shared, key=lambda stemmed: -tells(stemmed))
    return tuple(forms[stemmed] for stemmed in ranked[:MOST_WORDS])
