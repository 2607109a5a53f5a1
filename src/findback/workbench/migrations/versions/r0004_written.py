"""How a model came to write a candidate, and the case that a paraphrase says in other words."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make room for both."""
    op.add_column("findback_candidates", sa.Column("root", sa.Text))
    op.add_column("findback_candidates", sa.Column("written", sa.JSON))
    op.create_index("ix_findback_candidates_root", "findback_candidates", ["root"])
    if op.get_bind().dialect.name == "postgresql":
        # It names a document, and what the planner copies into its statistics is not reached by erasure.
        op.execute("ALTER TABLE findback_candidates ALTER COLUMN written SET STATISTICS 0")


def downgrade() -> None:
    """Take them away."""
    op.drop_index("ix_findback_candidates_root", "findback_candidates")
    op.drop_column("findback_candidates", "written")
    op.drop_column("findback_candidates", "root")
