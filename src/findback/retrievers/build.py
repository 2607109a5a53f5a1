"""From `[retrievers.NAME]` to a retriever."""

import hashlib
import json
from collections.abc import Mapping
from typing import Protocol, TypeVar

from pydantic import ValidationError

from findback import registry
from findback.errors import FindbackError, SettingsError
from findback.model.protocols import Retriever
from findback.model.record import Record
from findback.model.settings import RetrieverSettings
from findback.model.trusted import Trusted
from findback.retrievers.foreign import output_apart
from findback.retrievers.masking import say_exception
from findback.retrievers.surroundings import Surroundings

GROUP = "findback.retrievers"

Own = TypeVar("Own", bound=Record)


class RetrieverKind(Protocol):
    """What an entry point of the group `findback.retrievers` names: a class with these two methods."""

    @classmethod
    def trusts(cls, name: str, settings: RetrieverSettings) -> tuple[Trusted, ...]:
        """Return what somebody must agree to before `build`: code, commands, hosts, variables. Runs nothing.

        Raises:
            SettingsError: If the settings make no sense.
        """
        ...

    @classmethod
    def build(cls, name: str, settings: RetrieverSettings, surroundings: Surroundings) -> Retriever:
        """Return the retriever, not yet connected, loaded or indexed.

        Raises:
            SettingsError: If the settings make no sense.
        """
        ...


def build_retriever(name: str, settings: RetrieverSettings, surroundings: Surroundings) -> Retriever:
    """Return the retriever that `[retrievers.NAME]` describes.

    The caller has asked for trust (`list_trusted`) before.

    Raises:
        SettingsError: If a setting makes no sense, or retrievers contain each other in a circle.
        MissingError: If the kind, a file or a model is not there.
        MissingLibraryError: If the kind needs a library that is not installed.
    """
    with output_apart():
        try:
            kind: RetrieverKind = registry.load(GROUP, settings.kind)
            return kind.build(name, settings, surroundings.within(name))
        except (FindbackError, KeyboardInterrupt):
            raise
        except BaseException as error:
            if registry.is_ours(GROUP, settings.kind):
                raise
            # Not the exception itself: SystemExit would pass for a findback that has done its work.
            raise SettingsError(
                f"[retrievers.{name}] the plug-in {settings.kind} failed: {say_exception(error)}"
            ) from error


def list_trusted(retrievers: Mapping[str, RetrieverSettings]) -> tuple[Trusted, ...]:
    """Return everything that must be agreed to before any of these retrievers is built.

    A kind that a plug-in brings is named itself, and not loaded: loading it would run its code. Where it sends
    what is in its settings cannot be told, so that it is agreed to with exactly these settings.

    Raises:
        SettingsError: If a setting makes no sense.
        MissingError: If a kind is not there.
    """
    found: list[Trusted] = []
    for name, settings in retrievers.items():
        if settings.kind in registry.names(GROUP) and not registry.is_ours(GROUP, settings.kind):
            content = json.dumps([settings.kind, settings.own], sort_keys=True, default=str)
            digest = hashlib.sha256(content.encode()).hexdigest()[:12]
            found.append(Trusted("plug-in", f"{settings.kind}, for {name} with its settings of digest {digest}"))
            continue
        kind: RetrieverKind = registry.load(GROUP, settings.kind)
        found.extend(kind.trusts(name, settings))
    return tuple(dict.fromkeys(found))


def read_own(name: str, settings: RetrieverSettings, record: type[Own]) -> Own:
    """Return the keys that belong to the kind, checked.

    Raises:
        SettingsError: If one is missing, unknown or makes no sense; all of them at once, without the values.
    """
    try:
        return record.model_validate(settings.own)
    except ValidationError as error:
        lines = []
        for fault in error.errors(include_url=False, include_input=False, include_context=False):
            key = ".".join(str(part) for part in fault["loc"])
            said = {"extra_forbidden": "unknown setting", "missing": "is needed"}.get(fault["type"], fault["msg"])
            lines.append(f"[retrievers.{name}] {key}: {said.removeprefix('Value error, ')}")
        known = ", ".join(record.model_fields)
        raise SettingsError("\n".join(lines), hint=f"settings of kind {settings.kind!r}: {known}") from None
