"""The winner of a sweep, laid out."""

from findback.model.evaluation import Sweep
from findback.reporting.blocks import Block, Facts, Prose
from findback.reporting.effects import effects_table
from findback.reporting.figures import figure, plural, whole
from findback.reporting.verdict import list_names


def sweep_blocks(sweep: Sweep | None, label: str) -> tuple[Block, ...]:
    """Return what a sweep found; nothing where none was run."""
    if sweep is None:
        return ()
    blocks: list[Block] = [Prose(say_winner(sweep), "headline"), Facts(tuple(_facts(sweep, label)))]
    if sweep.effects:
        blocks.append(effects_table(sweep.effects, ("gain",), label))
    return tuple(blocks)


def say_winner(sweep: Sweep) -> str:
    """Return whether the best of a sweep is any better, in a sentence or two."""
    if sweep.warning is None:
        return f"{sweep.best} is the best of {sweep.systems}, and told apart from every other one."
    return f"{sweep.best} came out best of {sweep.systems}, but {sweep.warning}."


def _facts(sweep: Sweep, label: str) -> list[tuple[str, str]]:
    facts = [("Sweep", sweep.name), ("Rests on", f"{label}, n {whole(sweep.n)} in {plural(sweep.clusters, 'cluster')}")]
    figures = (
        ("Before the runner-up", sweep.lead),
        ("Before the mean of all", sweep.ahead),
        ("Luck of picking the best", sweep.luck),
        ("Luck in 19 of 20 sets at most", sweep.noise),
        ("p", sweep.p),
    )
    facts += [(name, figure(value)) for name, value in figures if value is not None]
    if sweep.rivals:
        facts.append(("Not told apart from it", list_names(sweep.rivals, "and")))
    return facts
