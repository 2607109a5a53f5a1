"""A search system's JSON answer, read through JSONPath."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

import jsonpath
import orjson

from findback.errors import EngineError, SettingsError
from findback.model.hits import Answer, Hit
from findback.model.record import Record
from findback.net import HttpAnswer
from findback.retrievers.returned import MOST_HITS, read_id, read_passage, read_score, read_span

_STEP = re.compile(r"\.([^\W\d]\w*)|\[(?:'([^'\\]*)'|\"([^\"\\]*)\"|(\d{1,9}))\]")


class Found(NamedTuple):
    """A value that a path leads to."""

    obj: Any


class KeyPath:
    """A JSONPath of nothing but names and numbers, which needs no engine: most paths, and each is followed often.

    >>> KeyPath(("hits", 0, "id"), each=False).findall({"hits": [{"id": "a"}]})
    ['a']
    """

    def __init__(self, steps: tuple[str | int, ...], *, each: bool) -> None:
        """Take the steps, and whether what they lead to is taken apart."""
        self._steps, self._each = steps, each

    def finditer(self, item: Any) -> Iterator[Found]:
        """Yield what the path leads to."""
        for step in self._steps:
            if not _holds(item, step):
                return
            item = item[step]
        if not self._each:
            yield Found(item)
        elif isinstance(item, list | dict):
            yield from map(Found, item.values() if isinstance(item, dict) else item)

    def findall(self, item: Any) -> list[Any]:
        """Return what the path leads to."""
        return [found.obj for found in self.finditer(item)]


CompiledPath = jsonpath.JSONPath | jsonpath.CompoundJSONPath | KeyPath


class PathSettings(Record):
    """Where in an answer everything stands."""

    hits: str = "$.hits[*]"
    """JSONPath to the results, best first."""
    id: str = "$.id"
    """JSONPath from a result to the id of its document."""
    split: str | None = None
    """Where a result's id names a passage: the document's id stands before the last occurrence of this text."""
    score: str | None = None
    """JSONPath from a result to its score."""
    passage: str | None = None
    """JSONPath from a result to its passage text."""
    start: str | None = None
    """JSONPath from a result to the first character of the passage in its document."""
    end: str | None = None
    """JSONPath from a result to the character after the passage."""
    abstain: str | None = None
    """JSONPath into the answer that matches something true when the system says that it has no answer."""


class AnswerReader:
    """Reads answers by compiled paths."""

    def __init__(self, name: str, settings: PathSettings) -> None:
        self._settings = settings
        text = settings.hits.strip()
        self._hits = compile_path(name, "hits", text)
        holder = next((text.removesuffix(end) for end in ("[*]", ".*") if text.endswith(end)), text)
        self._holder = compile_path(name, "hits", holder or "$")
        self._id = compile_path(name, "id", settings.id)
        self._split = settings.split
        self._score, self._passage, self._start, self._end, self._abstain = (
            None if path is None else compile_path(name, key, path)
            for key, path in (
                ("score", settings.score),
                ("passage", settings.passage),
                ("start", settings.start),
                ("end", settings.end),
                ("abstain", settings.abstain),
            )
        )
        used = (self._hits, self._id, self._score, self._passage, self._start, self._end, self._abstain)
        self.plain = all(path is None or isinstance(path, KeyPath) for path in used)
        """Whether reading a small answer surely takes no time to speak of."""

    def read(self, content: Any, k: int, shown: str) -> Answer:
        """Return the results; fewer than `k` mean that there are no more.

        Raises:
            EngineError: If a path matches nothing where it must, or a value is not what it should be.
        """
        if self._abstain is not None and any(found.obj for found in _follow(self._abstain, content)):
            return Answer((), exhausted=True, abstained=True)
        items = self._list(content, shown)
        hits = tuple(self._hit(item, rank, shown) for rank, item in enumerate(items[:MOST_HITS], 1))
        return Answer(hits, exhausted=len(hits) < k)

    def _list(self, content: Any, shown: str) -> list[Any]:
        # Read one by one: what stands beyond the bound costs nothing.
        items = [found.obj for found in islice(_follow(self._hits, content), MOST_HITS)]
        if len(items) == 1 and isinstance(items[0], list):
            # The path names the list itself instead of what is in it.
            return items[0]
        if items and items != [None]:
            return items
        holders = self._holder.findall(content)
        if not holders:
            raise EngineError(
                f"`hits` = {self._settings.hits!r} matches nothing in the answer of {shown}",
                hint="look at one answer, and write the path of its list of results as $.list[*]",
            )
        if not all(holder is None or isinstance(holder, list | dict) for holder in holders):
            raise EngineError(f"`hits` = {self._settings.hits!r} is no list in the answer of {shown}")
        return []

    def _hit(self, item: Any, rank: int, shown: str) -> Hit:
        found = self._id.findall(item) if isinstance(item, list | dict) else [item]
        if not found:
            raise EngineError(
                f"`id` = {self._settings.id!r} matches nothing in result {rank} of {shown}",
                hint="the path starts at one result: $.id, $._source.path",
            )
        document = read_id(found[0], rank)
        if self._split:
            document = document.rpartition(self._split)[0] or document
        return Hit(
            document,
            read_score(_first(self._score, item), rank),
            read_passage(_first(self._passage, item), rank),
            read_span(_first(self._start, item), _first(self._end, item), rank),
        )


def compile_path(name: str, key: str, path: str) -> CompiledPath:
    """Return a compiled JSONPath; `field` alone means `$.field`.

    Raises:
        SettingsError: If it is no JSONPath.
    """
    written = path if path.startswith("$") else f"$.{path}"
    if (simple := _read_keys(written)) is not None:
        return simple
    try:
        return jsonpath.compile(written)
    except jsonpath.JSONPathError as error:
        said = str(error).partition("\n")[0]
        raise SettingsError(
            f"[retrievers.{name}] {key}: {path!r} is no JSONPath: {said}",
            hint="such as $.hits.hits[*], $._source.path, $['@search.score']",
        ) from None


def _read_keys(written: str) -> KeyPath | None:
    """Return a path of names and numbers, or None where there is more to it."""
    inner = written.removeprefix("$").removesuffix("[*]")
    steps: list[str | int] = []
    at = 0
    while at < len(inner):
        step = _STEP.match(inner, at)
        if step is None:
            return None
        steps.append(int(step[4]) if step[4] is not None else next(name for name in step.groups() if name is not None))
        at = step.end()
    return KeyPath(tuple(steps), each=written.endswith("[*]"))


def _holds(item: Any, step: str | int) -> bool:
    if isinstance(step, str):
        return isinstance(item, dict) and step in item
    return isinstance(item, list) and step < len(item)


def read_json(answered: HttpAnswer, shown: str) -> Any:
    """Return the JSON of an answer.

    Raises:
        EngineError: If it is HTML or no valid JSON.
    """
    body = answered.body.removeprefix(b"\xef\xbb\xbf").strip()
    if body.startswith(b"<") or "html" in answered.headers.get("content-type", ""):
        raise EngineError(
            f"HTTP {answered.status} from {shown}: HTML, not JSON",
            hint="a login or error page? check `url` and `headers`",
        )
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        problem = "an empty answer" if not body else "no valid JSON"
        raise EngineError(f"HTTP {answered.status} from {shown}: {problem}", hint="check `url`") from None


def _follow(path: CompiledPath, item: Any) -> Iterator[Any]:
    """Yield what a path leads to, one by one, as matches."""
    return iter(path.finditer(item))


def _first(path: CompiledPath | None, item: Any) -> Any:
    if path is None or not isinstance(item, list | dict):
        return None
    return next((found.obj for found in _follow(path, item)), None)
