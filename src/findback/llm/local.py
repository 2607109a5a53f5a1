"""A model that runs inside this process, on one port of this machine that wants a key nobody else has."""

import os
import secrets
from pathlib import Path

import xllamacpp  # type: ignore[import-untyped]

from findback.departures import Departures
from findback.errors import DataError, EngineError, SettingsError
from findback.llm.address import Address
from findback.llm.client import Client
from findback.llm.said import Said
from findback.llm.traffic import Traffic
from findback.model.record import Record
from findback.model.settings import ModelSettings

CONTEXT = 8_192
"""Tokens of question and answer together."""
SILENT = -1


class LocalModel:
    """Serves a GGUF file to itself, one question at a time."""

    def __init__(self, address: Address, settings: ModelSettings, weights: Path, departures: Departures | None) -> None:
        """Load the model.

        Args:
            address: How it is called.
            settings: Its settings.
            weights: The GGUF file.
            departures: Counts what is sent to it.

        Raises:
            SettingsError: If the processor cannot run it.
            DataError: If it is no GGUF file.
            EngineError: If it cannot be loaded.
        """
        check_processor()
        with weights.open("rb") as handle:
            if handle.read(4) != b"GGUF":
                raise DataError(f"{weights} is no GGUF file", hint="name a model in that format")
        key = secrets.token_hex(16)
        try:
            server = xllamacpp.Server(_parameters(weights, key))
        except Exception as error:  # noqa: BLE001  (whatever the library raises)
            raise EngineError(f"the model {weights} cannot be loaded ({type(error).__name__})") from None
        self._server: object | None = server
        base_url = f"{server.listening_address}/v1"
        traffic = Traffic(
            base_url, secret=key, connections=1, level=address.level, departures=departures, endpoint=address.origin
        )
        self._client = Client(address.name, settings, base_url, key, traffic)

    async def say(self, system: str, user: str, answer: type[Record], *, temperature: bool, schema: bool) -> Said:
        """Return what the model says."""
        return await self._client.say(system, user, answer, temperature=temperature, schema=schema)

    async def close(self) -> None:
        """Close the connection, and let go of the model's memory."""
        await self._client.close()
        # It ends when nobody holds it.
        self._server = None


def check_processor(described: Path = Path("/proc/cpuinfo")) -> None:
    """Refuse a processor on which the library would end the process without a word.

    Args:
        described: File in which the system says what the processor can do; what it does not say is taken for granted.

    Raises:
        SettingsError: If it is one of Intel's kind without AVX2.
    """
    said = described.read_text("utf-8", "replace") if described.is_file() else ""
    flags = [line for line in said.splitlines() if line.startswith("flags")]
    if flags and "avx2" not in flags[0].split():
        raise SettingsError(
            "this processor has no AVX2, which local models need", hint="name a server: provider = 'openai', base_url"
        )


def _parameters(weights: Path, key: str) -> object:
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(weights)
    parameters.api_keys = [key]
    parameters.n_ctx = CONTEXT
    parameters.n_parallel = 1
    # On all of them it is many times slower as soon as anything else runs.
    threads = max(1, (os.cpu_count() or 2) - 1)
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
    parameters.ui = parameters.endpoint_slots = parameters.endpoint_props = False
    parameters.verbosity = SILENT
    return parameters
