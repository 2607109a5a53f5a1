"""Questions to the person at the terminal."""

import sys

from findback.steps.masking import mask_text
from findback.text.safe import escape_terminal


def ask_for_trust(question: str) -> bool:
    """Show what a workspace wants to run or send, and return whether the person agrees; no where nobody is there."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    for line in question.split("\n"):
        print(escape_terminal(mask_text(line)), file=sys.stderr)
    print("Go on, and remember this? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in {"y", "yes"}
