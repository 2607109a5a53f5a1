"""How prompts call languages."""

import tomllib
from functools import lru_cache
from importlib.resources import files

from findback.text.scripts import primary_language

UNKNOWN = "the language of the text"
"""What a prompt says where nobody said which language it is."""


def name_language(code: str | None) -> str:
    """Return the English name of a language, without region or script.

    An unknown code, of which a document could be the source, is not repeated.

    >>> name_language("de"), name_language("pt-BR"), name_language(None)
    ('German', 'Portuguese', 'the language of the text')
    """
    return UNKNOWN if code is None else _names().get(primary_language(code), UNKNOWN)


@lru_cache(maxsize=1)
def _names() -> dict[str, str]:
    names: dict[str, str] = tomllib.loads(
        (files("findback.writing") / "language_names.toml").read_text(encoding="utf-8")
    )
    return names
