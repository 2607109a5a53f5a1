"""What a glossary is built from: people's questions, their answers, and the phrases of both."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from findback.corpus.corpus import Corpus
from findback.errors import DataError
from findback.measure.association import Sighting
from findback.measure.folds import join_questions
from findback.measure.overlap import measure_overlap
from findback.model.protocols import SILENT, Progress
from findback.model.question import Question, QuestionSet
from findback.steps.glossary_answers import READ, Answered, count_documents, read_answers
from findback.steps.makeup import cluster_of
from findback.text.languages import guess_language, main_language
from findback.text.phrases import find_phrases

NO_GOLD = "without a right document of the corpus"
WRITTEN = "written by a model"
ALIKE = "share enough with their answer"
UNMEASURED = "overlap with the answer cannot be measured"
MODEL_ORIGINS = ("generated", "paraphrase")


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """Questions and answers, ready to be paired."""

    questions: tuple[Question, ...]
    """People's own questions that have a right document of the corpus."""
    sightings: Mapping[int, Sighting]
    """Those that share little with their answer, by place."""
    asked: tuple[Mapping[str, str], ...]
    """Stems and words of the phrases of every question."""
    answered: Mapping[str, Answered]
    """Gold documents, by id."""
    frequency: Mapping[str, int]
    """In how many documents each phrase stands that stands for a gold document."""
    documents: int
    groups: tuple[int, ...]
    """For every question the group it is joined in by cluster and gold document."""
    language: str | None
    """Language of the stems."""
    left_out: Mapping[str, int]
    """Questions not used, by reason."""

    def golds(self, row: int) -> tuple[Answered, ...]:
        """Return the gold documents of a question."""
        found = (self.answered.get(judgement.doc) for judgement in self.questions[row].gold)
        return tuple(one for one in found if one is not None)

    def clusters(self, rows: Iterable[int]) -> list[str]:
        """Return the cluster of each question."""
        return [cluster_of(self.questions[row]) for row in rows]


def gather_material(
    asked: QuestionSet, corpus: Corpus, *, below: float, language: str | None = None, progress: Progress = SILENT
) -> Material:
    """Return what there is to build a glossary from.

    Args:
        asked: The set.
        corpus: Its documents.
        below: Overlap under which question and answer share little, in (0, 1].
        language: Language of the stems; that of most documents and questions when None.
        progress: Told of each document.

    Raises:
        DataError: If no question of a person has a right document of the corpus.
    """
    held = [one for one in asked.questions if any(corpus.get(judgement.doc) for judgement in one.gold)]
    own = [one for one in held if one.origin not in MODEL_ORIGINS]
    if not own:
        raise DataError(
            f"no question of {asked.name} was asked by a person and has a right document in {corpus.name}",
            hint="a glossary comes from people's questions and the documents that answer them",
        )
    spoken = language or _main_language(corpus, own)
    answers = read_answers(own, corpus, spoken, progress=progress)
    phrases = tuple(find_phrases(one.query, spoken) for one in own)
    left_out = Counter({NO_GOLD: len(asked.questions) - len(held), WRITTEN: len(held) - len(own)})
    sightings: dict[int, Sighting] = {}
    for row, question in enumerate(own):
        golds = [answers.answered[one.doc] for one in question.gold if one.doc in answers.answered]
        shared = _measure(question, corpus)
        if shared is None or shared >= below:
            left_out[UNMEASURED if shared is None else ALIKE] += 1
        else:
            sightings[row] = _sight(question, phrases[row], golds)
    groups = join_questions(
        [cluster_of(one) for one in own], [frozenset(judgement.doc for judgement in one.gold) for one in own]
    )
    return Material(
        questions=tuple(own),
        sightings=sightings,
        asked=phrases,
        answered=answers.answered,
        frequency=answers.frequency,
        documents=len(corpus),
        groups=tuple(groups),
        language=spoken,
        left_out={reason: count for reason, count in left_out.items() if count},
    )


def add_pairs(
    material: Material, corpus: Corpus, pairs: Mapping[tuple[str, str], str], *, progress: Progress = SILENT
) -> Material:
    """Return the material with phrases of answers that somebody proposed, where their documents really hold them.

    Args:
        material: Questions and answers.
        corpus: The documents.
        pairs: Phrases of questions and of answers as stems, each with how the latter is written.
        progress: Told of each document.
    """
    sightings = dict(material.sightings)
    telling: dict[str, dict[str, str]] = {}
    for row, sighting in material.sightings.items():
        own = {part for phrase in material.asked[row] for part in phrase.split(" ")}
        for (question, answer), written in pairs.items():
            parts = answer.split(" ")
            if question not in sighting.asked or answer in sighting.answered or own.issuperset(parts):
                continue
            holding = [id_ for id_ in sighting.golds if id_ in material.answered]
            holding = [id_ for id_ in holding if material.answered[id_].stems.issuperset(parts)]
            for id_ in holding:
                telling.setdefault(id_, {})[answer] = written
            if holding:
                sightings[row] = sightings[row]._replace(answered=sightings[row].answered | {answer})
    if not telling:
        return material
    new = {answer for held in telling.values() for answer in held}
    answered = {
        id_: one._replace(telling={**telling.get(id_, {}), **one.telling}) for id_, one in material.answered.items()
    }
    counted = count_documents(corpus, new - material.frequency.keys(), material.language, progress=progress)
    return replace(material, sightings=sightings, answered=answered, frequency={**counted, **material.frequency})


def _main_language(corpus: Corpus, questions: Sequence[Question]) -> str:
    known = main_language([*(one.language for one in corpus), *(one.language for one in questions)], default="")
    return known or guess_language(" ".join(one.query for one in questions[:200])) or "en"


def _measure(question: Question, corpus: Corpus) -> float | None:
    """Return the overlap of a question with the answer it shares most with; None where it cannot be measured."""
    shares = []
    for judgement in question.gold:
        document = corpus.get(judgement.doc)
        if document is not None:
            gold = f"{document.title or ''}\n{document.text[:READ]}\n{judgement.anchor or ''}"
            found = measure_overlap(question.query, gold, language=question.language, gold_language=document.language)
            shares.append(found.ratio)
    known = [share for share in shares if share is not None]
    return max(known, default=None)


def _sight(question: Question, phrases: Mapping[str, str], golds: Sequence[Answered]) -> Sighting:
    held = frozenset().union(*(one.stems for one in golds))
    own = {part for phrase in phrases for part in phrase.split(" ")}
    return Sighting(
        cluster_of(question),
        frozenset(judgement.doc for judgement in question.gold),
        frozenset(phrase for phrase in phrases if not held.issuperset(phrase.split(" "))),
        frozenset(phrase for one in golds for phrase in one.telling if not own.issuperset(phrase.split(" "))),
    )
