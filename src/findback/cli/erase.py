"""`findback purge` and `findback privacy`."""

from typing import Annotated

from cyclopts import App, Parameter

from findback.cli.shown import say
from findback.steps.erase import Erasure, ExcludeRequest, PurgeRequest
from findback.steps.erase import exclude as keep_out
from findback.steps.erase import purge as erase
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


def _say(done: Erasure, what: str) -> None:
    counted = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in done.counts.items() if count)
    say(f"{what}: {counted or 'nothing was stored of them'}")
