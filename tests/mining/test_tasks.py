"""Task success by whether retrieval hit."""

import pytest

from findback.mining.turns import TurnMining, mine_turns
from findback.model.turn import RetrievalCall, Turn


def turn(number: int, *, ended: bool | None, returned: tuple[str, ...] | None, **extra: object) -> Turn:
    """A turn with one search; None where the trace does not say what came back."""
    results = None if returned is None else len(returned)
    call = RetrievalCall(id="c", tool="kb", query="rotate certificates", results=results, documents=returned or ())
    fields: dict[str, object] = {
        "id": f"t{number}",
        "source": "otel",
        "conversation": None,
        "user": f"u{number}",
        "text": "How do I rotate the certificates?",
        "at": None,
        "calls": (call,),
        "outcome": ended,
        "gold": ("certs.md",),
    }
    return Turn(**(fields | extra))  # type: ignore[arg-type]


def test_success_is_counted_where_retrieval_hit_and_where_it_missed() -> None:
    """9 of 12 tasks with the right page and 4 of 16 without end well: .75 and .25, half apart, with an interval."""
    turns = [turn(at, ended=at < 9, returned=("vpn.md", "certs.md")) for at in range(12)]
    turns += [turn(20 + at, ended=at < 4, returned=("vpn.md",) if at % 2 else ()) for at in range(16)]
    found = mine_turns(turns, TurnMining()).tasks.summarise(seed=1)
    assert found is not None
    assert (found.hit.value, found.hit.n) == (0.75, 12)
    assert (found.missed.value, found.missed.n) == (0.25, 16)
    assert found.difference.value == pytest.approx(0.5)
    assert found.difference.low is not None
    assert 0 < found.difference.low < 0.5
    assert found.unknown == 0


def test_what_is_not_known_is_counted_apart() -> None:
    """No outcome is nothing; an outcome without gold, or without what came back, is counted and in no figure."""
    turns = [
        turn(1, ended=None, returned=("certs.md",)),
        turn(2, ended=True, returned=("certs.md",), gold=()),
        turn(3, ended=True, returned=None),
        turn(4, ended=True, returned=("certs.md",), calls=()),
    ]
    assert mine_turns(turns, TurnMining()).tasks.unknown == 3
    assert mine_turns(turns, TurnMining()).tasks.summarise(seed=1) is None


def test_one_asker_counts_once() -> None:
    """Ten tasks of one person and one each of nine others are ten clusters."""
    turns = [turn(at, ended=True, returned=("certs.md",), user="ana") for at in range(10)]
    turns += [turn(10 + at, ended=False, returned=("certs.md",)) for at in range(9)]
    found = mine_turns(turns, TurnMining()).tasks.summarise(seed=1)
    assert found is not None
    assert (found.hit.value, found.hit.clusters) == (0.1, 10)
    assert (found.missed.value, found.difference.value) == (None, None)


def test_tasks_are_counted_whether_mined_or_not() -> None:
    """A turn that no rule takes for a failure counts like the others: what is mined was chosen for how it ended."""
    mined = mine_turns([turn(1, ended=True, returned=("certs.md",))], TurnMining())
    assert mined.found == []
    assert mined.tasks.ended[True] == [True]
