"""Scores that count documents confirmed to be the same as one: beside the strict headline, never in its place."""

from collections.abc import Mapping

from findback.model.evaluation import ScoreGroup
from findback.model.hits import Answer
from findback.model.question import Question
from findback.model.run import FAILED, SKIPPED, Run, RunBuilder
from findback.steps.gold import label_columns
from findback.steps.misses import collapse
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
    questions = [_join_gold(question, same) for question in scored.labelled.questions]
    labelled = label_columns(questions, None)
    again = score_run(_join_run(scored.run, same), labelled, scored.metrics, seed=scored.seed)
    return again.group("lenient", VALUE, range(len(labelled.questions)))


def _join_gold(question: Question, same: Mapping[str, str]) -> Question:
    best: dict[tuple[str, int], int] = {}
    joined = {}
    for judgement in question.judged or ():
        document = same.get(judgement.doc, judgement.doc)
        key = (document, judgement.part)
        if judgement.grade >= best.get(key, -1):
            best[key] = judgement.grade
            joined[key] = judgement.model_copy(update={"doc": document})
    return question.model_copy(update={"judged": tuple(joined.values())})


def _join_run(run: Run, same: Mapping[str, str]) -> Run:
    builder = RunBuilder(run.name, kind=run.kind, direction=run.direction)
    for at, query in enumerate(run.queries):
        ended = 0 if run.ended is None else int(run.ended[at])
        if ended == FAILED:
            builder.fail(query, run.reason_of(at) or "error")
        elif ended == SKIPPED:
            builder.skip(query, run.reason_of(at) or "not applicable")
        else:
            hits = [hit._replace(document=same.get(hit.document, hit.document)) for hit in run.hits(at)]
            builder.add(query, Answer(collapse(hits)))
    return builder.build(depth=run.depth)
