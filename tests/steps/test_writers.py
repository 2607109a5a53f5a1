"""From findback.toml to a model that can be asked."""

import asyncio
import re
from pathlib import Path

import pytest

from builders.asked import VARIABLE, Query, an_ask, say_back
from builders.llmserver import KEY, LlmServer
from findback.errors import MissingError, RefusedError, SettingsError, UntrustedError, UsageError
from findback.llm.address import find_address
from findback.model.settings import EgressSettings
from findback.steps.doctor import DoctorRequest, doctor
from findback.steps.egress import read_egress
from findback.steps.opening import trusted_items
from findback.steps.writers import model_settings, open_budget, open_judge, open_writer
from findback.trust import digest_of
from findback.workspace import open_workspace


@pytest.fixture
def make(tmp_path):
    """Write a findback.toml, and open the workspace, which is trusted unless said otherwise."""

    def make(text, *, trusted=True, **environment):
        (tmp_path / "findback.toml").write_text(text)
        environment = {"XDG_STATE_HOME": str(tmp_path / "state"), "HOME": str(tmp_path), VARIABLE: KEY} | environment
        workspace = open_workspace(tmp_path, environment=environment)
        if trusted:
            environment["FINDBACK_TRUST"] = digest_of(workspace.root, trusted_items(workspace))
        return open_workspace(tmp_path, environment=environment)

    return make


def table(name, server, **more):
    settings = {"provider": "openai", "model": "gpt-test", "base_url": server.openai, "key": f"env:{VARIABLE}"} | more
    return f"[models.{name}]\n" + "".join(f"{key} = {value!r}\n" for key, value in settings.items())


def ask(model, question=None):
    async def run():
        try:
            return await model.ask(question or an_ask())
        finally:
            await model.close()

    return asyncio.run(run())


def test_a_model_of_the_settings_is_asked_and_its_answers_are_kept(make):
    """The only model is the writer; its answers are kept in the private folder, and what was sent is counted."""
    with LlmServer(say_back) as server:
        workspace = make(table("small", server))
        budget = open_budget(workspace)
        first = ask(open_writer(workspace, budget=budget))
        second = ask(open_writer(workspace, budget=budget))
        assert server.counts.accepted == 1
        origin = server.openai.removesuffix("/v1")
    assert first.value == Query(query="how boats are moored at pier 1.")
    assert second.cached
    assert [(bill.model, bill.calls, bill.cached) for bill in budget.bills()] == [("small", 1, 1)]
    assert (workspace.private / "answers" / "answers.sqlite").is_file()
    (sent,) = read_egress(workspace).sent
    assert (sent.endpoint, sent.level, sent.state, sent.count) == (origin, "local", "document", 1)


def test_nobody_is_asked_before_somebody_agreed(make):
    """Host, variable and a claimed level are asked about; without an answer nothing is opened or sent."""
    with LlmServer(say_back) as server:
        workspace = make(table("small", server, egress="internal"), trusted=False)
        with pytest.raises(UntrustedError) as caught:
            open_writer(workspace)
        shown = []
        ask(open_writer(workspace, ask=lambda question: not shown.append(question)))
        ask(open_writer(workspace))
    origin = server.openai.removesuffix("/v1")
    for item in (
        f"host      {origin}, asked by model small",
        f"variable  ${VARIABLE}, sent to {origin} by model small",
        "egress    model small counts as internal",
    ):
        assert item in str(caught.value)
        assert item in shown[0]


def test_the_judge_is_the_writer_unless_another_is_named(make):
    """Without a judge the writer judges itself; a named one is opened beside it and spends from the same budget."""
    with LlmServer(say_back) as server:
        workspace = make(table("a", server) + table("b", server) + "[writing]\nwriter = 'a'\n")
        writer = open_writer(workspace)
        assert writer.name == "a"
        assert open_judge(workspace, writer) is writer
        assert open_judge(workspace, writer, name="a") is writer
        assert model_settings(workspace, None, role="judge")[0] == "a"
        judge = open_judge(workspace, writer, name="b")
        assert judge.name == "b"
        asyncio.run(judge.close())
        asyncio.run(writer.close())
        workspace = make(table("a", server) + table("b", server) + "[writing]\nwriter = 'a'\njudge = 'b'\n")
        assert model_settings(workspace, None, role="judge")[0] == "b"


def test_a_model_has_to_be_named(make):
    """None, several without a choice, and unknown names are errors that say what there is."""
    with LlmServer(say_back) as server:
        with pytest.raises(UsageError, match="names no models"):
            open_writer(make("name = 'x'\n"))
        with pytest.raises(UsageError, match="names 2 models"):
            open_writer(make(table("a", server) + table("b", server)))
        with pytest.raises(MissingError, match=r"no \[models.c\]"):
            open_writer(make(table("a", server)), name="c")


def test_a_key_comes_from_the_environment_only(make):
    """A variable that is not set is named; a budget without prices is refused before anything is asked."""
    with LlmServer(say_back) as server:
        with pytest.raises(SettingsError, match=f"the environment variable {VARIABLE} is not set"):
            open_writer(make(table("a", server), **{VARIABLE: ""}))
        with pytest.raises(SettingsError, match="cannot be kept without a price"):
            open_writer(make(table("a", server) + "[writing]\nbudget = 3.0\n"))


def test_unreviewed_text_goes_where_its_name_is_allowed(make):
    """[egress] unreviewed_to names models as it names retrievers, and is part of the trust question."""
    question = an_ask(state="unreviewed")
    with LlmServer(say_back) as server:
        with pytest.raises(RefusedError, match="nobody reviewed"):
            ask(open_writer(make(table("a", server, egress="external"))), question)
        workspace = make(table("a", server, egress="external") + "[egress]\nunreviewed_to = ['a']\n")
        assert ask(open_writer(workspace), question)
        assert workspace.settings.egress == EgressSettings(unreviewed_to=("a",))
    assert any("may see unreviewed text" in item.text for item in trusted_items(workspace))


def test_a_local_model_has_to_be_there(make):
    """A model that was not pulled says how; a file that is not there, and a model that cannot write, are named."""
    for model, said in (
        ("smollm2", "has not been pulled"),
        ("none.gguf", r"none\.gguf is not there"),
        ("minilm-l6", "pulled"),
        ("gpt-9", "there is no model 'gpt-9'"),
    ):
        with pytest.raises(MissingError, match=said):
            open_writer(make(f"[models.tiny]\nprovider = 'local'\nmodel = '{model}'\n"))
    workspace = make("[models.tiny]\nprovider = 'local'\nmodel = 'none.gguf'\n", trusted=False)
    with pytest.raises(UntrustedError, match=r"module +the file none\.gguf, run by model tiny"):
        open_writer(workspace)


def test_doctor_says_how_each_model_would_be_reached(make):
    """One line a model: provider, level, host, the variable of its key, whether a price is known; nothing is sent."""
    with LlmServer(say_back) as server:
        text = table("a", server) + table("b", server, key="env:NOT_SET", price_in=1.0, price_out=2.0)
        text += "[models.tiny]\nprovider = 'local'\nmodel = 'smollm2'\n[models.x]\nprovider = 'openai'\nmodel = 'y'\n"
        items = {item.what: item for item in doctor(make(text, trusted=False), DoctorRequest()).items}
        assert server.counts.accepted == 0
        origin = server.openai.removesuffix("/v1")
    found = items["[models.a]"]
    assert found.state == "ok"
    assert found.found == f"openai:gpt-test, local, at {origin}, key in ${VARIABLE}, no price known; not asked"
    assert "NOT_SET is not set" in items["[models.b]"].found
    assert items["[models.tiny]"].todo == "findback models pull smollm2"
    assert items["[models.x]"].state == "fault"
    assert KEY not in str(items)


def test_the_settings_of_the_documentation_are_read(make):
    """Every TOML block of docs/models.md is a findback.toml, and each of its models has an address or runs here."""
    page = (Path(__file__).resolve().parents[2] / "docs" / "models.md").read_text("utf-8")
    blocks = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == 3
    levels = {}
    for block in blocks:
        for name, settings in make(block).settings.models.items():
            levels[name] = find_address(name, settings).level
    assert levels == {
        "small": "external",
        "judge": "external",
        "ollama": "local",
        "vllm": "internal",
        "llamacpp": "local",
        "tiny": "local",
    }
