"""Assistance by a model behind a server: what is really sent, and what a second run costs."""

import json
import re
from pathlib import Path

import pytest

from builders.assisted import QUICK, workspace_of
from builders.candidates import candidate
from builders.llmserver import KEY, MODEL, LlmServer, Question
from builders.sets import case
from findback.errors import RefusedError
from findback.model.case import Case
from findback.steps.assist_classify import ClassifyRequest, classify
from findback.steps.assist_paraphrase import ParaphraseRequest, paraphrase
from findback.steps.opening import trusted_items
from findback.trust import digest_of
from findback.workspace import Workspace, open_workspace

pytest.importorskip("pydantic_ai")

GOLD = "canarygold"
WORDS = ("anchor", "barge", "crane", "derrick", "ebb", "ferry", "gangway", "hatch", "jetty", "keel", "lock", "mast")


def cases() -> list[Case]:
    label = [{"doc": f"{GOLD}/id.md", "grade": 3, "anchor": f"A {GOLD} sentence.", "found_by": GOLD}]
    return [
        case(n, query=f"why is the {one} number {n} out of order", judged=label, tags=[GOLD], cluster=f"{GOLD}{n}")
        for n, one in enumerate(WORDS)
    ]


def answer(question: Question) -> dict[str, object]:
    """Two variants made of what the question asks about, or one wording."""
    found = re.search(r"the (\w+) number (\d+)", question.user)
    if "variants" not in json.dumps(question.body.get("response_format", question.schema or {})):
        return {"wording": "symptom-first", "confidence": 0.75}
    assert found is not None
    return {
        "variants": [
            f"{found[1]} {found[2]} does not work, what happened to it",
            f"somebody tell me when {found[1]} {found[2]} will be repaired",
        ]
    }


def at_server(folder: Path, server: LlmServer, settings: str = "", **candidates: object) -> Workspace:
    model = f'[models.m]\nprovider = "openai"\nmodel = "{MODEL}"\nbase_url = "{server.openai}"\nkey = "env:LLM_KEY"\n'
    prices = "price_in = 1.0\nprice_out = 2.0\n"
    workspace = workspace_of(folder, cases(), settings=QUICK + model + prices + settings, **candidates)
    digest = digest_of(workspace.root, trusted_items(workspace))
    return open_workspace(
        workspace.root, environment={**workspace.environment, "LLM_KEY": KEY, "FINDBACK_TRUST": digest}
    )


def test_no_gold_reaches_the_server_and_a_second_run_pays_nothing(tmp_path: Path) -> None:
    """Every byte received is looked at; with errors on the way all end well, and again all comes from the cache."""
    bodies: list[str] = []

    def seen(question: Question) -> dict[str, object]:
        bodies.append(json.dumps(question.body, ensure_ascii=False) + json.dumps(question.headers))
        return answer(question)

    def mood(question: Question, times: int) -> str | None:
        return ("503", "malformed", "disconnect", None)[len(question.user) % 4] if times == 0 else None

    with LlmServer(answer=seen, mood=mood) as server:
        workspace = at_server(tmp_path, server)
        first = paraphrase(workspace, ParaphraseRequest(n=2))
        accepted = server.counts.accepted
        again = paraphrase(workspace, ParaphraseRequest(n=2))
        assert server.counts.accepted == accepted
        assert server.counts.duplicates == 0
    assert first.ended == {"answered": 12, "error": 0, "not reached": 0}
    assert first.stored == {"new": 24}
    assert (again.roots, again.stored) == (first.roots, {"unchanged": 24})
    assert first.bills[0].calls >= 12
    assert (first.bills[0].price or 0) > 0
    assert (again.bills[0].calls, again.bills[0].cached, again.bills[0].price) == (0, 12, 0.0)
    assert len(bodies) >= 12
    assert all("why is the" in body for body in bodies)
    assert not [body for body in bodies if GOLD in body or "c000000" in body]


def test_a_budget_stops_cleanly_and_more_of_it_goes_on(tmp_path: Path) -> None:
    """What was answered is kept; every case has one end; the second run pays for the rest alone."""
    with LlmServer(answer=answer) as server:
        workspace = at_server(tmp_path, server)
        whole = paraphrase(workspace, ParaphraseRequest(n=2, dry_run=True)).estimate
        assert whole is not None
        short = paraphrase(workspace, ParaphraseRequest(n=2, budget=(whole.price or 0) / 4))
        assert short.ended["answered"] >= 1
        assert short.ended["not reached"] >= 1
        assert sum(short.ended.values()) == 12
        assert "budget" in next(iter(short.errors))
        rest = paraphrase(workspace, ParaphraseRequest(n=2))
        assert (rest.ended["answered"], server.counts.duplicates) == (12, 0)
        assert server.counts.accepted == 12


def test_unreviewed_text_leaves_for_no_model_elsewhere(tmp_path: Path) -> None:
    """The server gets nothing; where the setting names the model it gets the candidate."""
    with LlmServer(answer=answer) as server:
        far = at_server(tmp_path, server, 'egress = "external"\n', candidates=[candidate("q")])
        with pytest.raises(RefusedError, match=r"m \(external\)"):
            classify(far, ClassifyRequest())
        assert server.counts.accepted == 0
        assert classify(far, ClassifyRequest(what="cases")).ended["answered"] == 12
        allowed = '[egress]\nunreviewed_to = ["m"]\n'
        near = at_server(tmp_path / "allowed", server, f'egress = "external"\n{allowed}', candidates=[candidate("q")])
        assert classify(near, ClassifyRequest(what="candidates")).proposed == {"symptom-first": 1}
