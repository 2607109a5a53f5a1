"""What people are called besides their ids."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "findback_aliases",
        sa.Column("person", sa.Text, nullable=False),
        sa.Column("alias", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("shared", sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint("person", "alias", name="pk_findback_aliases"),
    )
    op.create_index("ix_findback_aliases_alias", "findback_aliases", ["alias"])


def downgrade() -> None:
    """Take it away."""
    op.drop_table("findback_aliases")
