"""Does an exam that a model wrote say the same as people's own words? Harbour, with four ways to search it.

    FINDBACK_MODELS=FOLDER python benchmarks/generated_exam.py

The same retrievers are scored on questions in the style of an answer key, on described documents that passed the
filters, and on users' own words. The texts of the "model" are written by hand (`data/harbour_descriptions.jsonl`), its
judge knows what each is about and errs one time in twenty. Prints the tables of docs/generated-exam.md, which
`data/generated_exam.md` holds as they were printed. The embedder is pulled where FINDBACK_MODELS does not have it.
"""

import json
import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import combinations
from pathlib import Path
from random import Random
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from builders.judges import asked_text, shown_documents
from findback.corpus.corpus import Corpus
from findback.corpus.duplicates import find_duplicates
from findback.llm.ask import Ask, ScriptedModel
from findback.measure.buckets import NAMES, bucket_of
from findback.measure.ranking import compare_orders
from findback.measure.yardstick import LONGEST_WINDOW, choose_window
from findback.model.across import Across
from findback.model.estimate import Estimate
from findback.model.generated import Generated
from findback.model.question import QuestionSet
from findback.model.record import Record
from findback.reporting.figures import estimate_cell, figure
from findback.retrievers.catalogue import pull
from findback.steps.across import AcrossRequest, compare_across
from findback.steps.across_sides import Side, open_asking, score_set, take_parts
from findback.steps.generate import generate
from findback.steps.generaterequest import GenerateRequest
from findback.steps.opening import SetRequest, open_documents, open_questions
from findback.steps.pool import open_pool
from findback.steps.wording import MeasuredSide, drawn_from, measure_side, word_questions
from findback.workspace import Workspace, models_home, open_workspace
from findback.writing.describe import Description
from findback.writing.fidelity import Choice

HARBOUR = Path(__file__).resolve().parent.parent / "examples" / "harbour"
TEXTS = Path(__file__).resolve().parent / "data" / "harbour_descriptions.jsonl"
SYSTEMS = ("bm25", "dense", "hybrid", "reranked")
ERRORS = 0.05
"""How often the judge says anything, whatever is true."""
MATCHED = 60
"""Questions wanted where overlap is to follow that of users."""
SETS = {"key": "golden.jsonl", "generated": "generated.jsonl", "users": "asked.jsonl"}
SCALE = 80
"""Characters from 0 to 1."""
CALLED = {"key": "answer key", "generated": "generated", "users": "users'"}
MEANT = "meant as a description"
FAULTS = {"copied": "planted: copied", "empty": "planted: empty talk", "another": "planted: about another page"}


class Text(NamedTuple):
    """One text of the script."""

    text: str
    about: tuple[str, ...]
    """Documents it is truly about, the best one first; none for empty talk and copies."""
    fault: str | None
    """What was planted in it."""


def read_texts() -> dict[str, tuple[Text, ...]]:
    """Return the texts about each document, in the order in which they are tried."""
    read = {}
    for line in TEXTS.read_text("utf-8").splitlines():
        row = json.loads(line)
        name = row["document"]
        read[name] = tuple(
            Text(one["text"], tuple(one.get("about", () if one.get("fault") == "empty" else (name,))), one.get("fault"))
            for one in row["texts"]
        )
    return read


class Script:
    """Writes what stands in the file, and judges by what it says there, now and then wrongly."""

    def __init__(self, texts: Mapping[str, Sequence[Text]], corpus: Corpus) -> None:
        """Take the texts and what they are about."""
        self._texts = texts
        self._faults = {(name, one.text): one.fault for name, listed in texts.items() for one in listed}
        self._known = {one.text: one.about for listed in texts.values() for one in listed}
        self._beginnings = {_beginning(document.text): document.id for document in corpus}

    def write(self, ask: Ask[Record]) -> Description:
        """Return the text for this attempt; the last one again where there are no more."""
        listed = self._texts[ask.item]
        return Description(query=listed[min(ask.attempt, len(listed)) - 1].text)

    def judge(self, ask: Ask[Record]) -> Choice:
        """Return the document shown that a text is about."""
        shown = shown_documents(ask)
        draw = Random(f"{ask.attempt} {ask.user}")
        if draw.random() < ERRORS:
            return Choice(best=draw.choice([*shown, "none"]))
        letters = {self._find(text): letter for letter, text in shown.items()}
        fitting = [letters[one] for one in self._known[asked_text(ask)] if one in letters]
        return Choice(best=fitting[0] if fitting else "none", also=tuple(fitting[1:]))

    def fault_of(self, document: str, text: str) -> str | None:
        """Return what was planted in a text about a document, if anything."""
        return self._faults[document, text]

    def _find(self, shown: str) -> str | None:
        # A judge is shown the title before the text, where the text does not begin with it.
        found = self._beginnings.get(_beginning(shown))
        return found or self._beginnings.get(_beginning(shown.partition("\n\n")[2]))


def _beginning(text: str) -> str:
    return " ".join(text.split())[:150]


class Place(NamedTuple):
    """A copy of Harbour with a private folder of its own."""

    workspace: Workspace
    corpus: Corpus
    script: Script


def prepare(folder: Path) -> Place:
    """Copy Harbour into a folder."""
    root = folder / "harbour"
    shutil.copytree(HARBOUR / "docs", root / "docs")
    for name in ("golden.jsonl", "asked.jsonl"):
        shutil.copy(HARBOUR / name, root / name)
    settings = (HARBOUR / "findback.toml").read_text("utf-8")
    # Which model for names is installed must not matter, and the small English one takes German words for names.
    changed = settings.replace("[mining]\n", "[mining]\nnames = false\n")
    assert changed != settings
    (root / "findback.toml").write_text(changed, "utf-8")
    models = str(models_home(os.environ))
    environment = {"XDG_STATE_HOME": str(folder / "state"), "HOME": str(folder), "FINDBACK_MODELS": models}
    workspace = open_workspace(root, environment=environment)
    corpus = open_documents(workspace, SetRequest())
    assert corpus is not None
    return Place(workspace, corpus, Script(read_texts(), corpus))


def write(place: Place, *, n: int | None = None, match: str | None = None) -> Generated:
    """Have the script describe documents, all that are fit where no number is given; what passes is stored."""
    request = GenerateRequest(n=n or len(read_texts()), match=place.workspace.root / match if match else None)
    writer, judge = ScriptedModel(place.script.write), ScriptedModel(place.script.judge, name="judge")
    return generate(place.workspace, request, writer=writer, judge=judge)


def read_sets(place: Place) -> dict[str, QuestionSet]:
    """Return the three sets; what was written comes out of the pool and is put into a file beside the others."""
    pool = open_pool(place.workspace, SetRequest(), place.corpus)
    rows = (
        {"id": one.id, "query": one.query, "language": one.language, "gold": [judged.doc for judged in one.gold]}
        for one in pool.questions
    )
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (place.workspace.root / SETS["generated"]).write_text(lines, "utf-8")
    return {
        name: open_questions(place.workspace, SetRequest(set=place.workspace.root / file), place.corpus)
        for name, file in SETS.items()
    }


def measure(place: Place, sets: Mapping[str, QuestionSet]) -> dict[str, MeasuredSide]:
    """Return leak and overlap of every set in windows of one length, the shortest that any of them asks for."""
    worded = {name: word_questions(one, place.corpus) for name, one in sets.items()}
    window = min(choose_window(one.lengths).window or LONGEST_WINDOW for one in worded.values())
    groups, seed = find_duplicates(place.corpus).groups, place.workspace.settings.measures.seed
    return {
        name: measure_side(sets[name], one, drawn_from(place.corpus, one, groups), window=window, seed=seed)
        for name, one in worded.items()
    }


def search(place: Place, questions: QuestionSet, systems: Sequence[str] = SYSTEMS) -> Side:
    """Return the scores of the systems on a set; their runs are kept."""
    asking = open_asking(place.workspace, AcrossRequest(across=""), questions, place.corpus)
    return score_set(asking, systems, seed=place.workspace.settings.measures.seed)


def restrict(side: Side, pages: Set[str]) -> Side:
    """Return the questions whose answer is on one of some pages."""
    asked = side.paired.questions
    rows = [at for at, question in enumerate(asked) if any(one.doc in pages for one in question.gold)]
    return side._replace(paired=side.paired.take(rows))


def find_shared(sides: Iterable[Side]) -> set[str]:
    """Return the pages that every set asks for."""
    asked = ({one.doc for question in side.paired.questions for one in question.gold} for side in sides)
    return set.intersection(*asked)


# What is printed.


def show_table(*rows: Sequence[object]) -> list[str]:
    """Return a Markdown table; the first row is its head."""
    head, *rest = [f"| {' | '.join(map(str, row))} |" for row in rows]
    return [head, "|" + "---|" * len(rows[0]), *rest, ""]


def shown(estimate: Estimate) -> str:
    """Return an estimate with its interval."""
    cell = estimate_cell(estimate)
    return f"{cell.text} {cell.extra}".strip()


def show_written(place: Place, result: Generated) -> list[str]:
    """Return what became of the texts, by what is true of them."""
    kinds: dict[str, Counter[str]] = {kind: Counter() for kind in (MEANT, *FAULTS.values())}
    for described in result.described:
        for attempt in described.attempts:
            kind = FAULTS.get(place.script.fault_of(described.document, attempt.text) or "", MEANT)
            doubts = "passed, with a doubt" if attempt.doubts else "passed"
            kinds[kind][attempt.rejections[0].by if attempt.rejections else doubts] += 1
    columns = ("form", "leak", "fidelity", "ambiguity", "novelty", "passed, with a doubt", "passed")
    rows = [(kind, sum(counts.values()), *(counts[column] for column in columns)) for kind, counts in kinds.items()]
    total: Counter[str] = sum(kinds.values(), Counter())
    ended = ", ".join(f"{one.count} {one.outcome}" for one in result.ended)
    reasons = show_table(("filter", "reason", "texts"), *((one.by, one.reason, one.count) for one in result.turned))
    return [
        f"{len(result.described)} documents: {ended}. {result.texts} texts.",
        "",
        *show_table(
            ("what the text is", "texts", *columns),
            *rows,
            ("all", total.total(), *(total[column] for column in columns)),
        ),
        *reasons,
    ]


def show_judge(result: Generated) -> list[str]:
    """Return how the judge did, and what it turned down by leak."""
    calibration, before, after = result.calibration, result.leak_before, result.leak_after
    assert calibration is not None
    assert before is not None
    assert after is not None
    rows = ((one.bucket, one.judged, one.rejected) for one in calibration.buckets)
    return [
        f"- Swapped between documents: {calibration.swapped}, turned down {calibration.rejected}.",
        f"- Does it prefer leaking text: {calibration.prefers_leaking_reason}.",
        f"- Mean leak of first texts: {shown(before.mean)}, {before.unmeasurable} of {before.texts} not measurable.",
        f"- Mean leak of what passed: {shown(after.mean)}, {after.unmeasurable} of {after.texts} not measurable.",
        "",
        *show_table(("leak", "texts judged", "turned down by the judge"), *rows),
    ]


def show_wording(sides: Mapping[str, MeasuredSide]) -> list[str]:
    """Return leak and overlap of each set."""
    rows, spreads = [], []
    for name, one in sides.items():
        overlap, leak = one.side.yardstick("overlap"), one.side.yardstick("leak")
        assert overlap is not None
        assert leak is not None
        chance = figure(overlap.floor or 0.0)
        words = f"{one.side.query_words:g}"
        mean, measured = shown(leak.figures.mean), f"{leak.figures.n} of {one.side.measured}"
        rows.append((CALLED[name], one.side.measured, words, shown(overlap.figures.mean), chance, mean, measured))
        values = [value for value in one.values("overlap") if value is not None]
        counts = Counter(map(bucket_of, values))
        spreads.append((CALLED[name], *(figure(counts[bucket] / len(values), digits=2) for bucket in NAMES)))
    window = next(iter(sides.values())).side.window
    return [
        f"Windows of {window} characters.",
        "",
        *show_table(
            ("set", "questions", "words, median", "overlap", "by chance", "vocabulary leak", "leak measurable"), *rows
        ),
        *show_table(("share of questions with overlap", *NAMES), *spreads),
    ]


def show_levels(sides: Mapping[str, Side]) -> list[str]:
    """Return the mean of every system on every set, and how far they are apart."""
    rows = []
    for name, side in sides.items():
        found = compare_orders(side.sample, side.sample)
        stand = found.sets[0]
        spread = shown(Estimate(**stand.spread.model_dump(include={"value", "low", "high", "clusters", "reason"})))
        order = sorted(zip(stand.levels, side.paired.names, strict=True), key=lambda one: -(one[0].value or 0.0))
        levels = map(shown, stand.levels)
        apart, seen = f"{stand.apart} of {len(found.pairs)}", " > ".join(one for _, one in order)
        rows.append((name, stand.n, *levels, spread, apart, seen))
    names = next(iter(sides.values())).paired.names
    return show_table(("questions", "n", *names, "best − worst", "pairs told apart", "order seen"), *rows)


def show_scale(sides: Mapping[str, Side]) -> list[str]:
    """Return where on the way from 0 to 1 each system stands, by its first letter."""
    lines = [f"{'':<12}{'0':<{SCALE // 4}}{'.25':<{SCALE // 4}}{'.5':<{SCALE // 4}}{'.75':<{SCALE // 4}}1"]
    for name, side in sides.items():
        places = ["·"] * (SCALE + 1)
        for mean, system in sorted(zip(side.sample.by_cluster().means(), side.paired.names, strict=True)):
            at = round(mean * SCALE)
            while places[at] != "·":
                at += 1
            places[at] = system[0]
        lines.append(f"{name:<12}{''.join(places)}")
    return ["```text", *lines, "```", ""]


def show_agreement(results: Iterable[Across]) -> list[str]:
    """Return what `findback compare --across` says of two sets."""
    rows = []
    for one in results:
        seen = [[(pair.differences[at].value or 0.0) > 0 for pair in one.pairs] for at in (0, 1)]
        alike = sum(here == there for here, there in zip(*seen, strict=True))
        differ = [f"{pair.first}–{pair.second}" for pair in one.pairs if pair.differs]
        turned = sum(pair.reversed for pair in one.pairs)
        weighted = "refused" if one.overlap is None or one.overlap.refusal else "given"
        named = " and ".join(CALLED[word] for word, file in SETS.items() for side in one.sides if side.name == file)
        rows.append(
            (named, one.verdict, one.why, f"{alike} of {len(one.pairs)}", ", ".join(differ) or "none", turned, weighted)
        )
    head = (
        "sets",
        "same order?",
        "why",
        "pairs seen the same way round",
        "differences that differ",
        "reversed",
        "first weighted to the second's overlap",
    )
    return show_table(head, *rows)


def show_matching(result: Generated) -> list[str]:
    """Return how far the accepted texts follow users' overlap."""
    matching = result.matching
    assert matching is not None
    rows = [(one.bucket, figure(one.share, digits=2), one.quota, one.accepted, one.tried) for one in matching.buckets]
    return [
        f"{matching.wanted} wanted, {matching.accepted} accepted; refused: {matching.refusal or 'no'}.",
        "",
        *show_table(("overlap", "users' share", "wanted", "accepted", "texts that fell into it"), *rows),
    ]


def main() -> None:
    """Write, score, and print everything."""
    pull("minilm-l6", models_home(os.environ))
    with tempfile.TemporaryDirectory() as folder:
        place = prepare(Path(folder))
        result = write(place)
        sets = read_sets(place)
        sides = {name: search(place, one) for name, one in sets.items()}
        shared = find_shared(sides.values())
        parts = take_parts(sides["users"], ("failure", "control"))
        levels = {
            **{CALLED[name]: one for name, one in sides.items()},
            "users', failed searches": parts[0],
            "users', searches that did not fail": parts[1],
            **{f"{CALLED[name]}, {len(shared)} shared pages": restrict(one, shared) for name, one in sides.items()},
        }
        files = {name: str(place.workspace.root / file) for name, file in SETS.items()}
        across = [
            compare_across(place.workspace, AcrossRequest(across=f"{files[one]},{files[other]}", systems=SYSTEMS))
            for one, other in combinations(files, 2)
        ]
        lines = [
            *("### Written and turned down", "", *show_written(place, result), *show_judge(result)),
            *("### Wording", "", *show_wording(measure(place, sets))),
            *(
                "### Levels, RR@10",
                "",
                *show_scale({CALLED[name]: one for name, one in sides.items()}),
                *show_levels(levels),
            ),
            *("### Order", "", *show_agreement(across)),
        ]
    with tempfile.TemporaryDirectory() as folder:
        followed = write(prepare(Path(folder)), n=MATCHED, match="asked.jsonl")
        lines += ["### With --match asked.jsonl", "", *show_matching(followed)]
    print("\n".join(lines).rstrip())


if __name__ == "__main__":
    main()
