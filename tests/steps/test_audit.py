"""Auditing a set's wording."""

import json
from pathlib import Path

import pytest

import findback
from builders.portal import ASKED, GOLDEN, write_pages, write_portal, write_set
from findback.errors import DataError, MissingError
from findback.model.audit import Audit, Gap
from findback.model.estimate import Estimate
from findback.steps.audit import AuditRequest, audit, exceeds
from findback.workspace import Workspace, open_workspace


def workspace(folder: Path) -> Workspace:
    return open_workspace(folder, environment={"XDG_STATE_HOME": str(folder / "state")}, required=False)


def test_answer_key_questions_lie_above_real_ones(tmp_path: Path) -> None:
    """A set written from the pages overlaps more and scores higher than what people typed; both are shown."""
    root = write_portal(tmp_path)
    result = audit(workspace(root), AuditRequest(set=root / "golden.jsonl", real=root / "asked.jsonl"))
    assert result.sample is not None
    own, real = result.set.yardstick("overlap"), result.sample.yardstick("overlap")
    assert own is not None
    assert real is not None
    assert (own.figures.n, real.figures.n) == (6, 6)
    assert own.figures.median is not None
    assert real.figures.median is not None
    assert own.figures.median > 0.8 > 0.3 > real.figures.median
    assert result.set.window == result.sample.window
    bm25 = result.retrievers[0]
    assert bm25.set_score.estimate.value == 1
    assert bm25.sample_score is not None
    assert (bm25.sample_score.estimate.value or 0) < 0.8
    assert {gap.measure for gap in result.gaps} == {"overlap", "leak", "article overlap", "article leak"}


def test_too_few_real_queries_prove_nothing(tmp_path: Path) -> None:
    """Six real queries give no interval, and the verdict says that it cannot be told."""
    root = write_portal(tmp_path)
    result = audit(workspace(root), AuditRequest(set=root / "golden.jsonl", real=root / "asked.jsonl"))
    assert "cannot be told" in result.verdict
    assert "too few" in result.verdict
    assert any("Only 6 real queries" in caution for caution in result.cautions)
    assert not exceeds(result, 0.0)


def test_without_real_queries_public_sets_orient(tmp_path: Path) -> None:
    """Without a sample the verdict asks for one, and named public figures stand in, marked as another corpus."""
    root = write_portal(tmp_path)
    result = audit(workspace(root), AuditRequest(set=root / "golden.jsonl"))
    assert "--real" in result.verdict
    assert [one.name for one in result.orientation] == ["Ubuntu help channels", "Chroma chunking evaluation"]
    assert result.gaps == ()


def test_sample_without_labels_is_welcome(tmp_path: Path) -> None:
    """Real queries nobody labelled say which figures need gold, and nothing is made up for them."""
    root = write_portal(tmp_path)
    (root / "typed.txt").write_text("".join(f"{query}\n" for _, query, _ in ASKED))
    result = audit(workspace(root), AuditRequest(set=root / "golden.jsonl", real=root / "typed.txt"))
    assert result.sample is not None
    assert (result.sample.set.questions, result.sample.measured) == (6, 0)
    assert any("label quick" in line for line in result.needs_gold)
    assert result.retrievers[0].sample_score is None
    assert result.gaps == ()


def test_gold_as_text_needs_no_corpus(tmp_path: Path) -> None:
    """A set whose gold is quoted text is measured without documents; scores are then not claimed."""
    rows = [{"question": query, "context": "the ingest worker applies exponential backoff"} for _, query, _ in GOLDEN]
    (tmp_path / "set.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = audit(workspace(tmp_path), AuditRequest(set=tmp_path / "set.jsonl"))
    assert result.set.measured == 6
    assert result.retrievers == ()
    assert result.corpus is None


def test_gold_as_text_is_no_chance_of_its_own(tmp_path: Path) -> None:
    """Without documents the chance floor draws from the other golds: two that share no word have a floor of 0."""
    pairs = [("red refund form", "the red refund form"), ("vendor endpoint", "a vendor endpoint")]
    file = tmp_path / "set.csv"
    file.write_text("query,gold_text\n" + "\n".join(",".join(pair) for pair in pairs), encoding="utf-8")
    result = audit(workspace(tmp_path), AuditRequest(set=file))
    overlap = result.set.yardstick("overlap")
    assert overlap is not None
    assert (overlap.figures.median, overlap.floor) == (1.0, 0.0)


def test_worst_examples_mark_the_copied_words(tmp_path: Path) -> None:
    """The most leaking question comes with the very words it shares, at their places in both texts."""
    root = write_portal(tmp_path)
    result = audit(workspace(root), AuditRequest(set=root / "golden.jsonl", worst=3))
    assert 0 < len(result.worst) <= 3
    for example in result.worst:
        marked = {example.query[start:end].lower() for start, end in example.query_marks}
        assert marked == {word.lower() for word in example.copied}
        assert all(0 <= start < end <= len(example.extract) for start, end in example.extract_marks)


def test_other_corpus_is_said(tmp_path: Path) -> None:
    """Real queries about other documents are measured on theirs, and every claim says so."""
    root = write_portal(tmp_path / "a")
    other = write_pages(
        tmp_path / "b", {"x.md": "Restart the print server from its console.", "y.md": "Pay slips arrive monthly."}
    )
    real = write_set(tmp_path / "real.jsonl", [("1", "printer dead", ["x.md"]), ("2", "when do we get paid", ["y.md"])])
    result = audit(workspace(root), AuditRequest(set=root / "golden.jsonl", real=real, real_corpus=other))
    assert result.different_corpora
    assert "different documents" in result.verdict
    assert any("different corpora" in caution for caution in result.cautions)


def test_missing_types_are_named(tmp_path: Path) -> None:
    """Types that the sample has and the set hardly has are listed with both shares."""
    root = write_portal(tmp_path)
    write_set(root / "golden.jsonl", GOLDEN, wording="plain")
    write_set(root / "asked.jsonl", ASKED, wording="vague")
    result = audit(workspace(root), AuditRequest(set=root / "golden.jsonl", real=root / "asked.jsonl"))
    assert [(one.type, one.set_share, one.sample_share) for one in result.missing_types] == [("vague", 0.0, 1.0)]


def test_fail_over_needs_the_interval(tmp_path: Path) -> None:
    """`--fail-over` fails only where the interval, not just the figure, lies above the limit."""
    root = write_portal(tmp_path)
    result = audit(workspace(root), AuditRequest(set=root / "golden.jsonl", real=root / "asked.jsonl"))

    def with_gap(low: float) -> Audit:
        estimate = Estimate(value=0.5, low=low, high=0.9, method="t", n=50, clusters=50)
        gap = Gap(
            measure="overlap",
            corrected=False,
            difference=estimate,
            superiority=estimate,
            set_median=0.8,
            sample_median=0.2,
        )
        return result.model_copy(update={"gaps": (gap,)})

    assert exceeds(with_gap(0.31), 0.3)
    assert not exceeds(with_gap(0.29), 0.3)
    assert not exceeds(with_gap(0.29), None)


def test_set_and_documents_must_be_there(tmp_path: Path) -> None:
    """A set or corpus that is not there, and an empty set, are errors that name the file."""
    root = write_portal(tmp_path)
    with pytest.raises(MissingError, match=r"nothing\.jsonl"):
        audit(workspace(root), AuditRequest(set=root / "nothing.jsonl"))
    with pytest.raises(MissingError, match="nowhere"):
        audit(workspace(root), AuditRequest(set=root / "golden.jsonl", corpus=Path("nowhere")))
    (root / "empty.jsonl").write_text("")
    with pytest.raises(DataError, match=r"empty\.jsonl"):
        audit(workspace(root), AuditRequest(set=root / "empty.jsonl"))


def test_public_sets_show_the_articles_figures(data: Path, tmp_path: Path) -> None:
    """Chroma's questions against Ubuntu's: the articles' figures exactly, corpora and lengths told apart."""
    request = AuditRequest(
        set=data / "chroma" / "questions.csv",
        corpus=data / "chroma" / "corpora",
        real=data / "ubuntu" / "queries.jsonl",
        real_corpus=data / "ubuntu" / "corpus.jsonl",
    )
    result = audit(workspace(tmp_path), request)
    assert result.sample is not None
    own, real = result.set.yardstick("article overlap"), result.sample.yardstick("article overlap")
    assert own is not None
    assert real is not None
    assert (own.figures.n, own.figures.median) == (472, 0.5)
    assert own.figures.at_least_half == pytest.approx(0.551, abs=5e-4)
    assert own.figures.zero == pytest.approx(0.023, abs=5e-4)
    assert (real.figures.n, real.figures.median) == (348, 0.125)
    assert real.figures.at_least_half == pytest.approx(0.092, abs=5e-4)
    assert real.figures.zero == pytest.approx(0.316, abs=5e-4)
    assert result.different_corpora
    assert any("length" in caution for caution in result.cautions)
    assert all(gap.corrected for gap in result.gaps)


def test_audit_from_python_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`findback.audit` needs no workspace and returns a record that prints its verdict."""
    root = write_portal(tmp_path / "portal")
    (root / "findback.toml").unlink()
    monkeypatch.chdir(root)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    result = findback.audit("golden.jsonl", corpus="docs")
    assert "median question" in str(result)
    assert "<table" in result._repr_html_()


def test_recorded_run_without_the_real_queries_claims_no_gap(tmp_path: Path) -> None:
    """A run recorded on the set alone has no score on the real queries, and no gap is made up from its silence."""
    lines = "".join(f"{id_} Q0 {gold[0]} 1 1.0 rec\n" for id_, _, gold in GOLDEN)
    root = write_portal(tmp_path, "[retrievers.rec]\nkind = 'file'\npath = 'run.trec'\n")
    (root / "run.trec").write_text(lines)
    result = audit(workspace(root), AuditRequest(set=root / "golden.jsonl", real=root / "asked.jsonl"))
    assert result.retrievers[0].gap is not None
    assert result.retrievers[0].gap.value is None
    assert "lacks 6" in (result.retrievers[0].gap.reason or "")
    assert "higher" not in result.verdict


def test_gold_outside_the_documents_makes_no_gap(tmp_path: Path) -> None:
    """Real queries whose gold is no document are left out of the scores with a caution, not counted as misses."""
    root = write_portal(tmp_path)
    write_set(root / "asked.jsonl", [(i, q, g if n % 2 else ["gone.md"]) for n, (i, q, g) in enumerate(ASKED)])
    result = audit(workspace(root), AuditRequest(set=root / "golden.jsonl", real=root / "asked.jsonl"))
    assert result.lost_gold == (0, 3)
    assert any("3; they are left out" in caution for caution in result.cautions)
    sample = result.retrievers[0].sample_score
    assert sample is not None
    assert sample.estimate.n == 3


def test_shared_golds_widen_the_wording_interval(tmp_path: Path) -> None:
    """Many questions about few pages are not independent: the overlap's interval is the one by gold."""
    root = write_portal(tmp_path)
    names = [gold[0] for _, _, gold in GOLDEN] + [f"more/p{n}.md" for n in range(6)]
    for n in range(6):
        (root / "docs" / "more").mkdir(exist_ok=True)
        (root / "docs" / "more" / f"p{n}.md").write_text(f"# Page {n}\n\nAlpha beta gamma number {n}.")
    copied = {name: (root / "docs" / name).read_text().split("\n")[2] for name in names[::2]}
    rows = [
        (f"q{n}", copied.get(names[n % 12], "something else entirely") + f" {n}", [names[n % 12]]) for n in range(96)
    ]
    write_set(root / "golden.jsonl", rows)
    own = audit(workspace(root), AuditRequest(set=root / "golden.jsonl")).set.yardstick("overlap")
    assert own is not None
    assert own.figures.mean.method == "gold-clustered"
    assert own.figures.mean.golds == 12


def test_same_file_on_both_sides_is_said(tmp_path: Path) -> None:
    """A set audited against itself gets no verdict about wording."""
    root = write_portal(tmp_path)
    result = audit(workspace(root), AuditRequest(set=root / "golden.jsonl", real=root / "golden.jsonl"))
    assert "same file" in result.verdict
