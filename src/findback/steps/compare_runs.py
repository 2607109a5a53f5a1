"""The runs to compare: kept ones where they fit, files, and what has to be searched first."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from findback.corpus.corpus import Corpus
from findback.departures import carrying
from findback.errors import DataError, FindbackError, MissingError
from findback.evalset.runs import MAGIC, load_run
from findback.evalset.textfile import open_file
from findback.model.across import Across, Effects
from findback.model.compared import Comparison
from findback.model.evaluation import Evaluation
from findback.model.items import ItemAnalysis
from findback.model.protocols import SILENT, Progress, Query, Retriever
from findback.model.question import QuestionSet
from findback.model.run import Run
from findback.retrievers.asking import ask_all, config_digest
from findback.retrievers.file import FileRetriever, FileSettings
from findback.retrievers.recorded import ENDINGS
from findback.steps.egress import refuse_unreviewed, state_of
from findback.steps.evaluate import store
from findback.steps.gold import Labelled
from findback.steps.kept import each_kept
from findback.steps.opening import DEFAULT_RETRIEVERS, closing, open_retrievers
from findback.steps.waiting import wait_for
from findback.workspace import Workspace

LOOKED_AT = 60
"""Kept evaluations and comparisons that are looked through for a run, the newest first."""


class Entrant(NamedTuple):
    """A run that takes part."""

    name: str
    run: Run
    word: str
    """What the user called it."""
    source: str | None = None
    """Id of the stored run, or the file it was read from."""
    reused: bool = False
    """Whether it is a kept run that stands in for asking a retriever again."""


class Asking(NamedTuple):
    """What every system is asked."""

    workspace: Workspace
    asked: QuestionSet
    labelled: Labelled
    documents: Corpus | None
    depth: int
    concurrency: int
    made: datetime
    fresh: bool = False
    """Whether kept runs of retrievers are passed over."""
    progress: Progress = SILENT


def gather_runs(
    asking: Asking,
    words: Sequence[str],
    systems: Sequence[Retriever] = (),
    *,
    ask: Callable[[str], bool] | None = None,
) -> tuple[Entrant, ...]:
    """Return a run for each system at hand and each word: a retriever's name, the id of a kept run, or a file.

    A retriever that is named is asked only where no run of it is kept that was made with these settings, for
    exactly this set, over these documents.

    Args:
        asking: What is asked.
        words: What the user named; every retriever of findback.toml where neither words nor systems are given.
        systems: Retrievers already built; they are asked.
        ask: Asks a person to trust what the workspace names.

    Raises:
        MissingError: If a word names nothing.
        DataError: If a run cannot be read, or has none of the questions.
        UntrustedError: If findback.toml names code or secrets nobody agreed to.
    """
    known = asking.workspace.settings.retrievers or DEFAULT_RETRIEVERS
    wanted = list_words(asking.workspace, words, systems)[len(systems) :]
    read = {word: _read_word(asking.workspace, word, tuple(known)) for word in wanted if word not in known}
    named = [word for word in wanted if word in known]
    built: Sequence[Retriever] = ()
    if named:
        built = open_retrievers(asking.workspace, named, asking.documents, progress=asking.progress, ask=ask)
    read |= {name: _Source(name, retriever=one, keeps=True) for name, one in zip(named, built, strict=True)}
    sources = [*(_Source(one.name, retriever=one) for one in systems), *(read[word] for word in wanted)]
    with carrying(state_of(asking.asked)):
        found = wait_for(_settle(asking, sources))
    for entrant in found:
        _check(asking, entrant)
    return _name_apart(found)


def list_words(workspace: Workspace, words: Sequence[str], systems: Sequence[Retriever] = ()) -> tuple[str, ...]:
    """Return what each system is called by the user, those at hand first; every retriever where nothing is named."""
    known = workspace.settings.retrievers or DEFAULT_RETRIEVERS
    named = tuple(dict.fromkeys(words)) or (() if systems else tuple(known))
    return (*(one.name for one in systems), *named)


class _Source(NamedTuple):
    """Where one run comes from."""

    word: str
    """What the user called it."""
    retriever: Retriever | None = None
    run: Run | None = None
    """The run, where it was there already."""
    place: str | None = None
    """Its id or file."""
    keeps: bool = False
    """Whether a kept run of the retriever will do."""


async def _settle(asking: Asking, sources: Sequence[_Source]) -> list[Entrant]:
    """Return the run of each source; retrievers are closed at the end."""
    systems = [one.retriever for one in sources if one.retriever is not None]
    async with closing(systems):
        ready = [_look_up(asking, source) for source in sources]
        missing = [one.retriever for one, found in zip(sources, ready, strict=True) if found is None and one.retriever]
        refuse_unreviewed(asking.asked, missing, asking.workspace.settings.egress)
        entrants = []
        for source, found in zip(sources, ready, strict=True):
            if found is None and source.retriever is not None:
                entrants.append(await _search(asking, source, source.retriever))
            elif found is not None:
                entrants.append(found)
    return entrants


def _look_up(asking: Asking, source: _Source) -> Entrant | None:
    """Return the run of a source that is there already; None where a retriever has to be asked."""
    if source.run is not None:
        return Entrant(source.run.name, source.run, source.word, source.place)
    if source.retriever is None or not source.keeps or asking.fresh:
        return None
    return find_kept(asking, source.retriever)


async def _search(asking: Asking, source: _Source, retriever: Retriever) -> Entrant:
    """Ask a retriever everything, and keep the run."""
    documents = asking.documents
    asked = await ask_all(
        retriever,
        [(question.id, Query(question.query, question.context)) for question in asking.labelled.questions],
        depth=asking.depth,
        concurrency=asking.concurrency,
        resolve=documents.resolve if documents is not None else None,
        created=asking.made.isoformat(),
        progress=asking.progress,
    )
    place = source.place or store(asking.workspace, asked.run, asking.made)
    return Entrant(retriever.name, asked.run, source.word, place)


def find_kept(asking: Asking, retriever: Retriever) -> Entrant | None:
    """Return the newest kept run of a retriever with these settings, for exactly this set, over these documents."""
    ids = {question.id for question in asking.labelled.questions}
    digest = config_digest(retriever)
    for run_id in _list_runs(asking, retriever.name, digest):
        try:
            run = load_run(asking.workspace.private / "runs" / run_id)
        except FindbackError:
            continue
        if set(run.queries) == ids and run.config_digest == digest and (run.depth or 0) >= asking.depth:
            return Entrant(retriever.name, run, retriever.name, run_id, reused=True)
    return None


def _list_runs(asking: Asking, name: str, digest: str) -> Iterator[str]:
    """Yield the ids of a retriever's kept runs for this set, newest first.

    A run holds ids of questions alone, so what was scored with it says which set it was for.
    """
    workspace, asked = asking.workspace, asking.asked
    if asked.kind != "release" and not asked.sha256:
        return
    corpus = asking.documents.digest if asking.documents is not None else None
    results: list[Across | Comparison | Effects | Evaluation | ItemAnalysis] = [
        *each_kept(workspace, Evaluation, most=LOOKED_AT),
        *each_kept(workspace, Comparison, most=LOOKED_AT),
        *each_kept(workspace, Across, most=LOOKED_AT),
        *each_kept(workspace, Effects, most=LOOKED_AT),
        *each_kept(workspace, ItemAnalysis, most=LOOKED_AT),
    ]
    for result in sorted(results, key=lambda one: one.made, reverse=True):
        if result.corpus_digest != corpus:
            continue
        for heading, called, config, run in _list_used(result):
            if (heading, called, config) == (asked.heading, name, digest) and run:
                yield run


def _list_used(
    result: Across | Comparison | Effects | Evaluation | ItemAnalysis,
) -> Iterator[tuple[str, str, str, str | None]]:
    """Yield each run of a result: heading of its set, name and configuration of the system, id."""
    if isinstance(result, Across):
        for at, side in enumerate(result.sides):
            for one in result.systems:
                yield side.set.heading, one.name, one.config_digest, one.runs[at]
    elif isinstance(result, Evaluation):
        for scored in result.retrievers:
            yield result.set.heading, scored.name, scored.config_digest, scored.run
    else:
        for system in result.systems:
            yield result.set.heading, system.name, system.config_digest, system.run


def _read_word(workspace: Workspace, word: str, known: Sequence[str]) -> _Source:
    """Return the run that a word names, by its id or file.

    Raises:
        MissingError: If it names neither.
        DataError: If it cannot be read.
    """
    kept = workspace.private / "runs" / word
    if Path(word).name == word and not word.startswith(".") and kept.is_file():
        return _Source(word, run=load_run(kept), place=word)
    file = Path(word)
    if not file.is_file():
        raise MissingError(
            f"{word[:200]!r} is no retriever of findback.toml, no kept run and no file",
            hint=f"retrievers: {', '.join(known)}; findback runs lists the kept runs",
        )
    with open_file(file) as handle:
        ours = handle.read(len(MAGIC)) == MAGIC
    if ours:
        return _Source(word, run=load_run(file), place=word)
    if file.suffix.lower() not in ENDINGS:
        raise DataError(
            f"cannot tell what {word[:200]} is",
            hint=f"its name says what a file of recorded results is: {', '.join(ENDINGS)}",
        )
    return _Source(word, retriever=FileRetriever(file.stem, FileSettings(path=word), file), place=word)


def _check(asking: Asking, entrant: Entrant) -> None:
    """Stop where a run has none of the questions: all of it would count as missed.

    Raises:
        DataError: If it has none.
    """
    held = set(entrant.run.queries)
    if not any(question.id in held for question in asking.labelled.questions):
        raise DataError(
            f"the run of {entrant.name} has none of the {len(asking.labelled.questions)} questions of"
            f" {asking.asked.name}",
            hint="name the set it was made for: --set SET or --release N",
        )


def _name_apart(entrants: Sequence[Entrant]) -> tuple[Entrant, ...]:
    """Return the entrants under names that differ: by when a run was made, else by number."""
    names = [one.name for one in entrants]
    used: set[str] = set()
    apart = []
    for entrant in entrants:
        name = entrant.name
        if names.count(name) > 1 and entrant.run.created:
            name = f"{name} {entrant.run.created[:16].replace('T', ' ')}"
        number, plain = 2, name
        while name in used:
            name, number = f"{plain} #{number}", number + 1
        used.add(name)
        apart.append(entrant._replace(name=name))
    return tuple(apart)
