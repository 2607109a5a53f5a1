"""TREC: a folder with topics (`id <tab> query`, or tagged topics) and qrels."""

import re
from collections.abc import Iterator
from pathlib import Path

from findback.errors import DataError
from findback.evalset.extra import Extras, add_extra, best_grades, read_extra, side_file, write_extra
from findback.evalset.format import ReadOptions
from findback.evalset.losses import BESIDE_PAIRS
from findback.evalset.mapping import ID_LIMIT, QUERY_LIMIT
from findback.evalset.qrels import GatheredJudgements
from findback.evalset.textfile import Faults, Line, digest_files, read_lines, shown
from findback.evalset.trec import decode_id, encode_id
from findback.evalset.writing import write_pieces
from findback.model.question import Question, QuestionSet

name = "trec"
losses = ("ids with blanks", "documents with blanks", "blanks in queries", *BESIDE_PAIRS)

_QRELS_CELLS = 4
_TOPIC_LINES = 2_000
_TAG = re.compile(r"<(num|title|desc|narr)>\s*(?:(?:Number|Topic|Description|Narrative):)?", re.IGNORECASE)


def recognise(path: Path) -> str | None:
    """Return the reason to take a folder for topics and qrels, or None."""
    if not path.is_dir():
        return None
    topics, qrels = _find(path, "topics", "queries"), _find(path, "qrels")
    if topics and qrels and (topics.name, qrels.name) == ("queries.tsv", "qrels.trec"):
        # Those are the names of ir_datasets' own files.
        return None
    return f"a folder with {topics.name} and {qrels.name}" if topics and qrels else None


def read(path: Path, options: ReadOptions) -> QuestionSet:
    """Return every topic; one without a row in the qrels is unlabelled, unless the side file knows more.

    Raises:
        DataError: With every fault found.
    """
    topics, qrels = _find(path, "topics", "queries"), _find(path, "qrels")
    if topics is None or qrels is None:
        raise DataError(f"{path} does not hold topics and qrels")
    faults = Faults()
    extras = read_extra(side_file(topics), faults)
    # Only our own export encodes ids, and it always has a side file.
    decode = decode_id if extras else str
    queries = _read_topics(topics, faults, ours=bool(extras))
    gathered = GatheredJudgements(qrels, faults, options.grades)
    for line in read_lines(qrels, faults):
        cells = line.text.split()
        if not cells:
            continue
        if len(cells) != _QRELS_CELLS:
            faults.add(qrels, line.number, f"{len(cells)} columns, and four were expected: query, 0, document, grade")
        else:
            gathered.add(line.number, decode(cells[0]), decode(cells[2]), cells[3])
    gathered.check_known(queries)
    notes = [*faults.settle(path.name, skip_bad=options.skip_bad)]
    if not queries:
        raise DataError(f"{topics} holds no topics")
    if extras:
        notes.append(f"read with its side file {side_file(topics).name}")
    return QuestionSet(
        name=path.name,
        kind="unreleased set",
        questions=tuple(_question(identity, query, gathered, extras) for identity, query in queries.items()),
        sha256=digest_files([topics, qrels]),
        format=name,
        notes=tuple(notes),
        skipped=faults.rows,
    )


def places(target: Path) -> tuple[Path, ...]:
    """Return topics, qrels and the side file."""
    topics = target / "topics.tsv"
    return topics, target / "qrels.txt", side_file(topics)


def write(questions: QuestionSet, target: Path) -> tuple[Path, ...]:
    """Write `topics.tsv`, `qrels.txt` and the side file into a folder; ids that TREC breaks are percent-encoded.

    Raises:
        StorageError: If the disk refuses.
    """
    topics, qrels, extra = places(target)
    entries = questions.questions
    write_pieces(topics, (f"{encode_id(q.id)}\t{_flat(q.query)}\n" for q in entries))
    write_pieces(
        qrels,
        (
            f"{encode_id(question.id)} 0 {encode_id(doc)} {grade}\n"
            for question in entries
            for doc, grade in best_grades(question.judged or ()).items()
        ),
    )
    write_extra(extra, questions, lambda _, question: question.id, form=name, losses=losses)
    return topics, qrels, extra


def _flat(query: str) -> str:
    return " ".join(query.split())


def _find(folder: Path, *words: str) -> Path | None:
    def fits(path: Path) -> bool:
        lower = path.name.lower()
        return any(word in lower for word in words) and not lower.endswith((".jsonl", ".json", ".gz"))

    if not folder.is_dir():
        return None
    found = sorted(path for path in folder.iterdir() if fits(path) and path.is_file())
    return found[0] if len(found) == 1 else None


def _read_topics(path: Path, faults: Faults, *, ours: bool) -> dict[str, str]:
    found: dict[str, str] = {}
    lines = list(read_lines(path, faults))
    tagged = any("<top>" in line.text.lower() for line in lines[:_TOPIC_LINES])
    for number, identity, query in _tagged(lines) if tagged else _tabbed(path, lines, faults):
        topic = decode_id(identity) if ours else identity
        if not topic or len(topic) > ID_LIMIT:
            faults.add(path, number, "the topic has no number" if not topic else "the topic's id is too long")
        elif topic in found:
            faults.add(path, number, f"topic {shown(topic)} stands there twice")
        elif not query.strip() or len(query) > QUERY_LIMIT:
            faults.add(path, number, "the topic's query is empty" if not query.strip() else "the query is too long")
        else:
            found[topic] = query
    return found


def _tabbed(path: Path, lines: list[Line], faults: Faults) -> Iterator[tuple[int, str, str]]:
    for line in lines:
        text = line.text.rstrip("\n")
        if not text.strip():
            continue
        identity, tab, query = text.partition("\t")
        if not tab:
            faults.add(path, line.number, "no tab between the topic's id and its query")
        else:
            yield line.number, identity.strip(), query


def _tagged(lines: list[Line]) -> Iterator[tuple[int, str, str]]:
    """Yield number, id and title of topics written between <top> and </top>."""
    start, fields, current = 0, {"num": "", "title": ""}, ""
    for line in lines:
        text = line.text.strip()
        lower = text.lower()
        if lower.startswith("<top>"):
            start, fields, current = line.number, {"num": "", "title": ""}, ""
        elif lower.startswith("</top>"):
            yield start, fields["num"].strip(), " ".join(fields["title"].split())
        else:
            tag = _TAG.match(text)
            if tag:
                current, text = tag[1].lower(), text[tag.end() :]
            if current in fields:
                fields[current] += " " + re.sub(r"</\w+>\s*$", "", text)


def _question(identity: str, query: str, gathered: GatheredJudgements, extras: Extras) -> Question:
    extra = extras.get(identity)
    if extra is not None and _flat(extra.query) == query:
        query = extra.query
    question = Question(id=identity, query=query, judged=gathered.of(identity))
    return add_extra(question, extra, {"id": identity, "query": query})
