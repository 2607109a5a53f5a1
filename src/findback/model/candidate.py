"""A possible case, before a person decided: everything in it is redacted."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from findback.model.case import Asked, CaseId, Name, Origin, Stratum, Text
from findback.model.record import Record
from findback.model.written import Written

CANDIDATE_FORMAT = 1

RoleInThread = Literal["asker", "resolver", "other", "bot", "agent"]
Band = Literal["applied", "suggested"]
Strength = Literal["strong", "medium", "weak"]


class RedactedSpan(Record):
    """One stretch that redaction found in a text."""

    start: int
    """First character, in code points of the redacted text."""
    end: int
    """Character after the last one."""
    type: Name
    """PERSON, EMAIL, SECRET, … ; for `applied` the placeholder stands there."""
    rule: Name
    version: Name
    band: Band
    value_hmac: str | None = None
    """HMAC of the value, for people, e-mail, users, phones and customer ids; None for secrets and suggestions."""


class RedactedText(Record):
    """A text after redaction, with what was found in it."""

    text: str
    spans: tuple[RedactedSpan, ...] = ()
    raw_hmac: str
    """HMAC of the whole raw text, to tell later whether the source still says the same."""


class ThreadLine(Record):
    """One message of the thread a candidate came from."""

    key: str
    """HMAC of source and message id."""
    role: RoleInThread
    author_hmac: str | None
    at: datetime | None
    body: RedactedText
    edited: bool = False


class DocumentLink(Record):
    """A document that somebody linked."""

    document: str
    """Document id in the corpus."""
    line: int
    """Which line of the thread holds it; -1 for what the system itself attached, or whose line was erased."""
    by: RoleInThread
    kind: Name
    """url-in-text, structured-attach, accepted-answer, duplicate-of, citation; described for the document a model
    described, described-too for another that its text fits as well; shown for what a search showed to no avail."""
    created_before: bool | None = None
    """Whether the document existed before the question; None when unknown."""


class RuleHit(Record):
    """Why a candidate is one."""

    rule: Name
    """zero-result, no-click, reformulation, i-meant, search-then-ask, ticket-link, attach, duplicate, accepted,
    link-thanks, help-thread, cue, no-answer; flag for what somebody flagged; generated or paraphrase for what a model
    wrote."""
    strength: Strength
    evidence: Annotated[str, Field(max_length=500)] = ""
    """Numbers and names of rules and cues; never a text of the thread."""


class RewriteCount(Record):
    """An agent's rewrites of a question, measured and thrown away."""

    calls: int
    distinct: int
    shared_words: float | None
    """Mean share of the first wording's content words that a rewrite kept, in [0, 1]."""
    found_gold: tuple[bool | None, ...] = ()
    """Whether each rewrite's results held the document later linked; None when unknown."""


class Candidate(Record):
    """A possible case with its evidence."""

    format: Literal[1] = 1
    key: str
    """HMAC of source and message id: mining again finds the same key."""
    source: Name
    """Kind of source."""
    container_hmac: str
    asker_hmac: str | None = None
    """HMAC of the asker's id; None where the source does not say who asked."""
    audience: Name
    query: RedactedText
    """The proposed query: a person's message in its first wording."""
    query_line: int
    """Which line of the thread it is; -1 where there is no thread."""
    cue_line: int | None = None
    """Which line held the cue."""
    thread: tuple[ThreadLine, ...] = ()
    title: RedactedText | None = None
    rules: tuple[RuleHit, ...]
    links: tuple[DocumentLink, ...] = ()
    origin: Origin = "mined"
    stratum: Stratum = "failure"
    selected_on: Name | None = None
    language: str | None = None
    seen_on: str | None = None
    """Month, YYYY-MM."""
    asked: Asked = "1"
    merged: int = 0
    """Further questions of the same asker or document folded into this one."""
    outcome: bool | None = None
    rewrites: RewriteCount | None = None
    no_answer_hint: Text | None = None
    file: str | None = None
    """Export it came from, as the user named it, with `offset`: a reference, not a copy."""
    offset: int | None = None
    root: CaseId | None = None
    """For a paraphrase: the case whose question it says in other words."""
    written: Written | None = None
    """For what a model wrote: how."""
