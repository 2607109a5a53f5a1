"""Names of metrics: they parse and print as ir_measures writes them."""

import ast
import re
from dataclasses import dataclass
from typing import Literal, NamedTuple

from findback.errors import UsageError

CutoffRule = Literal["needed", "allowed", "none"]
_SHAPE = re.compile(r"\s*([A-Za-z_]+)\s*(?:\(([^()]*)\))?\s*(?:@\s*(\d+))?\s*")
_HINT = "the name, then parameters in brackets, then the cut-off: P(rel=2)@5"


class Form(NamedTuple):
    """How the name of a metric is written and shown."""

    name: str
    cutoff: CutoffRule
    label: str
    """How tables head it; `@k` and parameters follow."""
    meaning: str
    """One sentence for the legend."""
    parameters: tuple[str, ...] = ("rel",)
    aliases: tuple[str, ...] = ()


FORMS = (
    Form(
        "Success",
        "needed",
        "success",
        "share of questions with a right document among the first k; what "
        "articles with one right document per question call precision@k",
    ),
    Form("P", "needed", "precision", "right documents among the first k, divided by k", aliases=("Precision",)),
    Form("R", "needed", "TREC recall", "share of all right documents among the first k", aliases=("Recall",)),
    Form(
        "RR",
        "allowed",
        "RR",
        "one over the rank of the first right document; its mean is MRR",
        aliases=("MRR",),
    ),
    Form(
        "nDCG",
        "allowed",
        "nDCG",
        "discounted gain over that of the ideal order; gain is the grade, or 2^grade − 1 with dcg='exp-log2'",
        ("dcg",),
        ("NDCG",),
    ),
    Form("AP", "allowed", "AP", "mean of the precision at the rank of each right document", aliases=("MAP",)),
    Form(
        "Rprec",
        "none",
        "R-precision",
        "precision at as many results as there are right documents",
        aliases=("RPrec",),
    ),
    Form(
        "Bpref",
        "none",
        "bpref",
        "how seldom judged wrong documents stand above right ones",
        aliases=("BPref",),
    ),
    Form("Judged", "needed", "judged", "share of the first k results that somebody has judged", ()),
    Form(
        "PartRecall",
        "needed",
        "recall",
        "share of a question's parts with a right document among the first k; "
        "the same as TREC's where each part has one document",
        (),
    ),
    Form("Complete", "needed", "complete", "share of questions with every part among the first k", ()),
    Form(
        "AnchorSuccess",
        "needed",
        "anchor-success",
        "share of questions with a passage among the first k that holds at least half of a quoted answer",
        (),
    ),
    Form(
        "AnchorRecall",
        "needed",
        "anchor-recall",
        "share of the quoted answers that a passage among the first k holds at least half of",
        (),
    ),
)
_BY_NAME = {name: form for form in FORMS for name in (form.name, *form.aliases)}


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric with its parameters; `str()` gives the canonical name."""

    name: str
    cutoff: int | None = None
    """Last rank that counts; None for all."""
    rel: int = 1
    """Least grade that counts as right."""
    dcg: Literal["log2", "exp-log2"] = "log2"
    """Gain of nDCG: the grade itself, or 2^grade − 1."""

    @property
    def form(self) -> Form:
        """How it is written and shown."""
        return _BY_NAME[self.name]

    @property
    def label(self) -> str:
        """How tables head it: `success@3`, `recall@10`, `nDCG@10 (exponential gain)`.

        >>> parse_metric("PartRecall@10").label
        'recall@10'
        """
        notes = [f"grade {self.rel} or more"] if self.rel != 1 else []
        notes += ["exponential gain"] if self.dcg == "exp-log2" else []
        return self.form.label + self._at() + (f" ({', '.join(notes)})" if notes else "")

    def _at(self) -> str:
        return "" if self.cutoff is None else f"@{self.cutoff}"

    def __str__(self) -> str:
        parameters = [f"rel={self.rel}"] if self.rel != 1 else []
        parameters += [f"dcg={self.dcg!r}"] if self.dcg != "log2" else []
        return self.name + (f"({','.join(parameters)})" if parameters else "") + self._at()


def supported_names() -> str:
    """Return the supported names in one line, each as it may be written."""
    tail = {"needed": "@k", "allowed": "[@k]", "none": ""}
    return ", ".join(form.name + tail[form.cutoff] for form in FORMS)


def parse_metric(text: str) -> Metric:
    """Return the metric a name means.

    Raises:
        UsageError: If there is no such metric, or not with these parameters; lists what there is.

    >>> [str(parse_metric(name)) for name in ("MRR@10", "P( rel = 2 )@5", "nDCG(dcg='log2')@3")]
    ['RR@10', 'P(rel=2)@5', 'nDCG@3']
    """
    match = _SHAPE.fullmatch(text)
    form = _BY_NAME.get(match[1]) if match else None
    if match is None:
        raise UsageError(f"{text!r} is not the name of a metric", hint=_HINT)
    if form is None:
        raise UsageError(f"there is no metric {match[1]!r}", hint=f"there are {supported_names()}")
    cutoff = int(match[3]) if match[3] else None
    if form.cutoff == "needed" and cutoff is None:
        raise UsageError(f"{form.name} needs a cut-off", hint=f"for example {form.name}@10")
    if form.cutoff == "none" and cutoff is not None:
        raise UsageError(f"{form.name} has no cut-off", hint=f"write {form.name}")
    if cutoff == 0:
        raise UsageError(f"the cut-off of {text!r} must be 1 or more")
    rel: int = 1
    dcg: Literal["log2", "exp-log2"] = "log2"
    for key, value in _read_parameters(text, match[2] or ""):
        if key not in form.parameters:
            allowed = ", ".join(form.parameters) or "none"
            raise UsageError(f"{form.name} has no parameter {key!r}", hint=f"its parameters: {allowed}")
        if key == "rel" and isinstance(value, int) and not isinstance(value, bool) and value >= 1:
            rel = value
        elif key == "dcg" and value in ("log2", "exp-log2"):
            dcg = "exp-log2" if value == "exp-log2" else "log2"
        else:
            raise UsageError(f"{value!r} is no value for {key} of {form.name}", hint=_VALUES[key])
    return Metric(form.name, cutoff, rel, dcg)


_VALUES = {"rel": "rel is a grade, 1 or more", "dcg": "dcg is 'log2' (linear gain) or 'exp-log2'"}


def _read_parameters(text: str, inside: str) -> list[tuple[str, object]]:
    pairs: list[tuple[str, object]] = []
    for piece in filter(None, (piece.strip() for piece in inside.split(","))):
        key, equals, value = piece.partition("=")
        try:
            pairs.append((key.strip(), ast.literal_eval(value.strip())))
        except (ValueError, SyntaxError):
            equals = ""
        if not equals:
            raise UsageError(f"the parameters of {text!r} cannot be read", hint=_HINT)
    return pairs
