"""The tables of the workbench; what people wrote lies in `texts`, reviewers' words in `decisions` and `reviews`."""

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    Table,
    UniqueConstraint,
)

from findback.workbench.columns import ExactText, Number, UtcTime

METADATA = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

VERSION_TABLE = "findback_version"
"""Where Alembic writes the number of the last migration, which is the format."""

META = Table(
    "findback_meta",
    METADATA,
    Column("name", ExactText, primary_key=True),
    Column("value", ExactText, nullable=False),
)
"""Facts about the workbench itself: which key it belongs to, whether erased texts still await overwriting."""

CANDIDATES = Table(
    "findback_candidates",
    METADATA,
    Column("id", Number, primary_key=True),
    Column("key", ExactText, nullable=False, unique=True),
    Column("format", Integer, nullable=False),
    Column("state", ExactText, nullable=False),
    Column("version", Integer, nullable=False),
    Column("source", ExactText, nullable=False),
    Column("container_hmac", ExactText, nullable=False, index=True),
    Column("asker_hmac", ExactText, index=True),
    Column("audience", ExactText, nullable=False),
    Column("query_line", Integer, nullable=False),
    Column("cue_line", Integer),
    Column("origin", ExactText, nullable=False),
    Column("stratum", ExactText, nullable=False),
    Column("selected_on", ExactText),
    Column("language", ExactText),
    Column("seen_on", ExactText),
    Column("asked", ExactText, nullable=False),
    Column("merged", Number, nullable=False),
    Column("outcome", Boolean),
    Column("rewrites", JSON(none_as_null=True)),
    Column("no_answer_hint", ExactText),
    Column("file", ExactText),
    Column("file_offset", Number),
    Column("root", ExactText, index=True),
    Column("written", JSON(none_as_null=True)),
    Column("stored_at", UtcTime, nullable=False),
    Column("updated_at", UtcTime, nullable=False),
    Column("state_at", UtcTime, nullable=False),
    Column("context_dropped_at", UtcTime),
    Index(None, "state", "state_at"),
    sqlite_autoincrement=True,
)
"""One possible case a row; `state_at` is what retention counts from."""

TEXTS = Table(
    "findback_texts",
    METADATA,
    Column("candidate", ForeignKey("findback_candidates.id", ondelete="CASCADE"), primary_key=True),
    Column("place", ExactText, primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("text", ExactText, nullable=False),
    Column("raw_hmac", ExactText, nullable=False),
)
"""Redacted texts: place is query, title or line; position counts lines from 0."""

LINES = Table(
    "findback_lines",
    METADATA,
    Column("candidate", ForeignKey("findback_candidates.id", ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("key", ExactText, nullable=False),
    Column("role", ExactText, nullable=False),
    Column("author_hmac", ExactText, index=True),
    Column("at", UtcTime),
    Column("edited", Boolean, nullable=False),
)
"""Who wrote each line of a thread, and when."""

SPANS = Table(
    "findback_spans",
    METADATA,
    Column("candidate", Number, primary_key=True, autoincrement=False),
    Column("place", ExactText, primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("ordinal", Integer, primary_key=True, autoincrement=False),
    Column("begins", Integer, nullable=False),
    Column("ends", Integer, nullable=False),
    Column("type", ExactText, nullable=False),
    Column("rule", ExactText, nullable=False),
    Column("version", ExactText, nullable=False),
    Column("band", ExactText, nullable=False),
    Column("value_hmac", ExactText, index=True),
    Column("decision", ExactText),
    Column("reviewer", ForeignKey("findback_reviewers.id")),
    Column("decided_at", UtcTime),
    ForeignKeyConstraint(
        ["candidate", "place", "position"],
        ["findback_texts.candidate", "findback_texts.place", "findback_texts.position"],
        ondelete="CASCADE",
    ),
)
"""What redaction found in each text, and what a reviewer said to it."""

HITS = Table(
    "findback_hits",
    METADATA,
    Column("candidate", ForeignKey("findback_candidates.id", ondelete="CASCADE"), primary_key=True),
    Column("ordinal", Integer, primary_key=True, autoincrement=False),
    Column("rule", ExactText, nullable=False, index=True),
    Column("strength", ExactText, nullable=False),
    Column("evidence", ExactText, nullable=False),
)
"""The rules that made a candidate one."""

LINKS = Table(
    "findback_links",
    METADATA,
    Column("candidate", ForeignKey("findback_candidates.id", ondelete="CASCADE"), primary_key=True),
    Column("ordinal", Integer, primary_key=True, autoincrement=False),
    Column("document", ExactText, nullable=False),
    Column("line", Integer, nullable=False),
    Column("linked_by", ExactText, nullable=False),
    Column("kind", ExactText, nullable=False),
    Column("created_before", Boolean),
)
"""Documents somebody linked."""

REVIEWERS = Table(
    "findback_reviewers",
    METADATA,
    Column("id", Number, primary_key=True),
    Column("subject", ExactText, nullable=False, unique=True),
    Column("name", ExactText),
    Column("roles", JSON(none_as_null=True)),
    Column("since", UtcTime, nullable=False),
    sqlite_autoincrement=True,
)
"""People who decide; `subject` is who they are to the login, or the local name."""

DECISIONS = Table(
    "findback_decisions",
    METADATA,
    Column("id", Number, primary_key=True),
    Column("candidate", ForeignKey("findback_candidates.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("reviewer", ForeignKey("findback_reviewers.id"), nullable=False),
    Column("at", UtcTime, nullable=False),
    Column("before", ExactText, nullable=False),
    Column("after", ExactText, nullable=False),
    Column("version", Integer, nullable=False),
    Column("reason", ExactText),
    sqlite_autoincrement=True,
)
"""Every change of state a person made; the reason is theirs to word and goes with the candidate."""

EVENTS = Table(
    "findback_events",
    METADATA,
    Column("id", Number, primary_key=True),
    Column("at", UtcTime, nullable=False),
    Column("kind", ExactText, nullable=False),
    Column("candidate_key", ExactText, index=True),
    Column("reviewer", Number),
    Column("details", JSON(none_as_null=True)),
    sqlite_autoincrement=True,
)
"""What happened: names, states and counts, never a text. The database refuses to change or delete a row."""

EXCLUSIONS = Table(
    "findback_exclusions",
    METADATA,
    Column("kind", ExactText, primary_key=True),
    Column("hmac", ExactText, primary_key=True),
    Column("since", UtcTime, nullable=False),
)
"""People and containers that objected."""

TOMBSTONES = Table(
    "findback_tombstones",
    METADATA,
    Column("kind", ExactText, primary_key=True),
    Column("hmac", ExactText, primary_key=True),
    Column("reason", ExactText, nullable=False),
    Column("since", UtcTime, nullable=False),
)
"""Candidates, people and containers that were erased and must not come back."""

ALIASES = Table(
    "findback_aliases",
    METADATA,
    Column("person", ExactText, primary_key=True),
    Column("alias", ExactText, primary_key=True, index=True),
    Column("kind", ExactText, nullable=False),
    Column("shared", Boolean, nullable=False),
)
"""What people of whom texts are stored are called besides their ids; all of it digests."""

WATERMARKS = Table(
    "findback_watermarks",
    METADATA,
    Column("source", ExactText, primary_key=True),
    Column("reached", UtcTime),
    Column("cursor", ExactText),
    Column("at", UtcTime, nullable=False),
)
"""How far each source has been read."""

JOBS = Table(
    "findback_jobs",
    METADATA,
    Column("id", Number, primary_key=True),
    Column("kind", ExactText, nullable=False),
    Column("request", JSON(none_as_null=True)),
    Column("state", ExactText, nullable=False),
    Column("done", Number, nullable=False),
    Column("total", Number),
    Column("reviewer", ForeignKey("findback_reviewers.id")),
    Column("created_at", UtcTime, nullable=False),
    Column("started_at", UtcTime),
    Column("beat_at", UtcTime),
    Column("ended_at", UtcTime),
    Column("error", ExactText),
    Index(None, "state", "id"),
    sqlite_autoincrement=True,
)
"""Long work that faces start: what it is, how far it has come, the code of its error."""

REVIEWS = Table(
    "findback_reviews",
    METADATA,
    Column("id", Number, primary_key=True),
    Column("candidate", ForeignKey("findback_candidates.id", ondelete="CASCADE"), nullable=False),
    Column("reviewer", ForeignKey("findback_reviewers.id"), nullable=False),
    Column("look", Integer, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("parent", Integer, nullable=False),
    Column("role", ExactText, nullable=False),
    Column("stage", ExactText, nullable=False),
    Column("content", ExactText, nullable=False),
    Column("basis", ExactText, nullable=False),
    Column("wording", ExactText),
    Column("answer", ExactText),
    Column("state", ExactText, nullable=False),
    Column("version", Integer, nullable=False),
    Column("request", ExactText),
    Column("at", UtcTime, nullable=False),
    UniqueConstraint("candidate", "reviewer", "look", "revision"),
    UniqueConstraint("reviewer", "request"),
    sqlite_autoincrement=True,
)
"""Every revision of every review, each whole; `parent` is the one that undoing it gives back."""

RESERVATIONS = Table(
    "findback_reservations",
    METADATA,
    Column("candidate", ForeignKey("findback_candidates.id", ondelete="CASCADE"), primary_key=True),
    Column("reviewer", ForeignKey("findback_reviewers.id"), nullable=False),
    Column("until", UtcTime, nullable=False),
)
"""Who works on a candidate, and for how long nobody else is given it."""

CASES = Table(
    "findback_cases",
    METADATA,
    Column("candidate_key", ExactText, primary_key=True),
    Column("case_id", ExactText, nullable=False, unique=True),
    Column("cluster", ExactText, nullable=False),
    Column("thread", ExactText, index=True),
    Column("release", Integer),
    Column("split", ExactText),
    Column("at", UtcTime, nullable=False),
)
"""Which case a candidate became. It outlives the candidate, so that an erased one's case can be withdrawn."""

CASE_CHANGES = Table(
    "findback_case_changes",
    METADATA,
    Column("id", Number, primary_key=True),
    Column("case_id", ExactText, nullable=False, index=True),
    Column("at", UtcTime, nullable=False),
    Column("what", ExactText, nullable=False),
    Column("why", ExactText),
    Column("role", ExactText, nullable=False),
    Column("reviewer", ForeignKey("findback_reviewers.id")),
    Column("before", ExactText),
    Column("after", ExactText),
    sqlite_autoincrement=True,
)
"""History of the cases: what changed, when, why and in which role."""

ASKS = Table(
    "findback_asks",
    METADATA,
    Column("id", Number, primary_key=True),
    Column("candidate", ForeignKey("findback_candidates.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("token_digest", ExactText, nullable=False, unique=True),
    Column("reviewer", ForeignKey("findback_reviewers.id"), nullable=False),
    Column("at", UtcTime, nullable=False),
    Column("until", UtcTime, nullable=False),
    Column("used_at", UtcTime),
    Column("answer", ExactText),
    sqlite_autoincrement=True,
)
"""Links that ask a resolver about one candidate, and what they answered."""

FALSE_POSITIVES = Table(
    "findback_false_positives",
    METADATA,
    Column("id", Number, primary_key=True),
    Column("candidate_key", ExactText, nullable=False),
    Column("value_hmac", ExactText, nullable=False, index=True),
    Column("type", ExactText, nullable=False),
    Column("rule", ExactText, nullable=False),
    Column("reviewer", ForeignKey("findback_reviewers.id"), nullable=False),
    Column("at", UtcTime, nullable=False),
    Index(None, "candidate_key", "reviewer"),
    sqlite_autoincrement=True,
)
"""What redaction took and a reviewer gave back: the HMAC of the value, never the value."""

SUGGESTIONS = Table(
    "findback_suggestions",
    METADATA,
    Column("candidate", ForeignKey("findback_candidates.id", ondelete="CASCADE"), primary_key=True),
    Column("content", ExactText, nullable=False),
    Column("at", UtcTime, nullable=False),
)
"""What a model would judge of a candidate; no reviewer sees it before they answered."""

FLAGS = Table(
    "findback_flags",
    METADATA,
    Column("id", Number, primary_key=True),
    Column("candidate", ForeignKey("findback_candidates.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("token_digest", ExactText, nullable=False, unique=True),
    Column("same", ExactText, nullable=False),
    Column("at", UtcTime, nullable=False),
    Index(None, "same", "at"),
    sqlite_autoincrement=True,
)
"""Every flag sent in: digests of its link and of what makes two flags one. Of whoever sent it nothing is kept."""

SESSIONS = Table(
    "findback_sessions",
    METADATA,
    Column("token_digest", ExactText, primary_key=True),
    Column("reviewer", ForeignKey("findback_reviewers.id"), index=True),
    Column("content", ExactText, nullable=False),
    Column("at", UtcTime, nullable=False),
    Column("seen_at", UtcTime, nullable=False),
    Column("until", UtcTime, nullable=False),
)
"""Who is logged in to the page; the cookie holds the token, this only its digest."""

API_TOKENS = Table(
    "findback_api_tokens",
    METADATA,
    Column("id", Number, primary_key=True),
    Column("token_digest", ExactText, nullable=False, unique=True),
    Column("name", ExactText, nullable=False),
    Column("reviewer", ForeignKey("findback_reviewers.id"), nullable=False),
    Column("scopes", JSON(none_as_null=True), nullable=False),
    Column("at", UtcTime, nullable=False),
    Column("used_at", UtcTime),
    Column("until", UtcTime, nullable=False),
    Column("revoked_at", UtcTime),
    sqlite_autoincrement=True,
)
"""Tokens for programs; shown once, kept as digests."""

WITH_TEXT = (
    CANDIDATES,
    TEXTS,
    LINES,
    SPANS,
    HITS,
    LINKS,
    DECISIONS,
    REVIEWS,
    ASKS,
    SUGGESTIONS,
    CASE_CHANGES,
    ALIASES,
)
"""Tables whose files are written anew when texts are erased."""
