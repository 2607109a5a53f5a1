"""Prompts of a workspace's own, used once somebody agreed to them."""

from pathlib import Path

import pytest

from builders.assisted import scripted, workspace_of
from builders.sets import case
from findback.errors import DataError, MissingError, UntrustedError
from findback.steps.assist_classify import ClassifyRequest, classify
from findback.steps.assist_prompts import open_workspace_prompts
from findback.steps.opening import trusted_items
from findback.trust import digest_of
from findback.workspace import Workspace, open_workspace
from findback.writing.classify import Classified

OWN = "{% block system %}Say plain.{% endblock %}{% block user %}{{ query }}{% endblock %}"


def with_prompt(folder: Path, text: str = OWN) -> Workspace:
    workspace = workspace_of(folder, [case(1)], settings="[writing]\nprompts = 'prompts'\n")
    (workspace.root / "prompts").mkdir()
    (workspace.root / "prompts" / "classify.j2").write_text(text, "utf-8")
    return workspace


def test_an_overridden_prompt_is_asked_about_and_then_used(tmp_path: Path) -> None:
    """Nothing is sent before somebody agreed; the question names the prompt with its digest."""
    workspace = with_prompt(tmp_path)
    model = scripted(lambda ask: Classified(wording="plain", confidence=1))
    with pytest.raises(UntrustedError, match="prompt    classify@"):
        classify(workspace, ClassifyRequest(), model=model)
    assert model.asked == []
    asked: list[str] = []
    classify(workspace, ClassifyRequest(), model=model, ask=lambda question: not asked.append(question))
    classify(workspace, ClassifyRequest(), model=model)
    assert len(asked) == 1
    assert model.asked[0].system.startswith("Say plain.")


def test_one_agreement_covers_prompts_and_retrievers_alike(tmp_path: Path) -> None:
    """The digest is that of everything the workspace names, so that no command undoes another's answer."""
    workspace = with_prompt(tmp_path)
    digest = digest_of(workspace.root, trusted_items(workspace))
    trusted = open_workspace(workspace.root, environment={**workspace.environment, "FINDBACK_TRUST": digest})
    assert open_workspace_prompts(trusted).label("classify") == open_workspace_prompts(trusted).label("classify")
    (workspace.root / "prompts" / "classify.j2").write_text(OWN + " ", "utf-8")
    with pytest.raises(UntrustedError):
        open_workspace_prompts(trusted)


def test_prompts_that_cannot_be_used_are_told_to_who_wants_them(tmp_path: Path) -> None:
    """A missing folder or a broken template is no reason to stop a search, and is said where prompts are needed."""
    missing = workspace_of(tmp_path / "a", settings="[writing]\nprompts = 'nowhere'\n")
    assert trusted_items(missing) == ()
    with pytest.raises(MissingError, match="folder of prompts"):
        open_workspace_prompts(missing)
    broken = with_prompt(tmp_path / "b", "{% block system %}")
    assert trusted_items(broken) == ()
    with pytest.raises(DataError, match="classify"):
        open_workspace_prompts(broken)
