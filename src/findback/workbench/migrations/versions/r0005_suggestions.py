"""What a model would judge of candidates, kept from reviewers until they answered."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "findback_suggestions",
        sa.Column("candidate", NUMBER, nullable=False),
        sa.Column("content", sa.Text, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("candidate", name="pk_findback_suggestions"),
        sa.ForeignKeyConstraint(
            ["candidate"],
            ["findback_candidates.id"],
            name="fk_findback_suggestions_candidate",
            ondelete="CASCADE",
        ),
    )
    if op.get_bind().dialect.name == "postgresql":
        # What the planner copies into its statistics is not reached by erasure.
        op.execute("ALTER TABLE findback_suggestions ALTER COLUMN content SET STATISTICS 0")


def downgrade() -> None:
    """Take it away."""
    op.drop_table("findback_suggestions")
