"""What an item analysis says about itself: what its words mean, and what it does not tell."""

from findback.measure.itemanalysis import FEWEST_ANSWERED, FEWEST_SYSTEMS
from findback.model.items import ItemAnalysis
from findback.steps.items_floors import CONSTANT, POPULAR
from findback.steps.legend import UNCERTAINTY, explain_metrics
from findback.steps.makeup import limits


def explain_items(result: ItemAnalysis) -> tuple[str, ...]:
    """Return what the names and words of an item analysis mean."""
    return (
        *explain_metrics((result.metric,)),
        f"solved: {result.label} above 0",
        (
            "against the others: correlation, over systems, between solving a case and the share of all other clusters"
            " they solve; listed where its whole 95 % interval (Fisher's, each case by itself) is below 0"
        ),
        f"{CONSTANT}: the documents that the systems rank first most often, whatever is asked; it knows no label",
        f"{POPULAR}: the gold documents that answer most cases of other clusters, whatever is asked",
        "ahead: score minus that of the higher floor, on the same cases",
        (
            f"answers suspiciously much: {FEWEST_ANSWERED} clusters or more, and so many that with answers spread"
            " evenly no gold document would reach it in 19 of 20 sets"
        ),
        *UNCERTAINTY,
    )


def limit_items(result: ItemAnalysis) -> tuple[str, ...]:
    """Return what an item analysis does not tell, each sentence derived from set and systems."""
    said = ["Nothing here is proof: a case that looks wrong wants a person who does not know that it does."]
    if result.by_chance is not None and result.rated:
        said.append(
            f"Of {result.rated} cases about {result.by_chance:.1f} would go against the others by chance alone."
        )
    if len(result.systems) < FEWEST_SYSTEMS:
        said.append(f"With fewer than {FEWEST_SYSTEMS} systems nothing is said about cases that go against the others.")
    said.append("Systems that work alike make the same mistakes: what several of them rank first may still be wrong.")
    return (*said, *limits(result.set, retrievers=len(result.systems), today=result.made.date()))
