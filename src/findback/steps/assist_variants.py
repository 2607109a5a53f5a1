"""Variants of a case's question: asked for until there are enough, and kept as candidates."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import NamedTuple

from findback.llm.ask import Model, Reply
from findback.model.candidate import Candidate, RedactedText, RuleHit
from findback.model.case import Case
from findback.model.written import Written
from findback.privacy.key import Key
from findback.steps.assist_asking import Assistant
from findback.steps.assist_redaction import VariantRedactor
from findback.steps.bench import has_bench, open_bench
from findback.steps.kept import now
from findback.text.words import fold
from findback.workbench.listing import CandidateFilters
from findback.workbench.store import Workbench
from findback.workspace import Workspace
from findback.writing.paraphrase import ParaphrasePrompt, Paraphrases, ask_paraphrases, sort_variants

NAMES_WHAT_GOES = "names what redaction takes away"
"""Why a variant is dropped that is sound in itself."""
SOURCE = "model"
RULE = "paraphrase"
PAGE = 200


class KeptVariant(NamedTuple):
    """A variant, with how it came to be."""

    text: RedactedText
    reply: Reply[Paraphrases]
    prompt: str
    attempt: int


class Reworded(NamedTuple):
    """What came of one case."""

    kept: tuple[KeptVariant, ...]
    dropped: Counter[str]
    """How many were dropped, by reason."""


@dataclass(frozen=True, slots=True)
class Rewording:
    """Asks for variants of one case after the other."""

    assistant: Assistant
    prompt: ParaphrasePrompt
    redactor: VariantRedactor
    key: Key
    known: Mapping[str, Mapping[str, str]]
    """Variants that the workbench has of each case, by key."""
    n: int
    """Variants wanted of each."""

    async def reword(self, case: Case) -> Reworded:
        """Ask until so many variants are kept, or as often as one may ask; each time for what is still lacking."""
        kept: dict[str, KeptVariant] = {}
        dropped: Counter[str] = Counter()
        for attempt in range(1, self.assistant.attempts + 1):
            lacking = self.n - len(kept)
            if lacking <= 0:
                break
            rendered = self.prompt.build(case.query, case.language, lacking)
            reply = await self.assistant.model.ask(ask_paraphrases(rendered, item=case.id, attempt=attempt))
            sorted_out = sort_variants(
                reply.value.variants,
                case.query,
                case.language,
                lacking,
                instructions=(rendered.system,),
                known=[*self._others(case, reply.value.variants), *(one.text.text for one in kept.values())],
            )
            for one in sorted_out:
                text = self.redactor.redact(one.text, case.query) if one.dropped is None else None
                if text is None:
                    dropped[one.dropped or NAMES_WHAT_GOES] += 1
                else:
                    kept[key_of(self.key, case.id, one.text)] = KeptVariant(text, reply, rendered.label, attempt)
        return Reworded(tuple(kept.values()), dropped)

    def _others(self, case: Case, answered: Sequence[str]) -> list[str]:
        """Return the variants the workbench has that are not among the answers: those are the same ones again."""
        given = {key_of(self.key, case.id, text) for text in answered}
        return [text for name, text in self.known.get(case.id, {}).items() if name not in given]


def key_of(key: Key, root: str, text: str) -> str:
    """Return the key of a variant: the same text of the same case has the same in every run."""
    return key.hmac(f"{RULE}\0{root}\0{' '.join(fold(text).split())}")


def make_candidate(case: Case, variant: KeptVariant, model: Model, key: Key) -> Candidate:
    """Return a variant as a candidate; what it asks for and how it was chosen is its case's to say."""
    return Candidate(
        key=key_of(key, case.id, variant.text.text),
        source=SOURCE,
        container_hmac=key.hmac(f"{SOURCE}\0{RULE}"),
        audience="public",
        query=variant.text,
        query_line=-1,
        rules=(RuleHit(rule=RULE, strength="medium", evidence=f"of {case.id}"),),
        origin="paraphrase",
        stratum=case.stratum,
        selected_on=case.selected_on,
        language=case.language,
        seen_on=case.seen_on,
        root=case.id,
        written=Written(
            model=model.label,
            for_decisions=model.for_decisions,
            parameters=model.parameters,
            prompt=variant.prompt,
            attempt=variant.attempt,
            findback=version("findback"),
            written_on=variant.reply.at.date(),
        ),
    )


def read_known(workspace: Workspace, key: Key) -> dict[str, dict[str, str]]:
    """Return the variants that the workbench has of each case, by key."""
    known: dict[str, dict[str, str]] = {}
    if not has_bench(workspace):
        return known
    with open_bench(workspace, key) as bench:
        for one in _list_paraphrases(bench):
            if one.root is not None:
                known.setdefault(one.root, {})[one.key] = one.query.text
    return known


def store_variants(workspace: Workspace, key: Key, candidates: Sequence[Candidate]) -> dict[str, int]:
    """Put variants into the workbench, and return what became of them; the same ones again change nothing."""
    if not candidates:
        return {}
    with open_bench(workspace, key) as bench:
        counts = bench.put(candidates, now=now())
    return {name: count for name in counts.__slots__ if (count := getattr(counts, name))}


def _list_paraphrases(bench: Workbench) -> Iterator[Candidate]:
    after = 0
    while page := bench.list_candidates(CandidateFilters(origins=("paraphrase",)), limit=PAGE, after=after):
        after = page[-1].number
        yield from (one.candidate for one in page)
