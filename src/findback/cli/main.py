"""The command line: names and one-line helps; everything else is loaded when a command runs."""

import os
import sys
from importlib.metadata import version

os.environ.setdefault("PYDANTIC_ERRORS_INCLUDE_URL", "0")

from cyclopts import App, Parameter

COMMANDS = {
    "init": ("findback.cli.init:init", "Write a findback.toml for this folder."),
    "audit": ("findback.cli.audit:audit", "Measure how much of a set's wording leaks from its answers."),
    "evaluate": ("findback.cli.evaluate:evaluate", "Score retrievers on a set."),
    "compare": (
        "findback.cli.compare:compare",
        "Compare systems on one set: which is better, and whether that can be told at all.",
    ),
    "gate": ("findback.cli.gate:gate", "Check a system against a baseline: pass, fail, or undecided."),
    "decompose": (
        "findback.cli.decompose:decompose",
        "Say how much of a moved score is the system, and how much the exam.",
    ),
    "items": (
        "findback.cli.items:items",
        "Find the cases, labels and documents that look wrong, and send them to be looked at again.",
    ),
    "glossary": (
        "findback.cli.glossary:app",
        "Propose, accept, measure and export terms: what people search with, and what documents say.",
    ),
    "report": ("findback.cli.report:report", "Write the report of the newest evaluation and audit."),
    "runs": ("findback.cli.runs:runs", "List the runs that were kept."),
    "mine": (
        "findback.cli.mine:mine",
        "Find failed searches in exports, redact them, and put them into the private workbench.",
    ),
    "generate": (
        "findback.cli.generate:generate",
        "Let a model write questions about documents, and keep what passes the filters for a person to confirm.",
    ),
    "candidates": ("findback.cli.candidates:app", "List, show and reject mined candidates."),
    "review": (
        "findback.cli.review:review",
        "Review and label candidates, on a page of this machine or in the terminal.",
    ),
    "serve": ("findback.cli.review:serve", "Serve the review page to a team, behind its login."),
    "assist": ("findback.cli.assist:app", "Have a model help with real questions; a person decides."),
    "label": ("findback.cli.label:app", "Label real queries in the terminal, or candidates in a spreadsheet."),
    "import": (
        "findback.cli.exchange:import_",
        "Read a set in any known format into an unreleased set file.",
    ),
    "export": ("findback.cli.exchange:export", "Write a set in another format."),
    "release": ("findback.cli.release:release", "Release what is ready: a new numbered version of the set."),
    "releases": ("findback.cli.release:releases", "List the releases of the set."),
    "diff": (
        "findback.cli.release:diff",
        "Say what changed between two releases, and whether the system or the exam moved the scores.",
    ),
    "withdraw": (
        "findback.cli.release:withdraw",
        "Erase cases from the set and from every release, for good; a tombstone stays.",
    ),
    "refresh": (
        "findback.cli.refresh:refresh",
        "Read the documents again, and say which cases they have made stale.",
    ),
    "week": ("findback.cli.week:week", "Say what this week's half hour should hold, and how the set is doing."),
    "gaps": (
        "findback.cli.gaps:gaps",
        "List the questions that no document answers, by theme: the pages nobody has written.",
    ),
    "verify": (
        "findback.cli.verify:verify",
        "Scan set, workbench and everything findback keeps for what redaction should have caught.",
    ),
    "purge": ("findback.cli.erase:purge", "Erase every text of a person or channel from the workbench, for good."),
    "privacy": (
        "findback.cli.erase:privacy",
        "Keep people and channels out, measure redaction, and export the audit log.",
    ),
    "backup": (
        "findback.cli.backup:backup",
        "Back the workbench up, while it is in use, into one file that restores into SQLite or PostgreSQL.",
    ),
    "restore": (
        "findback.cli.backup:restore",
        "Put a backup back into the workbench of this workspace: all of it or nothing.",
    ),
    "egress": ("findback.cli.egress:egress", "Show how many texts were sent to which endpoint."),
    "status": ("findback.cli.status:status", "Say what is there and which step is next."),
    "doctor": ("findback.cli.doctor:doctor", "Check everything the workspace names and say what to do."),
    "mcp": ("findback.cli.mcp:app", "Give agents tools to flag, expand and search, by MCP."),
    "slack": ("findback.cli.slack:slack", "Take in what people in Slack say they could not find."),
    "models": ("findback.cli.models:app", "List and fetch the models findback knows."),
    "config": ("findback.cli.config:app", "Show the settings and where each came from."),
}
"""Every command: where it lives, and its line on the help page."""


def _default(value: object) -> object:
    """Return a default worth printing; an empty one says nothing."""
    return None if value in (None, False, (), {}, "") else value


OPTIONS = Parameter(negative=(), show_default=_default, consume_multiple=True)
"""How every option works: no `--no-…` twins, no empty defaults shown, several values after one name."""

app = App(
    name="findback",
    help="When someone looks for something that is there, does search find it back?",
    version=lambda: version("findback"),
    help_format="plaintext",
    default_parameter=OPTIONS,
    suppress_keyboard_interrupt=False,
)
for _place, (_name, (_target, _help)) in enumerate(COMMANDS.items()):
    app.command(_target, name=_name, help=_help, sort_key=_place)


def main() -> None:
    """Run the command line and exit with the status of what happened."""
    try:
        status = _run()
    except KeyboardInterrupt:
        print("\ninterrupted; what was finished is kept", file=sys.stderr)
        status = 130
    except BrokenPipeError:
        # The reader of our output went away; writing to it again would fail once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 141
    sys.exit(status)


def _run() -> int:
    from findback.cli.faults import exit_status_of  # noqa: PLC0415  (keeps --help quick)

    try:
        result = app(sys.argv[1:], exit_on_error=False, print_error=False, result_action="return_value")
    except BrokenPipeError:
        raise
    except Exception as error:  # noqa: BLE001  (the one place where every error becomes a sentence)
        return exit_status_of(error)
    sys.stdout.flush()
    return result if isinstance(result, int) else 0
