"""A model of findback.toml, ready to be asked."""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from findback.departures import Departures
from findback.errors import MissingError, MissingLibraryError, SettingsError
from findback.llm.address import Address, find_address
from findback.llm.asked import AskedModel, Speaker
from findback.llm.budget import Budget
from findback.llm.cache import Answers
from findback.llm.pace import Pace
from findback.llm.traffic import Traffic
from findback.model.settings import ModelSettings
from findback.registry import EXTRAS, load_module

WANTED_FOR = "asking a language model"
KNOWN_MODELS = "findback models list shows those that can be pulled; any other is the path of a .gguf file"


def open_model(
    name: str,
    settings: ModelSettings,
    *,
    cache: Path | None = None,
    budget: Budget | None = None,
    departures: Departures | None = None,
    secret: str | None = None,
    unreviewed_allowed: bool = False,
    weights: Path | None = None,
) -> AskedModel:
    """Return a model that is asked through cache, budget and pace; it connects when it is asked.

    Args:
        name: Its name in findback.toml.
        settings: Its settings.
        cache: Private folder of answers; nothing is kept when None.
        budget: What the run may cost; shared by its models.
        departures: Counts what is sent where.
        secret: The value of its key.
        unreviewed_allowed: Whether text that nobody reviewed may go beyond this machine.
        weights: The GGUF file of a local model.

    Raises:
        SettingsError: If a setting makes no sense.
        RefusedError: If the address is one that must not be called.
        MissingError: If the file of a local model is not there.
        MissingLibraryError: If the library that reaches it is not installed.
        StorageError: If the kept answers cannot be opened.
    """
    address = find_address(name, settings)
    check_library(settings)
    account = (budget or Budget()).open_account(name, address.label, settings)
    if address.base_url is None:
        connect, place = _prepare_local(address, settings, weights, departures)
    else:
        secret = check_key(address, secret)
        connect, place = _prepare_server(address, settings, secret, departures), address.base_url
    return AskedModel(
        address,
        settings,
        place=place,
        connect=connect,
        answers=None if cache is None else Answers(cache),
        account=account,
        pace=Pace(1 if address.base_url is None else settings.connections),
        unreviewed_allowed=unreviewed_allowed,
    )


def check_library(settings: ModelSettings) -> None:
    """Check that the libraries are there which reach a model; nothing is imported.

    Raises:
        MissingLibraryError: If one is not.
    """
    needed = ["pydantic_ai", "anthropic" if settings.provider == "anthropic" else "openai"]
    if settings.provider == "local":
        needed.append("xllamacpp")
    for library in needed:
        if find_spec(library) is None:
            raise MissingLibraryError(library, extra=EXTRAS[library], wanted_for=WANTED_FOR)


def check_key(address: Address, secret: str | None) -> str | None:
    """Return the key, if it is one that can be sent; None where none is needed.

    Raises:
        SettingsError: If its variable is not set, or holds what no key may have; its value is not shown.
    """
    if address.variable is None:
        return None
    secret = (secret or "").strip()
    if not secret:
        raise SettingsError(
            f"[models.{address.name}] key: the environment variable {address.variable} is not set",
            hint=f"export {address.variable}=…",
        )
    if not secret.isprintable() or not secret.isascii():
        raise SettingsError(f"the environment variable {address.variable} holds characters that no key may have")
    return secret


def _prepare_server(
    address: Address, settings: ModelSettings, secret: str | None, departures: Departures | None
) -> Callable[[], Speaker]:
    base_url = address.base_url or ""

    def connect() -> Speaker:
        # Takes seconds to import, which who finds every answer kept does without.
        client = load_module("findback.llm.client", wanted_for=WANTED_FOR)
        traffic = Traffic(
            base_url, secret=secret, connections=settings.connections, level=address.level, departures=departures
        )
        speaker: Speaker = client.Client(address.name, settings, base_url, secret, traffic)
        return speaker

    return connect


def _prepare_local(
    address: Address, settings: ModelSettings, weights: Path | None, departures: Departures | None
) -> tuple[Callable[[], Speaker], str]:
    if weights is None or not weights.is_file():
        raise MissingError(
            f"[models.{address.name}] model: the file {weights or settings.model} is not there",
            hint=KNOWN_MODELS,
        )
    found = weights.stat()

    def connect() -> Speaker:
        local = load_module("findback.llm.local", wanted_for=WANTED_FOR)
        speaker: Speaker = local.LocalModel(address, settings, weights, departures)
        return speaker

    return connect, f"{weights.name}:{found.st_size}:{found.st_mtime_ns}"
