"""A result that is printed, or written where `-o` says."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from findback.cli.shown import say, show
from findback.errors import StorageError, UsageError
from findback.files import write_atomically
from findback.model.record import Record
from findback.reporting.render import Renderer
from findback.steps.opening import SetRequest
from findback.steps.targets import corpus_place, refuse_targets
from findback.workspace import Workspace


def check_output(
    output: Path | None, renderer: Renderer, workspace: Workspace, request: SetRequest, *more: Path | None
) -> None:
    """Find out before the work whether its result can be written.

    Args:
        output: Where it is to go, if anywhere.
        renderer: Knows what a file may be called.
        workspace: Its corpus, settings and releases are not written over.
        request: What is read, which is not written over either.
        more: What is read besides.

    Raises:
        UsageError: If the file name ends in no format findback writes, or is that of what is read.
        StorageError: If the folder is not there or cannot be written.
    """
    if output is None:
        return
    _writer(renderer, output)
    refuse_targets(workspace, [output], read=(request.set, *more), corpus=corpus_place(workspace, request))
    if not os.access(output.absolute().parent, os.W_OK):
        raise StorageError(
            f"cannot write {output}: no such folder, or it is read-only", hint="name another file with -o"
        )


def _writer(renderer: Renderer, output: Path) -> Callable[[Any], str]:
    write = renderer.by_suffix.get(output.suffix.lower())
    if write is None:
        known = ", ".join(sorted(renderer.by_suffix))
        raise UsageError(f"cannot tell the format of {output.name}", hint=f"let it end in one of: {known}")
    return write


def deliver(result: Record, renderer: Renderer, *, output: Path | None, json: bool) -> None:
    """Print a result, or write it in the format its file name asks for.

    Raises:
        UsageError: If the file name ends in no format findback writes.
        StorageError: If the file cannot be written.
    """
    if output is not None:
        write_atomically(output, _writer(renderer, output)(result), private=True)
        say(f"wrote {output}")
    if json:
        print(renderer.by_suffix[".json"](result))
    elif output is None:
        show(renderer.terminal(result))
