"""From a reviewed candidate to a case: the reviewer's decisions applied to its own words, and nothing else."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import NamedTuple

from pydantic import ValidationError

from findback.errors import MissingError
from findback.evalset.checks import ANY_LEAK, PlacedCase, check_cases
from findback.evalset.head import read_head
from findback.model.candidate import Candidate, RuleHit
from findback.model.case import Case, Judgement, RedactionNote, Role
from findback.model.protocols import Documents
from findback.model.review import Review
from findback.model.settings import ReviewSettings
from findback.privacy.core import CoreRedactor
from findback.privacy.finding import Finding
from findback.privacy.key import Key
from findback.steps.bench import has_bench, open_bench, open_workspace_key
from findback.steps.evidence import evidence_of
from findback.steps.kept import now
from findback.steps.ready import ReadyCase
from findback.steps.reviewcheck import IsFalsePositive, check_review
from findback.steps.reviewfalse import is_false_positive
from findback.steps.reviewspans import Numbers, decide_text, decisions_on, is_only_decided, published_place, texts_of
from findback.steps.reviewstate import agree, opinions_of, top_gold
from findback.steps.writtencases import filter_of, follow_root, tags_of
from findback.text.languages import guess_language
from findback.text.placeholders import find_placeholders
from findback.workbench.asks import Ask
from findback.workbench.cases import KnownCase
from findback.workbench.doubles import Opinions
from findback.workbench.listing import CandidateFilters
from findback.workbench.reviews import StoredReview, answer_of
from findback.workbench.rows import StoredCandidate
from findback.workbench.store import Workbench
from findback.workspace import Workspace

UNKNOWN_LANGUAGE = "und"
WANTED_TAG = "document-wanted"
"""On a case without an answer for which somebody should write a document."""
HIDDEN_TAG = "asker-could-not-open"
PAGE = 200


class Rules(NamedTuple):
    """What cases are made by."""

    settings: ReviewSettings
    redactor: CoreRedactor
    is_false: IsFalsePositive
    """What reviewers gave back."""
    digest: Callable[[str], str] | None = None
    """The workbench's keyed digest, by which a value is known to have a placeholder already."""
    documents: Documents | None = None
    roots: Mapping[str, Case] = {}
    """Cases of the set by id, of which paraphrases take their label over."""


class Reviewed(NamedTuple):
    """A candidate with all that was said about it."""

    stored: StoredCandidate
    reviews: Sequence[StoredReview]
    asks: Sequence[Ask]

    @property
    def deciding(self) -> StoredReview | None:
        """Return the review that counts: a lead's, else the first that was submitted; None where none says anything."""
        submitted = [one for one in self.reviews if one.stage == "submitted"]
        leads = [one for one in submitted if one.role == "lead"]
        if leads:
            return max(leads, key=lambda one: one.at)
        return next((one for one in submitted if answer_of(one.review) != "later"), None)


def build_case(reviewed: Reviewed, known: KnownCase, rules: Rules) -> ReadyCase:
    """Return the case that a ready candidate becomes, or what stands in its way.

    Args:
        reviewed: The candidate with its reviews.
        known: Its case id and cluster.
        rules: What cases are made by.
    """
    candidate, deciding = reviewed.stored.candidate, reviewed.deciding
    if deciding is None:
        return ReadyCase(candidate.key, None, ("nobody submitted a review of it",))
    review = deciding.review
    obstacles = [*deciding.notices, *_obstacles(reviewed, review, rules)]
    if obstacles:
        return ReadyCase(candidate.key, None, tuple(dict.fromkeys(obstacles)))
    place = published_place(candidate, review)
    text, decisions = texts_of(candidate)[place], decisions_on(review, place)
    decided = decide_text(text, decisions, Numbers(candidate, rules.digest))
    if not is_only_decided(text, decisions, decided):
        return ReadyCase(candidate.key, None, ("more than its redactions would change in the question",))
    try:
        case = _case(reviewed, deciding, decided.text, known, rules)
    except ValidationError:
        return ReadyCase(candidate.key, None, ("it does not fit the format of a case",))
    # How high its leak may be is the release's to say, which knows the limit.
    root = rules.roots.get(case.root or "")
    placed = [PlacedCase(at, one) for at, one in enumerate([case, *([root] if root is not None else [])], 1)]
    faults = tuple(fault.message for fault in check_cases(placed, leak_limit=ANY_LEAK) if fault.line == 1)
    return ReadyCase(candidate.key, None if faults else case, faults)


def _obstacles(reviewed: Reviewed, review: Review, rules: Rules) -> Iterator[str]:
    said = answer_of(review)
    if said in ("unrateable", "later"):
        yield "its review says that nobody can judge it" if said == "unrateable" else "its review waits for more"
        return
    yield from check_review(
        reviewed.stored.candidate,
        review,
        rules.settings,
        evidence=evidence_of(reviewed.stored, reviewed.asks),
        root=rules.roots.get(reviewed.stored.candidate.root or ""),
        documents=rules.documents,
        redactor=rules.redactor,
        is_false=rules.is_false,
    )


def _case(reviewed: Reviewed, deciding: StoredReview, query: str, known: KnownCase, rules: Rules) -> Case:
    candidate, review = reviewed.stored.candidate, deciding.review
    role: Role = "lead" if deciding.role == "lead" else "reviewer"
    root = rules.roots.get(candidate.root or "")
    case = Case(
        id=known.case_id,
        query=query,
        language=_language(candidate, query),
        context=review.context,
        wording=review.wording or (root.wording if root is not None else ""),
        judged=_judged(reviewed, review),
        no_answer_reason=review.no_answer_reason,
        origin=candidate.origin,
        stratum=candidate.stratum,
        selected_on=candidate.selected_on,
        rule=_strongest(candidate.rules),
        source=candidate.source,
        cluster=known.cluster,
        split=known.split or "dev",
        labelled_by=role,
        confirmations=_confirmations(reviewed, deciding),
        seen_on=candidate.seen_on or reviewed.stored.stored_at.strftime("%Y-%m"),
        asked=candidate.asked,
        filter=filter_of(candidate.written) if candidate.written and candidate.origin == "generated" else None,
        redaction=RedactionNote(
            types=tuple(dict.fromkeys(one.type for one in find_placeholders(query))), ruleset=rules.redactor.version
        ),
        tags=tags_of(_tags(review), candidate.written),
    )
    return case if root is None else follow_root(case, root)


def _judged(reviewed: Reviewed, review: Review) -> tuple[Judgement, ...]:
    """Return what was judged, gold by part first; what something spoke for and nobody counts stays as grade 0."""
    named = {one.doc for one in review.judged}
    spoken = evidence_of(reviewed.stored, reviewed.asks)
    dropped = [
        Judgement(doc=one.document, grade=0, found_by=spoken.get(one.document, "resolver"))
        for one in review.dropped
        if one.document not in named
    ]
    return tuple(sorted([*review.judged, *dropped], key=lambda one: (one.grade == 0, one.part, -one.grade, one.doc)))


def _tags(review: Review) -> tuple[str, ...]:
    own = [tag for tag in dict.fromkeys(review.tags) if tag not in (WANTED_TAG, HIDDEN_TAG)]
    wanted = [WANTED_TAG] if review.document_wanted and review.no_answer_reason is not None else []
    return (*own, *wanted, *([HIDDEN_TAG] if review.not_visible else []))


def _confirmations(reviewed: Reviewed, deciding: StoredReview) -> int:
    """Return how many others say the same: reviewers, a second look, resolvers who were asked."""
    candidate, review = reviewed.stored.candidate, deciding.review
    others = [
        one
        for one in opinions_of(reviewed.reviews)
        if (one.reviewer, one.look) != (deciding.reviewer, deciding.look)
        and answer_of(one.review) != "unrateable"
        and agree(candidate, review, one.review)
    ]
    gold = top_gold(review)
    resolvers = [
        one.answer
        for one in reviewed.asks
        if one.answer is not None and (set(one.answer.documents) & gold if gold else not one.answer.documents)
    ]
    return len(others) + len(resolvers)


def _language(candidate: Candidate, query: str) -> str:
    known = candidate.language
    if known is not None and known.isascii() and known.isalpha() and known.islower() and 2 <= len(known) <= 3:
        return known
    return guess_language(query) or UNKNOWN_LANGUAGE


def _strongest(hits: Sequence[RuleHit]) -> str | None:
    order = ("strong", "medium", "weak")
    return min(hits, key=lambda hit: order.index(hit.strength)).rule if hits else None


class BenchCases:
    """The ready candidates of a workbench as cases."""

    def __init__(
        self,
        bench: Workbench,
        key: Key,
        settings: ReviewSettings,
        redactor: CoreRedactor,
        *,
        reviewer: str,
        documents: Documents | None = None,
        roots: Iterable[Case] = (),
        moment: Callable[[], datetime] = now,
    ) -> None:
        self._bench = bench
        self._key = key
        self._settings = settings
        self._redactor = redactor
        self._reviewer = reviewer
        self._documents = documents
        self._roots = {case.id: case for case in roots}
        self._now = moment

    def collect(self) -> Sequence[ReadyCase]:
        """Return every ready candidate; each has its case id for good, from the first time on."""
        rules = Rules(
            self._settings,
            self._redactor,
            is_false_positive(self._key, self._bench.false_positives()),
            self._key.hmac,
            self._documents,
            self._roots,
        )
        found: list[ReadyCase] = []
        after = 0
        while page := self._bench.list_candidates(CandidateFilters(states=("ready",)), limit=PAGE, after=after):
            after = page[-1].number
            known = self._bench.assign_case_ids([one.candidate.key for one in page], now=self._now())
            found += [self._build(one, known[one.candidate.key], rules) for one in page]
        return found

    def _build(self, stored: StoredCandidate, known: KnownCase, rules: Rules) -> ReadyCase:
        key = stored.candidate.key
        try:
            reviewed = Reviewed(stored, self._bench.reviews_of(key), self._bench.asks_of(key))
        except MissingError:
            return ReadyCase(key, None, ("it was erased meanwhile",))
        return build_case(reviewed, known, rules)

    def mark_released(self, cases: Mapping[str, Case]) -> None:
        """Say of candidates, by key, that they are released as these cases; saying it again changes nothing."""
        by_release: dict[int, dict[str, Case]] = {}
        for case in cases.values():
            by_release.setdefault(case.added_in or 0, {})[case.id] = case
        for number, group in sorted(by_release.items()):
            splits = {name: case.split for name, case in group.items()}
            self._bench.mark_released(splits, number, reviewer=self._reviewer, now=self._now())

    def newest_number(self) -> int:
        """Return the highest number of a release that a candidate came in; 0 before the first."""
        return self._bench.newest_number()

    def opinions(self, cases: Collection[str]) -> Sequence[Opinions]:
        """Return what was said first about the candidates that became some cases."""
        keys = {known.candidate for known in self._bench.cases() if known.case_id in cases}
        return [one for one in self._bench.opinions() if one.candidate in keys]

    def is_false_positive(self, finding: Finding, value: str) -> bool:
        """Return whether reviewers said that a value is not what redaction takes it for."""
        return is_false_positive(self._key, self._bench.false_positives())(finding, value)

    def forget(self, cases: Collection[str], reason: str) -> int:
        """Erase the candidates that became some cases, for good, and return how many there were."""
        return self._bench.forget_cases(cases, now=self._now())


@contextmanager
def open_bench_cases(
    workspace: Workspace, *, reviewer: str, documents: Documents | None = None
) -> Iterator[BenchCases]:
    """Open the ready candidates of a workspace's workbench for a while.

    Args:
        workspace: Where the workbench is.
        reviewer: Who releases.
        documents: The corpus; without it ids and anchors are not checked.

    Raises:
        MissingError: If there is no workbench.
    """
    if not has_bench(workspace):
        raise MissingError("nothing has been mined yet", hint="findback mine EXPORT…")
    key = open_workspace_key(workspace)
    redactor = CoreRedactor(workspace.settings.privacy)
    with open_bench(workspace, key) as bench:
        yield BenchCases(
            bench,
            key,
            workspace.settings.review,
            redactor,
            reviewer=reviewer,
            documents=documents,
            roots=read_head(workspace.evalset).cases,
        )
