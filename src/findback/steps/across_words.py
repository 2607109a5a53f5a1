"""What a comparison across sets says about itself: what its words mean, what it does not tell."""

from collections.abc import Iterator, Sequence

from findback.model.across import Across, Effects
from findback.steps.across_sides import Side
from findback.steps.compare_words import note_runs
from findback.steps.legend import UNCERTAINTY, explain_metrics
from findback.steps.makeup import cluster_of, limits

_TOGETHER = "95 % intervals that hold for all of them together (max-T)"
_MATCHED = (
    "gain: first level minus second, over systems that differ in that factor alone, averaged over the settings of the"
    f" others, with {_TOGETHER}; where no two systems do, over the means of all with either level, and what else"
    " differs is named"
)


def note_side(side: Side) -> tuple[str, ...]:
    """Return where a set's runs came from, and what was left out of it."""
    return (*note_runs(side.entrants, side.left_out), *_note_failed(side))


def note_sides(sides: Sequence[Side]) -> tuple[str, ...]:
    """Return where both sides' runs came from, what was left out, and what they share."""
    first, second = sides
    notes = list(dict.fromkeys(note for side in sides for note in note_runs(side.entrants, 0)))
    for side in sides:
        if side.left_out:
            notes.append(f"{side.name}: answerable cases left out, as not every system was asked them: {side.left_out}")
        notes += _note_failed(side)
    shared = _clusters(first) & _clusters(second)
    if shared:
        notes.append(
            f"clusters with cases on both sides: {len(shared)}; they agree for that reason alone, and the intervals"
            " between the sides, which take them for independent, are wider than need be"
        )
    return tuple(notes)


def _note_failed(side: Side) -> list[str]:
    if not side.failed:
        return []
    lost = f"{side.name}: cases left out, as a search failed on them: {side.failed}"
    return [f"{lost}; had they been answered, the order might be another"]


def _clusters(side: Side) -> set[str]:
    return {cluster_of(question) for question in side.paired.questions}


def explain_across(result: Across) -> tuple[str, ...]:
    """Return what the names and words of a comparison across sets mean."""
    second = result.sides[1].name
    said = [
        *explain_metrics([result.primary]),
        f"difference: first system minus second on the same cases, per side, with {_TOGETHER}",
        f"between: the first side's difference minus the second's, with {_TOGETHER}",
        (
            "reversed: each side by itself shows the difference, the other way round; differs: the interval between"
            " the sides excludes 0, which may be the same way round"
        ),
    ]
    if result.tau is not None:
        said += [
            (
                "tau-b: agreement of the two orders, 1 the same, -1 the reverse (Kendall); noise floor: 19 of 20 pairs"
                " of sets would agree at least so much, by chance alone"
            ),
            (
                "one population: clusters change sides, which keep their sizes; one order: each side keeps its own"
                " spread and scatter, and both the order that suits them best"
            ),
            (
                "changed: tau-b lies below both floors, or a pair is reversed; same order: it lies above both, and the"
                " floor of one order is at least .50; cannot tell: neither"
            ),
        ]
    said.append("told apart at equal n: share of pairs, averaged over parts of the larger side as large as the smaller")
    if result.overlap is not None:
        said.append(
            f"if only overlap differed: scores of the first side's cases, weighted to the overlap {second} has with"
            " its answers; never a correction of the score, for more than overlap may differ"
        )
    if result.effects:
        said.append(_MATCHED)
    return (*said, *UNCERTAINTY)


def limit_across(result: Across) -> tuple[str, ...]:
    """Return what a comparison across sets does not tell."""
    return tuple(dict.fromkeys(_limits(result)))


def _limits(result: Across) -> Iterator[str]:
    first, second = result.sides
    yield "Which of two orders is right: a set that people's questions made speaks for those people."
    if result.verdict == "same order":
        yield "That levels agree: sets may share an order and differ in every score."
    if first.clusters != second.clusters:
        yield (
            f"Why one side tells fewer pairs apart: {first.name} has {first.clusters} independent questions,"
            f" {second.name} {second.clusters}; read the shares at equal n."
        )
    for side in result.sides:
        yield from limits(side.set, retrievers=len(result.systems), today=result.made.date())


def explain_effects(result: Effects) -> tuple[str, ...]:
    """Return what the names and words of effects mean."""
    return (*explain_metrics([result.primary]), _MATCHED, *UNCERTAINTY)


def limit_effects(result: Effects) -> tuple[str, ...]:
    """Return what effects do not tell."""
    said = []
    mixed = [effect for effect in result.effects if effect.confounded]
    if mixed:
        said.append(
            "What a factor does by itself, where no two systems differ in it alone: "
            + ", ".join(dict.fromkeys(effect.factor for effect in mixed))
            + "."
        )
    said.append("Whether factors add up: an effect is an average over the settings that were tried.")
    return (*said, *limits(result.set, retrievers=len(result.systems), today=result.made.date()))
