"""What candidates can be filtered by."""

from builders.candidates import NOON, candidate, searched
from findback.workbench.listing import CandidateFilters
from findback.workbench.store import Workbench


def test_every_source_rule_and_language_is_listed_once(workbench: Workbench) -> None:
    """Nothing is left out however many there are, and nothing of an audience the reader may not see is told."""
    many = [candidate(f"q{number}", language="en") for number in range(210)]
    secret = candidate("secret", source="mail", language="fr", audience="private")
    workbench.put([*many, searched("late", language="de"), searched("none"), secret], now=NOON)
    found = workbench.choices(CandidateFilters(audiences=("public",)))
    assert found.sources == ("opensearch", "slack")
    assert found.rules == ("link-thanks", "zero-result")
    assert found.languages == ("de", "en")
    assert workbench.choices(CandidateFilters()).sources == ("mail", "opensearch", "slack")
    assert workbench.choices(CandidateFilters(audiences=())) == ((), (), ())
