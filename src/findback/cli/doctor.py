"""`findback doctor`."""

from findback.cli.shown import say, show, show_json, table
from findback.steps.doctor import DoctorRequest
from findback.steps.doctor import doctor as examine
from findback.workspace import open_workspace

NOT_PASSED = 1
MARKS = {"ok": "ok", "warning": "look", "fault": "FAULT"}
SUMMARY = {
    "ok": "all is well",
    "warning": "nothing is broken; some lines want a look",
    "fault": "some things need you; see above",
}


def doctor(*, offline: bool = False, json: bool = False) -> int:
    """Check everything the workspace names and say what to do.

    Args:
        offline: Do not ask any engine whether it answers.
        json: Print JSON instead of a table.
    """
    checkup = examine(open_workspace(required=False), DoctorRequest(offline=offline))
    if json:
        show_json(checkup)
    else:
        rows = [(MARKS[item.state], item.what, item.found, item.todo) for item in checkup.items]
        show(table(("", "what", "found", "what to do"), rows))
        say(SUMMARY[max((item.state for item in checkup.items), key=list(MARKS).index)])
    return 0 if checkup.well else NOT_PASSED
