"""`findback assist`."""

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from findback.cli.asking import ask_for_trust
from findback.cli.progress import Bars
from findback.cli.shown import say, show, show_json
from findback.model.assisted import Assisted
from findback.reporting.assisted import paraphrased_view, suggested_view, themes_view, wordings_view
from findback.steps.assist_classify import ClassifyRequest
from findback.steps.assist_classify import classify as tell_wordings
from findback.steps.assist_cluster import ClusterRequest
from findback.steps.assist_cluster import cluster as find_themes
from findback.steps.assist_paraphrase import ParaphraseRequest
from findback.steps.assist_paraphrase import paraphrase as reword
from findback.steps.assist_suggest import SuggestRequest
from findback.steps.assist_suggest import suggest as draft
from findback.workspace import open_workspace

app = App(name="assist", help="Have a model help with real questions; a person decides.", help_format="plaintext")

NOT_PASSED = 1


class ClassifyOptions(ClassifyRequest):
    """What is given by name; the file has a short name too."""

    output: Annotated[Path | None, Parameter(name=("--output", "-o"))] = None
    """CSV file for the wordings of candidates that nobody gave one yet; kept outside the repository."""


class ClusterOptions(ClusterRequest):
    """What is given by name; the file has a short name too."""

    output: Annotated[Path | None, Parameter(name=("--output", "-o"))] = None
    """File to write, .md or .json; kept outside the repository."""


@app.command(name="paraphrase")
def paraphrase(*, request: Annotated[ParaphraseRequest | None, Parameter(name="*")] = None, json: bool = False) -> int:
    """Put the questions of cases in other words, as candidates for a person to confirm.

    Args:
        request: Which cases, and how many variants.
        json: Print JSON instead of tables.
    """
    with Bars() as bars:
        done = reword(open_workspace(required=False), request or ParaphraseRequest(), progress=bars, ask=ask_for_trust)
    show_json(done) if json else show(paraphrased_view(done))
    return _status(done)


@app.command(name="classify")
def classify(*, request: Annotated[ClassifyOptions | None, Parameter(name="*")] = None, json: bool = False) -> int:
    """Tell how questions are worded, and compare that with what people said.

    Args:
        request: Which questions.
        json: Print JSON instead of tables.
    """
    with Bars() as bars:
        done = tell_wordings(
            open_workspace(required=False), request or ClassifyOptions(), progress=bars, ask=ask_for_trust
        )
    show_json(done) if json else show(wordings_view(done))
    return _status(done)


@app.command(name="cluster")
def cluster(*, request: Annotated[ClusterOptions | None, Parameter(name="*")] = None, json: bool = False) -> int:
    """Find what people look for in vain, by theme, and what each theme costs.

    Args:
        request: Which questions, and how alike those of a theme are.
        json: Print JSON instead of tables.
    """
    asked = request or ClusterOptions()
    with Bars() as bars:
        done = find_themes(open_workspace(required=False), asked, progress=bars, ask=ask_for_trust)
    wrote = asked.output is not None and not asked.dry_run
    if wrote:
        say(f"wrote {asked.output}")
    if json:
        show_json(done)
    elif not wrote:
        show(themes_view(done))
    return _status(done)


@app.command(name="suggest")
def suggest(*, request: Annotated[SuggestRequest | None, Parameter(name="*")] = None, json: bool = False) -> int:
    """Draft judgements, hidden until a reviewer answered, and say how far both agree.

    Args:
        request: Which candidates.
        json: Print JSON instead of tables.
    """
    with Bars() as bars:
        done = draft(open_workspace(required=False), request or SuggestRequest(), progress=bars, ask=ask_for_trust)
    show_json(done) if json else show(suggested_view(done))
    return _status(done)


def _status(done: Assisted) -> int:
    """Return 1 where the model failed on something or the run stopped before its end."""
    return NOT_PASSED if done.ended.get("error") or done.ended.get("not reached") else 0
