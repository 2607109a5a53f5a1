"""findback in pytest: a search is held to a committed baseline by a test like any other.

    def test_search_still_finds(findback):
        findback.assert_no_regression("bm25", baseline="main")

Loaded by pytest through its entry point; nothing heavy is imported before the fixture is used.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from findback.model.gated import Gated
    from findback.model.protocols import Retriever

Search = Callable[..., Any]


class Findback:
    """What the fixture gives: the gate of the workspace that the tests stand in."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def gate(
        self, search: "str | Search | Retriever | None" = None, *, baseline: str | None = None, **options: Any
    ) -> "Gated":
        """Hold a system to a baseline and return what was found, whatever the verdict.

        Args:
            search: A retriever of findback.toml by name, a search function `search(query, k)`, or a retriever at
                hand; the baseline's own retriever when left out.
            baseline: As `findback gate --baseline`; `[gate] baseline` of findback.toml when left out.
            options: Fields of `GateRequest`, such as `margin`, `policy` or `run`.

        Raises:
            FindbackError: See `findback.steps.gate.gate`.
        """
        from findback.model.options import make_record  # noqa: PLC0415 (only where a test uses it)
        from findback.retrievers.python import PythonRetriever  # noqa: PLC0415
        from findback.steps.gate import gate  # noqa: PLC0415
        from findback.steps.gaterequest import GateRequest  # noqa: PLC0415
        from findback.workspace import open_workspace  # noqa: PLC0415

        named = search if isinstance(search, str) else None
        systems: list[Any] = []
        if search is not None and named is None:
            known = hasattr(search, "search") and hasattr(search, "settings")
            systems = [search if known else PythonRetriever(getattr(search, "__name__", "search"), search)]  # type: ignore[arg-type]
        given = {"retriever": named, "baseline": baseline, **options}
        hint = f"options: {', '.join(GateRequest.model_fields)}"
        request = make_record(GateRequest, given, hint=hint)
        return gate(open_workspace(self._folder, required=False), request, systems=systems)

    def assert_no_regression(
        self, search: "str | Search | Retriever | None" = None, *, baseline: str | None = None, **options: Any
    ) -> "Gated":
        """Fail the test where the gate fails; where it is undecided, skip it, or do as `[gate] undecided` says.

        Takes what `gate` takes, and returns what it returns.
        """
        __tracebackhide__ = True
        from findback.reporting.gated import say_result  # noqa: PLC0415
        from findback.workspace import open_workspace  # noqa: PLC0415

        found = self.gate(search, baseline=baseline, **options)
        undecided = open_workspace(self._folder, required=False).settings.gate.undecided
        said = f"findback gate: {found.verdict}\n{say_result(found)}"
        if found.verdict == "fail" or (found.verdict == "undecided" and undecided == 1):
            pytest.fail(said, pytrace=False)
        if found.verdict == "undecided" and undecided:
            pytest.skip(said)
        return found


@pytest.fixture
def findback(request: pytest.FixtureRequest) -> Findback:
    """Hold a search to a committed baseline: findback.assert_no_regression("bm25", baseline="main")."""
    return Findback(request.path.parent)
