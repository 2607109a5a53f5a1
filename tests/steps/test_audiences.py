"""Cases that say who asks: broken, missing and hidden are told apart."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import findback
from builders.portal import write_pages
from findback.model.case import Context
from findback.model.document import Document
from findback.model.evaluation import Evaluation, RetrieverScores
from findback.model.question import Question
from findback.reporting.notebook import render_text
from findback.reporting.render import EVALUATION
from findback.retrievers.memory import MemoryRetriever
from findback.steps.audit import AuditRequest, audit
from findback.steps.evaluate import EvaluateRequest, evaluate
from findback.steps.misses import ask_presence
from findback.steps.waiting import wait_for
from findback.workspace import Workspace, open_workspace
from retrievers.builders import Reply, Seen, json_reply, serving

PAGES = {
    "pay.md": "---\nreaders: [staff]\n---\n# Pay\n\nSalary bands are reviewed each spring by the works council.",
    "rates.md": "---\nreaders: staff, partner\n---\n# Rates\n\nPartner rates for storage are listed by harbour.",
    "tracking.md": "# Tracking\n\nA parcel is traced with its number.",
    "claims.md": "# Claims\n\nA damaged parcel is claimed within a week.",
}
CASES = [
    ("hidden", "when are salary bands reviewed", "pay.md", "partner"),
    ("staff", "who reviews salary bands", "pay.md", "staff"),
    ("shared", "storage rates by harbour", "rates.md", "partner"),
    ("open", "trace a parcel", "tracking.md", "partner"),
    ("anybody", "salary bands spring", "pay.md", None),
    ("absent", "canteen menu", "canteen.md", "partner"),
    ("lost", "broken goods refund", "claims.md", "partner"),
]
AS_ROLE = "as={{context.audience|staff}}"
ROLES = "[audiences]\nroles = ['staff', 'partner']\n"


def write_workspace(folder: Path, *tables: str, cases: list[tuple[str, str, str, str | None]] = CASES) -> Workspace:
    """Write pages with readers, a set with audiences and findback.toml, and open it."""
    write_pages(folder / "docs", PAGES)
    lines = [
        {"findback_question": 1, "id": name, "query": query}
        | {"judged": [{"doc": gold, "grade": 3, "found_by": "resolver"}]}
        | ({"context": {"audience": role}} if role else {})
        for name, query, gold, role in cases
    ]
    (folder / "set.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    (folder / "findback.toml").write_text("\n".join(tables), "utf-8")
    return open_workspace(folder, environment={"XDG_STATE_HOME": str(folder / "state"), "HOME": str(folder)})


def corpus(more: str = "audience_field = 'readers'\n") -> str:
    return f"[corpus]\npath = 'docs'\n{more}"


def run(workspace: Workspace, **more: Any) -> Evaluation:
    return evaluate(workspace, EvaluateRequest(set=workspace.root / "set.jsonl"), **more)


def kinds(scores: RetrieverScores) -> Mapping[str, str]:
    return {miss.question: miss.kind for miss in scores.miss_examples}


def test_hidden_documents_are_told_from_absent_ones(tmp_path: Path) -> None:
    """Over a folder of Markdown, bm25 hides what a role may not read, and says so; coverage still counts the page."""
    result = run(write_workspace(tmp_path, corpus(), ROLES))
    scores = result.retrievers[0]
    assert kinds(scores) == {
        "hidden": "not visible to this audience",
        "absent": "not in the index",
        "lost": "not found",
    }
    assert {count.name: count.count for count in scores.misses} == {
        "not visible to this audience": 1,
        "not in the index": 1,
        "not found": 1,
    }
    why = {miss.question: miss.why for miss in scores.miss_examples}
    assert why["hidden"] == "The system holds it but does not show it to 'partner': access, not ranking."
    assert why["lost"] == "The system holds it and did not return it."
    assert all(shown.document != "pay.md" for miss in scores.miss_examples for shown in miss.instead)
    assert scores.not_applicable == 0
    assert (scores.coverage.golds, scores.coverage.indexed) == (5, 4)
    assert not any("warning" in note for note in result.set.notes)


def test_reports_name_the_class_and_the_reason(tmp_path: Path) -> None:
    """Terminal, Markdown and HTML count hidden documents as a class of miss and say why."""
    result = run(write_workspace(tmp_path, corpus(), ROLES))
    forms = [write(result) for suffix, write in EVALUATION.by_suffix.items() if suffix != ".json"]
    for text in (*forms, render_text(result)):
        assert "not visible to this audience" in text
        assert "access, not ranking" in " ".join(text.split())


def test_without_readers_an_audience_is_not_applicable(tmp_path: Path) -> None:
    """Where documents do not say who may read them, cases with an audience are left out and counted, as before."""
    scores = run(write_workspace(tmp_path, corpus(""), ROLES)).retrievers[0]
    assert scores.not_applicable == 6
    assert kinds(scores) == {}


def test_unknown_roles_are_warned_about(tmp_path: Path) -> None:
    """A case or document with a role findback.toml does not name gives a note with the name and the known roles."""
    cases = [("typo", "trace a parcel", "tracking.md", "partnr"), ("open", "parcel number", "tracking.md", "partner")]
    workspace = write_workspace(tmp_path, corpus(), "[audiences]\nroles = ['partner']\n", cases=cases)
    notes = run(workspace).set.notes
    assert (
        "warning: 1 of 2 questions are asked as roles that findback.toml does not know: 'partnr'"
        " ([audiences] roles: 'partner')"
    ) in notes
    assert (
        "warning: documents name roles that findback.toml does not know: 'staff' ([audiences] roles: 'partner')"
    ) in notes
    audited = audit(workspace, AuditRequest(set=tmp_path / "set.jsonl"))
    assert any("'partnr'" in note for note in audited.set.set.notes)


def test_a_field_no_document_has_is_warned_about(tmp_path: Path) -> None:
    """A misspelt audience_field would open everything to everybody, so it is said."""
    notes = run(write_workspace(tmp_path, corpus("audience_field = 'reders'\n"), ROLES)).set.notes
    assert any("no document of docs has the audience_field" in note for note in notes)


def engine(asked: Seen) -> Reply:
    """Search and documents by id behind HTTP; staff see everything, partners all but pay, nobody else anything."""
    place = urlsplit(asked.path)
    role = parse_qs(place.query)["as"][0]
    seen = {"staff": ["pay.md", "rates.md", "claims.md"], "partner": ["rates.md", "claims.md"]}.get(role, [])
    if place.path.startswith("/documents/"):
        name = place.path.rpartition("/")[2]
        held = name in ("pay.md", "rates.md", "claims.md")
        return json_reply({}, 200 if name in seen else 403 if held else 404)
    return json_reply({"hits": [{"id": name} for name in seen if name != "claims.md"]})


def test_an_engine_behind_http_is_asked_as_the_role(tmp_path: Path) -> None:
    """`exists` is asked as nobody and as the case's role; 403 for the role alone is hidden, not missing."""
    with serving(engine) as server:
        table = (
            f"[retrievers.remote]\nkind = 'http'\nurl = '{server.url}/search?q={{{{query}}}}&n={{{{k}}}}&{AS_ROLE}'\n"
            f"[retrievers.remote.exists]\nurl = '{server.url}/documents/{{{{id}}}}?{AS_ROLE}'\n"
        )
        scores = run(write_workspace(tmp_path, corpus(""), ROLES, table), ask=lambda _: True).retrievers[0]
    assert kinds(scores) == {
        "hidden": "not visible to this audience",
        "open": "not in the index",
        "absent": "not in the index",
        "lost": "not found",
    }
    assert (scores.coverage.golds, scores.coverage.indexed) == (5, 3)


def test_an_engine_that_cannot_be_asked_as_a_role_says_so(tmp_path: Path) -> None:
    """Where `exists` does not hand the audience on, nothing is called hidden: whether it is cannot be told."""
    with serving(engine) as server:
        table = (
            f"[retrievers.remote]\nkind = 'http'\nurl = '{server.url}/s?q={{{{query}}}}&{AS_ROLE}'\n"
            f"[retrievers.remote.exists]\nurl = '{server.url}/documents/{{{{id}}}}?as=staff'\n"
        )
        scores = run(write_workspace(tmp_path, corpus(""), ROLES, table), ask=lambda _: True).retrievers[0]
    assert kinds(scores)["hidden"] == "not found"
    why = next(miss.why for miss in scores.miss_examples if miss.question == "hidden")
    assert "whether 'partner' may see it cannot be told" in why


def asked_as(name: str, gold: str, **context: Any) -> Question:
    return Question.model_validate(
        {"id": name, "query": name, "judged": [{"doc": gold, "grade": 3, "found_by": "resolver"}], "context": context}
    )


class Filtering(MemoryRetriever):
    """Hides `old.md` from whoever filters by version, and `pay.md` from everybody but staff."""

    async def exists(self, document: str, context: Context | None = None) -> bool | None:
        if document == "old.md" and context is not None and context.filters:
            return False
        return await super().exists(document, context)


def test_what_a_filter_hides_is_not_put_down_to_the_audience() -> None:
    """A document the filter hides from everybody is not called hidden from this audience."""
    system = Filtering({}, holds=["old.md", "pay.md"], honours=["filters"], readers={"pay.md": ["staff"]})
    questions = [
        asked_as("filtered", "old.md", audience="partner", filters={"version": "2"}),
        asked_as("both", "pay.md", audience="partner", filters={"version": "2"}),
        asked_as("allowed", "pay.md", audience="staff"),
        asked_as("unhonoured", "pay.md", audience="partner", locale="de"),
    ]
    found = wait_for(ask_presence(system, ["old.md", "pay.md"], questions, concurrency=2))
    assert found.held == {"old.md": True, "pay.md": True}
    assert found.shown == {("filtered", "old.md"): None, ("both", "pay.md"): False, ("allowed", "pay.md"): True}


def test_audiences_of_documents_at_hand(tmp_path: Path) -> None:
    """Documents given from Python that name roles are hidden like those of a folder."""
    workspace = write_workspace(tmp_path, ROLES)
    documents = findback.load_corpus(
        [Document("pay.md", "salary bands", audience=("staff",)), Document("tracking.md", "trace a parcel")]
    )
    scores = run(workspace, documents=documents).retrievers[0]
    assert kinds(scores)["hidden"] == "not visible to this audience"
