"""Who may read which document, as the documents themselves say."""

import hashlib
import json
from collections.abc import Collection, Mapping

import numpy as np
from numpy.typing import NDArray

from findback.model.case import Context
from findback.model.protocols import Passages

AUDIENCE = frozenset({"audience"})


class Readers:
    """The roles that may read each document; a document that names none is for everybody.

    >>> readers = Readers({"pay.md": ["staff"]})
    >>> [readers.admit("pay.md", Context(audience=role)) for role in ("staff", "customer", None)]
    [True, False, True]
    """

    def __init__(self, roles: Mapping[str, Collection[str]] | None = None) -> None:
        """Take the roles by document id; None where documents do not say, so that no audience can be honoured."""
        self._roles = {name: frozenset(named) for name, named in (roles or {}).items() if named}
        self._places: dict[tuple[str, str], NDArray[np.int64]] = {}
        self.honours: frozenset[str] = frozenset[str]() if roles is None else AUDIENCE
        """Fields of a context that can be honoured."""

    def admit(self, document: str, context: Context | None) -> bool:
        """Return whether whoever asks may read a document; a question without an audience may read everything."""
        if context is None or not context.audience:
            return True
        named = self._roles.get(document)
        return named is None or context.audience in named

    def list_places(self, passages: Passages, context: Context | None) -> NDArray[np.int64] | None:
        """Return the places of the passages that whoever asks may read, ascending; None where that is all of them."""
        if context is None or not context.audience or not self._roles:
            return None
        key = (passages.digest, context.audience)
        if key not in self._places:
            open_ = [place for place, passage in enumerate(passages) if self.admit(passage.document, context)]
            self._places[key] = np.array(open_, dtype=np.int64)
        return self._places[key]

    def settings(self) -> Mapping[str, object]:
        """Return a digest of who may read what, as it changes results; nothing where documents do not say."""
        if not self.honours:
            return {}
        content = json.dumps(sorted((name, sorted(named)) for name, named in self._roles.items()))
        return {"readers": hashlib.sha256(content.encode()).hexdigest()}
