"""What a question needs besides its words, and whether a retriever can honour it."""

from findback.errors import EngineError
from findback.model.case import Context
from findback.model.protocols import Query

FIELDS = frozenset(Context.model_fields)


class UnhonouredError(EngineError):
    """The retriever cannot honour the context of this question: it is not asked, and counted apart."""

    code = "unhonoured"


def list_needs(context: Context | None) -> frozenset[str]:
    """Return the fields of a context that say something."""
    if context is None:
        return frozenset()
    return frozenset(name for name in FIELDS if getattr(context, name))


def tell_unhonoured(query: Query, honours: frozenset[str]) -> str | None:
    """Return why a question is not applicable, or None where its context can be honoured."""
    lacking = sorted(list_needs(query.context) - honours)
    return f"cannot honour {', '.join(lacking)}" if lacking else None
