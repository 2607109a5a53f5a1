"""The held-out cases: looked at seldom, as aggregates alone, and every look is written down."""

from findback.errors import UsageError
from findback.evalset.looks import Look, add_look, describe_looks, read_looks
from findback.evalset.split import FEWEST_HOLDOUT
from findback.model.evaluation import Evaluation
from findback.model.protocols import Documents
from findback.model.question import QuestionSet
from findback.steps.makeup import cluster_of
from findback.steps.opening import SetRequest, open_questions
from findback.workspace import Workspace


def open_holdout(workspace: Workspace, request: SetRequest, documents: Documents | None) -> QuestionSet:
    """Return what a release of this workspace holds out, headed by which look this is.

    Raises:
        UsageError: If it is no release of this workspace, or holds out too little.
        MissingError: If there is no such release.
        DataError: If it or the looks before cannot be read.
    """
    if request.set is not None:
        raise UsageError(
            "only releases of this workspace hold cases out", hint="leave out --set; --release N names one"
        )
    found = open_questions(workspace, request, documents, holdout=True)
    clusters = len({cluster_of(question) for question in found.questions})
    if found.kind != "release" or clusters < FEWEST_HOLDOUT:
        raise UsageError(
            f"{found.name} holds out {clusters} clusters, and a holdout needs {FEWEST_HOLDOUT}",
            hint="leave out --holdout; docs/sets.md says when cases are held out",
        )
    return found.model_copy(update={"part": describe_looks(len(read_looks(workspace.evalset)) + 1)})


def write_look(workspace: Workspace, questions: QuestionSet, result: Evaluation) -> Evaluation:
    """Write a look down and return the scores without a single case.

    Raises:
        StorageError: If the look cannot be written; then nothing may be shown.
    """
    look = Look(
        at=result.made,
        release=questions.release or 1,
        retrievers=tuple(one.name for one in result.retrievers),
        findback=result.findback,
    )
    add_look(workspace.evalset, look)
    blind = tuple(one.model_copy(update={"miss_examples": ()}) for one in result.retrievers)
    return result.model_copy(update={"retrievers": blind})
