"""Rules over agent traces."""

from datetime import UTC, datetime, timedelta

import pytest

from findback.mining.rewrites import normalise, tool_family
from findback.mining.turns import MULTI_PART, TURN_RULES, TurnMining, mine_turns
from findback.model.turn import RetrievalCall, Turn
from findback.sources.format import SourceOptions
from findback.sources.traces import agent_runs

QUESTION = "How do I rotate the staging certificates?"
REWRITES = ("rotate staging certificates", "staging certificates runbook", "renew certificates zqx")
START = datetime(2026, 3, 1, 8, tzinfo=UTC)


def call(query, order=0, **extra) -> RetrievalCall:
    return RetrievalCall(**{"id": f"c{order}", "tool": "kb", "query": query, "order": order, **extra})


def turn(*calls, text=QUESTION, **extra) -> Turn:
    fields = {"id": "t", "source": "otel", "conversation": "c", "user": "u", "at": START, "calls": tuple(calls)}
    return Turn(**{**fields, "text": text, **extra})


def searches(*queries, **extra) -> tuple[RetrievalCall, ...]:
    return tuple(call(query, order, **extra) for order, query in enumerate(queries))


def mine(*turns, documents=None, **options):
    return mine_turns(turns, TurnMining(**options), documents)


def rules_of(*turns, **options) -> list[list[tuple[str, str]]]:
    return [[(hit.rule, hit.strength) for hit in found.rules] for found in mine(*turns, **options).found]


def test_three_searches_for_one_need():
    """Three different searches that keep to one word of the question are a reformulation of medium strength."""
    [found] = mine(turn(*searches(*REWRITES, results=2))).found
    [hit] = found.rules
    assert (hit.rule, hit.strength) == ("reformulation", "medium")
    assert hit.evidence == "3 different searches in 3, 3 share a word with the question"
    assert (found.query.text, found.query_line, found.lines[0].role) == (QUESTION, 0, "asker")
    assert (found.asker, found.at, found.language, found.container) == ("u", START, "en", "otel")


@pytest.mark.parametrize(
    ("calls", "why"),
    [
        (searches(*REWRITES[:2]), "two searches"),
        (searches("Rotate  CERTS", "rotate the certs", "rotate certs page 2"), "the same words"),
        (searches(*REWRITES, batch="b"), "one message"),
        (
            tuple(
                call(query, order, started=START, ended=START + timedelta(seconds=2))
                for order, query in enumerate(REWRITES)
            ),
            "at the same time",
        ),
        (searches(*REWRITES, failed=True), "none of them ran"),
        ((*searches(*REWRITES[:2]), call(REWRITES[2], 2, tool="web")), "two kinds of tools"),
        (tuple(call("certs", order, offset=order * 10) for order in range(4)), "pages of one search"),
        (searches(None, None, None), "no texts"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_no_reformulation(calls, why):
    """Repeats, fan-out, pages, failed calls and other tools do not add up to three searches for one need."""
    assert rules_of(turn(*calls)) == [], why


def test_fan_out_counts_as_one_step():
    """Three messages with two searches each are three steps; the searches are six."""
    calls = [
        call(f"{query} {half}", 2 * n + half, batch=f"b{n}") for n, query in enumerate(REWRITES) for half in (0, 1)
    ]
    [found] = mine(turn(*calls)).found
    assert found.rules[0].evidence.startswith("3 different searches in 6")
    assert (found.rewrites.calls, found.rewrites.distinct) == (6, 6)


def test_parts_of_a_question_are_weak():
    """Searches that share no common word of the question, or none at all, look like parts of it."""
    comparison = "Who is older, Danny Greene or James Worthington?"
    parts = ("Danny Greene birth date", "James Worthington birth date", "birth date of famous players")
    for made in (turn(*searches(*parts), text=comparison), turn(*searches(*REWRITES), multi_part=True)):
        [found] = mine(made).found
        assert (found.rules[0].rule, found.rules[0].strength) == ("reformulation", "weak")
        assert found.rules[0].evidence.startswith(f"{MULTI_PART}; 3 different searches")


def test_rewrites_are_measured_and_dropped():
    """Counts, shares and hits come back; no text of a search does, not even inside the assistant's answer."""
    made = turn(
        call(REWRITES[0], 0, documents=("docs/x.md",), results=1),
        call(REWRITES[1], 1, documents=("docs/certs.md", "docs/x.md"), results=2),
        call(REWRITES[2], 2, results=0),
        answer=f"I searched for “{REWRITES[2]}” and found nothing about it.",
        gold=("docs/certs.md",),
    )
    mined = mine(made)
    [found] = mined.found
    # Three content words: rotate, staging, certificates. The rewrites keep 3, 2 and 1 of them.
    assert found.rewrites.shared_words == pytest.approx((3 + 2 + 1) / 9, abs=1e-4)
    assert found.rewrites.found_gold == (False, True, False)
    assert "zqx" not in repr(found)
    assert mined.dropped["assistants' answers left out because they repeat a search"] == 1


def test_gold_is_unknown_without_a_document_or_results():
    """Whether a rewrite found the gold is None where there is no gold or nothing was captured."""
    assert mine(turn(*searches(*REWRITES))).found[0].rewrites.found_gold == (None, None, None)
    assert mine(turn(*searches(*REWRITES), gold=("a",))).found[0].rewrites.found_gold == (None, None, None)


class Portal:
    """A corpus that knows two names of one document."""

    def resolve(self, reference: str) -> str | None:
        return "docs/certs.md" if reference in ("docs/certs.md", "https://docs.example.org/certs") else None


def test_gold_is_resolved_by_the_corpus():
    """The trace's own right document becomes a link, and results under another name of it count as found."""
    made = turn(call("certs", results=0), gold=("https://docs.example.org/certs", "gone"))
    [found] = mine(made, documents=Portal()).found
    assert [(link.document, link.line, link.by) for link in found.links] == [("docs/certs.md", -1, "other")]
    made = turn(*searches(*REWRITES, documents=("docs/certs.md",)), gold=("https://docs.example.org/certs",))
    assert mine(made, documents=Portal()).found[0].rewrites.found_gold == (True, True, True)


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        ((0, 0), [[("zero-result", "strong")]]),
        ((0, None), [[("zero-result", "medium")]]),
        ((0, 3), []),
        ((None, None), []),
    ],
)
def test_zero_result_needs_known_zeros(results, expected):
    """Only known zeros are zero results; unknown weakens, one hit anywhere ends it."""
    calls = [call(f"certs {n}", n, results=value) for n, value in enumerate(results)]
    assert rules_of(turn(*calls)) == expected


def test_the_end_of_the_pages_is_no_zero_result():
    """A further page of the same search that is empty says nothing."""
    assert rules_of(turn(call("certs", 0, results=9), call("certs", 1, offset=10, results=0))) == []
    assert rules_of(turn(call("certs", 0, results=None), call("certs", 1, offset=10, results=0))) == []


CORRECTION = "No, I meant the certificates of the mail server"


def test_i_meant_takes_the_wording_before():
    """A correction right after a turn with a search points at the wording before it and is kept as the cue."""
    [found] = mine(turn(call("certs", results=3), next_text=CORRECTION, answer="See the TLS page.")).found
    assert [(hit.rule, hit.strength) for hit in found.rules] == [("i-meant", "medium")]
    assert found.query.text == QUESTION
    assert [line.role for line in found.lines] == ["asker", "agent", "asker"]
    assert found.lines[found.cue_line].body.text == CORRECTION
    assert found.rules[0].evidence == "cue en.i-meant, 1 words kept"


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (turn(next_text=CORRECTION), "nothing was searched"),
        (turn(call("certs", failed=True), next_text=CORRECTION), "the search failed to run"),
        (turn(call("certs"), next_text="No, I meant lunch"), "no word is shared"),
        (turn(call("certs"), next_text="thanks, the certificates work"), "no correction"),
        (turn(call("certs"), next_text="that's what I meant, rotate certificates"), "agreement"),
    ],
)
def test_what_is_no_correction(made, why):
    """Without a search, a shared word or a correcting cue there is no i-meant."""
    assert rules_of(made) == [], why


def test_a_correction_of_a_correction_is_folded():
    """The second correction in a row points back to a wording that already is one."""
    again = "no, I meant the certificates of the test mail server"
    mined = mine(
        turn(call("certs", results=1), next_text=CORRECTION),
        turn(call("mail certs", results=1), text=CORRECTION, next_text=again, id="t2"),
    )
    assert [found.query.text for found in mined.found] == [QUESTION]
    assert mined.dropped["corrections of a correction, folded into the first"] == 1


@pytest.mark.parametrize(
    ("answer", "strength"),
    [
        ("I couldn't find any documentation about rotating certificates.", "medium"),
        ("The documentation does not mention certificates.", "medium"),
        ("No relevant documents were found. However, try the TLS page.", "weak"),
        ("Ich konnte dazu leider keine Dokumente finden.", "medium"),
        ("Je n'ai pas trouvé d'information sur ce sujet.", "medium"),
        ("No encontré información sobre eso.", "medium"),
        ("Não encontrei nenhum documento sobre isso; nada na documentação.", "medium"),
        ("該当する情報は見つかりませんでした。", "medium"),
        ("Open settings and press rotate.", None),
        ("If the file is not found, create it.", None),
        ("```\nerror: no results found\n```\nRun it again.", None),
    ],
)
def test_abstention(answer, strength):
    """An assistant that says it found nothing is a no-answer; code and conditions are not."""
    expected = [] if strength is None else [[("no-answer", strength)]]
    assert rules_of(turn(call("tls", results=3), answer=answer)) == expected


def test_abstention_without_a_search_is_none():
    """An assistant that did not search has not failed to find."""
    assert rules_of(turn(answer="I could not find any information.")) == []


def test_thumbs_down():
    """A person's low score on a turn with a search is a failure, a high one is not."""
    assert rules_of(turn(call("certs"), feedback=0.0)) == [[("thumbs-down", "medium")]]
    assert rules_of(turn(call("certs"), feedback=0.5)) == []
    assert rules_of(turn(feedback=0.0)) == []


def test_turns_without_wording_are_counted_not_kept():
    """An agent's text never stands in for the person's: the failure is counted and dropped."""
    mined = mine(turn(*searches(*REWRITES, results=0), text=None))
    assert mined.found == []
    assert (mined.counts["zero-result"], mined.counts["reformulation"]) == (1, 1)
    assert mined.dropped["failed searches without a person's wording"] == 1


def test_unsupported_rules_are_named():
    """What the traces do not record is said, rule by rule; missing is not zero."""
    mined = mine(turn(*searches(None, None, None)))
    assert mined.unsupported == {
        "reformulation": "3 retrieval spans, 0 with query text",
        "zero-result": "the traces do not say how many results a search had",
        "i-meant": "no turn is followed by another of the same conversation",
        "no-answer": "the traces do not hold what the assistant answered",
        "thumbs-down": "the traces hold no feedback",
    }
    assert set(mine(turn()).unsupported) == set(TURN_RULES)


def test_control_is_a_seeded_sample_of_what_did_not_fail():
    """The sample depends on the seed alone, not on the order; failures and failed outcomes are never in it."""
    good = [turn(call("certs", results=2), id=f"g{n}", text=f"{QUESTION} {n}") for n in range(30)]
    bad = [turn(call("x", results=0), id="bad"), turn(call("x", results=1), id="lost", outcome=False)]
    first = mine(*good, *bad, control=5, seed=7).found
    again = mine(*bad, *reversed(good), control=5, seed=7).found
    other = mine(*good, *bad, control=5, seed=8).found
    drawn = [found for found in first if found.stratum == "control"]
    assert len(drawn) == 5
    assert [found.id for found in drawn] == [found.id for found in again if found.stratum == "control"]
    assert {found.id for found in drawn} != {found.id for found in other if found.stratum == "control"}
    assert {found.id for found in first} - {found.id for found in drawn} == {"bad"}
    assert drawn[0].rules[0].evidence == "drawn from 30 turns whose searches did not fail"
    assert {found.selected_on for found in drawn} == {None}


def test_rules_can_be_chosen():
    """Only the rules asked for make findings."""
    made = turn(*searches(*REWRITES, results=0))
    assert rules_of(made, rules=frozenset({"zero-result"})) == [[("zero-result", "strong")]]


def test_normal_form_and_families():
    """Case, spacing, function words and page numbers make no new search; versions make no new tool."""
    assert normalise("Where are the  CERTS", "en") == normalise("certs, page 3", "en") == "certs"
    assert normalise("the who", "en") == "the who"
    assert tool_family("kb_search_v2") == tool_family("KB_search")
    assert tool_family("mcp__docs__a") == tool_family("mcp__docs__b") != tool_family("mcp__web__a")


def test_agent_runs_reach_three_searches(data):
    """Of 465 runs 94 reach three different searches, 95 three searches; all are weak and carry their outcome."""
    path = data / "agent-runs" / "hotpotqa-gpt-3.5.json"
    turns = list(agent_runs.read(path, SourceOptions()).turns)
    assert len(turns) == 465
    assert sum(len(made.calls) >= 3 for made in turns) == 95
    mined = mine_turns(turns, TurnMining())
    again = [found for found in mined.found if any(hit.rule == "reformulation" for hit in found.rules)]
    assert len(again) == mined.counts["reformulation"] == 94
    evidence = [next(hit for hit in found.rules if hit.rule == "reformulation") for found in again]
    assert all(hit.strength == "weak" and hit.evidence.startswith(MULTI_PART) for hit in evidence)
    assert sum(found.outcome is True for found in again) == 25
    assert sum(found.outcome is False for found in again) == 69
    by_id = {made.id: made for made in turns}
    for found in again:
        spoken = repr(found)
        for search in by_id[found.id].calls:
            assert search.query in by_id[found.id].text or search.query not in spoken
