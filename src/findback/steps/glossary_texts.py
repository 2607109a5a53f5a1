"""Questions searched with other words: one search for each distinct text, and the score of what came back."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

import numpy as np

from findback.corpus.corpus import Corpus
from findback.departures import TextState, carrying
from findback.errors import UsageError
from findback.measure.metrics.name import parse_metric
from findback.model.protocols import SILENT, Progress, Query, Retriever
from findback.model.question import Question
from findback.retrievers.asking import Asked, Recorded, ask_all
from findback.steps.gold import label_columns
from findback.steps.opening import closing
from findback.steps.scores import score_run
from findback.steps.waiting import wait_for

Text = tuple[int, str]
"""The place of a question, and what is searched for it."""


class TextScore(NamedTuple):
    """What searching one text for one question gave."""

    value: float | None
    """The metric; None where the search failed or could not be made."""
    low: float | None
    """The same, with the worst value where the search failed; None where it could not be made."""
    high: float | None
    rank: int
    """Rank of the best right document, 0 where none was returned."""
    failed: bool

    @property
    def reciprocal(self) -> float:
        """Return 1 / rank, 0 where no right document was returned."""
        return 1 / self.rank if self.rank else 0.0


class TextScores:
    """Scores by question and text."""

    def __init__(self, scores: dict[Text, TextScore], errors: Sequence[str], config_digest: str) -> None:
        self._scores = scores
        self.errors = tuple(errors)
        """What went wrong, without texts, the most frequent first."""
        self.config_digest = config_digest

    def __getitem__(self, text: Text) -> TextScore:
        """Return one score."""
        return self._scores[text]


class Terms(NamedTuple):
    """How texts are searched and scored."""

    metric: str
    depth: int
    concurrency: int
    seed: int
    made: datetime
    state: TextState
    """Of the questions."""


def search_texts(
    retriever: Retriever,
    questions: Sequence[Question],
    texts: Iterable[Text],
    documents: Corpus,
    terms: Terms,
    *,
    progress: Progress = SILENT,
) -> TextScores:
    """Search every question as it is and with each text given for it, score all of it, and close the retriever.

    Args:
        retriever: What is searched.
        questions: With their right documents.
        texts: What else is searched for which of them.
        documents: The corpus.
        terms: How.
        progress: Shows how far it has come.

    Raises:
        UsageError: If the retriever only has recorded answers.
    """
    if isinstance(retriever, Recorded):
        raise UsageError(
            f"{retriever.name} is a recorded run: it has no answers to questions with other words",
            hint="name a retriever that can be asked",
        )
    plain = ((row, question.query) for row, question in enumerate(questions))
    every = list(dict.fromkeys([*plain, *texts]))
    asked = [questions[row].model_copy(update={"id": f"{place}"}) for place, (row, _) in enumerate(every)]
    queries = [(one.id, Query(text, one.context)) for one, (_, text) in zip(asked, every, strict=True)]

    async def search() -> Asked:
        async with closing([retriever]):
            return await ask_all(
                retriever,
                queries,
                depth=max(terms.depth, parse_metric(terms.metric).cutoff or 1),
                concurrency=terms.concurrency,
                resolve=documents.resolve,
                created=terms.made.isoformat(),
                progress=progress,
            )

    with carrying(terms.state):
        found = wait_for(search())
    scored = score_run(found.run, label_columns(asked, documents), (terms.metric,), seed=terms.seed)
    column, (ranks, _) = scored.scores[terms.metric], scored.scores.best_gold
    made = {
        text: TextScore(
            _known(column.values[at]),
            _known(column.low[at]),
            _known(column.high[at]),
            int(ranks[at]),
            bool(scored.scores.failed[at]),
        )
        for at, text in enumerate(every)
    }
    errors = [f"{one.count} searches with {retriever.name}: {one.first}" for one in found.errors]
    return TextScores(made, errors, found.run.config_digest or "")


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
