"""Ranking metrics: values counted by hand, and those of trec_eval's Python binding and ir_measures."""

import itertools
import math
import subprocess
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from findback.errors import UsageError
from findback.evalset.trec import read_qrels, read_run
from findback.measure.metrics.name import FORMS, parse_metric
from findback.measure.scoring import REASONS, Scores, score
from findback.model.gold import Gold, Judged, make_gold
from findback.model.hits import Answer, Hit
from findback.model.names import Names
from findback.model.run import Run, RunBuilder

SHARED = {
    "map": "AP",
    "recip_rank": "RR",
    "ndcg": "nDCG",
    "Rprec": "Rprec",
    "bpref": "Bpref",
    **{f"P_{k}": f"P@{k}" for k in (5, 10)},
    **{f"recall_{k}": f"R@{k}" for k in (5, 10)},
    **{f"success_{k}": f"Success@{k}" for k in (1, 5)},
    **{f"ndcg_cut_{k}": f"nDCG@{k}" for k in (5, 10)},
    **{f"map_cut_{k}": f"AP@{k}" for k in (5, 10)},
}


def ranked(*documents: str, query: str = "q", name: str = "mine") -> Run:
    """Return a run of one query with these documents in this order."""
    builder = RunBuilder(name)
    builder.add(query, Answer(tuple(Hit(document) for document in documents)))
    return builder.build()


def scored(results: dict[str, dict[str, float]]) -> Run:
    """Return a run that only scores order."""
    documents = Names.of(document for found in results.values() for document in found)
    return Run(
        name="scored",
        queries=tuple(results),
        documents=documents,
        starts=np.cumsum([0, *map(len, results.values())], dtype=np.int64),
        codes=documents.find([document for found in results.values() for document in found]),
        scores=np.array([s for found in results.values() for s in found.values()], dtype=np.float64),
        direction="higher",
        order="score",
        distinct=True,
    )


def judge(**grades: int) -> Gold:
    """Return judgements of the question `q`."""
    return make_gold(("q",), [Judged("q", document, grade) for document, grade in grades.items()])


def one(scores: Scores, name: str) -> float:
    """Return the only value of a metric."""
    (value,) = scores[name].values.tolist()
    return value


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Success@1", 0.0),
        ("Success@2", 1.0),
        ("P@3", 1 / 3),
        ("P@10", 2 / 10),
        ("P(rel=2)@4", 1 / 4),
        ("R@3", 1 / 3),
        ("R@4", 2 / 3),
        ("RR", 1 / 2),
        ("RR@1", 0.0),
        ("RR(rel=2)@10", 1 / 4),
        ("AP", (1 / 2 + 2 / 4) / 3),
        ("AP@3", (1 / 2) / 3),
        ("Rprec", 1 / 3),
        ("Judged@4", 3 / 4),
        ("Judged@10", 3 / 5),
        ("nDCG@3", (1 / math.log2(3)) / (3 + 2 / math.log2(3) + 1 / 2)),
        (
            "nDCG(dcg='exp-log2')@10",
            (1 / math.log2(3) + 3 / math.log2(5)) / (7 + 3 / math.log2(3) + 1 / 2),
        ),
        ("Bpref", ((1 - 1 / 1) + (1 - 1 / 1)) / 3),
    ],
)
def test_values_counted_by_hand(name: str, value: float) -> None:
    """Wrong, right, unjudged, better, unjudged in this order; a third right one is never returned."""
    run = ranked("wrong", "right", "new", "better", "other")
    gold = judge(wrong=0, right=1, better=2, absent=3)
    assert one(score(run, gold, [name]), name) == pytest.approx(value, abs=1e-12)


def test_parts_are_reached_by_any_of_their_documents() -> None:
    """Part 1 has two alternatives, part 2 one: half at rank 1, all at rank 3."""
    gold = make_gold(("q",), [Judged("q", "a", 1, 1), Judged("q", "b", 1, 1), Judged("q", "c", 1, 2)])
    scores = score(ranked("b", "x", "c"), gold, ["PartRecall@1", "PartRecall@3", "Complete@2", "Complete@3", "R@3"])
    assert one(scores, "PartRecall@1") == 0.5
    assert one(scores, "PartRecall@3") == 1.0
    assert one(scores, "Complete@2") == 0.0
    assert one(scores, "Complete@3") == 1.0
    assert one(scores, "R@3") == pytest.approx(2 / 3)


def test_part_recall_equals_recall_where_each_part_has_one_document() -> None:
    """Imported judgements without parts give TREC's recall."""
    gold = judge(a=1, b=1, c=0, d=2)
    scores = score(ranked("x", "d", "a"), gold, ["PartRecall@2", "R@2"])
    assert one(scores, "PartRecall@2") == one(scores, "R@2") == pytest.approx(1 / 3)


def test_a_document_that_answers_two_parts_counts_once_as_a_document() -> None:
    """One document, two parts: one gold for recall and gain, both parts reached."""
    gold = make_gold(("q",), [Judged("q", "a", 1, 1), Judged("q", "a", 2, 2), Judged("q", "b", 1, 2)])
    scores = score(ranked("a"), gold, ["R@1", "Complete@1", "nDCG"])
    assert one(scores, "R@1") == 0.5
    assert one(scores, "Complete@1") == 1.0
    assert one(scores, "nDCG") == pytest.approx(2 / (2 + 1 / math.log2(3)))


def test_passages_collapse_to_documents_before_ranking() -> None:
    """The third passage is the second document: rank 2, and k counts documents."""
    scores = score(ranked("a", "a", "b"), judge(b=1), ["RR", "P@2", "Success@2"])
    assert one(scores, "RR") == 0.5
    assert one(scores, "P@2") == 0.5
    assert scores.best_gold[0].tolist() == [2]


def test_passages_of_a_run_ordered_by_scores_collapse_to_their_best() -> None:
    """Document b has the best and the worst score: it stands first, once."""
    builder = RunBuilder("scored")
    builder.add("q", Answer((Hit("b", 1.0), Hit("a", 2.0), Hit("b", 3.0))))
    from dataclasses import replace

    run = replace(builder.build(), order="score")
    scores = score(run, judge(b=1, a=1), ["RR", "AP", "Success@1"])
    assert one(scores, "RR") == 1.0
    assert one(scores, "AP") == 1.0
    assert scores.placed.returned.tolist() == [2]


def test_the_order_returned_counts_whatever_the_scores_say() -> None:
    """A retriever that returns its lowest score first is taken at its word."""
    builder = RunBuilder("odd")
    builder.add("q", Answer((Hit("a", 1.0), Hit("b", 9.0))))
    assert one(score(builder.build(), judge(a=1), ["RR"]), "RR") == 1.0


def test_ideal_gain_comes_from_the_judgements() -> None:
    """A single good hit is not a perfect answer when better documents were never returned."""
    assert one(score(ranked("a"), judge(a=1, b=3), ["nDCG@10"]), "nDCG@10") == pytest.approx(1 / (3 + 1 / math.log2(3)))


def test_no_answer_cases_never_enter_a_mean() -> None:
    """One hit and one question without an answer: the mean is 1, not a half."""
    gold = make_gold(("q", "none"), [Judged("q", "a"), Judged("none", "b", 0)])
    builder = RunBuilder("mine")
    for query in ("q", "none"):
        builder.add(query, Answer((Hit("a"),)))
    column = score(builder.build(), gold, ["RR@10"])["RR@10"]
    assert column.mean == 1.0
    assert column.reason_of(1) == REASONS[1]
    assert np.isnan(column.values[1])
    assert np.isnan(column.high[1])


def test_a_question_the_run_lacks_counts_zero_and_is_counted() -> None:
    """Leaving a question out cannot raise a mean."""
    gold = make_gold(("q", "gone"), [Judged("q", "a"), Judged("gone", "a")])
    scores = score(ranked("a"), gold, ["Success@1"])
    assert scores["Success@1"].mean == 0.5
    assert scores.missing.tolist() == [False, True]


def test_queries_of_the_run_outside_the_set_are_counted() -> None:
    """They change nothing but a count."""
    builder = RunBuilder("mine")
    builder.add("q", Answer((Hit("a"),)))
    builder.add("else", Answer(()))
    assert score(builder.build(), judge(a=1), ["RR"]).extra == 1


def test_an_error_has_bounds_instead_of_a_value() -> None:
    """A failed query is between a miss and the best possible: 2 right documents in 5 places are 2/5."""
    builder = RunBuilder("mine")
    builder.fail("q", "timeout")
    scores = score(builder.build(), judge(a=1, b=1), ["P@5", "R@1", "RR", "AP@1", "PartRecall@1", "Complete@1"])
    for name, best in [
        ("P@5", 0.4),
        ("R@1", 0.5),
        ("RR", 1.0),
        ("AP@1", 0.5),
        ("PartRecall@1", 0.5),
        ("Complete@1", 0.0),
    ]:
        column = scores[name]
        assert column.mean is None
        assert (column.low[0], column.high[0]) == (0.0, best), name
    assert scores.failed.tolist() == [True]


def test_a_question_that_was_not_asked_has_neither_value_nor_bounds() -> None:
    """Not applicable is no miss and no error."""
    builder = RunBuilder("mine")
    builder.skip("q", "audience")
    scores = score(builder.build(), judge(a=1), ["RR"])
    assert scores["RR"].reason_of(0) == "the retriever cannot honour the context"
    assert np.isnan(scores["RR"].high[0])


def test_a_grade_nobody_gave_leaves_the_metric_undefined() -> None:
    """Recall over no document is not 0."""
    column = score(ranked("a"), judge(a=1), ["R(rel=3)@5"])["R(rel=3)@5"]
    assert column.mean is None
    assert column.reason_of(0) == "no document of the grade asked for"


def test_empty_runs_and_empty_results_score_zero() -> None:
    """Nothing returned is a miss in every metric, and Judged has no value."""
    scores = score(ranked(), judge(a=1, b=0), [*SHARED.values(), "Judged@5", "PartRecall@3", "Complete@3"])
    assert scores["Judged@5"].mean is None
    assert {column.mean for name, column in scores.columns.items() if name != "Judged@5"} == {0.0}
    nothing = score(RunBuilder("none").build(), judge(a=1), ["RR"])
    assert nothing["RR"].mean == 0.0


def test_top_score_is_turned_so_that_higher_is_surer() -> None:
    """A distance of 2 becomes -2; no result has no score."""
    builder = RunBuilder("near", direction="lower")
    builder.add("q", Answer((Hit("a", 2.0), Hit("b", 3.0))))
    builder.add("r", Answer((), abstained=True))
    gold = make_gold(("q", "r"), [Judged("q", "a")])
    scores = score(builder.build(), gold, ["RR"])
    assert scores.top_score[0] == -2.0
    assert np.isnan(scores.top_score[1])
    assert scores.abstained.tolist() == [False, True]


def permuted(results: dict[str, float]) -> list[list[str]]:
    """Return every order in which equal scores allow the results to stand."""
    by_score = itertools.groupby(sorted(results, key=lambda d: -results[d]), key=lambda d: results[d])
    blocks = [list(itertools.permutations(block)) for _, block in by_score]
    return [[d for block in choice for d in block] for choice in itertools.product(*blocks)]


EXPECTED = (
    "Success@1", "Success@3", "P@2", "R@3", "RR", "RR@2", "RR(rel=2)", "nDCG", "nDCG@3", "AP", "AP@3",
    "Rprec", "Bpref", "Judged@3", "PartRecall@2", "PartRecall@3", "Complete@2", "Complete@3",
    "nDCG(dcg='exp-log2')@2",
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(
    levels=st.lists(st.integers(0, 2), min_size=1, max_size=6),
    grades=st.lists(st.integers(-1, 3), min_size=1, max_size=7),
    parts=st.lists(st.integers(1, 3), min_size=7, max_size=7),
    shared=st.booleans(),
)
def test_ties_give_the_mean_over_all_orders(
    levels: list[int], grades: list[int], parts: list[int], shared: bool
) -> None:
    """Closed forms equal the average of every order that equal scores allow, one by one."""
    results = {f"d{at}": float(level) for at, level in enumerate(levels)}
    rows = [Judged("q", f"d{at}", grade, part) for at, (grade, part) in enumerate(zip(grades, parts, strict=False))]
    if shared:
        rows.append(Judged("q", "d0", max(grades[0], 1), 4))
    gold = make_gold(("q",), rows)
    found = score(scored({"q": results}), gold, EXPECTED)
    orders = permuted(results)
    for name in EXPECTED:
        values = [one(score(ranked(*order), gold, [name]), name) for order in orders]
        if any(math.isnan(value) for value in values):
            assert math.isnan(one(found, name)), name
        else:
            assert one(found, name) == pytest.approx(sum(values) / len(values), abs=1e-9), name


def test_one_gold_in_a_tie_follows_the_harmonic_numbers() -> None:
    """Two above, four tied: (1/3 + 1/4 + 1/5 + 1/6) / 4, and half of it within five."""
    results = {"a": 9.0, "b": 8.0, "gold": 5.0, "c": 5.0, "d": 5.0, "e": 5.0, "f": 1.0}
    scores = score(scored({"q": results}), judge(gold=1), ["RR", "Success@4", "Success@6"])
    assert one(scores, "RR") == pytest.approx((1 / 3 + 1 / 4 + 1 / 5 + 1 / 6) / 4)
    assert one(scores, "Success@4") == 0.5
    assert one(scores, "Success@6") == 1.0
    assert scores.tied_share == 1.0
    assert [values.tolist() for values in scores.best_gold] == [[3], [4]]


def test_lower_scores_can_be_better() -> None:
    """The nearest of three stands first."""
    from dataclasses import replace

    run = replace(scored({"q": {"a": 0.1, "b": 0.5, "c": 0.9}}), direction="lower")
    assert one(score(run, judge(a=1), ["RR"]), "RR") == 1.0


@st.composite
def runs_and_judgements(
    draw: st.DrawFn,
) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, int]]]:
    """Return scores without ties, and judgements with at least one right document each."""
    documents = [f"d{at}" for at in range(14)]
    run: dict[str, dict[str, float]] = {}
    qrels: dict[str, dict[str, int]] = {}
    for query in ("q1", "q2"):
        found = draw(st.lists(st.sampled_from(documents), min_size=1, max_size=14, unique=True))
        values = draw(st.permutations(range(len(found))))
        run[query] = {d: float(v) for d, v in zip(found, values, strict=True)}
        judged = draw(st.lists(st.sampled_from(documents), min_size=0, max_size=13, unique=True))
        qrels[query] = {d: draw(st.integers(-1, 3)) for d in judged}
        qrels[query][draw(st.sampled_from(documents))] = draw(st.integers(1, 3))
    return run, qrels


@settings(max_examples=150, deadline=None)
@given(runs_and_judgements())
def test_runs_without_ties_score_as_in_pytrec_eval(
    pair: tuple[dict[str, dict[str, float]], dict[str, dict[str, int]]],
) -> None:
    """Every shared metric agrees to 1e-9, query by query."""
    import pytrec_eval

    run, qrels = pair
    wanted = {name if name in {"map", "recip_rank", "ndcg", "Rprec", "bpref"} else name.rpartition("_")[0]
              + "." + name.rpartition("_")[2] for name in SHARED}  # fmt: skip
    oracle = {
        query: values
        for part in _grouped(wanted)
        for query, values in pytrec_eval.RelevanceEvaluator(qrels, part).evaluate(run).items()
    }
    rows = [Judged(q, d, grade) for q, judged in qrels.items() for d, grade in judged.items()]
    found = score(scored(run), make_gold(tuple(qrels), rows), SHARED.values())
    for name, ours in SHARED.items():
        expected = [oracle[query][name] for query in qrels]
        assert found[ours].values.tolist() == pytest.approx(expected, abs=1e-9), name


def _grouped(names: set[str]) -> list[set[str]]:
    # One evaluator takes one cut-off list per family; together they are one call.
    families: dict[str, list[str]] = {}
    for name in names:
        family, _, cut = name.partition(".")
        families.setdefault(family, []).extend([cut] if cut else [])
    return [{f"{family}.{','.join(cuts)}" if cuts else family for family, cuts in families.items()}]


def test_ir_measures_fixtures_give_its_values(data: Path) -> None:
    """Every shared metric of the compatibility run, per query, to 1e-9."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import ir_measures

        names = (
            "nDCG", "nDCG@10", "nDCG@100", "RR", "RR@10", "RR(rel=2)", "P@5", "P(rel=2)@5", "P(rel=3)@10",
            "R@10", "R(rel=2)@100", "AP", "AP@100", "AP(rel=2)@100", "Rprec", "Rprec(rel=2)", "Bpref",
            "Bpref(rel=2)", "Judged@10", "Judged@100", "Success@1", "Success@3", "Success(rel=4)@10",
        )  # fmt: skip
        folder = data / "ir_measures"
        measures = [ir_measures.parse_measure(name) for name in names]
        found = {
            (metric.query_id, str(metric.measure)): metric.value
            for metric in ir_measures.iter_calc(
                measures,
                list(ir_measures.read_trec_qrels(str(folder / "compat.qrels"))),
                list(ir_measures.read_trec_run(str(folder / "compat.run"))),
            )
        }
    scores = score(read_run(folder / "compat.run").run, read_qrels(folder / "compat.qrels"), names)
    assert len(found) == 2 * len(names)
    for name in names:
        expected = [found[query, name] for query in scores.queries]
        assert scores[name].values.tolist() == pytest.approx(expected, abs=1e-9), name


@pytest.mark.parametrize(
    "name",
    ["nDCG@10", "RR@10", "MRR@10", "Success@3", "P(rel=2)@5", "R@10", "Recall@10", "AP(rel=2)@100", "MAP",
     "AP", "Judged@10", "Bpref", "BPref", "Rprec", "RPrec", "nDCG(dcg='exp-log2')@10", 'nDCG(dcg="log2")@10',
     "NDCG@5", "P( rel = 2 )@5", "P(rel=1)@5", "Precision@3", "RR(rel=2)@4"],
)  # fmt: skip
def test_names_parse_and_print_as_in_ir_measures(name: str) -> None:
    """Aliases, quotes, blanks and defaults print as ir_measures prints them, and read back."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import ir_measures

    metric = parse_metric(name)
    assert str(metric) == str(ir_measures.parse_measure(name))
    assert parse_metric(str(metric)) == metric


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ERR@20", "there is no metric 'ERR'"),
        ("P", "P needs a cut-off"),
        ("Bpref@10", "Bpref has no cut-off"),
        ("P@0", "must be 1 or more"),
        ("P@5(rel=2)", "is not the name of a metric"),
        ("P(rel=0)@5", "0 is no value for rel"),
        ("P(rel=True)@5", "True is no value for rel"),
        ("nDCG(dcg='e')@5", "'e' is no value for dcg"),
        ("nDCG(rel=2)@5", "nDCG has no parameter 'rel'"),
        ("P(judged_only=True)@5", "P has no parameter 'judged_only'"),
        ("P(rel)@5", "cannot be read"),
        ("P(rel=__import__)@5", "cannot be read"),
        ("", "is not the name of a metric"),
    ],
)
def test_names_that_are_not_supported_are_refused(name: str, message: str) -> None:
    """The message says what is wrong, the hint what there is."""
    with pytest.raises(UsageError) as raised:
        parse_metric(name)
    assert message in raised.value.message
    assert raised.value.hint or "1 or more" in message


def test_an_unknown_name_lists_every_metric() -> None:
    """Whoever asks for something else sees all there is."""
    with pytest.raises(UsageError) as raised:
        parse_metric("gm_map")
    assert all(form.name in str(raised.value.hint) for form in FORMS)


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("Success@3", "success@3"),
        ("PartRecall@10", "recall@10"),
        ("RR@10", "RR@10"),
        ("R@10", "TREC recall@10"),
        ("nDCG(dcg='exp-log2')@10", "nDCG@10 (exponential gain)"),
        ("P(rel=2)@5", "precision@5 (grade 2 or more)"),
    ],
)
def test_labels_are_what_tables_show(name: str, label: str) -> None:
    """The table's words differ from the canonical name where the articles' readers expect it."""
    assert parse_metric(name).label == label


def test_scoring_loads_nothing_heavy() -> None:
    """Scoring a run needs numpy and nothing else of weight."""
    code = (
        "import sys, findback.measure.scoring, findback.evalset.runs, findback.evalset.trec\n"
        "print(sorted({name.partition('.')[0] for name in sys.modules} & {'pydantic', 'scipy', 'httpx2', "
        "'rich', 'cyclopts', 'bm25s', 'pyarrow', 'orjson'}))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_scores_do_not_depend_on_the_order_of_questions_or_rows() -> None:
    """Interleaved judgements and questions in another order than the run's are joined by id."""
    builder = RunBuilder("mine")
    orders: dict[str, Sequence[str]] = {"b": ("x", "y"), "a": ("y", "x")}
    for query, documents in orders.items():
        builder.add(query, Answer(tuple(Hit(document) for document in documents)))
    gold = make_gold(("a", "b"), [Judged("b", "y"), Judged("a", "x", 0), Judged("a", "y"), Judged("b", "x", 0)])
    assert score(builder.build(), gold, ["RR"])["RR"].values.tolist() == [1.0, 0.5]
