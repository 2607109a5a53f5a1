"""The exception tree."""

from findback import errors
from findback.errors import DataError, Fault, FindbackError


def all_errors() -> list[type[FindbackError]]:
    found, waiting = [], [FindbackError]
    while waiting:
        kind = waiting.pop()
        found.append(kind)
        waiting.extend(kind.__subclasses__())
    return [kind for kind in found if kind.__module__ == errors.__name__]


def test_every_class_has_a_code_and_status_of_its_own() -> None:
    """A script can tell classes of errors apart by exit status, and every one is drawn in the docstring."""
    kinds = all_errors()
    assert len({kind.code for kind in kinds}) == len(kinds)
    assert len({kind.exit_status for kind in kinds}) == len(kinds)
    assert all(2 <= kind.exit_status <= 70 for kind in kinds)
    for kind in kinds:
        assert kind.__name__ in (errors.__doc__ or "")


def test_faults_are_listed_with_file_and_line() -> None:
    """All faults of a file are in one error; many are cut with a count."""
    error = DataError("a.jsonl cannot be read", faults=[Fault("a.jsonl", n, "not JSON") for n in range(1, 26)])
    lines = str(error).splitlines()
    assert lines[1] == "  a.jsonl:1: not JSON"
    assert lines[-1] == "  … and 5 more"
    assert len(error.faults) == 25
