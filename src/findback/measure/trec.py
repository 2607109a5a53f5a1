"""trec_eval's measures, by its rules and under its names."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from findback.errors import UsageError
from findback.measure.metrics.name import Metric
from findback.measure.metrics.table import COMPUTATIONS
from findback.measure.ranks import Placed, join_queries, place_golds
from findback.model.gold import Gold
from findback.model.run import Run

CUTS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
SUCCESS_CUTS = (1, 5, 10)
LEVELS = tuple(at / 10 for at in range(11))
COUNTS = ("num_ret", "num_rel", "num_rel_ret")
WHOLE = {"map": "AP", "Rprec": "Rprec", "bpref": "Bpref", "recip_rank": "RR", "ndcg": "nDCG"}
CUT = {"P": "P", "recall": "R", "success": "Success", "ndcg_cut": "nDCG"}
FAMILIES = (
    "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "Rprec", "bpref", "recip_rank", "iprec_at_recall",
    "P", "recall", "ndcg", "ndcg_cut", "success", "set_P", "set_recall",
)  # fmt: skip
"""What is computed, in the order it is printed."""

_ZEROES = "a geometric mean turns every zero into a made-up small number"
_ESTIMATED = "it estimates unjudged documents, as if judgements were a random sample"
_ODD = "it is hardly used outside TREC, and not comparable with what is"
REFUSED = {
    "gm_map": _ZEROES,
    "gm_bpref": _ZEROES,
    "infAP": _ESTIMATED,
    "map_cut": "AP@k gives it under ir_measures' name",
    "Rprec_mult": _ODD,
    "utility": "it needs costs that nobody has agreed on",
    "11pt_avg": "it is the mean of iprec_at_recall, superseded by map",
    "binG": _ODD,
    "G": _ODD,
    "ndcg_rel": _ODD,
    "Rndcg": _ODD,
    "relative_P": "it divides by what could be reached; P and success say what was",
    "set_relative_P": "it divides by what could be reached; set_P says what was",
    "set_map": _ODD,
    "set_F": "it follows from set_P and set_recall",
    "num_nonrel_judged_ret": "Judged@k gives the judged share",
    "relstring": "it is a drawing of the ranking, not a measure",
    "runid": "it is the run's name, not a measure",
    "rbp": "it needs a persistence that nobody has agreed on",
    "rbp_resid": "it needs a persistence that nobody has agreed on",
    "unj": "Judged@k gives the judged share",
    "prefs": "it needs preference judgements",
    "qrels_jg": "it needs judgement groups",
    "yaap": _ODD,
}
"""What trec_eval has and findback does not, with the reason."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TrecTable:
    """Measures per query and over all, as trec_eval prints them."""

    queries: tuple[str, ...]
    """Queries that entered, in the order printed."""
    columns: dict[str, NDArray[np.float64]]
    """Values per query by trec_eval's name, in the order printed."""
    overall: dict[str, float]
    """Sums of counts, means of the rest."""

    def lines(self, *, per_query: bool = False) -> Iterator[str]:
        """Yield the lines trec_eval prints, with `per_query` as under its `-q`."""
        for at, query in enumerate(self.queries if per_query else ()):
            for name, values in self.columns.items():
                yield _line(name, query, float(values[at]))
        for name, value in self.overall.items():
            yield _line(name, "all", value)


def _line(name: str, query: str, value: float) -> str:
    shown = f"{value:.0f}" if name in (*COUNTS, "num_q") else f"{value:.4f}"
    return f"{name:<22}\t{query}\t{shown}"


def score_trec(
    run: Run, gold: Gold, *, level: int = 1, complete: bool = False, measures: Iterable[str] = FAMILIES
) -> TrecTable:
    """Score a run as trec_eval does.

    Args:
        run: The run; scores alone order it, in single precision, equal ones by document id, last first.
        gold: The judgements.
        level: Least grade that counts as relevant (`-l`).
        complete: Count judged queries that the run does not have as 0 (`-c`), instead of leaving them out.
        measures: Names of measures or families: `map`, `P`, `P_10`.

    Raises:
        UsageError: If a measure is not computed here, with the reason; or the run has no scores.
    """
    wanted = [*measures]
    for name in wanted:
        _check_name(name)
    judged = np.bincount(gold.query, minlength=len(gold)) > 0
    kept = judged if complete else judged & (join_queries(gold.queries, run.queries) >= 0)
    placed = place_golds(run, gold, ties="trec")
    order = [at for at in np.argsort(np.array(gold.queries, dtype=object)).tolist() if kept[at]]
    columns = {
        name: compute(placed)[order]
        for name, compute in _computations(level)
        if name in wanted or _family(name) in wanted
    }
    overall = {"num_q": float(len(order))} if "num_q" in wanted else {}
    for name, values in columns.items():
        overall[name] = float(values.sum() if name in COUNTS or not len(values) else values.mean())
    return TrecTable(queries=tuple(gold.queries[at] for at in order), columns=columns, overall=overall)


def _check_name(name: str) -> None:
    family = _family(name)
    if family in REFUSED:
        raise UsageError(f"trec_eval's {name} is not computed here", hint=REFUSED[family])
    if family not in FAMILIES or (name != family and name not in {known for known, _ in _computations(1)}):
        raise UsageError(f"there is no trec_eval measure {name!r} here", hint=f"there are {', '.join(FAMILIES)}")


def _family(name: str) -> str:
    """Return a name without its cut-off or level."""
    return name if name in FAMILIES or name in REFUSED else re.sub(r"[_.][\d.]+$", "", name)


def _computations(level: int) -> Iterator[tuple[str, Callable[[Placed], NDArray[np.float64]]]]:
    """Yield every measure's name and function, in the order printed."""
    yield "num_ret", lambda placed: placed.returned.astype(np.float64)
    yield "num_rel", lambda placed: placed.golds(level).astype(np.float64)
    yield "num_rel_ret", lambda placed: _found(placed, level)
    for name in ("map", "Rprec", "bpref", "recip_rank"):
        yield name, _bind(Metric(WHOLE[name], None, level))
    for share in LEVELS:
        yield f"iprec_at_recall_{share:.2f}", _bind_level(share, level)
    for family in ("P", "recall"):
        for cut in CUTS:
            yield f"{family}_{cut}", _bind(Metric(CUT[family], cut, level))
    yield "ndcg", _bind(Metric("nDCG"))
    for cut in CUTS:
        yield f"ndcg_cut_{cut}", _bind(Metric("nDCG", cut))
    for cut in SUCCESS_CUTS:
        yield f"success_{cut}", _bind(Metric("Success", cut, level))
    yield "set_P", lambda placed: _found(placed, level) / np.maximum(placed.returned, 1)
    yield "set_recall", lambda placed: _found(placed, level) / np.maximum(placed.golds(level), 1)


def _bind(metric: Metric) -> Callable[[Placed], NDArray[np.float64]]:
    return lambda placed: COMPUTATIONS[metric.name].score(placed, metric)


def _bind_level(share: float, level: int) -> Callable[[Placed], NDArray[np.float64]]:
    return lambda placed: interpolate_precision(placed, share, level)


def _found(placed: Placed, level: int) -> NDArray[np.float64]:
    return np.bincount(placed.relevant(level)[0], minlength=placed.questions).astype(np.float64)


def interpolate_precision(placed: Placed, share: float, level: int = 1, *, up: float = 0.5) -> NDArray[np.float64]:
    """Return the highest precision at or after the rank where recall reaches `share`; 0 where it never does.

    Source:
        trec_eval 10, which asks for share × R relevant documents, rounded half up. Version 9, which is
        inside pytrec_eval, adds .9 instead of .5 (`up`).
    """
    query, above, _ = placed.relevant(level)
    nth = np.arange(len(query)) - np.searchsorted(query, query) + 1
    enough = nth >= np.floor(share * placed.golds(level)[query] + up)
    values = np.zeros(placed.questions)
    np.maximum.at(values, query[enough], (nth / (above + 1))[enough])
    return values
