"""`findback purge` and `findback privacy`."""

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from findback.cli.shown import say, show, show_json, table, warn
from findback.files import open_atomically
from findback.model.estimate import Estimate
from findback.steps.auditlog import LogRequest, export_log
from findback.steps.erase import Erasure, ExcludeRequest, PurgeRequest
from findback.steps.erase import exclude as keep_out
from findback.steps.erase import purge as erase
from findback.steps.privacy_evaluation import PrivacyEvaluationRequest, evaluate_privacy
from findback.steps.retention import sweep as take_out
from findback.steps.targets import refuse_targets
from findback.workspace import open_workspace

privacy = App(
    name="privacy",
    help="Keep people and channels out, measure redaction, and export the audit log.",
    help_format="plaintext",
)


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


@privacy.command(name="log")
def log(
    *,
    request: Annotated[LogRequest | None, Parameter(name="*")] = None,
    output: Annotated[Path | None, Parameter(name=("--output", "-o"))] = None,
) -> None:
    """Export the event log: what was done when, in names, states and counts, without any text.

    Who reviewed what is not in it; who asked for an original is.

    Args:
        request: Which part, and how.
        output: File to write; printed when left out.
    """
    lines = export_log(open_workspace(required=False), request or LogRequest())
    if output is None:
        sys.stdout.writelines(lines)
        return
    refuse_targets(open_workspace(required=False), [output])
    with open_atomically(output, private=True) as handle:
        handle.writelines(line.encode() for line in lines)
    say(f"wrote {output}")


@privacy.command(name="sweep")
def sweep(*, json: bool = False) -> None:
    """Take out what is over its time now; mining, generating and the server do it by themselves.

    Args:
        json: Print JSON instead of a line.
    """
    done = take_out(open_workspace(required=False), datetime.now(UTC))
    if json:
        show_json(done)
    else:
        say(f"over their time: {done.candidates} candidates, {done.lines} messages around questions, {done.logs} logs")


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
