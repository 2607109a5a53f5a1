"""`findback label`."""

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from findback.cli.asking import ask_for_trust
from findback.cli.labelling import Labelling
from findback.cli.progress import Bars
from findback.cli.requests import make_request
from findback.cli.shown import say
from findback.errors import UsageError
from findback.steps.label import JudgeRequest, LabelRequest, open_session
from findback.steps.label import judge as keep
from findback.workspace import open_workspace

app = App(name="label", help="Label real queries in the terminal.", help_format="plaintext")


class Options(LabelRequest):
    """What is given by name; the sample is an argument."""

    set: Annotated[Path | None, Parameter(parse=False)] = None
    release: Annotated[int | None, Parameter(parse=False)] = None


@app.command(name="quick")
def quick(sample: Path, /, *, request: Annotated[Options | None, Parameter(name="*")] = None) -> None:
    """Label 30 to 50 real queries, in well under a minute each.

    Args:
        sample: Real queries: any format findback knows, or one query a line.
        request: Everything else.
    """
    if not sys.stdin.isatty():
        raise UsageError("label quick asks a person, so it needs a terminal", hint="run it in one")
    asked = (request or Options()).model_copy(update={"set": sample})
    with Bars() as bars:
        session = open_session(open_workspace(required=False), asked, progress=bars, ask=ask_for_trust)
    with session:
        Labelling(session).run()
    if not session.decided:
        say(f"nothing labelled yet of {session.total}")
        return
    say(f"{session.decided} of {session.total} labelled, kept in {session.output}")
    say(f"next: findback audit YOUR_SET --real {session.output}")


@app.command(name="judge")
def judge(
    question: str,
    /,
    *,
    doc: str,
    set_: Annotated[Path | None, Parameter(name="--set")] = None,
    grade: int = 3,
    part: int = 1,
) -> None:
    """Grade one document for one question of an unreleased set.

    Args:
        question: Id of the question.
        doc: Id of the document.
        set_: The set file the question is in.
        grade: 0 is not an answer, 3 answers it fully.
        part: Which part of the need it answers.
    """
    if set_ is None:
        raise UsageError("a release never changes", hint="name the set file the question is in: --set FILE")
    done = keep(
        open_workspace(required=False),
        make_request(JudgeRequest, set=set_, question=question, doc=doc, grade=grade, part=part),
    )
    say(f"kept in {done.file}; it counts from the next evaluation on")
