"""Putting the questions of cases in other words."""

import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from builders.assisted import ALONE, QUICK, hand_in, scripted, workspace_of
from builders.portal import write_pages
from builders.sets import case
from findback.errors import MissingError, UsageError
from findback.llm.ask import Ask, ItemFailedError
from findback.model.case import Case
from findback.model.record import Record
from findback.model.review import Review
from findback.model.reviewer import Reviewer
from findback.privacy.core import CoreRedactor
from findback.privacy.release_check import check_release
from findback.steps.assist_paraphrase import ParaphraseRequest, choose_roots, paraphrase
from findback.steps.bench import open_bench
from findback.steps.casemaking import open_bench_cases
from findback.workbench.rows import StoredCandidate
from findback.workspace import Workspace
from findback.writing.paraphrase import Paraphrases

ANA = Reviewer("ana", "Ana", ("reviewer",), ("public",))
BADGE = case(
    1, query="my card for the door of ⟦PERSON_1⟧ is gone", redaction={"ruleset": "core-1", "types": ["PERSON"]}
)
TRAVEL = case(2, query="is business class ok", stratum="control", selected_on="portal", language="en")
VARIANTS = {
    "my card": (
        "⟦PERSON_1⟧ lost the badge that opens our building",
        "where to report a missing entry pass, ⟦PERSON_1⟧",
    ),
    "is business": ("may i fly in the expensive seats", "can we book better than economy for a flight"),
}


def answer(ask: Ask[Record]) -> Record:
    return Paraphrases(variants=next(found for begin, found in VARIANTS.items() if begin in ask.user))


def stored(workspace: Workspace) -> list[StoredCandidate]:
    with open_bench(workspace) as bench:
        return bench.list_candidates()


def test_variants_become_candidates_of_their_case(tmp_path: Path) -> None:
    """Each is a paraphrase with root, how it was written, and its placeholder known for one; nothing of the label."""
    workspace = workspace_of(tmp_path, [BADGE, TRAVEL])
    done = paraphrase(workspace, ParaphraseRequest(n=2), model=scripted(answer, for_decisions=False))
    assert [(one.case, one.ended, one.kept) for one in done.roots] == [
        (BADGE.id, "answered", VARIANTS["my card"]),
        (TRAVEL.id, "answered", VARIANTS["is business"]),
    ]
    assert (done.stored, done.dropped, done.ended["answered"]) == ({"new": 4}, {}, 2)
    assert done.notes == ("scripted:scripted is fit for trying things out only",)
    first, _, third, _ = [one.candidate for one in stored(workspace)]
    assert (first.origin, first.root, first.source, first.query_line) == ("paraphrase", BADGE.id, "model", -1)
    assert [one.rule for one in first.rules] == ["paraphrase"]
    assert (first.thread, first.links, first.title) == ((), (), None)
    assert [(one.type, one.band) for one in first.query.spans] == [("PERSON", "applied")]
    assert check_release(first.query, CoreRedactor()) == []
    assert (third.stratum, third.selected_on, third.language) == ("control", "portal", "en")
    written = first.written
    assert written is not None
    assert (written.model, written.document, written.attempt) == ("scripted:scripted", None, 1)
    assert (written.for_decisions, written.prompt[:11]) == (False, "paraphrase@")


def test_a_confirmed_variant_becomes_a_case_with_its_root_s_label(tmp_path: Path) -> None:
    """Judgements, wording, cluster and split are the root's; the reviewer only says that it asks the same."""
    root = BADGE.model_copy(update={"wording": "vague", "split": "holdout", "cluster": "k99"})
    workspace = workspace_of(tmp_path, [root], settings=ALONE)
    paraphrase(workspace, ParaphraseRequest(n=1, case=(root.id,)), model=scripted(answer))
    hand_in(workspace, ANA, {stored(workspace)[0].candidate.key: Review()})
    with open_bench_cases(workspace, reviewer="ana") as ready:
        (found,) = ready.collect()
    made = found.case
    assert made is not None, found.obstacles
    assert (made.origin, made.root, made.query) == ("paraphrase", root.id, VARIANTS["my card"][0])
    assert (made.judged, made.wording, made.cluster, made.split) == (root.judged, "vague", "k99", "holdout")
    assert made.redaction.types == ("PERSON",)


def test_the_same_again_stores_nothing_twice(tmp_path: Path) -> None:
    """The second run asks the same, keeps the same, and changes nothing; what was rejected stays rejected."""
    workspace = workspace_of(tmp_path, [TRAVEL])
    model = scripted(answer)
    first = paraphrase(workspace, ParaphraseRequest(n=2), model=model)
    one = stored(workspace)[0]
    with open_bench(workspace) as bench:
        bench.reject(one.candidate.key, "asks for something else", reviewer="ana", version=1, now=one.stored_at)
    again = paraphrase(workspace, ParaphraseRequest(n=2), model=model)
    assert (first.stored, again.stored) == ({"new": 2}, {"unchanged": 1, "kept_decided": 1})
    assert again.roots == first.roots
    assert len(stored(workspace)) == 2
    assert model.asked[0] == model.asked[1]


def test_what_is_lacking_is_asked_for_again(tmp_path: Path) -> None:
    """The second attempt asks for what the first left open, as another call; dropped ones are counted by reason."""
    workspace = workspace_of(tmp_path, [TRAVEL])

    def answer_by_attempt(ask: Ask[Record]) -> Record:
        good, other = VARIANTS["is business"]
        return Paraphrases(variants=(good, f"Sure! {other}") if ask.attempt == 1 else (other,))

    model = scripted(answer_by_attempt)
    done = paraphrase(workspace, ParaphraseRequest(n=2), model=model)
    assert (done.roots[0].kept, done.dropped) == (VARIANTS["is business"], {"assistant chatter": 1})
    assert [one.attempt for one in model.asked] == [1, 2]
    assert ["Write 2 variants" in one.user for one in model.asked] == [True, False]
    assert [one.candidate.written.attempt for one in stored(workspace)] == [1, 2]


def test_a_variant_like_one_of_an_earlier_run_is_dropped(tmp_path: Path) -> None:
    """Another model that says nearly the same brings nothing new."""
    workspace = workspace_of(tmp_path, [TRAVEL])
    first = Paraphrases(variants=("may i fly in the expensive seats",))
    paraphrase(workspace, ParaphraseRequest(n=1), model=scripted(lambda ask: first))
    twin = Paraphrases(variants=("the expensive seats: may i fly in one",))
    done = paraphrase(workspace, ParaphraseRequest(n=1), model=scripted(lambda ask: twin, name="other"))
    assert (done.roots[0].kept, done.dropped) == ((), {"near-copy of another variant": 3})
    assert len(stored(workspace)) == 1


def test_a_model_that_names_people_or_addresses_is_not_believed(tmp_path: Path) -> None:
    """What redaction takes away is dropped, unless the released question itself holds it."""
    asked = case(1, query="who owns build-7.example.org and its certificate")
    workspace = workspace_of(tmp_path, [asked])
    mail = "noor.sorvik@" + "example.org"
    found = Paraphrases(
        variants=(
            f"is {mail} in charge of the server that builds things",
            "which team looks after build-7.example.org when its TLS runs out",
        )
    )
    done = paraphrase(workspace, ParaphraseRequest(n=2), model=scripted(lambda ask: found))
    assert done.roots[0].kept == (found.variants[1],)
    assert done.dropped["names what redaction takes away"] == 3
    assert mail not in done.model_dump_json()


def test_a_failure_is_one_case_s_end_and_not_the_others(tmp_path: Path) -> None:
    """The reason stands with the case; nothing is made up for it."""

    def answer_one(ask: Ask[Record]) -> Record:
        if "is business" in ask.user:
            raise ItemFailedError("the model refused")
        return answer(ask)

    done = paraphrase(workspace_of(tmp_path, [BADGE, TRAVEL]), ParaphraseRequest(n=2), model=scripted(answer_one))
    assert done.ended == {"answered": 1, "error": 1, "not reached": 0}
    assert (done.roots[1].reason, done.roots[1].kept) == ("the model refused", ())
    assert done.stored == {"new": 2}


def test_a_dry_run_asks_and_stores_nothing(tmp_path: Path) -> None:
    """It says how many calls there would be, and leaves no workbench behind."""
    settings_ = QUICK + "[models.far]\nprovider = 'openai'\nmodel = 'gpt-test'\n"
    workspace = workspace_of(tmp_path, [BADGE, TRAVEL], settings=settings_)
    model = scripted(answer)
    done = paraphrase(workspace, ParaphraseRequest(dry_run=True, limit=1), model=model)
    assert (done.dry_run, done.model, model.asked, done.roots) == (True, None, [], ())
    assert done.estimate is not None
    assert (done.estimate.model, done.estimate.calls) == ("far", 1)
    assert done.left_out == {"beyond the limit": 1}
    assert not (workspace.private / "workbench" / "workbench.sqlite").exists()


def test_roots_are_active_questions_of_people_that_are_not_held_out() -> None:
    """All others are counted by reason; a case named by id may be held out, but neither retired nor a paraphrase."""
    cases: list[Case] = [
        case(1),
        case(2, origin="flagged"),
        case(3, origin="imported"),
        case(4, split="holdout"),
        case(5, status="retired", retired_because="gone"),
        case(6, origin="paraphrase", root="c0000000001", cluster="k1"),
        case(7, origin="generated", filter={"leak": 0.1, "measure": "leak@1"}),
    ]
    roots, left_out = choose_roots(cases)
    assert [one.id for one in roots] == ["c0000000001", "c0000000002"]
    assert left_out == {"imported": 1, "held out": 1, "retired": 1, "paraphrase": 1, "generated": 1}
    named, _ = choose_roots(cases, ["c0000000004", "c0000000003", "c0000000004"])
    assert [one.id for one in named] == ["c0000000004", "c0000000003"]
    for name, error in (("c0000000006", UsageError), ("c0000000005", UsageError), ("c0000000009", MissingError)):
        with pytest.raises(error):
            choose_roots(cases, [name])
    with pytest.raises(MissingError, match="no active case that somebody asked"):
        choose_roots(cases[2:])


QUERY = "how do i park my bike at ⟦ADDRESS_1⟧"
REDACTED = {"ruleset": "core-1", "types": ["ADDRESS"]}
CANARY = st.text("abcdefghijklmnopqrstuvwxyz", min_size=10, max_size=16).map("canary".__add__)


@st.composite
def labelled(draw: Any) -> tuple[dict[str, Any], dict[str, str], set[str]]:
    """Return the fields of a case's label, the pages it points at, and every canary that stands in them."""
    canaries: list[str] = []

    def canary() -> str:
        canaries.append(f"{draw(CANARY)}{len(canaries)}x")
        return canaries[-1]

    judged, pages = [], {}
    for part in range(1, draw(st.integers(1, 3)) + 1):
        anchor = f"The {canary()} is answered by {canary()}."
        name = f"{canary()}/{canary()}.md"
        pages[name] = f"# {canary()}\n\n{anchor}\n\n{canary()}\n"
        judged.append({"doc": name, "grade": 3, "part": part, "anchor": anchor, "found_by": canary()})
    fields: dict[str, Any] = {
        "judged": judged,
        "context": {"locale": canary(), "filters": {canary(): canary()}, "audience": canary(), "turns": [canary()]},
        "tags": [canary()],
        "source": canary(),
        "rule": canary(),
        "selected_on": canary(),
        "cluster": canary(),
        "wording": canary(),
    }
    if draw(st.booleans()):
        fields |= {"judged": [], "no_answer_reason": f"nobody wrote about {canary()}"}
    return fields, pages, set(canaries)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(labelled(), st.text("abcdefghijklmnopqrstuvwxyz0123456789", min_size=10, max_size=10))
def test_no_gold_in_any_prompt(label: tuple[dict[str, Any], dict[str, str], set[str]], name: str) -> None:
    """Whatever stands in gold, titles, anchors, ids and documents, the model sees the question and none of it."""
    fields, pages, canaries = label
    folder = Path(tempfile.mkdtemp())
    try:
        asked = case(1, **(fields | {"id": f"c{name}", "query": QUERY, "redaction": REDACTED}))
        workspace = workspace_of(folder, [asked])
        write_pages(workspace.root / "docs", pages)
        # The first attempt fails, so that what is said in later ones is looked at as well.
        model = scripted(lambda ask: Paraphrases(variants=("Sure!", "leave a bicycle near ⟦ADDRESS_1⟧")[: ask.attempt]))
        done = paraphrase(workspace, ParaphraseRequest(n=2), model=model)
        assert len(done.roots[0].kept) == 1
        sent = [one.system + one.user for one in model.asked]
        assert len(sent) == 3
        assert all(QUERY in text for text in sent)
        for text in sent:
            assert not [one for one in (*canaries, asked.id) if one in text]
    finally:
        shutil.rmtree(folder)
