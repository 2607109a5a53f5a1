"""Glob patterns over paths, as people know them from ignore files."""

from collections.abc import Iterable
from fnmatch import fnmatchcase


def matches_pattern(path: str, pattern: str) -> bool:
    """Return whether a path with forward slashes matches.

    A pattern without a slash matches the last part at any depth; one with a slash is anchored at the top;
    `**` stands for any number of folders; a trailing slash means everything below. Time is linear in the
    path.

    >>> matches_pattern("guides/setup.md", "*.md"), matches_pattern("guides/setup.md", "guides/")
    (True, True)
    >>> matches_pattern("a/b/c.md", "a/**/*.md"), matches_pattern("x/a/c.md", "a/*.md")
    (True, False)
    """
    if "/" not in pattern:
        return fnmatchcase(path.rpartition("/")[2], pattern)
    wanted = [part for part in pattern.split("/") if part not in ("", ".")]
    if pattern.endswith("/"):
        wanted.append("**")
    return _match_parts(path.split("/"), wanted)


def matches_any(path: str, patterns: Iterable[str]) -> bool:
    """Return whether a path matches one of the patterns."""
    return any(matches_pattern(path, pattern) for pattern in patterns)


def _match_parts(parts: list[str], wanted: list[str]) -> bool:
    # Going back only to the last `**` is enough: an earlier one could swallow nothing the later one cannot.
    part = want = 0
    star, resume = -1, 0
    while part < len(parts):
        if want < len(wanted) and wanted[want] == "**":
            star, resume = want, part
            want += 1
        elif want < len(wanted) and fnmatchcase(parts[part], wanted[want]):
            part, want = part + 1, want + 1
        elif star >= 0:
            resume += 1
            part, want = resume, star + 1
        else:
            return False
    return all(rest == "**" for rest in wanted[want:])
