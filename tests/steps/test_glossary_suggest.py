"""Proposing terms."""

from pathlib import Path

import pytest

from builders.candidates import NOON, candidate, digest
from builders.glossary import SAID, bare_workspace, cases, corpus, question_set, released_workspace
from builders.sets import case
from builders.slack import SlackExport
from findback.corpus.corpus import corpus_of
from findback.errors import DataError, MissingError, RefusedError, UsageError
from findback.evalset.cases import write_cases
from findback.llm.ask import Ask, ItemFailedError, ScriptedModel
from findback.model.alias import Alias
from findback.model.document import Document
from findback.model.glossary import Effect, Proposal, Proposals
from findback.model.question import QuestionSet
from findback.model.record import Record
from findback.retrievers.memory import MemoryRetriever
from findback.steps.bench import open_bench, open_workspace_key
from findback.steps.glossary_building import HARMFUL, USELESS, choose_proposals
from findback.steps.glossary_kept import load_proposals
from findback.steps.glossary_material import ALIKE, NO_GOLD, WRITTEN
from findback.steps.glossary_suggest import NOT_RELEASED, UNCLEAN, SuggestRequest, suggest
from findback.workspace import Workspace
from findback.writing.glossary import ProposedPair, ProposedPairs


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Return a workspace in which nothing is released."""
    return bare_workspace(tmp_path)


def proposals(workspace: Workspace, asked: QuestionSet | None = None, **more: object) -> Proposals:
    handed = {key: more.pop(key) for key in ("documents", "model") if key in more}
    handed.setdefault("documents", corpus())
    return suggest(workspace, SuggestRequest(**more), questions=asked or question_set(cases()), **handed)


def by_words(found: Proposals) -> dict[tuple[str, str], Proposal]:
    return {(one.when, one.add): one for one in found.proposals}


def test_nicknames_lead_to_names(workspace: Workspace) -> None:
    """The three nicknames come first, each with its questions; themes that go by their names give no terms."""
    found = proposals(workspace)
    first = [(one.when, one.add) for one in found.proposals[:3]]
    assert set(first) == {(nickname, name) for name, nickname in SAID.items()}
    assert {one.when.split()[0] for one in found.proposals} == set(SAID.values())
    wifi = by_words(found)["wifi", "wireless"]
    assert (wifi.kind, wifi.source, wifi.clusters, wifi.golds, len(wifi.cases)) == ("nickname", "alignment", 12, 6, 12)
    assert wifi.cases[0] == "c0000000000"
    assert wifi.examples[0] == "wifi setup urgent"
    assert [one.number for one in found.proposals] == list(range(1, len(found.proposals) + 1))


def test_gains_are_counted_by_hand(workspace: Workspace) -> None:
    """On a searcher that finds a page only by its theme's name, a term takes twelve of 96 questions from 0 to 1."""
    pages = [one.id for one in corpus()]

    def find(query: object, k: int) -> list[str]:
        words = query.text.split()
        return [page for page in pages if page.split("/")[0] in words and page.split("/")[1][:-3] in words]

    from findback.steps import glossary_suggest

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(glossary_suggest, "open_estimator", lambda *_, **__: MemoryRetriever(find, name="exact"))
        found = proposals(workspace)
    assert found.measured_on == "exact"
    wifi = by_words(found)["wifi", "wireless"]
    assert (wifi.own.cases, wifi.own.better, wifi.own.worse, wifi.others.cases) == (12, 12, 0, 0)
    assert wifi.gain == pytest.approx(12 / 96)


def test_questions_that_say_their_answers_words_give_no_terms(workspace: Workspace) -> None:
    """They are counted as such; so are those a model wrote, and those without a right document."""
    generated = case(
        500,
        query="wifi limits",
        origin="generated",
        filter={"leak": 0.1, "measure": "m"},
        judged=[{"doc": "wireless/limits.md", "grade": 3, "found_by": "described"}],
    )
    lost = case(501, judged=[{"doc": "gone.md", "grade": 3, "found_by": "resolver"}])
    found = proposals(workspace, question_set([*cases(), generated, lost]))
    assert found.left_out == {NO_GOLD: 1, WRITTEN: 1, ALIKE: 60}
    assert (found.questions, found.used) == (96, 36)
    assert proposals(workspace, below=0.3).used == 0


def test_a_term_needs_two_clusters(workspace: Workspace) -> None:
    """However often one cluster asks."""
    repeated = [one.model_copy(update={"cluster": "k0"}) for one in cases(("wireless",), each=3)]
    rest = cases(("payroll", "canteen"))
    others = [one.model_copy(update={"id": f"c{n:010d}"}) for n, one in enumerate(rest, 300)]
    found = proposals(workspace, question_set([*repeated, *others]))
    assert "wifi" not in {one.when for one in found.proposals}
    assert ("moneybox", "payroll") in by_words(found)


def test_old_names_are_read_off_aliases(workspace: Workspace) -> None:
    """Two questions by the old path's words are enough, and the term says where it comes from."""
    known = corpus({"canteen/setup.md": ("food/mess-hall-start.md",)})
    two = [
        case(
            number,
            query=f"mess hall {word}",
            judged=[{"doc": "canteen/setup.md", "grade": 3, "found_by": "resolver"}],
        )
        for number, word in ((600, "opening"), (601, "where"))
    ]
    found = by_words(proposals(workspace, question_set([*cases(("badge",)), *two]), documents=known))
    term = found["mess hall", "canteen setup"]
    assert (term.kind, term.source, term.clusters) == ("renamed", "aliases", 2)


def test_terms_hold_no_address_customer_or_placeholder(tmp_path: Path) -> None:
    """What the check of a release objects to is counted, and never shown; a placeholder is no word."""
    workspace = bare_workspace(tmp_path, "[privacy]\ncustomer_id_patterns = ['ACME###']\n")
    said = {"wireless": "acme" + "123", "payroll": "⟦PERSON_1⟧", "printer": "paperjam"}
    found = proposals(workspace, question_set(cases(said=said)))
    assert {one.when.split()[0] for one in found.proposals} == {"paperjam"}
    assert "acme" + "123" not in found.model_dump_json()
    assert "PERSON" not in found.model_dump_json()
    assert found.dropped[UNCLEAN] > 0


def test_terms_hold_no_word_that_people_of_an_export_are_called(tmp_path: Path) -> None:
    """Nobody listed in an export at hand is a nickname of anything, in whatever case."""
    slack = SlackExport()
    slack.person("U1", "Oluwaseun Adeyemi", "seun")
    slack.post(slack.channel("C1", "help"), "U1", 10, "where is the form?")
    export = slack.write(tmp_path / "export")
    workspace = bare_workspace(tmp_path, f"[sources.chat]\nkind = 'slack'\npath = '{export}'\n")
    said = SAID | {"payroll": "oluwaseun"}
    found = proposals(workspace, question_set(cases(said=said)))
    assert {one.when.split()[0] for one in found.proposals} == {"wifi", "paperjam"}
    assert found.dropped[UNCLEAN] > 0


def test_terms_hold_no_word_that_people_of_the_workbench_are_called(tmp_path: Path) -> None:
    """Digests tell when the export is gone: by a whole name, a part of it, and one that two people share."""
    workspace = bare_workspace(tmp_path)
    key = open_workspace_key(workspace)
    people = {
        digest("ana"): (
            Alias(key.hmac("moneybox"), "name", shared=False),
            Alias(key.hmac("paperjam"), "name", shared=True),
        ),
        digest("bo"): (Alias(key.hmac("paperjam"), "name", shared=True),),
    }
    with open_bench(workspace, key) as bench:
        bench.put([candidate("asked", "ana"), candidate("more", "bo")], now=NOON, people=people)
    found = proposals(workspace)
    assert {one.when.split()[0] for one in found.proposals} == {"wifi"}


def test_harmful_and_useless_terms_are_not_proposed(workspace: Workspace) -> None:
    """A term that moves more other answers down than it moves its own up, and one that moves none."""

    def made(when: str, own: Effect, others: Effect) -> Proposal:
        return Proposal(
            number=1,
            when=when,
            add="x",
            kind="wording",
            source="alignment",
            cases=(when,),
            clusters=2,
            golds=1,
            strength=20,
            lift=2,
            own=own,
            others=others,
        )

    nothing = Effect(cases=0, better=0, worse=0, gain=0.0)
    good, rising = made("a", Effect(cases=2, better=2, worse=0, gain=0.01), nothing), 0.02
    harmful = made(
        "b", Effect(cases=2, better=2, worse=0, gain=rising), Effect(cases=9, better=0, worse=3, gain=-0.001)
    )
    useless = made("c", Effect(cases=2, better=1, worse=1, gain=0.0), nothing)
    failed = made("d", Effect(cases=2, better=1, worse=0, gain=None), nothing)
    chosen, dropped = choose_proposals([useless, failed, harmful, good], 10)
    assert [one.when for one in chosen] == ["a"]
    assert dropped == {HARMFUL: 1, USELESS: 2}


def test_proposals_are_kept_privately(tmp_path: Path) -> None:
    """In the private folder, readable by their owner alone; the set's folder stays as it was."""
    workspace = released_workspace(tmp_path)
    before = {path.name for path in workspace.evalset.iterdir()}
    found = suggest(workspace, SuggestRequest())
    file = workspace.private / "glossary" / "proposals.json"
    assert load_proposals(workspace) == found
    assert file.stat().st_mode & 0o777 == 0o600
    assert {path.name for path in workspace.evalset.iterdir()} == before
    assert (found.release, found.heading, found.notes) == (1, "release 1", ())
    assert ("wifi", "wireless") in by_words(found)


def test_what_was_never_released_is_marked(workspace: Workspace) -> None:
    """Terms of an unreleased set can be looked at, and a model does not see it."""
    asked = question_set(cases(), kind="unreleased set")
    found = proposals(workspace, asked)
    assert found.release is None
    assert found.notes == (NOT_RELEASED,)
    with pytest.raises(RefusedError, match="were never released"):
        proposals(workspace, asked, model=ScriptedModel(lambda ask: ProposedPairs(pairs=())))


def asked_of_tunnel() -> QuestionSet:
    """Return five questions about a vpn with answers of two themes: too few of either to prove anything."""
    asked = cases(("badge", "canteen"))
    for number, (word, gold) in enumerate(
        [("dead", "tunnel/outage.md"), ("broken", "tunnel/outage.md")]
        + [(word, f"parking/{topic}.md") for word, topic in (("slow", "setup"), ("bent", "limits"), ("gone", "refund"))]
    ):
        query = f"vpn {word}"
        asked.append(case(700 + number, query=query, judged=[{"doc": gold, "grade": 3, "found_by": "resolver"}]))
    return question_set(asked)


def test_a_model_proposes_and_the_questions_decide(workspace: Workspace) -> None:
    """A pair that is too weak by itself is proposed as the model's where two clusters hold it; others are dropped."""
    pairs = (
        ProposedPair(question="VPN", document="Tunnel outage", kind="nickname"),
        ProposedPair(question="vpn", document="quantum tunnel"),
        ProposedPair(question="nobody says", document="payroll"),
        ProposedPair(question="vpn dead", document="tunnel"),
        ProposedPair(question="vpn", document="bo" + "@example.org"),
        ProposedPair(question="a far too long side of words", document="payroll"),
    )
    assert ("vpn", "tunnel outage") not in by_words(proposals(workspace, asked_of_tunnel()))
    model = ScriptedModel(lambda ask: ProposedPairs(pairs=pairs))
    found = proposals(workspace, asked_of_tunnel(), model=model)
    assert found.model == "scripted:scripted"
    term = by_words(found)["vpn", "tunnel outage"]
    assert (term.source, term.model, term.clusters) == ("model", "scripted:scripted", 2)
    assert [one for one in found.proposals if one.source == "model"] == [term]


def test_a_model_sees_released_questions_and_titles_alone(workspace: Workspace) -> None:
    """Neither texts nor ids of documents, nor questions that share much with their answer."""
    model = ScriptedModel(lambda ask: ProposedPairs(pairs=()))
    proposals(workspace, asked_of_tunnel(), model=model)
    assert {one.state for one in model.asked} == {"reviewed"}
    shown = "\n".join(one.user for one in model.asked)
    assert "vpn dead" in shown
    assert "Tunnel outage" in shown
    for hidden in ("All about", "tunnel/outage.md", "badge setup", "c0000000700"):
        assert hidden not in shown


def test_a_model_that_fails_leaves_the_rest(workspace: Workspace) -> None:
    """Terms of the questions are proposed all the same, and what went wrong is said."""

    def fail(ask: Ask[Record]) -> Record:
        raise ItemFailedError("it made no sense")

    found = proposals(workspace, model=ScriptedModel(fail))
    assert ("wifi", "wireless") in by_words(found)
    assert "2 of 2 batches: it made no sense" in found.notes


def test_a_dry_run_asks_nothing_and_keeps_nothing(tmp_path: Path) -> None:
    """It says what asking would cost at most."""
    models = "[models.m]\nprovider = 'local'\nmodel = 'none.gguf'\n"
    workspace = bare_workspace(tmp_path, models)
    request = SuggestRequest(model="m", dry_run=True)
    found = suggest(workspace, request, questions=question_set(cases()), documents=corpus())
    assert found.estimate is not None
    assert found.estimate.calls == 2
    assert not (workspace.private / "glossary").exists()


def test_there_must_be_documents_and_people(tmp_path: Path) -> None:
    """Without a corpus, or with model-written questions alone, it is said what is missing."""
    from findback.workspace import open_workspace

    empty = open_workspace(tmp_path, required=False, environment={"HOME": str(tmp_path)})
    with pytest.raises(MissingError, match="needs the documents"):
        suggest(empty, SuggestRequest(), questions=question_set(cases()))
    written = [one.model_copy(update={"origin": "generated"}) for one in cases(("badge",))]
    with pytest.raises(DataError, match="asked by a person"):
        proposals(bare_workspace(tmp_path), question_set(written))


def test_languages_without_spaces_have_terms_too(workspace: Workspace) -> None:
    """People say ネット, the pages 回線; pairs of characters are counted as words are."""
    said = {"回線": "ネット", "給与": "お金", "印刷": "紙詰"}
    topics = ("設定", "障害", "料金", "上限", "返金", "履歴")
    documents = corpus_of(
        Document(f"{theme}/{topic}.md", f"{theme}の{topic}について。", title=f"{theme} {topic}", language="ja")
        for theme in said
        for topic in topics
    )
    asked = [
        case(
            1000 + number,
            query=f"{said[theme]}の{topic}が{word}",
            language="ja",
            judged=[{"doc": f"{theme}/{topic}.md", "grade": 3, "found_by": "resolver"}],
        )
        for number, (theme, topic, word) in enumerate(
            (theme, topic, word) for theme in said for topic in topics for word in ("不明", "変だ")
        )
    ]
    found = by_words(proposals(workspace, question_set(asked), documents=documents, below=0.9))
    assert ("ネットの", "回線") in found


def test_what_is_held_out_gives_no_terms(tmp_path: Path) -> None:
    """Held-out questions are neither evidence nor measured on."""
    asked = [one.model_copy(update={"split": "holdout" if "paperjam" in one.query else "dev"}) for one in cases()]
    write_cases(tmp_path / "cases.jsonl", asked)
    found = suggest(bare_workspace(tmp_path), SuggestRequest(set=tmp_path / "cases.jsonl"))
    assert {one.when.split()[0] for one in found.proposals} == {"wifi", "moneybox"}
    assert found.questions == 84


def test_gains_can_be_estimated_on_a_retriever_of_the_workspace(tmp_path: Path) -> None:
    """Its name stands over the figures; one that already expands is refused."""
    settings = (
        "[retrievers.long]\nkind = 'bm25'\nstop_words = 'long'\n[retrievers.more]\nkind = 'expand'\nof = 'long'\n"
    )
    workspace = bare_workspace(tmp_path, settings)
    assert proposals(workspace, on="long").measured_on == "long"
    with pytest.raises(UsageError, match="more has a glossary in front of it already"):
        proposals(workspace, on="more")
    with pytest.raises(MissingError, match=r"no \[retrievers.none\]"):
        proposals(workspace, on="none")
