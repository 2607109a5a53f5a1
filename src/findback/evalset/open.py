"""Open a set of questions, whatever it is written in."""

import stat
from collections import Counter
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from findback import registry
from findback.errors import DataError, FindbackError, MissingError, UsageError
from findback.evalset.format import ReadOptions, SetFormat
from findback.evalset.textfile import first_line, reading_error, shown
from findback.model.case import Context, Judgement
from findback.model.protocols import Redactor
from findback.model.question import Question, QuestionSet, SetKind

GROUP = "findback.formats"
FALLBACK = "mapped"
"""Asked only when no other format recognises a path."""

REMEMBERED = 4_096
"""Texts whose redaction is remembered: clusters, wordings and frequent queries come again and again."""

_DEFAULTS = ReadOptions()


def open_set(
    path: Path,
    *,
    as_: str | None = None,
    columns: Mapping[str, str] | None = None,
    grades: Mapping[str, int] | None = None,
    skip_bad: bool = False,
    redactor: Redactor | None = None,
    kind: SetKind | None = None,
    holdout: bool = False,
    formats: Mapping[str, SetFormat] | None = None,
) -> QuestionSet:
    """Return the questions of a file or folder, redacted, with notes on how they were read.

    Args:
        path: A file or folder.
        as_: Name of the format; recognised when left out.
        columns: Columns of a mapped file, by field.
        grades: What the file's grades mean on the scale 0 to 3.
        skip_bad: Keep the good rows of a file with bad ones.
        redactor: Goes over every text before anything else sees it.
        kind: What the set is to be called; a release keeps its own name.
        holdout: Read what a release holds out, and nothing else.
        formats: The formats to choose from; every installed one when left out.

    Raises:
        MissingError: If nothing is there, or no format has the name given.
        DataError: If it holds no questions that can be read; every fault is listed.
        UsageError: If a column is named that is not there.
    """
    known = formats if formats is not None else installed_formats()
    chosen, why = _choose(path, as_, known, mapped=bool(columns))
    options = ReadOptions(columns=columns or {}, grades=grades or {}, skip_bad=skip_bad, holdout=holdout)
    try:
        questions = chosen.read(path, options)
    except DataError as error:
        raise _redact_error(error, redactor) from None
    notes = [f"read as {chosen.name}: {why}", _count(questions), *questions.notes]
    update: dict[str, Any] = {}
    if kind is not None and questions.kind != "release":
        update["kind"] = kind
    if redactor is not None:
        update["questions"], update["redactions"], alterations = redact_questions(questions.questions, redactor)
        notes += alterations
        notes = [redactor.redact(note).text for note in notes]
    return questions.model_copy(update=update | {"notes": tuple(notes)})


def installed_formats() -> dict[str, SetFormat]:
    """Return findback's own set formats by name; another package's is loaded only when it is named."""
    return {name: registry.load(GROUP, name) for name in registry.names(GROUP) if registry.is_ours(GROUP, name)}


def redact_questions(
    questions: tuple[Question, ...], redactor: Redactor
) -> tuple[tuple[Question, ...], dict[str, int], tuple[str, ...]]:
    """Return the questions with every text redacted, the placeholders put in by type, and notes about it."""
    counts: Counter[str] = Counter()
    altered = 0
    redact = lru_cache(maxsize=REMEMBERED)(redactor.redact)

    def clean(text: str) -> str:
        redacted = redact(text)
        if redacted.types:
            counts.update(redacted.types)
        return redacted.text

    done = []
    for position, question in enumerate(questions, 1):
        new = _redact(question, clean, position)
        altered += new.query != question.query
        done.append(new)
    notes: tuple[str, ...] = ()
    if counts:
        listed = ", ".join(f"{type_} {count:,}" for type_, count in sorted(counts.items()))
        notes = (f"redacted on reading: {listed}; {altered:,} queries altered",)
    return tuple(done), dict(sorted(counts.items())), notes


def _redact_error(error: DataError, redactor: Redactor | None) -> DataError:
    """Return the error with ids fit to be shown: some files use a question, or an address, as one."""
    if redactor is None:
        return error
    faults = [fault._replace(message=redactor.redact(fault.message).text) for fault in error.faults]
    hint = None if error.hint is None else redactor.redact(error.hint).text
    return DataError(error.message, faults=faults, hint=hint)


def _redact(question: Question, clean: Callable[[str], str], position: int) -> Question:
    update: dict[str, Any] = {"query": clean(question.query)}
    if update["query"] != question.query or any(c in question.id for c in " @\n") or "://" in question.id:
        # Some files use the question, or an address, as its id.
        identity = clean(question.id)
        update["id"] = question.id if identity == question.id else f"row-{position}"
    for field in ("no_answer_reason", "wording", "selected_on", "cluster"):
        value = getattr(question, field)
        if value is not None:
            update[field] = clean(value)
    if question.gold_texts:
        update["gold_texts"] = tuple(map(clean, question.gold_texts))
    if question.tags:
        update["tags"] = tuple(map(clean, question.tags))
    if question.judged is not None:
        update["judged"] = tuple(_redact_judgement(judgement, clean) for judgement in question.judged)
    if question.context is not None:
        update["context"] = _redact_context(question.context, clean)
    if all(value == getattr(question, field) for field, value in update.items()):
        return question
    return question.model_copy(update=update)


def _redact_judgement(judgement: Judgement, clean: Callable[[str], str]) -> Judgement:
    if judgement.anchor is None:
        return judgement
    return judgement.model_copy(update={"anchor": clean(judgement.anchor)})


def _redact_context(context: Context, clean: Callable[[str], str]) -> Context:
    update: dict[str, Any] = {
        field: clean(getattr(context, field))
        for field in ("locale", "audience", "as_of")
        if getattr(context, field) is not None
    }
    if context.filters is not None:
        update["filters"] = {clean(key): clean(value) for key, value in context.filters.items()}
    if context.turns is not None:
        update["turns"] = tuple(map(clean, context.turns))
    return context.model_copy(update=update)


def _choose(path: Path, as_: str | None, known: Mapping[str, SetFormat], *, mapped: bool) -> tuple[SetFormat, str]:
    _refuse_special(path)
    if as_ is not None:
        if as_ not in known:
            raise MissingError(f"there is no set format named {shown(as_)}", hint=f"known: {', '.join(sorted(known))}")
        return known[as_], "as asked"
    reasons = {name: why for name, form in known.items() if name != FALLBACK and (why := _ask(form, path))}
    if mapped and FALLBACK in known:
        # Columns are a table's, or paths into the entries of a format that knows where everything else stands.
        reasons = {name: why for name, why in reasons.items() if getattr(known[name], "takes_paths", False)}
        if not reasons:
            return known[FALLBACK], "columns were named"
    if len(reasons) > 1:
        listed = "; ".join(f"{name} ({why})" for name, why in sorted(reasons.items()))
        raise UsageError(f"{path} looks like several formats: {listed}", hint="say which one with --as")
    if not reasons and path.is_file() and first_line(path) == "{":
        raise DataError(
            f"{path} is one JSON object over several lines, in no format that is known",
            hint=f"known: {', '.join(sorted(known))}; a table is JSON Lines, one object a line",
        )
    if not reasons and FALLBACK in known and path.is_file():
        # Reading it says best what is wrong with a file that nothing recognises.
        return known[FALLBACK], known[FALLBACK].recognise(path) or "a table"
    if not reasons:
        raise DataError(
            f"{path} holds no questions in a format that is known",
            hint=f"known: {', '.join(sorted(known))}; say which one with --as",
        )
    name, why = reasons.popitem()
    return known[name], why


def _refuse_special(path: Path) -> None:
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError, RuntimeError) as error:
        raise reading_error(path, error) from None
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise DataError(f"{path} is not a regular file", hint="write what it gives into a file, and name that")


def _ask(form: SetFormat, path: Path) -> str | None:
    try:
        return form.recognise(path)
    except (FindbackError, OSError):
        return None


def _count(questions: QuestionSet) -> str:
    total = len(questions.questions)
    answers = Counter(question.answer or _unlabelled(question) for question in questions.questions)
    listed = ", ".join(f"{count:,} {answer}" for answer, count in answers.most_common())
    wordings = Counter(q.wording for q in questions.questions if q.wording is not None)
    sentence = f"{total:,} question{'' if total == 1 else 's'}: {listed}"
    if wordings:
        sentence += "; wording " + ", ".join(f"{name} {count:,}" for name, count in wordings.most_common(8))
    return sentence


def _unlabelled(question: Question) -> str:
    return "with gold as text" if question.gold_texts else "unlabelled"
