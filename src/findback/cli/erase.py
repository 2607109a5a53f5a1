"""`findback purge` and `findback privacy`."""

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from findback.cli.shown import say, show, show_json, table, warn
from findback.model.estimate import Estimate
from findback.steps.erase import Erasure, ExcludeRequest, PurgeRequest
from findback.steps.erase import exclude as keep_out
from findback.steps.erase import purge as erase
from findback.steps.privacy_evaluation import PrivacyEvaluationRequest, evaluate_privacy
from findback.workspace import open_workspace

privacy = App(name="privacy", help="Keep people and channels out, and measure redaction.", help_format="plaintext")


def purge(*, request: Annotated[PurgeRequest | None, Parameter(name="*")] = None) -> None:
    """Erase every text of a person or channel from the workbench, for good.

    Args:
        request: Whose.
    """
    _say(erase(open_workspace(required=False), request or PurgeRequest()), "erased")


@privacy.command(name="exclude")
def exclude(*, request: Annotated[ExcludeRequest | None, Parameter(name="*")] = None) -> None:
    """Keep people and channels that objected out from now on, past candidates included.

    Args:
        request: Who.
    """
    _say(keep_out(open_workspace(required=False), request or ExcludeRequest()), "kept out and erased")


@privacy.command(name="evaluate")
def evaluate(sample: Path, /, *, json: bool = False) -> None:
    """Score redaction on texts that people labelled.

    Args:
        sample: JSON Lines with `text` and `spans`, or `marked` text.
        json: Print JSON instead of a table.
    """
    found = evaluate_privacy(open_workspace(required=False), PrivacyEvaluationRequest(sample=sample))
    if json:
        show_json(found)
        return
    rows = [
        (score.name, one.type, one.labels, spoken(one.applied), spoken(one.either), one.half)
        for score in found.detectors
        for one in score.recalls
    ]
    show(table(("detector", "type", "labels", "covered whole", "or suggested", "in part"), rows))
    for score in found.detectors:
        say(f"{score.name}: technical texts altered {spoken(score.altered)}, precision {spoken(score.precision)}")


def spoken(estimate: Estimate) -> str:
    """Return a share with its interval, or why there is none."""
    if estimate.value is None:
        return f"– ({estimate.reason})"
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:.2f} ({estimate.reason})"
    return f"{estimate.value:.2f} [{estimate.low:.2f}, {estimate.high:.2f}]"


def _say(done: Erasure, what: str) -> None:
    counted = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in done.counts.items() if count)
    if counted:
        say(f"{what}: {counted}")
    else:
        say(
            f"{what}: nothing is stored under what was named. People are known by the id the source gives them (in"
            " Slack U…, in users.json), and by the addresses, numbers and names its list of people gives them."
        )
    if done.withdrawing is not None:
        warn(f"the published set still holds what became of them: {', '.join(done.published)}")
        say(f"to erase that too: {done.withdrawing}")
