"""findback: when someone looks for something that is there, does search find it back?

>>> import findback
>>> sorted(findback.__all__)
['audit', 'compare', 'compare_across', 'evaluate', 'load_cases', 'load_corpus', 'mine']
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from findback.api import audit, compare, compare_across, evaluate, load_cases, load_corpus, mine

__all__ = ["audit", "compare", "compare_across", "evaluate", "load_cases", "load_corpus", "mine"]


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    # Loaded when first used: importing findback itself must cost nothing.
    if name in __all__:
        from findback import api  # noqa: PLC0415

        return getattr(api, name)
    raise AttributeError(f"module 'findback' has no attribute {name!r}")
