"""What a workspace would run, load or send, and so must be agreed to once."""

from typing import Literal, NamedTuple

TrustedKind = Literal["command", "module", "host", "variable", "database", "query", "plug-in", "egress", "prompt"]


class Trusted(NamedTuple):
    """One thing to agree to."""

    kind: TrustedKind
    text: str
    """The command line, `module:function`, host, variable name or query, as it would be used."""
