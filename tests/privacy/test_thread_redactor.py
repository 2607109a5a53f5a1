"""Threads are redacted together, checked, and remembered by digests alone."""

import json
import random
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.chat_sample import PEOPLE
from findback.errors import RefusedError
from findback.model.candidate import RedactedText
from findback.model.hits import Span
from findback.model.protocols import RawText, ThreadRedactor
from findback.model.settings import PrivacySettings
from findback.model.thread import Mark, Person
from findback.privacy.canaries import make_canaries
from findback.privacy.core import TEXT_LIMIT, CoreRedactor
from findback.privacy.finding import Finding
from findback.privacy.folding import find_words
from findback.privacy.key import Key
from findback.privacy.name_rules import NameRules
from findback.privacy.roster import Roster
from findback.privacy.scan import Scanner
from findback.privacy.thread_redactor import JointRedactor
from findback.text.placeholders import find_placeholders, is_only_redacted, list_faults, strip_placeholders

KEY = Key(b"k" * 32)
ROSTER = Roster(
    [
        Person("U1AAAAA", ("Minh Tran", "minh.tran"), ("minh.tran@example.org",)),
        Person("U2BBBBB", ("Karim Tamberg",)),
        Person("U3CCCCC", ("Karim Brandão",)),
        Person("U4DDDDD", ("Mark Holloway",)),
    ]
)
REDACTOR: ThreadRedactor = JointRedactor(KEY, roster=ROSTER)


def marked(text: str, label: str, kind: str, value: str | None) -> RawText:
    start = text.index(label)
    return RawText(text, (Mark(Span(start, start + len(label)), kind, value),))  # type: ignore[arg-type]


def words(redacted: list[RedactedText]) -> list[str]:
    return [text.text for text in redacted]


def test_one_person_has_one_number() -> None:
    """Mention, names and address of a person share a number over all messages of the thread."""
    texts = [
        marked("hey @Minh Tran, where is it?", "@Minh Tran", "user", "U1AAAAA"),
        RawText("ask minh or mail minh.tran@example.org, <@U1AAAAA> or bo@example.org"),
        RawText("MINH TRAN said so"),
    ]
    assert words(REDACTOR.redact_all(texts)) == [
        "hey ⟦USER_1⟧, where is it?",
        "ask ⟦PERSON_1⟧ or mail ⟦EMAIL_1⟧, ⟦USER_1⟧ or ⟦EMAIL_2⟧",
        "⟦PERSON_1⟧ said so",
    ]


def test_namesakes_are_told_apart_by_who_takes_part() -> None:
    """A first name of two people is the one who wrote in the thread; else it is a person of its own."""
    texts = [RawText("karim brandão wrote; ask karim")]
    assert words(REDACTOR.redact_all(texts)) == ["⟦PERSON_1⟧ wrote; ask ⟦PERSON_1⟧"]
    texts = [RawText("ask karim"), RawText("karim tamberg or karim brandão?")]
    assert words(REDACTOR.redact_all(texts)) == ["ask ⟦PERSON_1⟧", "⟦PERSON_2⟧ or ⟦PERSON_3⟧?"]
    assert words(REDACTOR.redact_all(texts, people=("U3CCCCC",))) == ["ask ⟦PERSON_1⟧", "⟦PERSON_2⟧ or ⟦PERSON_1⟧?"]


def test_numbers_start_again_in_each_thread() -> None:
    """Nothing links a placeholder of one thread to one of another."""
    assert words(REDACTOR.redact_all([RawText("ask karim brandão")])) == ["ask ⟦PERSON_1⟧"]
    assert words(REDACTOR.redact_all([RawText("ask minh")])) == ["ask ⟦PERSON_1⟧"]


def test_someone_the_roster_lacks_is_known_by_the_mention() -> None:
    """The label of a mention names its person in the other messages, though no list has them."""
    label = "<@U77XXXXX|zoltan.k>"
    texts = [marked(f"{label} knows", label, "user", "U77XXXXX"), RawText("ask zoltan.k")]
    assert words(REDACTOR.redact_all(texts)) == ["⟦USER_1⟧ knows", "ask ⟦PERSON_1⟧"]


def test_a_name_found_once_goes_everywhere() -> None:
    """A person whom one message names with a cue is found in the others without."""
    redactor = JointRedactor(KEY, detectors=(NameRules(),))
    texts = [RawText("thanks Ewelina!"), RawText("where ewelina put it")]
    assert words(redactor.redact_all(texts)) == ["thanks ⟦PERSON_1⟧!", "where ⟦PERSON_1⟧ put it"]


def test_what_is_stored() -> None:
    """Spans lie in the redacted text; people, addresses and the like leave a digest, secrets and hosts none."""
    raw = "minh: pw: hunter" + "22x on db01.prod.acme.internal, mark it"
    (redacted,) = REDACTOR.redact_all([RawText(raw)])
    assert redacted.text == "⟦PERSON_1⟧: pw: ⟦SECRET_1⟧ on ⟦HOST_1⟧, mark it"
    shown = {(redacted.text[s.start : s.end], s.rule, s.band, s.value_hmac) for s in redacted.spans}
    assert shown == {
        ("⟦PERSON_1⟧", "roster.name", "applied", KEY.hmac("minh")),
        ("⟦SECRET_1⟧", "secret.value", "applied", None),
        ("⟦HOST_1⟧", "net.host", "applied", None),
        ("mark", "roster.name", "suggested", None),
    }
    assert redacted.raw_hmac == KEY.hmac(raw)
    assert "hunter" not in redacted.model_dump_json()


def test_mentions_are_remembered_by_id_and_addresses_without_case() -> None:
    """The digest of a mention is that of the id, as for an author; of an address that of its small letters."""
    texts = [RawText("<@U1AAAAA> or Minh.Tran@Example.org or Karim  BRANDAO")]
    hmacs = [span.value_hmac for span in REDACTOR.redact_all(texts)[0].spans]
    assert hmacs == [KEY.hmac("U1AAAAA"), KEY.hmac("minh.tran@example.org"), KEY.hmac("karim brandao")]


def test_nothing_passes_for_a_placeholder() -> None:
    """What looks like a placeholder in the source becomes one itself, and so does a stray bracket."""
    (redacted,) = REDACTOR.redact_all([RawText("⟦PERSON_1⟧ said ⟦x, minh")])
    assert redacted.text == "⟦OTHER_1⟧ said ⟦OTHER_2⟧x, ⟦PERSON_1⟧"


def test_names_in_code_stay_and_secrets_there_go() -> None:
    """Marked code is not searched for unlisted names; secrets and the roster are."""
    redactor = JointRedactor(KEY, roster=ROSTER, detectors=(NameRules(),))
    text = "`ask Ewelina; pw: hunter" + "22x; minh`"
    code = RawText(text, (Mark(Span(0, len(text)), "code"),))
    assert words(redactor.redact_all([code])) == ["`ask Ewelina; pw: ⟦SECRET_1⟧; ⟦PERSON_1⟧`"]


@pytest.mark.parametrize("span", [Span(0, 99), Span(-1, 3), Span(5, 2)])
def test_a_mark_outside_its_text_is_refused(span: Span) -> None:
    """A reader's mark that does not fit the text stops the thread instead of being guessed at."""
    with pytest.raises(RefusedError):
        REDACTOR.redact_all([RawText("ask @bo", (Mark(span, "user", "U1"),))])


def test_too_long_is_refused_with_its_thread() -> None:
    """One text that cannot be looked at refuses all of the thread."""
    with pytest.raises(RefusedError):
        REDACTOR.redact_all([RawText("fine"), RawText("a" * (TEXT_LIMIT + 1))])


def test_a_failing_detector_refuses_and_tells_nothing() -> None:
    """An error of an optional detector becomes a refusal that does not quote the text."""

    class Broken:
        version = "broken-1"

        def find_all(self, texts: list[str]) -> list[list[Finding]]:
            raise ValueError(texts[0])

    with pytest.raises(RefusedError) as error:
        JointRedactor(KEY, detectors=(Broken(),)).redact_all([RawText("my secret story")])
    assert "story" not in str(error.value)
    assert error.value.__suppress_context__


PIECES = st.sampled_from(
    [
        *(
            "minh",
            "Karim",
            "karim brandão",
            "mark",
            "thanks ",
            "@",
            "<@U1AAAAA>",
            "bo@example.org",
            "⟦",
            "⟧",
            " ",
            "\n",
        ),
        *(
            "⟦PERSON_1⟧",
            "password: hunter2x",
            "10.42.7.19",
            "é",
            "👍",
            ".",
            "’s",
            "-",
            "call 415-555-0132",
            "田中",
            "x" * 9,
        ),
        *(
            "thanks Ewelina",
            "12 Long Acre Road",
            "Mrs Okonjo",
            "AKIA" + "A1B2C3D4E5F6G7H8",
            "https://example.org/~minh/",
        ),
    ]
)
ALL = JointRedactor(KEY, roster=ROSTER, detectors=(NameRules(),))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(PIECES, max_size=10).map("".join), max_size=3))
def test_only_spans_change(texts: list[str]) -> None:
    """Raw minus spans is redacted minus placeholders, and a second pass of rules and roster finds nothing."""
    redacted = ALL.redact_all([RawText(text) for text in texts])
    found = ALL.find_all(texts)
    for raw, text, findings in zip(texts, redacted, found, strict=True):
        assert list_faults(text.text) == []
        assert CoreRedactor().find(text.text) == []
        applied = [span for span in text.spans if span.band == "applied"]
        assert [(span.start, span.end) for span in applied] == [tuple(p.span) for p in find_placeholders(text.text)]
        assert all(a.end <= b.start for a, b in zip(text.spans, text.spans[1:], strict=False))
        spans = [Span(f.start, f.end) for f in findings if f.band == "applied"]
        if len(texts) == 1 and len(spans) == len(applied):
            assert is_only_redacted(raw, spans, text.text)
        kept = strip_placeholders(text.text)
        rest = iter(raw)
        assert all(c in rest for c in kept)


def test_no_name_of_a_real_export_survives(data: Path) -> None:
    """All 1,142 messages of an export with its roster: no name, handle or id of its 40 people is left."""
    export = data / "slack-shaped"
    users = [u for u in json.loads((export / "users.json").read_text("utf-8")) if not u["is_bot"]]
    people = [
        Person(u["id"], (u["real_name"], u["name"], u["profile"]["display_name"]), (u["profile"]["email"],))
        for u in users
    ]
    redactor = JointRedactor(KEY, roster=Roster(people))
    threads: dict[str, list[RawText]] = defaultdict(list)
    for day in sorted(export.glob("*/20*.json")):
        for message in json.loads(day.read_text("utf-8")):
            threads[message.get("thread_ts") or message["ts"]].append(RawText(message["text"]))
    redacted = [text for thread in threads.values() for text in redactor.redact_all(thread)]
    assert len(redacted) == 1_142
    named = {word.folded for p in people for name in p.names for word in find_words(name)} | {
        p.id.lower() for p in people
    }
    left = [word.folded for text in redacted for word in find_words(strip_placeholders(text.text))]
    assert named.isdisjoint(left)
    assert sum(span.type == "USER" for text in redacted for span in text.spans) == 403


def test_no_canary_survives() -> None:
    """Of 300 random values of each of eleven types none is found in what redaction stores, in any encoding."""
    made = make_canaries(300, random.Random(11), customer_patterns=("ACME-#######", "cus_????????##"))
    rules = PrivacySettings(customer_id_patterns=("ACME-#######", "cus_????????##"))
    redactor = JointRedactor(KEY, settings=rules, roster=Roster([*PEOPLE, *made.people]))
    texts = made.texts()
    random.Random(3).shuffle(texts)
    threads = [texts[at : at + 15] for at in range(0, len(texts), 15)]
    stored = "\n".join(t.model_dump_json() for thread in threads for t in redactor.redact_all(thread))
    assert len(texts) == 3_300
    assert len({canary.type for canary in made.canaries}) == 11
    scanner = Scanner(CoreRedactor(rules), canaries=made.canaries)
    scanner.scan_bytes(stored.encode(), "stored", rules=False)
    assert scanner.report.hits == []
    scanner.scan_bytes("\n".join(text.text for text in texts).encode(), "raw", rules=False)
    assert {(hit.type) for hit in scanner.report.hits} == {canary.type for canary in made.canaries}
    assert len(scanner.report.hits) >= 3_300
