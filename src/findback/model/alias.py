"""What people are called besides their ids, as digests only."""

from typing import Literal, NamedTuple

AliasKind = Literal["mail", "phone", "name"]


class Alias(NamedTuple):
    """One thing a person of a source is called."""

    hmac: str
    """Keyed digest of it, folded the way such values are compared."""
    kind: AliasKind
    shared: bool
    """Whether others of the same source are called so too: then it names nobody."""
