"""Solr's synonyms as Lucene reads them, written for tests alone."""


def read_synonyms(text: str) -> dict[str, list[str]]:
    """Return what each left side becomes; lines of one left side add up, and what is on no right side is gone.

    Raises:
        ValueError: For what the real reader refuses: two arrows, or an empty side.
    """
    found: dict[str, list[str]] = {}
    for line in text.split("\n"):
        if not line or line.startswith("#"):
            continue
        sides = split(line, "=>")
        if len(sides) != 2:
            raise ValueError(f"{len(sides) - 1} arrows")
        left, right = ([unescape(one).strip() for one in split(side, ",")] for side in sides)
        if not all([*left, *right]):
            raise ValueError("a term is empty")
        for one in left:
            found.setdefault(one, []).extend(right)
    return found


def split(text: str, separator: str) -> list[str]:
    """Cut at separators that no backslash stands before; backslashes stay."""
    parts, current, at = [], "", 0
    while at < len(text):
        if text.startswith(separator, at):
            parts.append(current)
            current = ""
            at += len(separator)
        elif text[at] == "\\":
            current += text[at : at + 2]
            at += 2
        else:
            current += text[at]
            at += 1
    return [*parts, current]


def unescape(text: str) -> str:
    """Take each backslash away and leave what follows."""
    read, at = "", 0
    while at < len(text):
        if text[at] == "\\" and at + 1 < len(text):
            at += 1
        read += text[at]
        at += 1
    return read


def analyse(synonyms: dict[str, list[str]], query: str) -> list[set[str]]:
    """Return the terms at each place of a query: the longest left side wins, as in a graph filter."""
    words, at, places = query.lower().split(), 0, []
    while at < len(words):
        for length in range(len(words) - at, 0, -1):
            key = " ".join(words[at : at + length])
            if key in synonyms:
                places.append(set(synonyms[key]))
                at += length
                break
        else:
            places.append({words[at]})
            at += 1
    return places
