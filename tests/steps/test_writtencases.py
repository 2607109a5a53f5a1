"""What a model wrote, from the workbench through review into a release."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from builders.candidates import NOON, candidate, described, digest, paraphrased, written
from builders.ready import portal
from findback.errors import UsageError
from findback.evalset.head import read_head
from findback.model.case import Case, FilterNote, Judgement
from findback.model.review import DroppedLink, Review
from findback.model.reviewer import Reviewer
from findback.steps.bench import open_bench
from findback.steps.mined_sample import read_mined_sample
from findback.steps.release import ReleaseRequest, ReleaseResult, release
from findback.steps.review import open_desk, open_item, submit
from findback.steps.withdraw import WithdrawRequest, withdraw

ANA = Reviewer("ana", None, ("reviewer",), ("public",))
BO = Reviewer("bo", None, ("reviewer",), ("public",))
BADGE, LEAVE, VPN = "howto/badge.md", "policies/leave.md", "howto/vpn.md"
TOLD = "the piece of plastic that opens our entrance went missing"


@pytest.fixture
def at(tmp_path: Path) -> Iterator[SimpleNamespace]:
    workspace = portal(tmp_path, "[review]\noverlap = 0.0\n")
    with open_bench(workspace) as bench, open_desk(workspace, bench) as desk:

        def hand_in(name: str, review: Review | None = None, who: Reviewer = ANA) -> str:
            item = open_item(desk, who, digest(name), now=NOON)
            given = review or item.review.model_copy(update={"wording": "vague"})
            return submit(desk, who, digest(name), given, revision=item.revision, now=NOON).state

        def publish(**options: bool) -> ReleaseResult:
            return release(workspace, ReleaseRequest(message="more", **options), reviewer="lea", made=NOON)

        yield SimpleNamespace(
            workspace=workspace,
            bench=bench,
            desk=desk,
            put=lambda *given: bench.put(given, now=NOON),
            open=lambda name: open_item(desk, ANA, digest(name), now=NOON),
            hand_in=hand_in,
            publish=publish,
            cases=lambda: {case.query: case for case in read_head(workspace.evalset).cases},
        )


def released(at: SimpleNamespace, name: str = "root", **fields: object) -> Case:
    """A released case that a person asked and a reviewer labelled."""
    at.put(candidate(name, query="i lost my badge", seen_on="2024-03", selected_on="portal", **fields))
    judged = (Judgement(doc=BADGE, grade=3, anchor="A lost badge is blocked", found_by="pool"),)
    assert at.hand_in(name, Review(wording="plain", judged=judged, tags=("cards",))) == "ready"
    assert at.publish().number == 1
    return at.cases()["i lost my badge"]


def test_what_a_model_described_is_evidence_and_a_person_decides(at: SimpleNamespace) -> None:
    """The review begins with the described documents, none goes without a reason, and the case says how it came."""
    at.put(described("g", BADGE, VPN, query=TOLD))
    item = at.open("g")
    assert [(one.doc, one.grade, one.found_by) for one in item.review.judged] == [
        (BADGE, 3, "described"),
        (VPN, 3, "described"),
    ]
    assert item.written == written(BADGE)
    only = Review(wording="vague", judged=item.review.judged[:1])
    with pytest.raises(UsageError, match=r"1 document\(s\) the model described are neither"):
        at.hand_in("g", only)
    dropped = (DroppedLink(document=VPN, reason="about something else"),)
    assert at.hand_in("g", only.model_copy(update={"dropped": dropped})) == "ready"
    assert at.publish().number == 1
    case = at.cases()[TOLD]
    assert (case.origin, case.rule, case.source, case.stratum) == ("generated", "generated", "model", "control")
    assert case.filter == FilterNote(leak=0.25, measure="leak@1")
    assert [(one.doc, one.grade, one.found_by) for one in case.judged] == [
        (BADGE, 3, "described"),
        (VPN, 0, "described"),
    ]
    assert case.tags == ()


def test_a_release_refuses_what_a_toy_model_wrote(at: SimpleNamespace) -> None:
    """It is released only where that is said, with the mark on the case and a warning in the manifest, for life."""
    at.put(described("g", BADGE, query=TOLD, written=written(BADGE, for_decisions=False)))
    assert at.hand_in("g") == "ready"
    refused = at.publish()
    assert refused.number is None
    assert [(one.place, "--allow-toy-model" in one.rule) for one in refused.obstacles] == [("tags", True)]
    made = at.publish(allow_toy_model=True)
    assert made.number == 1
    assert any("decide nothing by this release" in line for line in made.warnings)
    assert at.cases()[TOLD].tags == ("not-for-decisions",)
    at.put(candidate("next", query="how do i book time off"))
    at.hand_in("next", Review(wording="plain", judged=(Judgement(doc=LEAVE, grade=3, found_by="pool"),)))
    path = at.workspace.evalset / "cases.jsonl"
    path.write_text(path.read_text().replace('"not-for-decisions"', ""))
    assert "for life" in at.publish(allow_toy_model=True).obstacles[0].rule


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({"leak": 0.6}, "`filter.leak` is 0.6, above the limit of 0.35"),
        ({"leak": 0.6, "matched": "asked.jsonl@0123456789ab"}, None),
        ({"leak": None, "doubts": ("leak unmeasurable",)}, None),
    ],
)
def test_the_leak_limit_holds_unless_a_real_sample_is_followed(
    at: SimpleNamespace, fields: dict[str, object], rule: str | None
) -> None:
    """Above the limit a release is refused; a matched text and one that nobody can measure were let in by a person."""
    at.put(described("g", BADGE, query=TOLD, written=written(BADGE, **fields)))
    assert at.hand_in("g") == "ready"
    found = at.publish()
    assert [one.rule for one in found.obstacles] == ([] if rule is None else [rule])
    if rule is None:
        note = at.cases()[TOLD].filter
        assert (note.leak, note.matched) == (fields["leak"], fields.get("matched"))


def test_a_paraphrase_is_confirmed_and_takes_its_label_from_its_root(at: SimpleNamespace) -> None:
    """An empty review confirms that it asks the same; judgements, wording, cluster and split are the root's."""
    root = released(at)
    at.put(paraphrased("p", root.id, query="my entry card is gone"))
    item = at.open("p")
    assert item.root == root
    assert item.obstacles == ()
    assert at.hand_in("p", Review()) == "ready"
    assert at.publish().number == 2
    case = at.cases()["my entry card is gone"]
    for name in ("judged", "wording", "cluster", "split", "stratum", "selected_on", "seen_on", "labelled_by"):
        assert getattr(case, name) == getattr(root, name), name
    assert (case.origin, case.root, case.asked, case.tags) == ("paraphrase", root.id, "1", ("cards",))
    assert case.filter is None


def test_a_paraphrase_has_no_label_of_its_own(at: SimpleNamespace) -> None:
    """Grades, wording or a context given to it are refused, and so is one whose root is gone or retired."""
    root = released(at)
    at.put(paraphrased("p", root.id, query="my entry card is gone"), paraphrased("q", "c0000000000", query="card lost"))
    with pytest.raises(UsageError, match="takes its label from the case it was made from"):
        at.hand_in("p", Review(judged=(Judgement(doc=VPN, grade=3, found_by="pool"),)))
    assert at.open("q").obstacles == ("the case it was made from is not in the set: reject it",)
    path = at.workspace.evalset / "cases.jsonl"
    path.write_text(path.read_text().replace('"status":"active"', '"status":"retired","retired_because":"moved"'))
    assert at.open("p").obstacles == ("the case it was made from is retired: reject it",)


def test_two_reviewers_of_a_paraphrase_agree_unless_one_rejects_it(tmp_path: Path) -> None:
    """Where everything is reviewed twice, two confirmations make it ready; agreement of grades does not count them."""
    workspace = portal(tmp_path, "[review]\noverlap = 1.0\n")
    with open_bench(workspace) as bench, open_desk(workspace, bench) as desk:
        bench.put([candidate("root", query="i lost my badge")], now=NOON)
        said = Review(wording="plain", judged=(Judgement(doc=BADGE, grade=3, found_by="pool"),))
        for who in (ANA, BO):
            submit(desk, who, digest("root"), said, revision=0, now=NOON)
        assert release(workspace, ReleaseRequest(message="first"), reviewer="lea", made=NOON).number == 1
        (root,) = read_head(workspace.evalset).cases
        bench.put([paraphrased("p", root.id, query="my entry card is gone")], now=NOON)
        states = [submit(desk, who, digest("p"), Review(), revision=0, now=NOON).state for who in (ANA, BO)]
        assert states == ["second-opinion", "ready"]
        assert [one.candidate for one in bench.opinions()] == [digest("root")]


def test_withdrawing_a_case_erases_what_a_model_made_of_it(at: SimpleNamespace) -> None:
    """Its wording does not live on in a paraphrase that nobody decided yet."""
    root = released(at)
    at.put(paraphrased("p", root.id, query="my entry card is gone"))
    withdraw(at.workspace, WithdrawRequest(cases=(root.id,), reason="asked for"))
    assert at.bench.list_candidates() == []


def test_purging_who_asked_erases_the_paraphrases_of_their_words(at: SimpleNamespace) -> None:
    """The candidate of the case goes, and what was made of it goes with it."""
    root = released(at)
    at.put(paraphrased("p", root.id, query="my entry card is gone"))
    assert at.bench.purge(person_hmac=digest("ana"), now=NOON).candidates == 2
    assert at.bench.list_candidates() == []


def test_nothing_a_model_wrote_is_a_sample_of_real_queries(at: SimpleNamespace) -> None:
    """A paraphrase of a failure stands among the candidates and is not compared with as if people had asked it."""
    at.put(candidate("real", links=(described("x", BADGE).links[0].model_copy(update={"by": "resolver"}),)))
    link = described("x", VPN).links[0].model_copy(update={"by": "resolver"})
    at.put(paraphrased("p", "c0000000001", stratum="failure", links=(link,)))
    assert [one.query for one in read_mined_sample(at.workspace, None).questions] == ["where is the page about real?"]
