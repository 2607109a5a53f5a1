"""trec_eval's own expected outputs, line by line, and its Python binding."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.measure.test_metrics import scored

from findback.errors import UsageError
from findback.evalset.trec import read_qrels, read_run
from findback.measure.ranks import place_golds
from findback.measure.trec import FAMILIES, LEVELS, REFUSED, interpolate_precision, score_trec
from findback.model.gold import Judged, make_gold
from findback.model.hits import Answer, Hit
from findback.model.run import RunBuilder

OUTPUTS = [
    ("out.test", "qrels.test", "results.test", 1, False, False),
    ("out.test.a", "qrels.test", "results.test", 1, False, False),
    ("out.test.aq", "qrels.test", "results.test", 1, False, True),
    ("out.test.aqc", "qrels.test", "results.trunc", 1, True, True),
    ("out.test.aql", "qrels.rel_level", "results.test", 2, False, True),
]
LINES = {"out.test": 28, "out.test.a": 52, "out.test.aq": 205, "out.test.aqc": 205, "out.test.aql": 205}


def is_refused(name: str) -> bool:
    """Return whether a printed name belongs to a family that is refused."""
    return name in REFUSED or (name not in FAMILIES and name.rstrip("0123456789.").rstrip("_") in REFUSED)


@pytest.mark.parametrize(("output", "qrels", "results", "level", "complete", "per_query"), OUTPUTS)
def test_expected_outputs_are_reproduced(
    data: Path, output: str, qrels: str, results: str, level: int, complete: bool, per_query: bool
) -> None:
    """Every line of a measure that is computed is printed as trec_eval prints it, to the last digit."""
    folder = data / "trec_eval"
    table = score_trec(read_run(folder / results).run, read_qrels(folder / qrels), level=level, complete=complete)
    expected = [line.rstrip() for line in (folder / output).read_text().splitlines() if not is_refused(line.split()[0])]
    printed = {line.rstrip() for line in table.lines(per_query=per_query)}
    assert len(expected) == LINES[output]
    assert [line for line in expected if line not in printed] == []


def test_nothing_is_printed_that_the_full_output_does_not_have(data: Path) -> None:
    """The names printed are trec_eval's, no more."""
    folder = data / "trec_eval"
    table = score_trec(read_run(folder / "results.test").run, read_qrels(folder / "qrels.test"))
    known = {line.split()[0] for line in (folder / "out.test.aq").read_text().splitlines()}
    assert {line.split()[0] for line in table.lines(per_query=True)} <= known


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_other_measures_are_refused_by_name_with_a_reason(name: str) -> None:
    """Whoever asks for one of trec_eval's other measures is told why it is not there."""
    with pytest.raises(UsageError, match=f"trec_eval's {name} is not computed") as raised:
        score_trec(RunBuilder("r").build(), make_gold(("q",), []), measures=[name])
    assert raised.value.hint


@pytest.mark.parametrize("name", ["map_cut_10", "relative_P_5", "Rprec_mult_0.20", "unj_10"])
def test_refused_families_are_refused_with_their_cut_off_too(name: str) -> None:
    """A cut-off does not hide the family."""
    with pytest.raises(UsageError, match="is not computed"):
        score_trec(RunBuilder("r").build(), make_gold(("q",), []), measures=[name])


@pytest.mark.parametrize("name", ["ndcg_cutt", "P_7", "nDCG@10", ""])
def test_unknown_measures_list_what_there_is(name: str) -> None:
    """Neither a misspelt name nor another cut-off is silently empty."""
    with pytest.raises(UsageError, match="there is no trec_eval measure") as raised:
        score_trec(RunBuilder("r").build(), make_gold(("q",), []), measures=[name])
    assert "iprec_at_recall" in str(raised.value.hint)


def test_a_single_measure_can_be_asked_for(data: Path) -> None:
    """Only that column is there; num_rel does not bring num_rel_ret."""
    folder = data / "trec_eval"
    run, gold = read_run(folder / "results.test").run, read_qrels(folder / "qrels.test")
    assert list(score_trec(run, gold, measures=["num_rel"]).overall) == ["num_rel"]
    assert score_trec(run, gold, measures=["P_10", "map"]).overall == pytest.approx(
        {"map": 0.1785, "P_10": 0.3}, abs=5e-5
    )


def test_equal_scores_are_ordered_by_id_last_first() -> None:
    """`b` before `a`, as trec_eval does, whatever the order in the file; single precision makes ties."""
    gold = make_gold(("q",), [Judged("q", "a")])
    for results in ({"a": 1.0, "b": 1.0}, {"b": 1.0, "a": 1.0 + 1e-10}):
        assert score_trec(scored({"q": results}), gold).overall["recip_rank"] == 0.5


def test_a_run_without_scores_is_refused() -> None:
    """trec_eval knows no other order than that of scores."""
    builder = RunBuilder("plain")
    builder.add("q", Answer((Hit("a"),)))
    with pytest.raises(UsageError, match="no scores"):
        score_trec(builder.build(), make_gold(("q",), [Judged("q", "a")]))


@settings(max_examples=100, deadline=None)
@given(
    results=st.dictionaries(st.sampled_from("abcdefghij"), st.integers(0, 3).map(float), min_size=1),
    judged=st.dictionaries(st.sampled_from("abcdefghijkl"), st.integers(0, 2), min_size=1),
)
def test_ties_are_broken_as_pytrec_eval_breaks_them(results: dict[str, float], judged: dict[str, int]) -> None:
    """With ties too, every measure equals that of trec_eval's binding."""
    import pytrec_eval

    judged = {**judged, "a": 1}
    names = {"map", "Rprec", "bpref", "recip_rank", "ndcg", "P", "recall", "success", "ndcg_cut", "set_P",
             "set_recall", "iprec_at_recall", "num_ret", "num_rel", "num_rel_ret"}  # fmt: skip
    expected = pytrec_eval.RelevanceEvaluator({"q": judged}, names).evaluate({"q": results})["q"]
    gold = make_gold(("q",), [Judged("q", document, grade) for document, grade in judged.items()])
    run = scored({"q": results})
    found = {name: float(values[0]) for name, values in score_trec(run, gold).columns.items()}
    placed = place_golds(run, gold, ties="trec")
    for share in LEVELS:
        # The binding holds version 9, which rounds another way.
        found[f"iprec_at_recall_{share:.2f}"] = float(interpolate_precision(placed, share, up=0.9)[0])
    assert found == pytest.approx(expected, abs=1e-9)
