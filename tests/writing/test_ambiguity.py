"""Other documents that answer as well become gold, or go to a person."""

from findback.model.written import Fidelity
from findback.writing.ambiguity import ANOTHER, MANY, find_alternatives


def test_a_clear_text_has_no_alternative() -> None:
    """A judge that names the source alone leaves nothing to say."""
    assert find_alternatives(Fidelity(asked=3, source=3), ()) == ((), None, ())


def test_a_near_duplicate_is_gold_as_well() -> None:
    """Both near-duplicates answer, whether the judge named them or not."""
    found = find_alternatives(Fidelity(asked=3, source=3, others={"b": 3}), {"b", "a"})
    assert found == (("a", "b"), None, ())


def test_another_document_that_fits_goes_to_a_person() -> None:
    """Named in two of three askings is a doubt; named once is noise."""
    assert find_alternatives(Fidelity(asked=3, source=3, others={"x": 2}), ()) == ((), None, (ANOTHER,))
    assert find_alternatives(Fidelity(asked=3, source=3, others={"x": 1}), ()) == ((), None, ())
    assert find_alternatives(Fidelity(asked=4, source=4, others={"x": 2}), ()) == ((), None, ())


def test_a_text_that_fits_many_documents_is_turned_away() -> None:
    """Three others named in most askings are no choice for a person, but a text that says too little."""
    found = find_alternatives(Fidelity(asked=3, source=3, others={"x": 3, "y": 2, "z": 2}), ())
    assert found.rejection is not None
    assert (found.rejection.by, found.rejection.reason) == ("ambiguity", MANY)
    two = find_alternatives(Fidelity(asked=3, source=3, others={"x": 3, "y": 2, "z": 2}), {"z"})
    assert two == (("z",), None, (ANOTHER,))
