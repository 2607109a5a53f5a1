"""What people look for in vain, by theme."""

import json
from pathlib import Path
from random import Random

import numpy as np
import pytest

from builders.assisted import QUICK, scripted, workspace_of
from builders.candidates import candidate, described, digest, searched
from builders.sets import case
from findback.errors import MissingError, RefusedError, UsageError
from findback.evalset.runs import save_run
from findback.llm.ask import Ask
from findback.model.hits import Answer, Hit
from findback.model.record import Record
from findback.model.run import RunBuilder
from findback.steps.assist_cluster import ClusterRequest, cluster
from findback.steps.assist_embedder import Embedding, open_embedder
from findback.steps.assist_questions import collect_questions
from findback.steps.assist_themes import find_themes
from findback.workspace import Workspace
from findback.writing.themes import ThemeLabel

TOPICS = ("badge", "crane", "leave")


def embed(text: str) -> np.ndarray:
    """One axis a topic, and one of its own for every other text."""
    vector = np.zeros(64, dtype=np.float32)
    vector[next((at for at, topic in enumerate(TOPICS) if topic in text), 8 + len(text) % 50)] = 1.0
    return vector


EMBEDDING = Embedding("by topic", embed)
BADGE = [{"doc": "howto/badge.md", "grade": 3, "found_by": "resolver"}]
CASES = (
    case(1, query="badge does not open the gate", asked="5-19", judged=BADGE),
    case(2, query="badge gate stays shut", asked="1", judged=BADGE),
    case(3, query="crane alarm", asked="20+"),
    case(4, query="crane alarm drawn at random", stratum="control"),
    case(5, query="leave held out", split="holdout"),
)
CANDIDATES = (
    candidate("a", query="lost badge, gate closed", asked="2-4"),
    searched("b", query="crane alarm at night", asked="1"),
    searched("c", query="something else entirely"),
    searched("d", query="⟦PERSON_1⟧"),
    described("e", "howto/badge.md", query="badge text of a model"),
)


def run(workspace: Workspace, **options: object):
    return cluster(workspace, ClusterRequest(**options), embedding=EMBEDDING)


def test_themes_and_what_they_cost(tmp_path: Path) -> None:
    """By hand: badge 5 + 1 + 2 times in 2 cases and 1 candidate, crane 20 + 1; one question is like no other."""
    found = run(workspace_of(tmp_path, CASES, CANDIDATES))
    assert [(one.label, one.cases, one.candidates, one.times) for one in found.themes] == [
        ("crane, alarm", 1, 1, 21),
        ("badge, gate", 2, 1, 8),
    ]
    assert [one.id for one in found.themes[1].questions] == ["c0000000001", digest("a"), "c0000000002"]
    assert found.single == 1
    assert found.left_out == {
        "held-out cases": 1,
        "not chosen because search failed": 2,
        "nothing but placeholders": 1,
    }
    assert (found.model, found.embedder, found.notes) == (
        None,
        "by topic",
        ("findback.toml names no model: themes are named by their words",),
    )


def test_a_conversation_stays_together_and_counts_once(tmp_path: Path) -> None:
    """Two cases of one cluster make no theme apart, however unlike they are, and one conversation."""
    cases = [case(1, query="badge is gone", cluster="one"), case(2, query="crane is stuck", cluster="one")]
    found = run(workspace_of(tmp_path, cases))
    assert [(one.cases, one.clusters, one.named_by) for one in found.themes] == [(2, 1, "question")]


def test_the_order_of_questions_makes_no_difference(tmp_path: Path) -> None:
    """The same questions give the same themes."""
    questions = collect_questions(workspace_of(tmp_path, CASES, CANDIDATES), "all").chosen
    wanted = find_themes(questions, EMBEDDING, alike=0.5)
    for seed in range(10):
        Random(seed).shuffle(questions)
        assert find_themes(questions, EMBEDDING, alike=0.5) == wanted


def test_misses_come_from_the_newest_kept_run_and_errors_are_none(tmp_path: Path) -> None:
    """One case found, one missed, one that failed with an error is neither; an older run does not count."""
    workspace = workspace_of(tmp_path, CASES)
    folder = workspace.private_part("runs")
    for name, first in (("20260101", "howto/vpn.md"), ("20260102", "howto/badge.md")):
        builder = RunBuilder("portal")
        builder.add("c0000000001", Answer((Hit(first, 2.0),)))
        builder.add("c0000000002", Answer((Hit("howto/vpn.md", 1.0),)))
        builder.fail("c0000000003", "timeout")
        save_run(builder.build(), folder / name)
    (folder / "20260103").write_text("broken")
    found = run(workspace)
    (badge,) = found.themes
    assert (badge.missed, badge.scored, found.runs) == ({"portal": 1}, {"portal": 2}, {"portal": "20260102"})
    assert [one.missed_by for one in badge.questions] == [(), ("portal",)]
    assert any("a kept run was not looked at" in note for note in found.notes)


def test_a_model_names_themes_from_words_without_placeholders(tmp_path: Path) -> None:
    """It sees no placeholder, mask or id; what it answers is the label, once it may be shown."""
    given = [searched(name, query=f"badge of ⟦PERSON_1⟧ fails {name}") for name in ("x", "y")]
    model = scripted(lambda ask: ThemeLabel(label="“Badges that fail.”"))
    found = cluster(workspace_of(tmp_path, [], given), ClusterRequest(), model=model, embedding=EMBEDDING)
    assert [(one.label, one.named_by) for one in found.themes] == [("Badges that fail", "model")]
    assert (found.model, found.ended["answered"]) == ("scripted:scripted", 1)
    assert "badge of fails x" in model.asked[0].user
    assert "PERSON" not in model.asked[0].user
    assert digest("x") not in model.asked[0].user
    assert model.asked[0].state == "unreviewed"


def test_a_label_that_names_somebody_is_not_shown(tmp_path: Path) -> None:
    """After three attempts the theme is named by its words, and the failure is counted."""
    mail = "noor.sorvik@" + "example.org"
    model = scripted(lambda ask: ThemeLabel(label=f"badges of {mail}"))
    found = cluster(workspace_of(tmp_path, CASES[:2]), ClusterRequest(), model=model, embedding=EMBEDDING)
    assert [(one.label, one.named_by) for one in found.themes] == [("badge, gate", "words")]
    assert (found.ended["error"], len(model.asked)) == (1, 3)
    assert mail not in found.model_dump_json()


def test_unreviewed_questions_go_only_where_the_setting_lets_them(tmp_path: Path) -> None:
    """Themes of released questions alone may be named elsewhere; words can always be taken."""
    workspace = workspace_of(tmp_path, CASES, CANDIDATES)
    far = scripted(lambda ask: ThemeLabel(label="doors"), name="far", egress="external")
    with pytest.raises(RefusedError, match=r"far \(external\)"):
        cluster(workspace, ClusterRequest(), model=far, embedding=EMBEDDING)
    assert far.asked == []
    words = cluster(workspace, ClusterRequest(words=True), model=far, embedding=EMBEDDING)
    assert (len(words.themes), far.asked) == (2, [])
    only = cluster(workspace, ClusterRequest(what="cases"), model=far, embedding=EMBEDDING)
    assert [one.label for one in only.themes] == ["doors"]


def test_a_file_is_written_as_its_name_says(tmp_path: Path) -> None:
    """Markdown with every question made inert, or JSON; private, and nothing is replaced unasked."""
    bad = case(6, query="badge <b>*fails*</b> again", asked="1")
    workspace = workspace_of(tmp_path, [*CASES, bad])
    run(workspace, output=tmp_path / "themes.md")
    text = (tmp_path / "themes.md").read_text("utf-8")
    assert text.startswith("# What people look for in vain: workspace\n")
    assert "badge &lt;b\\>\\*fails\\*&lt;/b\\> again" in text
    assert "3 cases, 0 candidates, asked at least 7 times" in text
    run(workspace, output=tmp_path / "themes.json")
    assert json.loads((tmp_path / "themes.json").read_text())["themes"][0]["times"] == 7
    assert (tmp_path / "themes.md").stat().st_mode & 0o777 == 0o600
    for file in (tmp_path / "themes.md", tmp_path / "themes.txt", workspace.root / "docs" / "howto" / "vpn.md"):
        with pytest.raises(UsageError):
            run(workspace, output=file)


def test_without_failures_it_says_so(tmp_path: Path) -> None:
    """A set of controls has no themes of failure."""
    with pytest.raises(MissingError, match="no failed search"):
        run(workspace_of(tmp_path, [CASES[3]]))


def test_a_dry_run_names_nothing_and_writes_nothing(tmp_path: Path) -> None:
    """Questions are compared here; the model is not asked: one call a theme is expected."""
    settings = QUICK + "[models.far]\nprovider = 'openai'\nmodel = 'gpt-test'\n"
    workspace = workspace_of(tmp_path, CASES, CANDIDATES, settings=settings)

    def never(ask: Ask[Record]) -> Record:
        raise AssertionError

    request = ClusterRequest(dry_run=True, output=tmp_path / "themes.md")
    found = cluster(workspace, request, model=scripted(never), embedding=EMBEDDING)
    assert found.estimate is not None
    assert (found.estimate.calls, found.dry_run, (tmp_path / "themes.md").exists()) == (2, True, False)


def test_the_house_s_embedder_is_used_where_none_is_handed_in(tmp_path: Path) -> None:
    """A model that is not here is named with the command that fetches it."""
    workspace = workspace_of(tmp_path, CASES)
    with pytest.raises(MissingError, match="minilm-l6"):
        open_embedder(workspace, "minilm-l6")
    with pytest.raises(MissingError, match="minilm-l6"):
        cluster(workspace, ClusterRequest())


def test_one_name_for_several_themes_names_none(tmp_path: Path) -> None:
    """Both are called by their words then, and a note says so."""
    model = scripted(lambda ask: ThemeLabel(label="Problems"))
    given = [searched(f"{topic}{n}", query=f"{topic} fails {n}") for topic in ("badge", "crane") for n in (1, 2)]
    found = cluster(workspace_of(tmp_path, [], given), ClusterRequest(), model=model, embedding=EMBEDDING)
    assert [one.named_by for one in found.themes] == ["words", "words"]
    assert any("2 themes were given the same name" in note for note in found.notes)
