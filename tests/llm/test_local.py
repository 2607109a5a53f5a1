"""A real language model, small and offline, in this process."""

import asyncio
import os
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

from builders.asked import Query, an_ask
from findback.errors import DataError, MissingError, SettingsError
from findback.llm.local import _parameters, check_processor
from findback.llm.open import open_model
from findback.model.settings import ModelSettings
from findback.retrievers.catalogue import pull
from findback.steps.doctor import DoctorRequest, doctor
from findback.steps.writers import open_writer
from findback.workspace import open_workspace

SETTINGS = "[models.tiny]\nprovider = 'local'\nmodel = 'smollm2'\nmax_tokens = 600\n"


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Return a folder of models with the small one: $FINDBACK_MODELS, else pulled once; skip by name without it."""
    named = os.environ.get("FINDBACK_MODELS")
    folder = Path(named) if named else tmp_path_factory.mktemp("models")
    try:
        pull("smollm2", folder)
    except MissingError as error:
        pytest.skip(f"model-missing: {error}")
    return folder


@pytest.fixture
def workspace(tmp_path, models):
    """A workspace that names the small model; nothing has to be agreed to."""
    (tmp_path / "findback.toml").write_text(SETTINGS)
    environment = {"XDG_STATE_HOME": str(tmp_path / "state"), "HOME": str(tmp_path), "FINDBACK_MODELS": str(models)}
    return open_workspace(tmp_path, environment=environment)


def test_the_small_model_obeys_the_schema(workspace, capfd):
    """Three questions have valid answers, which are marked as not for decisions; a second run computes nothing."""

    async def run():
        model = open_writer(workspace)
        try:
            return [await model.ask(an_ask(number)) for number in range(3)], model
        finally:
            await model.close()

    replies, model = asyncio.run(run())
    assert all(isinstance(reply.value, Query) and reply.usage.tokens_out > 0 for reply in replies)
    assert not model.for_decisions
    assert (model.label, model.egress) == ("local:smollm2", "local")
    again, _ = asyncio.run(run())
    assert [one.cached for one in again] == [True] * 3
    assert [one.value for one in again] == [one.value for one in replies]
    assert capfd.readouterr() == ("", "")


def test_nobody_else_can_ask_it(workspace):
    """It listens on this machine only, answers no one without its key, and ends when it is closed."""

    async def run():
        model = open_writer(workspace)
        await model.ask(an_ask())
        address = model._speaker._server.listening_address
        async with httpx2.AsyncClient(trust_env=False, base_url=address) as client:
            question = {"messages": [{"role": "user", "content": "hello"}]}
            refused = await client.post("/v1/chat/completions", json=question)
            await model.close()
            with pytest.raises(httpx2.TransportError):
                await client.post("/v1/chat/completions", json=question)
        return address, refused.status_code

    address, status = asyncio.run(run())
    assert urlsplit(address).hostname == "127.0.0.1"
    assert status == 401


def test_it_leaves_one_core_to_others(models):
    """It computes on all cores but one, at least on one."""
    parameters = _parameters(models / "smollm2" / "SmolLM2-135M-Instruct.Q4_1.gguf", "key")
    expected = max(1, os.cpu_count() - 1)
    assert parameters.cpuparams.n_threads == parameters.cpuparams_batch.n_threads == expected


def test_doctor_says_what_it_is_for(workspace):
    """Doctor finds it here, and says that it is for trying things out."""
    item = next(item for item in doctor(workspace, DoctorRequest()).items if item.what == "[models.tiny]")
    assert (item.state, item.found) == ("ok", "local:smollm2, local, for trying things out only; not asked")


def test_an_old_processor_is_told_before_it_crashes(tmp_path):
    """Where the system says that AVX2 is missing, nothing is loaded; where it says nothing, it is tried."""
    described = tmp_path / "cpuinfo"
    described.write_text("processor : 0\nflags\t\t: fpu sse avx\n")
    with pytest.raises(SettingsError, match="no AVX2"):
        check_processor(described)
    described.write_text("processor : 0\nflags\t\t: fpu sse avx avx2\n")
    check_processor(described)
    described.write_text("processor : 0\nFeatures : asimd\n")
    check_processor(described)
    check_processor(tmp_path / "none")


def test_what_is_no_model_is_named(tmp_path):
    """A file that is no GGUF is an error that names it, and nothing is loaded."""
    weights = tmp_path / "fake.gguf"
    weights.write_bytes(b"GIF89a" * 100)
    model = open_model("m", ModelSettings(provider="local", model="fake.gguf"), weights=weights)
    with pytest.raises(DataError, match=r"fake\.gguf is no GGUF file"):
        asyncio.run(model.ask(an_ask()))
