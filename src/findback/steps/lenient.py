"""Scores that count documents confirmed to be the same as one: beside the strict headline, never in its place."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from findback.model.case import Judgement
from findback.model.evaluation import ScoreGroup
from findback.model.names import Names
from findback.model.question import Question
from findback.model.run import Run
from findback.steps.gold import label_columns
from findback.steps.scores import Scored, score_run

VALUE = "same documents count as one"


def lenient_group(scored: Scored, same: Mapping[str, str]) -> ScoreGroup | None:
    """Return the scores with every document standing for its group; None where no two are the same.

    Args:
        scored: The strict scores.
        same: Document id to the id that stands for its group.
    """
    if not same:
        return None
    again = score_leniently(scored, same)
    return again.group("lenient", VALUE, range(len(again.labelled.questions)))


def score_leniently(scored: Scored, same: Mapping[str, str]) -> Scored:
    """Return the scores of the same run and questions with every document standing for its group."""
    questions = [_join_gold(question, same) for question in scored.labelled.questions]
    labelled = label_columns(questions, None)
    return score_run(_join_run(scored.run, same), labelled, scored.metrics, seed=scored.seed)


def _join_gold(question: Question, same: Mapping[str, str]) -> Question:
    joined: dict[tuple[str, int, str | None], Judgement] = {}
    for judgement in question.judged or ():
        moved = judgement.model_copy(update={"doc": same.get(judgement.doc, judgement.doc)})
        key = (moved.doc, moved.part, moved.anchor)
        if key not in joined or moved.grade > joined[key].grade:
            joined[key] = moved
    unresolved = tuple(same.get(reference, reference) for reference in question.unresolved)
    return question.model_copy(update={"judged": tuple(joined.values()), "unresolved": unresolved})


def _join_run(run: Run, same: Mapping[str, str]) -> Run:
    """Return the run with every document under the name of its group; order, scores and passages stay."""
    renamed = [same.get(name, name) for name in run.documents]
    documents = Names.of(dict.fromkeys(renamed))
    places = documents.find(renamed) if renamed else np.empty(0, dtype=np.int32)
    return replace(run, documents=documents, codes=places[run.codes], distinct=False)
