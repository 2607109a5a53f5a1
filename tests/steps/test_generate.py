"""Letting a model write: every document has one end, whatever the model does and whoever stops it."""

import asyncio
import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from builders.candidates import NOON, candidate
from builders.describers import Describer, draw, plain_description
from builders.generaterun import harbour_documents
from builders.judges import shown_documents
from findback.corpus.corpus import Corpus, corpus_of
from findback.errors import MissingError, UsageError
from findback.evalset.cases import write_cases
from findback.llm.ask import Ask, BudgetError, ItemFailedError, Reply, ScriptedModel, StoppedError
from findback.model.case import Case
from findback.model.document import Document
from findback.model.generated import Generated
from findback.model.record import Record
from findback.retrievers.memory import MemoryRetriever
from findback.steps.bench import open_bench
from findback.steps.generate import generate
from findback.steps.generaterequest import GenerateRequest
from findback.steps.kept import newest
from findback.workspace import Workspace, open_workspace
from findback.writing.describe import Description
from findback.writing.fidelity import Choice

DOCUMENTS = harbour_documents(60)
PEOPLE = "how do i get a new card for the yard when mine is gone"


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return corpus_of(DOCUMENTS, name="harbour")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    root = tmp_path / "harbour"
    root.mkdir()
    (root / "findback.toml").write_text(
        'name = "Harbour"\n[models.writer]\nprovider = "openai"\nmodel = "gpt-test"\nprice_in = 1.0\nprice_out = 4.0\n'
        "[mining]\nnames = false\n"
    )
    return open_workspace(root, environment={"XDG_STATE_HOME": str(tmp_path / "state"), "HOME": str(tmp_path)})


@pytest.fixture
def run(workspace: Workspace, corpus: Corpus) -> Callable[..., Generated]:
    def start(
        n: int = 10, answer: Callable[[Ask[Record]], Record] | None = None, *, model: object = None, **options: object
    ) -> Generated:
        writer = model or ScriptedModel(answer or Describer(DOCUMENTS).answer)
        return generate(workspace, GenerateRequest(n=n, **options), writer=writer, documents=corpus)

    return start


def stored(workspace: Workspace) -> list[SimpleNamespace]:
    with open_bench(workspace) as bench:
        return [one.candidate for one in bench.list_candidates(limit=500)]


def ends(result: Generated) -> dict[str, int]:
    return {one.outcome: one.count for one in result.ended}


def without_time(result: Generated) -> dict[str, object]:
    return result.model_dump(exclude={"made", "stored"})


def test_every_sampled_document_has_one_end_and_what_passed_waits_for_a_person(
    run: Callable[..., Generated], workspace: Workspace
) -> None:
    """As many as asked for are candidates with all that is known of how they were written; the rest is counted."""
    result = run(20)
    assert (result.got, result.accepted, result.doubtful, result.stopped) == (20, 20, 0, None)
    assert len({one.document for one in result.described}) == len(result.described)
    assert sum(count for outcome, count in ends(result).items() if outcome != "skipped") == len(result.described)
    assert Counter(one.outcome for one in result.described) == {
        outcome: count for outcome, count in ends(result).items() if outcome != "skipped"
    }
    assert result.stored == {"new": 20}
    by_document = {one.document: one for one in result.described}
    for one in stored(workspace):
        document = one.written.document
        assert (one.origin, one.stratum, one.source, one.thread, one.query_line) == (
            "generated",
            "control",
            "model",
            (),
            -1,
        )
        assert [hit.rule for hit in one.rules] == ["generated"]
        assert [(link.document, link.kind) for link in one.links] == [(document, "described")]
        assert one.query.text == plain_description(document) == by_document[document].last.text
        assert one.written.voice == by_document[document].voice
        assert (one.written.model, one.written.preset, one.seen_on) == ("scripted:scripted", "docs-portal", "2026-01")
        assert (one.written.leak, one.written.fidelity.source) == (by_document[document].last.leak, 3)
        assert one.written.leak_measure.startswith("vocabulary leak, ")
        assert one.written.attempt == by_document[document].last.number
    assert newest(workspace, Generated).result == result


def test_the_filters_say_what_they_turned_down_and_the_next_try_hears_the_reason(
    run: Callable[..., Generated],
) -> None:
    """Each planted fault is counted by its filter; a second try is told why in words, and nothing of the document."""
    model = ScriptedModel(Describer(DOCUMENTS).answer)
    result = run(30, model=model)
    faults = Counter(Describer(DOCUMENTS).fault_of(one.document) for one in result.described)
    turned = Counter({one.by: 0 for one in result.turned})
    for one in result.turned:
        turned[one.by] += one.count
    assert faults.keys() >= {"copied", "empty", "another's"}
    # A document that is always bad is copied, empty and copied again.
    assert turned == {
        name: count
        for name, count in {
            "form": faults["empty"] + faults["always bad"],
            "leak": faults["copied"] + 2 * faults["always bad"],
            "fidelity": faults["another's"],
        }.items()
        if count
    }
    assert ends(result).get("failed", 0) == faults["always bad"]
    again = [ask for ask in model.asked if ask.answer is Description and ask.attempt > 1]
    assert again
    for ask in again:
        (document,) = (one for one in DOCUMENTS if one.id == ask.item)
        told = ask.system.partition("Earlier tries were turned down")[2].partition("Answer with one field")[0]
        assert "- " in told
        long = {word.strip(".,:;()`") for word in document.text.split() if len(word) > 9}
        assert not {word for word in long if word in told} - {"describe", "something", "documents", "somebody"}
    before, after = result.leak_before, result.leak_after
    assert before.mean.value > after.mean.value
    assert sum(row.passed for row in result.buckets) == result.got == after.texts
    assert result.calibration.trusted is True
    assert result.calibration.rejected == result.calibration.swapped == 20


def test_the_result_does_not_depend_on_who_answers_first(run: Callable[..., Generated], workspace: Workspace) -> None:
    """Answers that come late and out of order, and a second run, give the same result and change no candidate."""

    class Late(ScriptedModel):
        async def ask(self, ask: Ask[Record]) -> Reply[Record]:  # type: ignore[override]
            await asyncio.sleep(random.Random(f"{ask.user}{len(self.asked)}").random() / 200)
            return await super().ask(ask)

    first = run(12)
    candidates = stored(workspace)
    late = run(12, model=Late(Describer(DOCUMENTS).answer))
    assert without_time(late) == without_time(first)
    assert late.stored == {"unchanged": 12}
    assert stored(workspace) == candidates


def test_more_of_the_same_run_goes_on_where_it_ended(run: Callable[..., Generated], workspace: Workspace) -> None:
    """Asked for more, what was written stays the same candidate; another seed draws other documents."""
    run(6)
    before = {one.key: one.query.text for one in stored(workspace)}
    run(12)
    after = {one.key: one.query.text for one in stored(workspace)}
    kept = {key: text for key, text in before.items() if after.get(key) == text}
    assert len(kept) >= 4
    described = {one.written.document for one in stored(workspace)}
    other = run(6, seed=5)
    assert not described & {one.document for one in other.described}
    assert any("described in earlier runs" in note for note in other.notes)


def test_fewer_than_asked_for_says_why(run: Callable[..., Generated]) -> None:
    """A model that only copies fills nothing: every document of sample and reserve failed, and the reason is named."""

    def copying(ask: Ask[Record]) -> Record:
        if ask.answer is Choice:
            return Choice(best="A")
        (document,) = (one for one in DOCUMENTS if one.id == ask.item)
        return Description(query=" ".join(document.text.split()[4:40]) + ".")

    result = run(5, copying)
    assert result.got == 0
    assert ends(result)["failed"] == len(result.described) == 10
    assert result.reserve == 0
    assert all(one.reason for one in result.described)
    assert all(len(one.attempts) == 3 for one in result.described)
    assert result.stored == {}


def test_what_the_model_cannot_answer_is_an_error_of_that_document(run: Callable[..., Generated]) -> None:
    """Others go on, the reserve stands in, and the count of errors is the count of refusals."""
    describer = Describer(DOCUMENTS, faulty=False)

    def refusing(ask: Ask[Record]) -> Record:
        if ask.answer is Description and draw("refuse", ask.item) % 4 == 0:
            raise ItemFailedError("the model refused")
        return describer.answer(ask)

    result = run(15, refusing)
    refused = sum(draw("refuse", one.document) % 4 == 0 for one in result.described)
    assert refused >= 1
    assert ends(result) == {**ends(result), "accepted": 15, "error": refused}
    assert {one.reason for one in result.described if one.outcome == "error"} == {"the model refused"}


def test_a_run_that_stops_keeps_what_it_has(run: Callable[..., Generated], workspace: Workspace) -> None:
    """What passed is stored, the others were not reached, and why stands in the result; the rest comes next time."""
    describer = Describer(DOCUMENTS, faulty=False)
    calls = 0

    def poor(ask: Ask[Record]) -> Record:
        nonlocal calls
        calls += 1
        if calls > 60:
            raise BudgetError("the budget is used up")
        return describer.answer(ask)

    result = run(20, poor)
    assert result.stopped == "the budget is used up"
    assert 0 < result.got < 20
    assert ends(result)["not reached"] == 20 - result.got
    assert result.stored == {"new": result.got}
    assert result.calibration is None
    whole = run(20, describer.answer)
    assert whole.got == 20
    assert whole.stored == {"new": 20 - result.got, "unchanged": result.got}


def test_a_model_that_cannot_be_asked_at_all_is_an_error(run: Callable[..., Generated], workspace: Workspace) -> None:
    """A bad key is no result: nothing is stored or kept."""

    def closed(ask: Ask[Record]) -> Record:
        raise StoppedError("the key is wrong")

    with pytest.raises(StoppedError, match="the key is wrong"):
        run(5, closed)
    assert newest(workspace, Generated).result is None


def test_nothing_is_written_that_is_there_already(run: Callable[..., Generated], workspace: Workspace) -> None:
    """A text like a case of the set, like a candidate, or like one accepted before is turned down as repeated."""
    same = "My turnip wobbles and the anchor sinks as soon as a goblet by the orchard melts. Why does it rust so?"
    describer = Describer(DOCUMENTS, faulty=False)

    def repeating(ask: Ask[Record]) -> Record:
        if ask.answer is Description:
            return Description(query=same)
        # As judge it finds the source, whatever was written.
        return Choice.model_validate({"best": describer.choose(plain_description(ask.item), _shown(ask))})

    first = run(3, repeating)
    assert first.accepted == 1
    assert {(one.by, one.reason) for one in first.turned} == {("novelty", "repeats another text")}
    with open_bench(workspace) as bench:
        bench.put([candidate("x", query=plain_description(DOCUMENTS[0].id))], now=NOON)
    write_cases(workspace.evalset / "cases.jsonl", [_case(query=plain_description(DOCUMENTS[1].id))])
    everything = run(60, describer.answer, seed=9)
    ended = {one.document: one.reason for one in everything.described}
    taken = {DOCUMENTS[0].id, DOCUMENTS[1].id} & ended.keys()
    assert taken
    assert {ended[one] for one in taken} == {"novelty: repeats another text"}


def _shown(ask: Ask[Record]) -> dict[str, str]:
    return {str(letter): text for letter, text in shown_documents(ask).items()}


def _case(**changes: object) -> Case:
    values = {
        "id": "c0000000001",
        "query": PEOPLE,
        "language": "en",
        "wording": "symptom-first",
        "judged": [{"doc": DOCUMENTS[0].id, "grade": 3, "found_by": "resolver"}],
        "origin": "mined",
        "stratum": "failure",
        "cluster": "c0000000001",
        "labelled_by": "reviewer",
        "confirmations": 0,
        "seen_on": "2024-03",
        "asked": "1",
        "added_in": 1,
        "redaction": {"ruleset": "core-1"},
    }
    return Case.model_validate(values | changes)


def test_reviewed_questions_set_the_tone_and_nothing_else(run: Callable[..., Generated], workspace: Workspace) -> None:
    """The writer sees what people asked about other documents, never what is held out, and the state says so."""
    held = "the crane at berth four stands still again"
    write_cases(
        workspace.evalset / "cases.jsonl",
        [_case(), _case(id="c0000000002", query=held, cluster="c0000000002", split="holdout")],
    )
    model = ScriptedModel(Describer(DOCUMENTS, faulty=False).answer)
    run(58, model=model, like="mined")
    asks = [ask for ask in model.asked if ask.answer is Description]
    about = {ask.item: PEOPLE in ask.system for ask in asks}
    assert about.pop(DOCUMENTS[0].id, False) is False
    assert all(about.values())
    assert not any(held in ask.system or held in ask.user for ask in model.asked)
    assert {ask.state for ask in model.asked if PEOPLE in ask.system} == {"reviewed"}
    assert {ask.state for ask in model.asked if ask.answer is Choice} == {"reviewed"}


def test_a_tone_that_nobody_set_is_missing(run: Callable[..., Generated]) -> None:
    """Before anything was released there is no tone."""
    with pytest.raises(MissingError, match="no reviewed query of a person"):
        run(5, like="mined")


def test_only_what_a_retriever_holds_is_drawn_from_its_index(workspace: Workspace, corpus: Corpus) -> None:
    """What it lacks is seen before search is blamed, and none of it is described."""
    held = frozenset(document.id for document in DOCUMENTS[:30])
    retriever = MemoryRetriever({}, name="portal", holds=held)
    result = generate(
        workspace,
        GenerateRequest(n=10, from_index="portal"),
        writer=ScriptedModel(Describer(DOCUMENTS, faulty=False).answer),
        documents=corpus,
        systems=[retriever],
    )
    assert (result.indexed.held, result.indexed.documents) == (30, 60)
    assert {one.document for one in result.described} <= held
    empty = MemoryRetriever({}, name="portal", holds=())
    with pytest.raises(UsageError, match="nothing can be drawn from portal"):
        generate(
            workspace,
            GenerateRequest(n=10, from_index="portal"),
            writer=ScriptedModel(Describer(DOCUMENTS).answer),
            documents=corpus,
            systems=[empty],
        )


def test_a_dry_run_asks_nothing_and_stores_nothing(workspace: Workspace, corpus: Corpus) -> None:
    """It says what would be drawn and what that is expected to cost, without key, server or library."""
    result = generate(workspace, GenerateRequest(n=10, dry_run=True), documents=corpus)
    assert (result.dry_run, result.described, result.writer) == (True, (), "openai:gpt-test")
    assert sum(row.sample for row in result.mix) == 10
    (expected,) = result.estimates
    # Fifteen texts, each judged three times, and ten swapped ones.
    assert expected.calls == 15 + (15 + 10) * 3
    assert expected.price == pytest.approx((expected.tokens_in * 1 + expected.tokens_out * 4) / 1e6)
    assert newest(workspace, Generated).result is None
    assert not (workspace.private / "workbench" / "workbench.sqlite").exists()


def test_what_a_text_took_over_from_its_document_is_redacted(workspace: Workspace) -> None:
    """An address that the model copied stands neither in the candidate nor in the record that is kept."""
    address = "noor" + "@" + "example.org"
    documents = [
        Document(one.id, f"{one.text}\nAsk {address} about it.", subject=one.subject, language="en")
        for one in DOCUMENTS[:20]
    ]
    describer = Describer(documents, faulty=False)

    def leaking(ask: Ask[Record]) -> Record:
        if ask.answer is Choice:
            return Choice.model_validate({"best": describer.choose(plain_description(ask.item), _shown(ask))})
        return Description(query=f"{plain_description(ask.item)} I wrote to {address} in vain.")

    corpus = corpus_of(documents, name="harbour")
    result = generate(workspace, GenerateRequest(n=3), writer=ScriptedModel(leaking), documents=corpus)
    assert result.got == 3
    assert address not in result.model_dump_json()
    for one in stored(workspace):
        assert "⟦EMAIL_1⟧" in one.query.text
        assert address not in one.query.text


@pytest.mark.parametrize(("writes", "judges"), [(False, True), (True, False)])
def test_a_toy_model_marks_what_it_wrote_or_judged(
    workspace: Workspace, corpus: Corpus, writes: bool, judges: bool
) -> None:
    """Not for decisions, whichever of the two is the toy; a judge of its own is no self-judging."""
    answer = Describer(DOCUMENTS, faulty=False).answer
    result = generate(
        workspace,
        GenerateRequest(n=3),
        writer=ScriptedModel(answer, name="w", for_decisions=writes),
        judge=ScriptedModel(answer, name="j", for_decisions=judges),
        documents=corpus,
    )
    assert (result.for_decisions, result.self_judged, result.judge) == (False, False, "scripted:j")
    assert {one.written.for_decisions for one in stored(workspace)} == {False}


def test_the_sample_has_the_mix_of_the_index(run: Callable[..., Generated]) -> None:
    """Both stand beside each other with their distance, and what passed too."""
    result = run(20)
    index = Counter(one.subject for one in DOCUMENTS)
    skipped = len(DOCUMENTS) - sum(row.index for row in result.mix)
    assert {row.subject for row in result.mix} <= set(index)
    assert skipped >= 0
    assert sum(row.sample for row in result.mix) == 20
    assert result.distance < 0.1
    assert sum(row.passed for row in result.mix) == 20


def test_what_people_ask_and_the_model_did_not_is_named(run: Callable[..., Generated], workspace: Workspace) -> None:
    """Short questions are common among people's, and the scripted model writes none: never."""
    asked = ["gate pass gone", "card lost", "crane stuck", "no slot", "vpn down", "badge dead", "who pays", "late ship"]
    write_cases(
        workspace.evalset / "cases.jsonl",
        [_case(id=f"c{at:010d}", cluster=f"k{at}", query=query) for at, query in enumerate(asked, 1)],
    )
    result = run(10)
    assert (result.lengths_mined.questions, result.lengths_mined.median) == (8, 2)
    rows = {(row.axis, row.value): row for row in result.kinds}
    assert rows["length", "up to 5 words"].lacking == "never"
    assert (rows["length", "up to 5 words"].mined, rows["length", "up to 5 words"].generated) == (8, 0)
    assert rows["length", "21 to 40 words"].generated == 10


def test_the_worst_of_what_passed_is_shown_first(run: Callable[..., Generated], workspace: Workspace) -> None:
    """A judge that shrugs makes a text doubtful; those texts are listed with their candidates."""
    result = run(20, Describer(DOCUMENTS, unsure=200).answer)
    assert result.doubtful > 0
    doubtful = [one for one in result.described if one.outcome == "doubtful"]
    assert all(one.reason == "judge not sure" for one in doubtful)
    unsure = [look for look in result.looks if "least sure judge" in look.why]
    assert unsure
    keys = {one.key[:12]: one for one in stored(workspace)}
    for look in result.looks:
        assert keys[look.candidate].written.document == look.document
        assert keys[look.candidate].query.text == look.text


def test_a_kept_record_reads_back(run: Callable[..., Generated], workspace: Workspace) -> None:
    """What lies in the private folder is the record, readable by its owner alone."""
    result = run(4)
    (file,) = (workspace.private / "evaluations").glob("generated-*.json")
    assert Generated.model_validate_json(file.read_text()) == result
    assert file.stat().st_mode & 0o077 == 0
    assert json.loads(file.read_text())["format"] == 1
