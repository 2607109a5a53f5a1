"""Neither a key nor a text reaches an error, a log, a file or the screen."""

import logging
import traceback
import warnings

import pytest

from builders.asked import an_ask, ask_all, open_for, say_back
from builders.llmserver import MOODS, LlmServer
from findback.llm.budget import Budget

TEXT = "canary" + "boat4711"
SECRET = "sk-" + "canary" + "key4711"


@pytest.fixture
def everything_logged(caplog):
    """Log everything of every library from the lowest level on."""
    caplog.set_level(logging.DEBUG)
    for name in list(logging.root.manager.loggerDict):
        logging.getLogger(name).setLevel(logging.DEBUG)
    return caplog


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
@pytest.mark.parametrize("mood", [None, "unknown model", "wrong key", "stopped", *MOODS])
def test_every_failing_path_is_quiet(provider, mood, tmp_path, everything_logged, capfd, monkeypatch):
    """However a call ends, the key and the question are in no error, traceback, log, kept file or output."""
    monkeypatch.setattr("builders.asked.KEY", SECRET)
    monkeypatch.setattr("findback.llm.asked.WAITS", 2)
    ask = an_ask(system=f"Write about {TEXT}.", user=f"What is {TEXT}?")
    changed = {"model": "gpt-unknown"} if mood == "unknown model" else {}
    key = "another" if mood == "wrong key" else SECRET
    with (
        warnings.catch_warnings(),
        LlmServer(
            lambda question: {"query": "mooring"}, slow=1.0, mood=lambda question, times: mood, key=key
        ) as server,
    ):
        if mood == "stopped":
            server.stop()
        model = open_for(server, provider=provider, cache=tmp_path, timeout=0.6, temperature=0.7, **changed)
        budget = Budget()
        found = ask_all(model, ask)
    errors = [one for one in found if isinstance(one, BaseException)]
    shown = ["".join(traceback.format_exception(one)) for one in errors]
    shown += [repr(one) for one in errors] + [str(getattr(one, "hint", "")) for one in errors]
    shown += [record.getMessage() + str(record.args) + str(record.exc_text) for record in everything_logged.records]
    shown += [str(budget.bills()), repr(model), *capfd.readouterr()]
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    for canary in (TEXT, SECRET):
        assert not [text for text in shown if canary in text]
        assert canary.encode() not in kept
    for error in errors:
        chain = error
        while chain is not None:
            assert type(chain).__module__.startswith("findback"), type(chain)
            chain = chain.__cause__ or chain.__context__


def test_moods_fail_as_the_test_above_needs_them():
    """The paths are failing ones: most moods end in an error, the rest are read all the same."""
    good = {"fenced", "no temperature", "no schema"}
    for mood in MOODS.keys() - {"slow", "500", "503", "429", "hang up", "disconnect"}:
        with LlmServer(say_back, mood=lambda question, times, mood=mood: mood) as server:
            (found,) = ask_all(open_for(server, temperature=0.7), an_ask())
        assert isinstance(found, BaseException) == (mood not in good), mood
