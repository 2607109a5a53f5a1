"""From a text that passed to a candidate that a person confirms: redaction stands between the two."""

from collections.abc import Iterable
from importlib.metadata import version
from typing import NamedTuple

from findback.errors import RefusedError
from findback.model.candidate import Candidate, DocumentLink, RedactedText, RuleHit
from findback.model.protocols import RawText, ThreadRedactor
from findback.model.written import Attempt, Written
from findback.privacy.key import Key
from findback.privacy.opening import open_redactor
from findback.privacy.vocabulary import read_vocabulary
from findback.steps.bench import open_bench
from findback.steps.generating import Task
from findback.steps.generatingplan import Ground, Means, Prepared, key_of
from findback.steps.kept import now
from findback.steps.retention import keep_retention
from findback.workspace import Workspace
from findback.writing.voices import name_options

SOURCE = "model"
RULE = "generated"
MOST_NAME = 200
"""Characters of a name in a record; a model may be called by a long path."""
UNREDACTED = "it could not be looked through whole for what must not be kept"


class Passed(NamedTuple):
    """A document whose text passed, and the candidate it becomes."""

    task: Task
    candidate: Candidate


def make_candidates(ground: Ground, means: Means, prepared: Prepared, tasks: Iterable[Task]) -> list[Passed]:
    """Return what passed as candidates; a text that cannot be redacted whole ends as an error."""
    settings = ground.workspace.settings
    opened = open_redactor(
        ground.key,
        settings.privacy,
        vocabulary=read_vocabulary(ground.corpus),
        # A guess at names damages a text that holds none but those of its document; known ones are still found.
        names="roster",
    )
    passed = [task for task in tasks if task.passed]
    made: list[Passed] = []
    ground.progress.start("Looking through what was written", len(passed))
    try:
        for task in passed:
            redacted = _redact(task.attempts[-1].text, opened.redactor)
            if redacted is None:
                task.outcome, task.reason = "error", UNREDACTED
            else:
                made.append(Passed(task, _candidate(task, redacted, ground, means, prepared)))
            ground.progress.advance()
    finally:
        ground.progress.finish()
    return made


def store_candidates(workspace: Workspace, key: Key, candidates: Iterable[Candidate]) -> dict[str, int]:
    """Put candidates into the workbench; return what became of how many."""
    with open_bench(workspace, key) as bench:
        counts = bench.put(candidates, now=now())
        keep_retention(workspace, bench, now())
    return {name: count for name in counts.__slots__ if (count := getattr(counts, name))}


def _redact(text: str, redactor: ThreadRedactor) -> RedactedText | None:
    try:
        return redactor.redact_all([RawText(text)])[0]
    except RefusedError:
        return None


def _candidate(task: Task, query: RedactedText, ground: Ground, means: Means, prepared: Prepared) -> Candidate:
    document, container = task.document.id, prepared.container
    written = _written(task, task.attempts[-1], means, prepared)
    links = [(document, "described"), *((other, "described-too") for other in task.alternatives)]
    return Candidate(
        key=key_of(ground.key, container, document),
        source=SOURCE,
        container_hmac=container,
        audience="public",
        query=query,
        query_line=-1,
        rules=(RuleHit(rule=RULE, strength="medium", evidence=_evidence(written)),),
        links=tuple(DocumentLink(document=one, line=-1, by="bot", kind=kind) for one, kind in links),
        origin="generated",
        stratum="control",
        language=task.language,
        seen_on=written.written_on.strftime("%Y-%m"),
        written=written,
    )


def _evidence(written: Written) -> str:
    leak = "not measurable" if written.leak is None else f"{written.leak:.2f}"
    sure = "" if written.fidelity is None else f", judge {written.fidelity.source} of {written.fidelity.asked}"
    return f"leak {leak}{sure}, attempt {written.attempt}"


def _written(task: Task, attempt: Attempt, means: Means, prepared: Prepared) -> Written:
    if task.at is None:
        raise AssertionError("a text that passed has no time")
    return Written(
        model=means.writer.label[:MOST_NAME],
        # A judge fit for trying things out lets through what it likes.
        for_decisions=means.writer.for_decisions and means.judge.for_decisions,
        parameters=means.writer.parameters,
        prompt=task.prompt,
        voice=name_options(task.voice),
        preset=means.voices.name,
        document=task.document.id,
        attempt=attempt.number,
        findback=version("findback"),
        written_on=task.at.date(),
        leak=attempt.leak,
        leak_measure=prepared.leaking.measure,
        overlap=attempt.overlap,
        fidelity=attempt.fidelity,
        matched=prepared.real.name if prepared.real is not None else None,
        doubts=attempt.doubts,
    )
