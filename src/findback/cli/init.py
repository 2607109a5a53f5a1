"""`findback init`."""

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from findback.cli.shown import say
from findback.steps.init import InitRequest, guess_corpus
from findback.steps.init import init as write


class Options(InitRequest):
    """What is given by name; the folder is an argument."""

    folder: Annotated[Path, Parameter(parse=False)] = Path()


def init(folder: Path = Path(), /, *, request: Annotated[Options | None, Parameter(name="*")] = None) -> None:
    """Write a findback.toml for this folder.

    Args:
        folder: Folder that becomes the workspace.
        request: Everything else; what is left out is asked in a terminal.
    """
    asked: InitRequest = (request or Options()).model_copy(update={"folder": folder})
    if asked.corpus is None and sys.stdin.isatty() and sys.stdout.isatty():
        asked = ask(asked)
    written = write(asked)
    say(f"wrote {written.file} for {written.corpus} ({written.documents_seen} readable files)")
    say("next: findback doctor, then findback audit YOUR_SET or findback evaluate --set YOUR_SET")


def ask(request: InitRequest) -> InitRequest:
    """Return the request with the answers of the person at the terminal."""
    guess = guess_corpus(request.folder.absolute())
    corpus = input(f"Where are the documents? [{guess or ''}] ").strip() or (str(guess) if guess else "")
    base_url = input("Where are they published, if anywhere? [] ").strip()
    language = input("Which language are they in (en, de, ...)? [] ").strip()
    return request.model_copy(
        update={
            "corpus": Path(corpus) if corpus else None,
            "base_url": base_url or request.base_url,
            "language": language or request.language,
        }
    )
