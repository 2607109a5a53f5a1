"""Builders of result records, as audits and evaluations of an invented logistics portal give them."""

from datetime import UTC, datetime

from findback.model.audit import (
    Audit,
    AuditedRetriever,
    BucketSuccess,
    CopiedExample,
    Distribution,
    Gap,
    Hint,
    MissingType,
    Orientation,
    Side,
    Yardstick,
)
from findback.model.estimate import Estimate
from findback.model.evaluation import (
    Abstention,
    Count,
    ErrorKind,
    Evaluation,
    IndexCoverage,
    Latency,
    Miss,
    RetrieverScores,
    Score,
    ScoreGroup,
    SetMakeUp,
    Shown,
    SubjectMix,
)
from findback.model.hits import Span

MADE = datetime(2031, 5, 4, 9, 30, tzinfo=UTC)
METRICS = (
    ("Success@1", "success@1"),
    ("Success@3", "success@3"),
    ("R@10", "recall@10"),
    ("RR@10", "RR@10"),
    ("nDCG@10", "nDCG@10"),
)
BASE = {"bm25": 0.41, "dense": 0.47, "hybrid": 0.55, "reranked": 0.62}
LIFT = {"Success@1": -0.08, "Success@3": 0.07, "R@10": 0.2, "RR@10": 0.0, "nDCG@10": 0.06}


def estimate(value: float, *, n: int = 62, half: float = 0.12, **more: object) -> Estimate:
    """Return an estimate with a symmetrical interval inside [-1, 1]."""
    fields: dict[str, object] = {
        "value": value,
        "low": max(-1.0, value - half),
        "high": min(1.0, value + half),
        "n": n,
        "clusters": n - 4,
        "golds": max(1, n - 20),
        "design_effect": 1.21,
        "method": "bca",
        "seed": 7,
    }
    return Estimate.model_validate(fields | more)


def undefined(reason: str) -> Estimate:
    """Return a figure that cannot be made."""
    return Estimate(value=None, reason=reason)


def score(metric: str, value: float, *, n: int = 62, half: float = 0.12) -> Score:
    """Return one metric."""
    return Score(metric=metric, label=dict(METRICS)[metric], estimate=estimate(value, n=n, half=half))


def bounded(metric: str, low: float, high: float, *, failed: int = 3) -> Score:
    """Return a metric that errors leave only bounds of."""
    return Score(
        metric=metric,
        label=dict(METRICS)[metric],
        estimate=Estimate(value=None, n=62, clusters=58, left_out=failed, reason="3 searches failed"),
        lowest=estimate(low),
        highest=estimate(high),
    )


def counts(**named: int) -> tuple[Count, ...]:
    """Return counts by name; underscores become hyphens."""
    return tuple(Count(name=name.replace("_", "-"), count=count) for name, count in named.items())


def makeup(**more: object) -> SetMakeUp:
    """Return what the portal's set is made of."""
    fields: dict[str, object] = {
        "name": "harbour-users.jsonl",
        "heading": "unreleased set, sha256 4be0c9d27a11",
        "questions": 74,
        "answerable": 62,
        "clusters": 58,
        "golds": 42,
        "unlabelled": 2,
        "unresolved": 1,
        "by": {
            "origin": counts(mined=50, flagged=12, generated=12),
            "stratum": counts(failure=52, control=22),
            "wording": counts(plain=20, vague=18, symptom_first=24, wrong_name=12),
            "answer": counts(one=48, cross_doc=14, no_answer=10),
            "language": counts(en=64, de=10),
        },
        "notes": ("1 gold document did not resolve.",),
    }
    return SetMakeUp.model_validate(fields | more)


def miss(**more: object) -> Miss:
    """Return a missed question with what came instead."""
    fields: dict[str, object] = {
        "question": "c7f2k9q0zz1",
        "query": "why does the thing keep hammering the carrier API after lunch",
        "wording": "symptom-first",
        "kind": "not found",
        "gold": (
            Shown(
                document="runbooks/ingest-worker.md",
                title="Ingest worker",
                extract="Exponential backoff on 429.",
            ),
        ),
        "instead": (
            Shown(
                document="services/carrier-gateway.md",
                title="Carrier gateway",
                rank=1,
                score=7.2,
                extract="Calls the carrier API.",
            ),
            Shown(document="policies/lunch.md", title="Lunch break policy", rank=2, score=6.9),
        ),
        "why": "The gold document is in the index but was not among the first 100 results.",
    }
    return Miss.model_validate(fields | more)


def retriever(name: str, **more: object) -> RetrieverScores:
    """Return everything about one healthy retriever."""
    base = BASE.get(name, 0.5)
    full = tuple(score(metric, base + LIFT[metric]) for metric, _ in METRICS)
    groups = [ScoreGroup(axis="all", value="all", cases=62, scores=full)]
    shifts: list[tuple[str, str, int, float]] = [
        ("origin", "mined", 42, -0.03),
        ("origin", "generated", 12, 0.2),
        ("stratum", "failure", 42, -0.11),
        ("stratum", "control", 20, 0.16),
        ("indexed", "gold in the index", 58, 0.03),
        ("wording", "plain", 18, 0.15),
        ("wording", "vague", 14, -0.08),
        ("wording", "symptom-first", 20, -0.12),
        ("wording", "wrong-name", 10, -0.2),
        ("answer", "one", 48, 0.02),
        ("answer", "cross-doc", 14, -0.06),
        ("language", "en", 54, 0.02),
        ("language", "de", 8, -0.3),
    ]
    for axis, value, cases, shift in shifts:
        groups.append(
            ScoreGroup.model_validate(
                {
                    "axis": axis,
                    "value": value,
                    "cases": cases,
                    "scores": (score("RR@10", base + shift, n=cases, half=0.9 / cases**0.5),),
                    "exploratory": axis in ("wording", "answer", "language"),
                }
            )
        )
    fields: dict[str, object] = {
        "name": name,
        "kind": "bm25" if name == "bm25" else "dense",
        "run": f"20310504-{name}",
        "config_digest": "sha256:0f1e2d3c4b5a69788796a5b4c3d2e1f0",
        "groups": tuple(groups),
        "ranks": (
            Count(name="1", count=21),
            Count(name="2-3", count=12),
            Count(name="4-10", count=11),
            Count(name="11-100", count=9),
            Count(name="not returned", count=9),
        ),
        "misses": (
            Count(name="not in the index", count=4),
            Count(name="beyond the cut-off", count=9),
            Count(name="not found", count=5),
        ),
        "miss_examples": (miss(),),
        "coverage": IndexCoverage(golds=42, indexed=40),
        "abstention": Abstention(
            auroc=estimate(0.71, n=72),
            false_answer=estimate(0.4, n=10, half=0.28),
            false_abstain=estimate(0.13, n=62, half=0.08),
            answerable=62,
            unanswerable=10,
        ),
        "latency": Latency(median_ms=12.34, p95_ms=48.7, measured=71, warm_up=3, concurrency=1),
    }
    return RetrieverScores.model_validate(fields | more)


def failing() -> RetrieverScores:
    """Return a retriever whose errors leave only bounds, and which cannot say what it holds."""
    return retriever(
        "engine",
        kind="http",
        groups=(
            ScoreGroup(axis="all", value="all", cases=62, scores=tuple(bounded(m, 0.41, 0.52) for m, _ in METRICS)),
            ScoreGroup(axis="origin", value="mined", cases=40, scores=(bounded("RR@10", 0.38, 0.5),)),
        ),
        misses=(Count(name="error", count=3), Count(name="not found", count=20)),
        coverage=IndexCoverage(golds=42, indexed=None, reason="the engine cannot answer by id"),
        abstention=None,
        latency=Latency(median_ms=None, p95_ms=None, measured=0, warm_up=3, concurrency=4),
        errors=(
            ErrorKind(kind="timeout", count=2, first="no answer within 10 s"),
            ErrorKind(kind="HTTP 500", count=1, first="server error"),
        ),
        failed=3,
        missing=1,
        not_applicable=2,
        outside_corpus=5,
        tied_golds=0.08,
        unstable=4,
        notes=("Two ids were no document of the corpus.",),
        miss_examples=(miss(kind="error", why="The search ended in an error, so nothing can be told.", instead=()),),
    )


def evaluation(**more: object) -> Evaluation:
    """Return an evaluation of four healthy retrievers and one that failed on three questions."""
    fields: dict[str, object] = {
        "made": MADE,
        "findback": "0.1.0",
        "workspace": "harbour",
        "corpus": "docs",
        "corpus_digest": "sha256:7d1e9a",
        "documents": 92,
        "set": makeup(),
        "subjects": SubjectMix(
            subjects=("runbooks", "services", "how-tos", "policies"),
            exam=(20, 12, 8, 2),
            index=(24, 20, 30, 18),
            distance=0.27,
            expected=0.14,
        ),
        "primary": "RR@10",
        "metrics": tuple(metric for metric, _ in METRICS),
        "depth": 100,
        "seed": 7,
        "tokenizer": "findback-1",
        "retrievers": (*(retriever(name) for name in BASE), failing()),
        "spread": estimate(0.21, half=0.15),
        "legend": (
            "success@k: share of questions with a gold document among the first k; the articles' precision@k",
            "RR@10: mean of 1 / rank of the first gold document down to rank 10; the articles' MRR.",
        ),
        "limits": (
            "52 of 74 cases were chosen because search failed on them: scores lie below the average.",
            "Eight German questions are too few to say how search does in German.",
        ),
    }
    return Evaluation.model_validate(fields | more)


def distribution(median: float | None, histogram: tuple[int, ...], **more: object) -> Distribution:
    """Return how a share is distributed; its n is the histogram's sum."""
    n = sum(histogram)
    fields: dict[str, object] = {
        "n": n,
        "median": median,
        "mean": estimate(median, n=n, half=0.05) if median is not None else undefined("nothing measured"),
        "at_least_half": sum(histogram[5:]) / n if n else None,
        "zero": 0.016 if n else None,
        "histogram": histogram,
    }
    return Distribution.model_validate(fields | more)


def yardsticks(level: float, histogram: tuple[int, ...]) -> tuple[Yardstick, ...]:
    """Return all four measures at about one level."""
    ours = [
        Yardstick(
            measure=name,
            figures=distribution(level + shift, histogram),
            floor=0.08,
            corrected=distribution(level - 0.04, histogram),
        )
        for name, shift in (("overlap", 0.0), ("leak", -0.05))
    ]
    articles = [
        Yardstick(measure=name, figures=distribution(level + shift, histogram), floor=None, corrected=None)
        for name, shift in (("article overlap", 0.01), ("article leak", -0.07))
    ]
    return (*ours, *articles)


HIGH = (1, 2, 3, 4, 6, 9, 12, 14, 8, 5)
LOW = (18, 14, 10, 8, 5, 3, 2, 1, 0, 1)


def side(level: float, histogram: tuple[int, ...], **more: object) -> Side:
    """Return one set under audit."""
    fields: dict[str, object] = {
        "set": makeup(),
        "measured": sum(histogram),
        "unmeasurable": 6,
        "unmeasurable_reasons": (
            Count(name="fewer than 3 rare words", count=4),
            Count(name="query and gold in different languages", count=2),
        ),
        "gold_length": 820.0,
        "window": 820,
        "yardsticks": yardsticks(level, histogram),
        "by_language": {
            "en": yardsticks(level, histogram)[:2],
            "de": yardsticks(level - 0.02, histogram)[:2],
        },
        "hints": (),
        "query_words": 9.0,
    }
    return Side.model_validate(fields | more)


QUERY = "What is the exponential backoff policy for HTTP 429 responses in the ingest worker?"
EXTRACT = "The ingest worker applies an exponential backoff policy on HTTP 429 responses from the vendor."
COPIED = ("exponential", "backoff", "policy", "ingest", "worker")


def marks(text: str, words: tuple[str, ...] = COPIED) -> tuple[Span, ...]:
    """Return where words stand in a text."""
    found = [(text.find(word), word) for word in words]
    return tuple(Span(at, at + len(word)) for at, word in sorted(found) if at >= 0)


def copied(**more: object) -> CopiedExample:
    """Return a question that was written from its answer."""
    fields: dict[str, object] = {
        "question": "k12",
        "query": QUERY,
        "query_marks": marks(QUERY),
        "document": "runbooks/ingest-worker.md",
        "title": "Ingest worker",
        "extract": EXTRACT,
        "extract_marks": marks(EXTRACT),
        "leak": 1.0,
        "overlap": 0.88,
        "copied": COPIED,
        "rare_words": 6,
    }
    return CopiedExample.model_validate(fields | more)


def audited(name: str, on_set: float, on_sample: float) -> AuditedRetriever:
    """Return what the wording does to one retriever."""
    buckets = ("0", "0-.25", ".25-.5", ".5-.75", ".75-1", "leaked", "unleaked")
    sizes = (1, 8, 12, 21, 22, 43, 21)
    lifts = (-0.4, -0.28, -0.1, 0.02, 0.08, 0.05, -0.22)
    return AuditedRetriever(
        name=name,
        kind="bm25",
        set_score=score("RR@10", on_set),
        sample_score=score("RR@10", on_sample),
        gap=estimate(on_set - on_sample, n=120, half=0.11),
        buckets=tuple(
            BucketSuccess(
                bucket=bucket,
                cases=size,
                score=score("RR@10", on_set + lift, n=size, half=0.7 / size**0.5)
                if size > 1
                else Score(metric="RR@10", label="RR@10", estimate=undefined("1 question is too few")),
            )
            for bucket, size, lift in zip(buckets, sizes, lifts, strict=True)
        ),
        sample_buckets=tuple(
            BucketSuccess(bucket=bucket, cases=12, score=score("RR@10", max(0.05, on_sample + lift), n=12, half=0.2))
            for bucket, lift in zip(buckets[:5], lifts[:5], strict=True)
        ),
    )


def audit(**more: object) -> Audit:
    """Return an audit of a set in the answer-key style against a real sample."""
    fields: dict[str, object] = {
        "made": MADE,
        "findback": "0.1.0",
        "tokenizer": "findback-1",
        "seed": 7,
        "corpus": "docs",
        "documents": 92,
        "set": side(
            0.62,
            HIGH,
            set=makeup(
                name="golden.jsonl",
                heading="unreleased set, sha256 91c0de5a7b22",
                by={"wording": counts(plain=62, vague=2), "answer": counts(one=64)},
                notes=(),
            ),
            hints=(Hint(sign="begins like a model's questions", evidence="48 of 64 begin with What is or How do"),),
        ),
        "sample": side(0.18, LOW, set=makeup(heading="sample, sha256 4be0c9d27a11"), query_words=7.0),
        "gaps": (
            Gap(
                measure="overlap",
                corrected=False,
                difference=estimate(0.44, n=126, half=0.08),
                superiority=estimate(0.93, n=126, half=0.04),
                set_median=0.62,
                sample_median=0.18,
            ),
            Gap(
                measure="leak",
                corrected=False,
                difference=estimate(0.39, n=120, half=0.09),
                superiority=estimate(0.9, n=120, half=0.05),
                set_median=0.57,
                sample_median=0.13,
            ),
        ),
        "different_corpora": False,
        "metric": "RR@10",
        "retrievers": (
            audited("bm25", 0.84, 0.41),
            audited("dense", 0.86, 0.47),
            audited("hybrid", 0.88, 0.55),
        ),
        "spread_set": estimate(0.04, half=0.06),
        "spread_sample": estimate(0.21, half=0.15),
        "missing_types": (
            MissingType(axis="wording", type="symptom-first", set_share=0.0, sample_share=0.32),
            MissingType(axis="answer", type="no-answer", set_share=0.0, sample_share=None),
        ),
        "worst": (copied(),),
        "orientation": (
            Orientation(
                name="ubuntu",
                written="asked by users",
                n=348,
                overlap_median=0.125,
                at_least_half=0.092,
                zero=0.316,
                source="help channels, 2006-2018",
            ),
            Orientation(
                name="chroma",
                written="written by a model from its chunks",
                n=472,
                overlap_median=0.5,
                at_least_half=0.551,
                zero=0.023,
                source="chunking evaluation",
            ),
        ),
        "needs_gold": (),
        "verdict": "The set overlaps its answers more than real questions do (.620 against .180).",
        "cautions": ("The sample holds 62 questions from one month.",),
        "legend": (
            "overlap: share of the query's content words found in the gold text.",
            "leak: share of its rare words found there.",
        ),
    }
    return Audit.model_validate(fields | more)
