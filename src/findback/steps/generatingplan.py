"""What a run of generate works from: documents, voices, tone, what exists already, and what is to be followed."""

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from findback.corpus.corpus import Corpus
from findback.corpus.duplicates import Duplicates, find_duplicates
from findback.corpus.neighbours import Neighbours
from findback.corpus.sampling import sample_documents
from findback.errors import MissingError
from findback.llm.ask import Model
from findback.measure.yardstick import choose_window
from findback.model.candidate import Candidate
from findback.model.case import Case
from findback.model.document import Document
from findback.model.protocols import SILENT, Progress
from findback.model.question import QuestionSet
from findback.privacy.key import Key
from findback.privacy.masking import mask
from findback.steps.audit import AuditRequest, open_sample
from findback.steps.bench import has_bench, open_bench
from findback.steps.caselist import open_head
from findback.steps.generaterequest import GenerateRequest
from findback.steps.generating import Plan
from findback.steps.makeup import cluster_of
from findback.steps.opening import SetRequest, open_questions
from findback.steps.wording import Worded, word_questions
from findback.text.languages import guess_language
from findback.workspace import Workspace
from findback.writing.describe import MOST_EXAMPLES
from findback.writing.describe import PROMPT as DESCRIBE
from findback.writing.fidelity import Judging
from findback.writing.filters import Around, Filters
from findback.writing.leaking import Leaking
from findback.writing.matching import Quotas, read_quotas
from findback.writing.novelty import Novelty
from findback.writing.prompts import Prompts
from findback.writing.voices import Voices

NEAREST = 8
"""Documents most like one that are given to the judge's filter, which passes over near-duplicates."""
FELLOWS = 10
PEOPLE = ("mined", "flagged")
"""Origins of cases whose words are people's."""
PAGE = 500
MOST_ID = 4_000
"""Bytes of an id; records hold no longer one."""


class Ground(NamedTuple):
    """Where a run happens."""

    workspace: Workspace
    request: GenerateRequest
    corpus: Corpus
    key: Key
    """Of the workbench."""
    progress: Progress = SILENT


class Means(NamedTuple):
    """What it writes with."""

    writer: Model
    judge: Model
    """May be the writer itself."""
    prompts: Prompts
    voices: Voices


class Written(NamedTuple):
    """What was written before, other than by this very run."""

    texts: tuple[str, ...]
    documents: frozenset[str]
    """Documents that a model described."""


class Real(NamedTuple):
    """A real sample whose overlap is followed."""

    name: str
    """With the first twelve digits of its digest."""
    worded: Worded


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """A plan, and what its result is told with."""

    plan: Plan
    judging: Judging
    leaking: Leaking
    duplicates: Duplicates
    container: str
    """Digest of what makes this run the same run when it is started again."""
    real: Real | None
    mined: tuple[Case, ...]
    """Cases of the set that people asked."""
    notes: tuple[str, ...]


def prepare(ground: Ground, means: Means, *, held: frozenset[str] | None) -> Prepared:
    """Return what a run works from; it asks no model.

    Args:
        ground: Where it happens.
        means: What it writes with.
        held: Ids of the documents to draw from; all when None.

    Raises:
        MissingError: If a sample or tone is asked for and there is none.
        UsageError: If a real sample is too small to be followed.
        DataError: If set or sample cannot be read.
    """
    workspace, request, corpus, _, progress = ground
    settings = workspace.settings
    seed = settings.measures.seed if request.seed is None else request.seed
    cases = open_head(workspace).cases
    real = _open_real(ground)
    container = _container(ground, means, seed=seed, real=real)
    written = _read_written(ground, cases, container)
    duplicates = find_duplicates(corpus, progress=progress)
    sample = sample_documents(
        corpus,
        request.n,
        seed=seed,
        reserve=settings.writing.reserve,
        held=held,
        exclude={*written.documents, *(document.id for document in corpus if not _is_writable(document.id))},
        not_knowledge=settings.mining.not_knowledge,
        duplicates=duplicates,
        progress=progress,
    )
    if not sample.drawn:
        raise MissingError(f"no document is fit to be described: {sample.why_fewer}")
    lengths = [len(document.text) for document in sample.drawn]
    window = choose_window(lengths, real.worded.lengths if real is not None else ()).window or 1
    progress.start("Counting words", None)
    try:
        leaking = Leaking(corpus, window=window)
    finally:
        progress.finish()
    quotas = _read_quotas(real, leaking, request.n) if real is not None else None
    judging = Judging(
        model=means.judge,
        prompts=means.prompts,
        seed=seed,
        judgings=settings.writing.judgings,
        self_judged=means.judge is means.writer,
        state="reviewed" if request.like is not None else "document",
    )
    plan = Plan(
        sample=sample,
        n=request.n,
        attempts=settings.writing.attempts,
        seed=seed,
        writer=means.writer,
        prompts=means.prompts,
        voices=means.voices,
        filters=Filters(leaking, judging, leak_limit=settings.measures.leak_limit, quotas=quotas),
        novelty=Novelty(written.texts),
        quotas=quotas,
        around=_look_around(corpus, duplicates, seed, progress),
        language=_language,
        tone=_tone(cases, request, seed),
    )
    notes = [sample.why_fewer] if sample.why_fewer else []
    if written.documents:
        many = len(written.documents)
        said = (
            "1 document was described in an earlier run and is"
            if many == 1
            else (f"{many} documents were described in earlier runs and are")
        )
        notes.append(f"{said} not drawn again")
    mined = tuple(case for case in cases if case.origin in PEOPLE and case.status == "active")
    return Prepared(plan, judging, leaking, duplicates, container, real, mined, tuple(notes))


def _container(ground: Ground, means: Means, *, seed: int, real: Real | None) -> str:
    """Return what tells this run from others: everything that decides what is written, save how much of it."""
    request, voices = ground.request, means.voices
    options = {name: [(one.name, one.share, one.text) for one in held] for name, held in voices.categories.items()}
    made_of = [
        seed,
        means.writer.label,
        means.writer.parameters,
        means.prompts.label(DESCRIBE),
        voices.name,
        options,
        request.like,
        request.from_index,
        real.name if real is not None else None,
    ]
    return ground.key.hmac(f"container\0generated\0{json.dumps(made_of, sort_keys=True)}")


def key_of(key: Key, container: str, document: str) -> str:
    """Return the key of the candidate about a document: the same one when the run is started again."""
    return key.hmac(f"generated\0{container}\0{document}")


def _read_written(ground: Ground, cases: Sequence[Case], container: str) -> Written:
    """Return the texts of set and workbench, and which documents were described, without this run's own."""
    workspace, request, corpus, key, _ = ground
    texts: list[str] = []
    documents: set[str] = set()
    own: set[str] = set()
    if has_bench(workspace):
        with open_bench(workspace, key) as bench:
            after = 0
            while page := bench.list_candidates(limit=PAGE, after=after):
                after = page[-1].number
                for stored in page:
                    if stored.candidate.container_hmac == container:
                        own.add(stored.candidate.key)
                    elif stored.state != "rejected":
                        texts.append(mask(stored.candidate.query).text)
                        documents.update(_described(stored.candidate))
            own = {known.case_id for known in bench.cases() if known.candidate in own}
    texts += [case.query for case in cases if case.status == "active" and not {case.id, case.root} & own]
    if request.set is not None:
        texts += [question.query for question in open_questions(workspace, request, corpus).questions]
    return Written(tuple(texts), frozenset(documents))


def _described(candidate: Candidate) -> Iterator[str]:
    if candidate.written is not None and candidate.written.document is not None:
        yield candidate.written.document


def _look_around(corpus: Corpus, duplicates: Duplicates, seed: int, progress: Progress) -> Callable[[Document], Around]:
    members: defaultdict[str, set[str]] = defaultdict(set)
    for document, group in duplicates.groups.items():
        members[group].add(document)
    neighbours = Neighbours(corpus, progress=progress)

    def documents(ids: Sequence[str]) -> tuple[Document, ...]:
        return tuple(found for one in ids if (found := corpus.get(one)) is not None)

    def around(document: Document) -> Around:
        same = frozenset(members.get(duplicates.groups.get(document.id, ""), ())) - {document.id}
        nearest = [near.document for near in neighbours.nearest(document.id, NEAREST, exclude=same)]
        fellows = neighbours.same_subject(document.id, FELLOWS, seed, exclude=same)
        return Around(documents(nearest), documents(fellows), same)

    return around


def _is_writable(name: str) -> bool:
    """Return whether a record can hold an id: names of files may be no Unicode."""
    try:
        return len(name.encode()) <= MOST_ID
    except UnicodeEncodeError:
        return False


def _language(document: Document) -> str | None:
    return document.language or guess_language(document.text)


def _tone(cases: Sequence[Case], request: GenerateRequest, seed: int) -> Callable[[Document], tuple[str, ...]]:
    """Return what gives a few reviewed queries in a document's language, none of them about that document.

    Raises:
        MissingError: If they are asked for and there is none.
    """
    if request.like is None:
        return lambda _: ()
    known = [case for case in cases if case.origin in PEOPLE and case.status == "active" and case.split == "dev"]
    if not known:
        raise MissingError(
            "no reviewed query of a person is there to set the tone",
            hint="findback mine, review and release some first, or leave out --like",
        )

    def tone(document: Document) -> tuple[str, ...]:
        language = _language(document)
        fitting = [
            case.query
            for case in known
            if case.language == language and all(one.doc != document.id for one in case.gold)
        ]
        draw = Random(f"{seed}\0tone\0{document.id}")  # noqa: S311  (a choice of examples, not a secret)
        return tuple(draw.sample(fitting, min(len(fitting), MOST_EXAMPLES)))

    return tone


def _open_real(ground: Ground) -> Real | None:
    workspace, request, corpus, _, progress = ground
    if request.match is None:
        return None
    named = {name: getattr(request, name) for name in SetRequest.model_fields}
    reading = AuditRequest(
        **named,
        real=request.match,
        real_as=request.match_as,
        real_columns=request.match_columns,
        real_corpus=request.match_corpus,
    )
    sample, place = open_sample(workspace, reading, corpus, progress)
    if sample is None:
        return None
    return Real(f"{sample.name[:150]}@{_digest(sample)}", word_questions(sample, place))


def _digest(sample: QuestionSet) -> str:
    listed = json.dumps([question.query for question in sample.questions])
    return (sample.sha256 or hashlib.sha256(listed.encode()).hexdigest())[:12]


def _read_quotas(real: Real, leaking: Leaking, n: int) -> Quotas:
    overlaps = [
        leaking.measure_text(
            question.query,
            Document(id="", text=wording.gold, language=wording.gold_language),
            question.language,
        ).overlap.value
        for question, wording in zip(real.worded.questions, real.worded.wordings, strict=True)
    ]
    clusters = [cluster_of(question) for question in real.worded.questions]
    sizes = Counter(clusters)
    return read_quotas(real.name, overlaps, n, weights=[1 / sizes[one] for one in clusters])
