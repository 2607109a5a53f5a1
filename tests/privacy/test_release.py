"""What is shown before decisions, and what must hold before publishing."""

import pytest

from findback.model.candidate import RedactedSpan, RedactedText
from findback.model.protocols import RawText
from findback.model.thread import Person
from findback.privacy.core import CoreRedactor
from findback.privacy.key import Key
from findback.privacy.masking import HIDDEN, mask
from findback.privacy.release_check import check_release
from findback.privacy.roster import Roster
from findback.privacy.thread_redactor import JointRedactor

ROSTER = Roster([Person("U1", ("Minh Tran",)), Person("U2", ("Mark Holloway",))])
CORE = CoreRedactor()


def redact(text: str) -> RedactedText:
    return JointRedactor(Key(b"k" * 32), roster=ROSTER).redact_all([RawText(text)])[0]


def test_suggestions_are_masked_until_opened() -> None:
    """Both bands are hidden at first, at a length that tells nothing; one suggestion opens at a time."""
    text = redact("minh will mark it, mark")
    hidden = mask(text)
    assert hidden.text == f"⟦PERSON_1⟧ will {HIDDEN} it, {HIDDEN}"
    assert [span.hidden for span in hidden.spans] == [False, True, True]
    opened = mask(text, {1})
    assert opened.text == f"⟦PERSON_1⟧ will mark it, {HIDDEN}"
    span = opened.spans[2]
    assert opened.text[span.start : span.end] == HIDDEN


def test_unsound_spans_are_not_shown() -> None:
    """Spans that overlap or leave the text stop the view."""
    span = RedactedSpan(start=2, end=99, type="PERSON", rule="x", version="1", band="suggested")
    with pytest.raises(ValueError, match="outside"):
        mask(RedactedText(text="short", spans=(span,), raw_hmac=""))


def test_sound_text_passes() -> None:
    """A redacted text with every suggestion decided may be published."""
    text = redact("minh will mark it")
    assert [objection.reason for objection in check_release(text, CORE, roster=ROSTER)] == [
        "PERSON suggested by roster.name and not decided"
    ]
    assert check_release(text, CORE, roster=ROSTER, decided={1}) == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("ask bo@example.org", "EMAIL by mail.address"),
        ("ask minh", "PERSON by roster.name"),
        ("⟦PERSON_x⟧", "character 0: ⟦ does not open a placeholder"),
        (f"ask {HIDDEN}", "it is the masked view of another text"),
    ],
)
def test_objections(text: str, reason: str) -> None:
    """What rules or roster find, a malformed placeholder or a masked view is an objection, without the words."""
    assert reason in [objection.reason for objection in check_release(text, CORE, roster=ROSTER)]


def test_moved_placeholders_are_noticed() -> None:
    """A text whose placeholders are not those redaction put there is not published."""
    text = redact("ask minh now")
    edited = text.model_copy(update={"text": text.text.replace("ask ", "please ask ")})
    reasons = [objection.reason for objection in check_release(edited, CORE)]
    assert reasons == [
        "the placeholder of a PERSON is not where it was put",
        "a placeholder that redaction did not put there",
    ]


def test_second_look_is_independent() -> None:
    """Another scanner sees a token in raw text and none in the redacted."""
    pytest.importorskip("betterleaks")
    from findback.privacy.second_look import SecondLook

    look = SecondLook()
    raw = "first line\nit says gh" + "p_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8 is bad"
    assert [(found.line, found.rule) for found in look.scan(raw)] == [(2, "github-pat")]
    assert [raw[f.start : f.end][:4] for f in look.find_all([raw])[0]] == ["ghp_"]
    assert look.scan(redact(raw).text) == []
    assert [o.reason for o in check_release(raw[11:], CORE, second_look=look)][-1].startswith("SECRET by github-pat")
