"""From questions and answers to proposed terms: paired, thinned, measured, and only then ranked."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from findback.measure.association import STRONG, Association, associate
from findback.model.glossary import Effect, Proposal, TermKind, TermSource
from findback.steps.glossary_material import Material
from findback.steps.glossary_texts import TextScores
from findback.text.expansion import Expander
from findback.text.words import words

MOST_MEASURED = 400
"""Candidates whose gain is measured, the strongest ones."""
ALIKE_ANSWERS = 6
"""Phrases of answers measured for one phrase of the same questions."""
PER_WHEN = 3
"""Most terms for one phrase of questions."""
PER_EVIDENCE = 2
"""Most of them that rest on the same questions."""

EXAMPLES = 3
"""Questions behind a term that are shown."""

WEAK = "no stronger than chance"
USELESS = "no gain on the questions at hand"
HARMFUL = "moves more answers of other questions down than it moves its own up"
REPEATED = "as good as others for the same words"
UNMEASURED = "weaker than those whose gain was measured"

KINDS: Mapping[str, TermKind] = {"symptom-first": "symptom", "wrong-name": "nickname"}
"""What a term from questions worded so is."""

Pair = tuple[str, str]
"""Phrases of questions and of answers, as stems."""


class Candidate(NamedTuple):
    """A term that may be proposed."""

    when: str
    add: str
    kind: TermKind
    source: TermSource
    rows: tuple[int, ...]
    """The questions behind it."""
    clusters: int
    golds: int
    strength: float
    lift: float
    texts: Mapping[int, str]
    """What is searched instead of each question that holds its words."""


class Found(NamedTuple):
    """Candidates, and how many pairs were dropped on the way, by reason."""

    candidates: list[Candidate]
    dropped: Counter[str]


def find_candidates(
    material: Material,
    rows: Collection[int],
    *,
    weight: int = 1,
    proposed: Collection[Pair] = (),
) -> Found:
    """Return the terms that the questions in some rows support, the strongest first.

    Args:
        material: Questions and answers.
        rows: Which questions a term may come from; it is tried on the same ones.
        weight: As for `Expander`.
        proposed: Pairs a model proposed: they need the clusters, not the strength.
    """
    used = sorted(row for row in rows if row in material.sightings)
    sightings = [material.sightings[row] for row in used]
    named, asked_for = _list_renames(material, used), set(proposed)
    dropped: Counter[str] = Counter()
    kept: list[tuple[Association, TermSource]] = []
    for one in associate(sightings, material.frequency, material.documents):
        pair = one.asked, one.answered
        whole = one._replace(rows=tuple(used[row] for row in one.rows))
        if pair in named:
            kept.append((whole, "aliases"))
        elif one.strength >= STRONG:
            kept.append((whole, "alignment"))
        elif pair in asked_for:
            kept.append((whole, "model"))
        else:
            dropped[WEAK] += 1
    thinned = _thin(sorted(kept, key=lambda pair: _rank(material, *pair)))
    dropped[REPEATED] += len(kept) - len(thinned)
    holding: defaultdict[str, list[int]] = defaultdict(list)
    for row in sorted(rows):
        for phrase in material.asked[row]:
            holding[phrase].append(row)
    return Found([_write(material, one, source, holding[one.asked], weight) for one, source in thinned], dropped)


def _list_renames(material: Material, rows: Iterable[int]) -> set[Pair]:
    """Return the pairs of a document's former name and its title."""
    found: set[Pair] = set()
    for row in rows:
        sighting = material.sightings[row]
        for gold in material.golds(row):
            new = sighting.answered & gold.title.keys()
            found.update((old, one) for old in sighting.asked & gold.former for one in new)
    return found


def _rank(material: Material, one: Association, source: TermSource) -> tuple[bool, float, bool]:
    """Return what comes first: old names, known to mean the same; then the strongest, of equals words of titles."""
    titled = any(one.answered in gold.title for row in one.rows for gold in material.golds(row))
    return source != "aliases", -one.strength, not titled


def _thin(kept: Sequence[tuple[Association, TermSource]]) -> list[tuple[Association, TermSource]]:
    """Return the pairs without those that say the same with fewer words, or once more with other words."""
    longest: dict[tuple[tuple[int, ...], str], int] = {}
    for place, (one, _) in enumerate(kept):
        key = one.rows, one.answered
        before = longest.setdefault(key, place)
        if one.asked.count(" ") > kept[before][0].asked.count(" "):
            longest[key] = place
    held: Counter[tuple[tuple[int, ...], str]] = Counter()
    found = []
    for place in sorted(longest.values()):
        one, source = kept[place]
        held[one.rows, one.asked] += 1
        if held[one.rows, one.asked] <= ALIKE_ANSWERS:
            found.append((one, source))
    return found


def _write(material: Material, one: Association, source: TermSource, holding: Sequence[int], weight: int) -> Candidate:
    when = _most_written(material.asked[row][one.asked] for row in one.rows)
    golds = (gold for row in one.rows for gold in material.golds(row))
    add = _most_written(gold.telling[one.answered] for gold in golds if one.answered in gold.telling)
    expander = Expander([(when, add)], language=material.language, weight=weight)
    expanded = {row: expander.expand(material.questions[row].query) for row in holding}
    return Candidate(
        when=when,
        add=add,
        kind="renamed" if source == "aliases" else _tell_kind(material, one.rows),
        source=source,
        rows=one.rows,
        clusters=one.clusters,
        golds=one.golds,
        strength=one.strength,
        lift=one.lift,
        texts={row: found.text for row, found in expanded.items() if found.added},
    )


def _most_written(forms: Iterable[str]) -> str:
    counted = Counter(forms)
    return min(counted, key=lambda form: (-counted[form], form))


def _tell_kind(material: Material, rows: Sequence[int]) -> TermKind:
    """Return what a term is, by how most of its questions are worded."""
    counted = Counter(KINDS.get(material.questions[row].wording or "", "wording") for row in rows)
    kind, times = counted.most_common(1)[0]
    return kind if times * 2 > len(rows) else "wording"


def measure_candidates(
    material: Material, candidates: Sequence[Candidate], rows: Collection[int], scores: TextScores
) -> list[Proposal]:
    """Return the candidates with what each alone gains, on its own answers and on others; unnumbered.

    Args:
        material: Questions and answers.
        candidates: The terms.
        rows: The questions they were found in.
        scores: Of every text of theirs, and of the questions as they are.
    """
    sizes = Counter(material.clusters(rows))
    return [_measure(material, one, sizes, scores) for one in candidates]


def _measure(material: Material, one: Candidate, sizes: Mapping[str, int], scores: TextScores) -> Proposal:
    answers = {judgement.doc for row in one.rows for judgement in material.questions[row].gold}
    own: list[int] = []
    others: list[int] = []
    for row in one.texts:
        golds = {judgement.doc for judgement in material.questions[row].gold}
        (others if golds.isdisjoint(answers) else own).append(row)
    return Proposal(
        number=1,
        when=one.when,
        add=one.add,
        kind=one.kind,
        source=one.source,
        cases=tuple(material.questions[row].id for row in one.rows),
        examples=tuple(material.questions[row].query for row in one.rows[:EXAMPLES]),
        clusters=one.clusters,
        golds=one.golds,
        strength=one.strength,
        lift=one.lift,
        own=weigh_effect(material, {row: one.texts[row] for row in own}, sizes, scores),
        others=weigh_effect(material, {row: one.texts[row] for row in others}, sizes, scores),
    )


def weigh_effect(material: Material, texts: Mapping[int, str], sizes: Mapping[str, int], scores: TextScores) -> Effect:
    """Return what searching other texts does to some questions.

    Args:
        material: Questions and answers.
        texts: What is searched instead, by question.
        sizes: How many questions each cluster has; the gain is the change of the mean over these clusters.
        scores: Of the texts and of the questions as they are.
    """
    gain: float | None = 0.0
    better = worse = 0
    for row, text in texts.items():
        before, after = scores[row, material.questions[row].query], scores[row, text]
        if before.value is None or after.value is None:
            gain = None if before.failed or after.failed else gain
            continue
        better += after.reciprocal > before.reciprocal
        worse += after.reciprocal < before.reciprocal
        if gain is not None:
            cluster = material.clusters([row])[0]
            gain += (after.value - before.value) / sizes[cluster] / len(sizes)
    return Effect(cases=len(texts), better=better, worse=worse, gain=gain)


def choose_proposals(measured: Iterable[Proposal], most: int) -> tuple[list[Proposal], Counter[str]]:
    """Return the terms that gain something, the one that gains most first and numbered, and why others are dropped.

    Args:
        measured: What `measure_candidates` gives.
        most: How many at most.
    """
    dropped: Counter[str] = Counter()
    chosen: list[Proposal] = []
    whens: Counter[str] = Counter()
    evidence: Counter[tuple[str, ...]] = Counter()
    # Of equals the first one stays first.
    for one in sorted(measured, key=lambda one: -one.gain):
        if one.gain <= 0:
            dropped[USELESS] += 1
        elif one.others.worse > one.own.better + one.others.better:
            dropped[HARMFUL] += 1
        elif (
            whens[one.when] >= PER_WHEN
            or evidence[(one.when, *one.cases)] >= PER_EVIDENCE
            or any(_covers(other, one) for other in chosen)
        ):
            dropped[REPEATED] += 1
        elif len(chosen) >= most:
            dropped[f"beyond the first {most}"] += 1
        else:
            whens[one.when] += 1
            evidence[(one.when, *one.cases)] += 1
            chosen.append(one.model_copy(update={"number": len(chosen) + 1}))
    return chosen, dropped


def _covers(first: Proposal, second: Proposal) -> bool:
    """Return whether a term fits wherever another does, and adds all that this one would add to the question.

    `wifi => wireless` covers `wifi history => wireless history`.
    """
    when = f" {' '.join(words(second.when))} "
    held = set(words(second.when)) | set(words(first.add))
    return f" {' '.join(words(first.when))} " in when and held.issuperset(words(second.add))
