"""Links on which whoever flagged something learns what came of it."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "findback_flags",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("candidate", NUMBER, nullable=False),
        sa.Column("token_digest", sa.Text, nullable=False),
        sa.Column("same", sa.Text, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_findback_flags"),
        sa.ForeignKeyConstraint(
            ["candidate"],
            ["findback_candidates.id"],
            name="fk_findback_flags_candidate",
            ondelete="CASCADE",
        ),
        sa.UniqueConstraint("token_digest", name="uq_findback_flags_token_digest"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_findback_flags_candidate", "findback_flags", ["candidate"])
    op.create_index("ix_findback_flags_same_at", "findback_flags", ["same", "at"])


def downgrade() -> None:
    """Take it away."""
    op.drop_table("findback_flags")
