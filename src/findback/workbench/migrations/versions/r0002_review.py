"""Reviews, reservations, cases, asks, and who is logged in."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TIME = sa.DateTime(timezone=True)

CREATED = (
    "reviews",
    "reservations",
    "cases",
    "case_changes",
    "asks",
    "false_positives",
    "sessions",
    "api_tokens",
)

UNSAMPLED = {
    "reviews": ("content", "basis"),
    "case_changes": ("why", "before", "after"),
    "asks": ("answer",),
    "sessions": ("content",),
}
"""Columns whose values PostgreSQL's planner would copy into its statistics, from where erasure does not take them."""


def upgrade() -> None:
    """Make the tables of review."""
    _make_reviews()
    _make_cases()
    _make_asks()
    _make_logins()
    if op.get_bind().dialect.name == "postgresql":
        for table, columns in UNSAMPLED.items():
            for column in columns:
                op.execute(f"ALTER TABLE findback_{table} ALTER COLUMN {column} SET STATISTICS 0")


def downgrade() -> None:
    """Take them away."""
    for name in reversed(CREATED):
        op.drop_table(f"findback_{name}")


def _make_reviews() -> None:
    op.create_table(
        "findback_reviews",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("candidate", NUMBER, nullable=False),
        sa.Column("reviewer", NUMBER, nullable=False),
        sa.Column("look", sa.Integer, nullable=False),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("parent", sa.Integer, nullable=False),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("stage", sa.Text, nullable=False),
        sa.Column("content", sa.Text, nullable=False),
        sa.Column("basis", sa.Text, nullable=False),
        sa.Column("wording", sa.Text),
        sa.Column("answer", sa.Text),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("request", sa.Text),
        sa.Column("at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_findback_reviews"),
        sa.UniqueConstraint(
            "candidate", "reviewer", "look", "revision", name="uq_findback_reviews_candidate_reviewer_look_revision"
        ),
        sa.UniqueConstraint("reviewer", "request", name="uq_findback_reviews_reviewer_request"),
        _belongs("reviews"),
        _reviewed("reviews"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "findback_reservations",
        sa.Column("candidate", NUMBER, nullable=False),
        sa.Column("reviewer", NUMBER, nullable=False),
        sa.Column("until", TIME, nullable=False),
        sa.PrimaryKeyConstraint("candidate", name="pk_findback_reservations"),
        _belongs("reservations"),
        _reviewed("reservations"),
    )
    op.create_table(
        "findback_false_positives",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("candidate_key", sa.Text, nullable=False),
        sa.Column("value_hmac", sa.Text, nullable=False),
        sa.Column("type", sa.Text, nullable=False),
        sa.Column("rule", sa.Text, nullable=False),
        sa.Column("reviewer", NUMBER, nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_findback_false_positives"),
        _reviewed("false_positives"),
        sqlite_autoincrement=True,
    )
    _index("false_positives", "value_hmac")
    _index("false_positives", "candidate_key", "reviewer")


def _make_cases() -> None:
    op.create_table(
        "findback_cases",
        sa.Column("candidate_key", sa.Text, nullable=False),
        sa.Column("case_id", sa.Text, nullable=False),
        sa.Column("cluster", sa.Text, nullable=False),
        sa.Column("thread", sa.Text),
        sa.Column("release", sa.Integer),
        sa.Column("split", sa.Text),
        sa.Column("at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("candidate_key", name="pk_findback_cases"),
        sa.UniqueConstraint("case_id", name="uq_findback_cases_case_id"),
    )
    _index("cases", "thread")
    op.create_table(
        "findback_case_changes",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("case_id", sa.Text, nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.Column("what", sa.Text, nullable=False),
        sa.Column("why", sa.Text),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("reviewer", NUMBER),
        sa.Column("before", sa.Text),
        sa.Column("after", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_findback_case_changes"),
        _reviewed("case_changes"),
        sqlite_autoincrement=True,
    )
    _index("case_changes", "case_id")


def _make_asks() -> None:
    op.create_table(
        "findback_asks",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("candidate", NUMBER, nullable=False),
        sa.Column("token_digest", sa.Text, nullable=False),
        sa.Column("reviewer", NUMBER, nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.Column("until", TIME, nullable=False),
        sa.Column("used_at", TIME),
        sa.Column("answer", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_findback_asks"),
        sa.UniqueConstraint("token_digest", name="uq_findback_asks_token_digest"),
        _belongs("asks"),
        _reviewed("asks"),
        sqlite_autoincrement=True,
    )
    _index("asks", "candidate")


def _make_logins() -> None:
    op.create_table(
        "findback_sessions",
        sa.Column("token_digest", sa.Text, nullable=False),
        sa.Column("reviewer", NUMBER),
        sa.Column("content", sa.Text, nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.Column("seen_at", TIME, nullable=False),
        sa.Column("until", TIME, nullable=False),
        sa.PrimaryKeyConstraint("token_digest", name="pk_findback_sessions"),
        _reviewed("sessions"),
    )
    _index("sessions", "reviewer")
    op.create_table(
        "findback_api_tokens",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("token_digest", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("reviewer", NUMBER, nullable=False),
        sa.Column("scopes", sa.JSON, nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.Column("used_at", TIME),
        sa.Column("until", TIME, nullable=False),
        sa.Column("revoked_at", TIME),
        sa.PrimaryKeyConstraint("id", name="pk_findback_api_tokens"),
        sa.UniqueConstraint("token_digest", name="uq_findback_api_tokens_token_digest"),
        _reviewed("api_tokens"),
        sqlite_autoincrement=True,
    )


def _belongs(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["candidate"], ["findback_candidates.id"], name=f"fk_findback_{table}_candidate", ondelete="CASCADE"
    )


def _reviewed(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(["reviewer"], ["findback_reviewers.id"], name=f"fk_findback_{table}_reviewer")


def _index(table: str, *columns: str) -> None:
    op.create_index(f"ix_findback_{table}_{'_'.join(columns)}", f"findback_{table}", list(columns))
