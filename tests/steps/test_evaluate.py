"""Scoring retrievers on a set."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

import findback
from builders.portal import write_portal
from findback.corpus.corpus import corpus_of
from findback.errors import DataError, MissingError, RefusedError, UntrustedError
from findback.evalset.runs import load_run
from findback.model.case import Judgement
from findback.model.document import Document
from findback.model.evaluation import Evaluation, RetrieverScores
from findback.model.hits import Hit
from findback.model.protocols import Retriever
from findback.model.question import Question, QuestionSet
from findback.retrievers.memory import MemoryRetriever
from findback.steps.evaluate import EvaluateRequest, evaluate
from findback.workspace import open_workspace


def question(id_: str, gold: str | None, **more: object) -> Question:
    judged = () if gold is None else (Judgement(doc=gold, grade=3, found_by="resolver"),)
    reason = "not documented" if gold is None else None
    return Question.model_validate(
        {"id": id_, "query": f"query {id_}", "judged": judged, "no_answer_reason": reason} | more
    )


def question_set(questions: Sequence[Question]) -> QuestionSet:
    return QuestionSet(name="set.jsonl", kind="unreleased set", questions=tuple(questions))


def score(
    tmp_path: Path, questions: Sequence[Question], systems: Mapping[str, Retriever], documents: Sequence[str] = ()
) -> Evaluation:
    workspace = open_workspace(tmp_path, environment={"HOME": str(tmp_path)}, required=False)
    corpus = corpus_of([Document(id=name, text=f"text of {name}") for name in documents]) if documents else None
    return evaluate(
        workspace,
        EvaluateRequest(),
        systems=list(systems.values()),
        questions=question_set(questions),
        documents=corpus,
    )


def value(scores: RetrieverScores, metric: str, axis: str = "all", name: str = "all") -> float | None:
    group = scores.group(axis, name)  # type: ignore[arg-type]
    assert group is not None
    return next(one.estimate.value for one in group.scores if one.metric == metric)


def ranked(name: str, answers: Mapping[str, object]) -> MemoryRetriever:
    return MemoryRetriever({f"query {key}": found for key, found in answers.items()}, name=name)


def test_21_of_39_is_the_exact_interval(tmp_path: Path) -> None:
    """39 cases with 21 at rank 1 give .538 with the exact interval [.37, .70]."""
    questions = [question(f"q{n}", f"d{n}") for n in range(39)]
    answers = {f"q{n}": [f"d{n}"] if n < 21 else ["other", f"d{n}"] for n in range(39)}
    result = score(tmp_path, questions, {"a": ranked("a", answers)})
    group = result.retrievers[0].group()
    assert group is not None
    estimate = group.scores[0].estimate
    assert (estimate.value, estimate.method, estimate.n, estimate.clusters) == (
        pytest.approx(21 / 39),
        "clopper-pearson",
        39,
        39,
    )
    assert estimate.low == pytest.approx(0.372, abs=5e-4)
    assert estimate.high == pytest.approx(0.699, abs=5e-4)


def test_paraphrases_count_as_one(tmp_path: Path) -> None:
    """The same 39 cases as 13 roots of three paraphrases give another interval, from 13 cluster means."""
    questions = [question(f"q{n}", f"d{n // 3}", cluster=f"root{n // 3}") for n in range(39)]
    answers = {f"q{n}": [f"d{n // 3}"] if n < 21 else ["other", f"d{n // 3}"] for n in range(39)}
    result = score(tmp_path, questions, {"a": ranked("a", answers)})
    group = result.retrievers[0].group()
    assert group is not None
    estimate = group.scores[0].estimate
    assert (estimate.value, estimate.method, estimate.n, estimate.clusters) == (pytest.approx(7 / 13), "t", 39, 13)
    assert estimate.low is not None
    assert estimate.high is not None
    assert estimate.high - estimate.low > 0.6


def test_no_answer_cases_never_enter_a_mean(tmp_path: Path) -> None:
    """Cases without a good answer change no score; they have figures of their own."""
    answerable = [question(f"q{n}", f"d{n}") for n in range(12)]
    nothing = [question(f"n{n}", None) for n in range(12)]
    answers = {f"q{n}": [Hit(f"d{n}", 5.0)] for n in range(12)} | {f"n{n}": [Hit("d0", 1.0)] for n in range(12)}
    alone = score(tmp_path, answerable, {"a": ranked("a", answers)}).retrievers[0]
    both = score(tmp_path, [*answerable, *nothing], {"a": ranked("a", answers)}).retrievers[0]
    assert value(alone, "RR@10") == value(both, "RR@10") == 1
    assert alone.abstention is None
    assert both.abstention is not None
    assert both.abstention.auroc.value == 1
    assert (both.abstention.answerable, both.abstention.unanswerable) == (12, 12)


def test_error_is_not_a_miss(tmp_path: Path) -> None:
    """One failed search of ten leaves no mean, only bounds: nine tenths of what was found, and one tenth more."""
    questions = [question(f"q{n}", f"d{n}") for n in range(10)]
    answers: dict[str, object] = {f"q{n}": [f"d{n}"] for n in range(9)}
    answers["q9"] = RuntimeError("out of shards")
    scores = score(tmp_path, questions, {"a": ranked("a", answers)}).retrievers[0]
    group = scores.group()
    assert group is not None
    first = group.scores[0]
    assert first.estimate.value is None
    assert "1 query failed" in (first.estimate.reason or "")
    assert first.lowest is not None
    assert first.highest is not None
    assert (first.lowest.value, first.highest.value) == (pytest.approx(0.9), pytest.approx(1.0))
    assert scores.failed == 1
    assert [(kind.count, "out of shards" in kind.first) for kind in scores.errors] == [(1, True)]
    assert [(miss.name, miss.count) for miss in scores.misses] == [("error", 1)]


def test_misses_say_why(tmp_path: Path) -> None:
    """Beyond the cut-off, not found and not in the index are told apart, and what cannot be told says so."""
    documents = [f"d{n}" for n in range(30)]
    questions = [question("deep", "d20"), question("lost", "d21"), question("absent", "gone")]
    answers = {"deep": documents[:21], "lost": documents[:5], "absent": documents[:5]}
    holds = MemoryRetriever({f"query {k}": v for k, v in answers.items()}, name="a", holds=documents)
    silent = ranked("b", answers)
    told, untold = score(tmp_path, questions, {"a": holds, "b": silent}, documents).retrievers
    assert {miss.name: miss.count for miss in told.misses} == {
        "beyond the cut-off": 1,
        "not found": 1,
        "not in the index": 1,
    }
    assert (told.coverage.golds, told.coverage.indexed) == (3, 2)
    assert untold.coverage.indexed is None
    assert "cannot be told" in (untold.coverage.reason or "")
    why = {miss.question: miss.why for miss in told.miss_examples}
    assert "rank 21" in why["deep"]
    assert "does not hold it" in why["absent"]
    assert value(told, "RR@10", "indexed", "gold in the index") is not None


def test_strata_and_origins_stand_apart(tmp_path: Path) -> None:
    """Failure and control, and generated and mined cases, are never only in one number."""
    questions = [question(f"f{n}", "x", stratum="failure", origin="mined") for n in range(8)]
    questions += [question(f"c{n}", f"d{n}", stratum="control", origin="generated") for n in range(8)]
    answers = {f"f{n}": ["y"] for n in range(8)} | {f"c{n}": [f"d{n}"] for n in range(8)}
    scores = score(tmp_path, questions, {"a": ranked("a", answers)}).retrievers[0]
    assert value(scores, "Success@1", "stratum", "failure") == 0
    assert value(scores, "Success@1", "stratum", "control") == 1
    assert value(scores, "Success@1", "origin", "generated") == 1
    assert value(scores, "Success@1", "origin", "mined") == 0


def test_gold_outside_the_corpus_is_scored_and_named(tmp_path: Path) -> None:
    """A set whose gold is partly no document of the corpus keeps those cases as misses and says so."""
    result = score(
        tmp_path, [question("a", "d1"), question("b", "gone")], {"a": ranked("a", {"a": ["d1"], "b": ["d1"]})}, ["d1"]
    )
    assert value(result.retrievers[0], "Success@1") == 0.5
    assert result.retrievers[0].outside_corpus == 0


def test_runs_are_kept_and_can_be_read_again(tmp_path: Path) -> None:
    """In a workspace every run is kept privately, under the id the result names."""
    root = write_portal(tmp_path / "portal")
    workspace = open_workspace(root, environment={"XDG_STATE_HOME": str(tmp_path / "state")})
    result = evaluate(workspace, EvaluateRequest(set=root / "asked.jsonl"))
    run_id = result.retrievers[0].run
    assert run_id is not None
    run = load_run(workspace.private / "runs" / run_id)
    assert run.queries == ("r1", "r2", "r3", "r4", "r5", "r6")
    assert sorted((workspace.private / "evaluations").glob("evaluation-*.json"))


def test_a_set_is_needed(tmp_path: Path) -> None:
    """Without a release and without --set the error says how to name one."""
    root = write_portal(tmp_path / "portal")
    workspace = open_workspace(root, environment={"XDG_STATE_HOME": str(tmp_path / "state")})
    with pytest.raises(MissingError, match="nothing has been released") as caught:
        evaluate(workspace, EvaluateRequest())
    assert "--set" in (caught.value.hint or "")


def test_gold_that_meets_nothing_is_no_score_of_zero(tmp_path: Path) -> None:
    """Where no gold is a document of the corpus, there is an error with a hint instead of zeros."""
    with pytest.raises(DataError, match="no gold"):
        evaluate(
            open_workspace(tmp_path, environment={"HOME": str(tmp_path)}, required=False),
            EvaluateRequest(),
            systems=[ranked("a", {})],
            questions=question_set([Question(id="q", query="x", judged=(), unresolved=("nowhere",))]),
            documents=corpus_of([Document(id="d", text="t")]),
        )


def test_unreviewed_questions_stay_here(tmp_path: Path) -> None:
    """An unreleased set goes to no retriever beyond this machine unless findback.toml allows it by name."""
    root = write_portal(
        tmp_path / "portal",
        "[retrievers.far]\nkind = 'http'\nurl = 'https://search.example.org/?q={{query}}'\nhits = '$[*]'\n",
    )
    environment = {"XDG_STATE_HOME": str(tmp_path / "state")}
    workspace = open_workspace(root, environment=environment)
    with pytest.raises(UntrustedError) as untrusted:
        evaluate(workspace, EvaluateRequest(set=root / "asked.jsonl"))
    digest = (untrusted.value.hint or "").rpartition("FINDBACK_TRUST=")[2]
    trusted = open_workspace(root, environment=environment | {"FINDBACK_TRUST": digest})
    with pytest.raises(RefusedError, match=r"far \(external\)") as caught:
        evaluate(trusted, EvaluateRequest(set=root / "asked.jsonl"))
    assert 'unreviewed_to = ["far"]' in (caught.value.hint or "")


def test_python_function_prints_as_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`findback.evaluate` takes a plain function and returns a record that prints and shows in a notebook."""
    root = write_portal(tmp_path / "portal")
    monkeypatch.chdir(root)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    def search(query: str, k: int) -> list[str]:
        return ["policies/leave.md", "howto/vpn.md"][:k]

    cases = findback.load_cases("asked.jsonl", corpus="docs")
    result = findback.evaluate(search, cases, depth=5, corpus="docs")
    assert value(result.retrievers[0], "Success@1") == pytest.approx(1 / 6)
    assert "search" in str(result)
    assert "RR@10" in result._repr_html_()


def test_same_documents_count_as_one_beside_the_headline(tmp_path: Path) -> None:
    """A mirror confirmed to be the same page is a miss in the headline and a hit in the lenient figure beside it."""
    root = write_portal(tmp_path / "portal", "same = 'same.csv'\n")
    (root / "docs" / "howto" / "vpn-mirror.md").write_text("# VPN\n\nInstall the client at home and enrol.")
    (root / "same.csv").write_text("howto/vpn.md,howto/vpn-mirror.md\n")
    workspace = open_workspace(root, environment={"XDG_STATE_HOME": str(tmp_path / "state")})
    answers = MemoryRetriever({"cant get in from home": ["howto/vpn-mirror.md"]}, name="a")
    scores = evaluate(workspace, EvaluateRequest(set=root / "asked.jsonl"), systems=[answers]).retrievers[0]
    assert value(scores, "Success@1") == 0
    assert value(scores, "Success@1", "lenient", "same documents count as one") == pytest.approx(1 / 6)
