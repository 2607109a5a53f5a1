"""A search function written in Python, or a framework's retriever: `module:name`, or handed over in a notebook."""

import asyncio
import functools
import importlib
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, PositiveInt, StringConstraints

from findback.departures import Departures
from findback.errors import EngineError, MissingError, SettingsError
from findback.model.case import Context
from findback.model.hits import Answer
from findback.model.protocols import Query, ScoreDirection
from findback.model.record import LOCAL_ONLY, Record
from findback.model.settings import EgressLevel, RetrieverSettings
from findback.model.trusted import Trusted
from findback.retrievers.build import read_own
from findback.retrievers.context import FIELDS
from findback.retrievers.foreign import is_being_cancelled, output_apart
from findback.retrievers.frameworks import FrameworkError, adapt
from findback.retrievers.masking import describe_exception, say_exception
from findback.retrievers.returned import MOST_HITS, SHAPES, read_answer
from findback.retrievers.surroundings import Surroundings
from findback.retrievers.workers import AsyncWorker, Workers

Search = Callable[..., Any]


class PythonSettings(Record):
    """Settings of kind `python`."""

    function: Annotated[str, StringConstraints(pattern=r"^[\w.]+:[\w.]+$"), LOCAL_ONLY]
    """`module:function`, importable from the folder of findback.toml; takes the query and k. Or the name of a
    retriever object of LangChain, LlamaIndex or Haystack."""
    id_from: str | None = None
    """For such an object: key of a result's metadata that holds the document's id, such as `source`."""
    concurrency: PositiveInt = 1
    """Searches at the same time; each has its own thread when the function is not async."""
    timeout: Annotated[float, Field(gt=0, le=3600)] = 60.0
    """Seconds for one search."""
    scores: ScoreDirection | Literal["none"] = "higher"
    """Which scores are better; `none` where they cannot be compared between queries."""


class PythonRetriever:
    """Calls a function `search(query, k)`, or `search(query, k, context=…)` where it takes a context."""

    kind = "python"

    def __init__(
        self,
        name: str,
        function: Search,
        *,
        where: str | None = None,
        id_from: str | None = None,
        concurrency: int = 1,
        seconds: float = 60.0,
        score_direction: ScoreDirection | None = "higher",
        egress: EgressLevel = "local",
        departures: Departures | None = None,
    ) -> None:
        self.name = name
        self.score_direction = score_direction
        self.egress: EgressLevel = egress
        self.concurrency = concurrency
        """Most searches at the same time."""
        self._departures = departures if egress != "local" else None
        self._where = where or _name_of(function)
        self._id_from = id_from
        function = adapt(function, id_from) or function
        self._function = function
        self._seconds = seconds
        self._is_async = _is_async(function)
        self._takes_k, self._takes_context = _read_signature(function, self._where)
        self.honours = FIELDS if self._takes_context else frozenset[str]()
        self._workers, self._async_worker = Workers(), AsyncWorker()

    @classmethod
    def trusts(cls, name: str, settings: RetrieverSettings) -> tuple[Trusted, ...]:
        """Return the function that would be imported and called."""
        return (Trusted("module", read_own(name, settings, PythonSettings).function),)

    @classmethod
    def build(cls, name: str, settings: RetrieverSettings, surroundings: Surroundings) -> "PythonRetriever":
        """Import the function and return the retriever.

        Raises:
            SettingsError: If a setting makes no sense, or importing the module fails.
            MissingError: If there is no such module or function.
        """
        own = read_own(name, settings, PythonSettings)
        return cls(
            name,
            import_function(own.function, surroundings.base),
            where=own.function,
            id_from=own.id_from,
            concurrency=own.concurrency,
            seconds=own.timeout,
            score_direction=None if own.scores == "none" else own.scores,
            egress=settings.egress or "local",
            departures=surroundings.departures,
        )

    def settings(self) -> Mapping[str, object]:
        """Return the name of the function; what it does inside cannot be seen."""
        named = {"function": self._where, "scores": self.score_direction}
        return named if self._id_from is None else {**named, "id_from": self._id_from}

    async def search(self, query: Query, k: int) -> Answer:
        """Return what the function returns, read as hits.

        Raises:
            EngineError: If it raised, took too long, or returned another shape.
        """
        if self._departures is not None:
            self._departures.add(f"{self.kind} {self.name}", self.egress)
        call = functools.partial(self._function, query.text, *((k,) if self._takes_k else ()))
        if self._takes_context:
            call = functools.partial(call, context=query.context)
        try:
            async with asyncio.timeout(self._seconds) as limit:
                with output_apart():
                    found = await self._run(call, k)
        except (Exception, asyncio.CancelledError) as error:
            if isinstance(error, TimeoutError) and limit.expired():
                raise EngineError(
                    f"{self._where} did not return within {self._seconds:g} s", hint="raise `timeout`"
                ) from None
            if isinstance(error, asyncio.CancelledError) and is_being_cancelled():
                raise
            if isinstance(error, FrameworkError):
                raise
            raise EngineError(f"{self._where} raised {describe_exception(error, query)}") from None
        if isinstance(found, EngineError):
            raise found
        return found

    async def exists(self, document: str, context: Context | None = None) -> bool | None:
        """Return None: a function cannot be asked."""
        return None

    async def close(self) -> None:
        """End the threads."""
        if self._departures is not None:
            self._departures.flush()
        self._workers.stop()
        await self._async_worker.close()

    async def _run(self, call: Callable[[], Any], k: int) -> Answer | EngineError:
        """Return the answer, or what is wrong with it, from the thread of the function."""
        found: Any = call
        if not self._is_async:
            found = await self._workers.run(lambda: _read(call(), k))
            if not inspect.isawaitable(found):
                return found  # type: ignore[no-any-return]

        async def work() -> Answer | EngineError:
            return _read(await (call() if self._is_async else found), k)  # type: ignore[no-any-return]

        return await self._async_worker.run(work)  # type: ignore[no-any-return]


def import_function(where: str, base: Path) -> Search:
    """Return the function that `module:function` names; `base` is looked at before other places.

    Raises:
        MissingError: If there is no such module or function.
        SettingsError: If importing the module fails, or it is no function.
    """
    module_name, _, path = where.partition(":")
    with output_apart():
        found = _find_function(where, module_name, path, str(base.absolute()))
    if found is None:
        raise MissingError(f"the module {module_name} has no {path}", hint=f"`function` is {where!r}")
    if not callable(found) and adapt(found) is None:
        raise SettingsError(
            f"{where} is a {type(found).__name__}, not a function",
            hint="objects of LangChain, LlamaIndex and Haystack that search are taken, too",
        )
    return found  # type: ignore[no-any-return]


def _find_function(where: str, module_name: str, path: str, folder: str) -> Any:
    sys.path.insert(0, folder)
    try:
        importlib.invalidate_caches()
        found: Any = importlib.import_module(module_name)
        for part in path.split("."):
            found = getattr(found, part, None)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise SettingsError(f"{where} needs the module {error.name}, which is not installed") from None
        raise MissingError(f"there is no module {module_name}", hint=f"it is looked for in {folder} first") from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        # A module that calls sys.exit must not pass for a findback that has done its work.
        raise SettingsError(f"importing {module_name} failed: {say_exception(error)}") from error
    finally:
        # Later imports of the module must still find their neighbours, but shadow nothing.
        with suppress(ValueError):
            sys.path.remove(folder)
        if folder not in sys.path:
            sys.path.append(folder)
    return found


def _read(returned: Any, k: int) -> Any:
    """Return the answer in what a function returned, or what is wrong with it; an awaitable as it is."""
    if inspect.isawaitable(returned):
        return returned
    returned = _read_whole(returned)
    try:
        return read_answer(returned, k)
    except EngineError as error:
        # Handed back, not raised: it is findback's own sentence, not the function's.
        return error


def _read_whole(returned: Any) -> Any:
    """Run a generator to its end, in the thread it belongs to."""
    return list(islice(returned, MOST_HITS)) if isinstance(returned, Iterator) else returned


def _is_async(function: Search) -> bool:
    target = function.func if isinstance(function, functools.partial) else function
    return inspect.iscoroutinefunction(target) or inspect.iscoroutinefunction(type(target).__call__)


def _read_signature(function: Search, where: str) -> tuple[bool, bool]:
    """Return whether the function takes k, and whether it takes a context.

    Raises:
        SettingsError: If it cannot be called with a query and k.
    """
    try:
        parameters = inspect.signature(function).parameters
    except Exception:  # noqa: BLE001 (objects may bring a signature of their own)
        return True, False
    positional = [
        parameter
        for parameter in parameters.values()
        if parameter.kind in {parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD}
        and parameter.name != "context"
    ]
    takes_any = any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters.values())
    needed = [parameter for parameter in positional if parameter.default is parameter.empty]
    wanted_by_name = [
        parameter.name
        for parameter in parameters.values()
        if parameter.kind is parameter.KEYWORD_ONLY
        and parameter.default is parameter.empty
        and parameter.name != "context"
    ]
    if len(needed) > 2 or wanted_by_name or not (positional or takes_any):
        raise SettingsError(
            f"{where} cannot be called as search(query, k)",
            hint=f"it takes a query and k, and returns a list of {SHAPES}",
        )
    return len(positional) > 1 or takes_any, "context" in parameters


def _name_of(function: Search) -> str:
    target = function.func if isinstance(function, functools.partial) else function
    return str(getattr(target, "__qualname__", type(target).__qualname__))
