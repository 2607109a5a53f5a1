"""The first format."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TIME = sa.DateTime(timezone=True)

CREATED = (
    "meta",
    "candidates",
    "reviewers",
    "texts",
    "lines",
    "spans",
    "hits",
    "links",
    "decisions",
    "events",
    "exclusions",
    "tombstones",
    "watermarks",
    "jobs",
)

UNSAMPLED = {
    "candidates": ("no_answer_hint", "file", "rewrites"),
    "texts": ("text",),
    "hits": ("evidence",),
    "links": ("document",),
    "decisions": ("reason",),
    "jobs": ("request",),
}
"""Columns whose values PostgreSQL's planner would copy into its statistics, from where erasure does not take them."""


def upgrade() -> None:
    """Make the tables."""
    _make_candidates()
    _make_people_and_events()
    _make_parts()
    _make_lists()
    _protect_events()
    if op.get_bind().dialect.name == "postgresql":
        for table, columns in UNSAMPLED.items():
            for column in columns:
                op.execute(f"ALTER TABLE findback_{table} ALTER COLUMN {column} SET STATISTICS 0")


def downgrade() -> None:
    """Take the tables away."""
    for name in reversed(CREATED):
        op.drop_table(f"findback_{name}")
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION findback_keep_events()")


def _make_candidates() -> None:
    op.create_table(
        "findback_meta",
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("value", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_findback_meta"),
    )
    op.create_table(
        "findback_candidates",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("format", sa.Integer, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("container_hmac", sa.Text, nullable=False),
        sa.Column("asker_hmac", sa.Text),
        sa.Column("audience", sa.Text, nullable=False),
        sa.Column("query_line", sa.Integer, nullable=False),
        sa.Column("cue_line", sa.Integer),
        sa.Column("origin", sa.Text, nullable=False),
        sa.Column("stratum", sa.Text, nullable=False),
        sa.Column("selected_on", sa.Text),
        sa.Column("language", sa.Text),
        sa.Column("seen_on", sa.Text),
        sa.Column("asked", sa.Text, nullable=False),
        sa.Column("merged", NUMBER, nullable=False),
        sa.Column("outcome", sa.Boolean),
        sa.Column("rewrites", sa.JSON),
        sa.Column("no_answer_hint", sa.Text),
        sa.Column("file", sa.Text),
        sa.Column("file_offset", NUMBER),
        sa.Column("stored_at", TIME, nullable=False),
        sa.Column("updated_at", TIME, nullable=False),
        sa.Column("state_at", TIME, nullable=False),
        sa.Column("context_dropped_at", TIME),
        sa.PrimaryKeyConstraint("id", name="pk_findback_candidates"),
        sa.UniqueConstraint("key", name="uq_findback_candidates_key"),
        sqlite_autoincrement=True,
    )
    for columns in (["container_hmac"], ["asker_hmac"], ["state", "state_at"]):
        _index("candidates", columns)


def _make_people_and_events() -> None:
    op.create_table(
        "findback_reviewers",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("name", sa.Text),
        sa.Column("roles", sa.JSON),
        sa.Column("since", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_findback_reviewers"),
        sa.UniqueConstraint("subject", name="uq_findback_reviewers_subject"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "findback_decisions",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("candidate", NUMBER, nullable=False),
        sa.Column("reviewer", NUMBER, nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.Column("before", sa.Text, nullable=False),
        sa.Column("after", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("reason", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_findback_decisions"),
        _belongs("decisions"),
        _reviewed("decisions"),
        sqlite_autoincrement=True,
    )
    _index("decisions", ["candidate"])
    op.create_table(
        "findback_events",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("candidate_key", sa.Text),
        sa.Column("reviewer", NUMBER),
        sa.Column("details", sa.JSON),
        sa.PrimaryKeyConstraint("id", name="pk_findback_events"),
        sqlite_autoincrement=True,
    )
    _index("events", ["candidate_key"])


def _make_parts() -> None:
    op.create_table(
        "findback_texts",
        sa.Column("candidate", NUMBER, nullable=False),
        sa.Column("place", sa.Text, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("raw_hmac", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("candidate", "place", "position", name="pk_findback_texts"),
        _belongs("texts"),
    )
    op.create_table(
        "findback_lines",
        sa.Column("candidate", NUMBER, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("author_hmac", sa.Text),
        sa.Column("at", TIME),
        sa.Column("edited", sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint("candidate", "position", name="pk_findback_lines"),
        _belongs("lines"),
    )
    _index("lines", ["author_hmac"])
    op.create_table(
        "findback_spans",
        sa.Column("candidate", NUMBER, nullable=False),
        sa.Column("place", sa.Text, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("ordinal", sa.Integer, nullable=False),
        sa.Column("begins", sa.Integer, nullable=False),
        sa.Column("ends", sa.Integer, nullable=False),
        sa.Column("type", sa.Text, nullable=False),
        sa.Column("rule", sa.Text, nullable=False),
        sa.Column("version", sa.Text, nullable=False),
        sa.Column("band", sa.Text, nullable=False),
        sa.Column("value_hmac", sa.Text),
        sa.Column("decision", sa.Text),
        sa.Column("reviewer", NUMBER),
        sa.Column("decided_at", TIME),
        sa.PrimaryKeyConstraint("candidate", "place", "position", "ordinal", name="pk_findback_spans"),
        sa.ForeignKeyConstraint(
            ["candidate", "place", "position"],
            ["findback_texts.candidate", "findback_texts.place", "findback_texts.position"],
            name="fk_findback_spans_candidate_place_position",
            ondelete="CASCADE",
        ),
        _reviewed("spans"),
    )
    _index("spans", ["value_hmac"])
    op.create_table(
        "findback_hits",
        sa.Column("candidate", NUMBER, nullable=False),
        sa.Column("ordinal", sa.Integer, nullable=False),
        sa.Column("rule", sa.Text, nullable=False),
        sa.Column("strength", sa.Text, nullable=False),
        sa.Column("evidence", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("candidate", "ordinal", name="pk_findback_hits"),
        _belongs("hits"),
    )
    _index("hits", ["rule"])
    op.create_table(
        "findback_links",
        sa.Column("candidate", NUMBER, nullable=False),
        sa.Column("ordinal", sa.Integer, nullable=False),
        sa.Column("document", sa.Text, nullable=False),
        sa.Column("line", sa.Integer, nullable=False),
        sa.Column("linked_by", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("created_before", sa.Boolean),
        sa.PrimaryKeyConstraint("candidate", "ordinal", name="pk_findback_links"),
        _belongs("links"),
    )


def _make_lists() -> None:
    op.create_table(
        "findback_exclusions",
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("hmac", sa.Text, nullable=False),
        sa.Column("since", TIME, nullable=False),
        sa.PrimaryKeyConstraint("kind", "hmac", name="pk_findback_exclusions"),
    )
    op.create_table(
        "findback_tombstones",
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("hmac", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("since", TIME, nullable=False),
        sa.PrimaryKeyConstraint("kind", "hmac", name="pk_findback_tombstones"),
    )
    op.create_table(
        "findback_watermarks",
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("reached", TIME),
        sa.Column("cursor", sa.Text),
        sa.Column("at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("source", name="pk_findback_watermarks"),
    )
    op.create_table(
        "findback_jobs",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("request", sa.JSON),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("done", NUMBER, nullable=False),
        sa.Column("total", NUMBER),
        sa.Column("reviewer", NUMBER),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("started_at", TIME),
        sa.Column("beat_at", TIME),
        sa.Column("ended_at", TIME),
        sa.Column("error", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_findback_jobs"),
        _reviewed("jobs"),
        sqlite_autoincrement=True,
    )
    _index("jobs", ["state", "id"])


def _protect_events() -> None:
    """Let the database itself refuse to change or delete what happened."""
    if op.get_bind().dialect.name == "sqlite":
        for verb in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER findback_events_no_{verb.lower()} BEFORE {verb} ON findback_events "
                "BEGIN SELECT RAISE(ABORT, 'the event log only grows'); END"
            )
        return
    op.execute(
        "CREATE FUNCTION findback_keep_events() RETURNS trigger LANGUAGE plpgsql AS "
        "$$BEGIN RAISE EXCEPTION 'the event log only grows'; END$$"
    )
    op.execute(
        "CREATE TRIGGER findback_events_only_grow BEFORE UPDATE OR DELETE OR TRUNCATE ON findback_events "
        "FOR EACH STATEMENT EXECUTE FUNCTION findback_keep_events()"
    )


def _belongs(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["candidate"], ["findback_candidates.id"], name=f"fk_findback_{table}_candidate", ondelete="CASCADE"
    )


def _reviewed(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(["reviewer"], ["findback_reviewers.id"], name=f"fk_findback_{table}_reviewer")


def _index(table: str, columns: list[str]) -> None:
    op.create_index(f"ix_findback_{table}_{'_'.join(columns)}", f"findback_{table}", columns)
