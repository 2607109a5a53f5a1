"""What stands around a document: others that a judge could take for it."""

from typing import NamedTuple

from findback.model.document import Document


class Around(NamedTuple):
    """Documents to tell one document from."""

    nearest: tuple[Document, ...] = ()
    """Those most like it, the nearest first, by document-to-document similarity; about eight, since near-duplicates
    are passed over and four are shown."""
    fellows: tuple[Document, ...] = ()
    """Those of the same subject, in random order; about ten, of which three are shown."""
    duplicates: frozenset[str] = frozenset()
    """Ids of its near-duplicates."""
