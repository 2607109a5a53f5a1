"""Whether the exam is still like the questions that come in."""

from pathlib import Path

import pytest

from builders.candidates import candidate, described, digest, line, text
from builders.ready import asked
from builders.weeks import NOW, about_printers, exam, incoming, like_the_exam, put, released
from findback.model.incoming import Incoming, IncomingFacet
from findback.reporting.incoming import say_incoming
from findback.steps.bench import open_bench
from findback.steps.incoming import compare_incoming
from findback.steps.opening import SetRequest, open_documents
from findback.workspace import Workspace


def compare(workspace: Workspace, *, documents: bool = True) -> Incoming:
    corpus = open_documents(workspace, SetRequest()) if documents else None
    with open_bench(workspace) as bench:
        found = compare_incoming(workspace, bench, corpus, made=NOW)
    assert found is not None
    return found


def facet(found: Incoming, name: str) -> IncomingFacet:
    return next(one for one in found.facets if one.facet == name)


def test_a_new_kind_of_question_is_found_and_named(tmp_path: Path) -> None:
    """Half of what comes in is about printers and no case is: subject and word are apart, and what lacks is said."""
    workspace = released(tmp_path)
    put(workspace, *like_the_exam(30), *about_printers(30))
    found = compare(workspace)
    assert found.likeness == "apart"
    subject = facet(found, "subject")
    assert (subject.likeness, subject.basis, subject.incoming) == ("apart", "of the documents that answer", 60)
    lacking = [kind for kind in subject.kinds if kind.lacking]
    assert [(kind.name, kind.incoming, kind.released) for kind in lacking] == [("printers", 0.5, 0.0)]
    assert lacking[0].low > 0
    assert "printer" in [kind.name for kind in facet(found, "words").kinds if kind.lacking]
    said = say_incoming(found)
    assert "beyond noise" in said
    assert "subject printers" in said
    assert "“printer”" in said
    assert "“printer”" not in say_incoming(found, words=False)


def test_the_same_questions_are_not_called_apart(tmp_path: Path) -> None:
    """Questions about the same pages in the same proportions are alike in subject, and overall never apart."""
    workspace = released(tmp_path, cases=exam(120))
    put(workspace, *like_the_exam(120))
    found = compare(workspace)
    assert (facet(found, "subject").likeness, facet(found, "language").likeness) == ("alike", "alike")
    assert found.likeness != "apart"
    assert not any(kind.lacking for one in found.facets for kind in one.kinds)


def test_few_questions_tell_nothing(tmp_path: Path) -> None:
    """Five questions about printers are too few, and that is said, not that all is well."""
    workspace = released(tmp_path)
    put(workspace, *about_printers(5))
    found = compare(workspace)
    assert found.likeness == "cannot tell"
    assert {one.p for one in found.facets} == {None}
    assert say_incoming(found) == (
        "Whether the exam is still like the questions cannot be told with this many"
        " (n 5 incoming and 60 released clusters)."
    )


def test_one_person_who_asks_often_counts_once(tmp_path: Path) -> None:
    """Forty questions of one asker about printers are one cluster: no drift."""
    workspace = released(tmp_path)
    noisy = [
        one.model_copy(update={"thread": (line(f"noisy {at}", "noisy", text("x"), role="asker"),), "asker_hmac": "one"})
        for at, one in enumerate(about_printers(40))
    ]
    put(workspace, *like_the_exam(30), *noisy)
    found = compare(workspace)
    assert (found.questions, found.clusters) == (70, 31)
    assert facet(found, "subject").likeness != "apart"


def test_only_questions_of_people_that_no_release_holds_come_in(tmp_path: Path) -> None:
    """Rejected candidates, controls and what a model wrote are left out; flags are counted."""
    workspace = released(tmp_path)
    put(
        workspace,
        *like_the_exam(10),
        incoming("flag", "howto/vpn.md", asked(9_001), 0, origin="flagged"),
        incoming("control", "howto/vpn.md", asked(9_002), 0, stratum="control"),
        described("model", "howto/vpn.md"),
        incoming("out", "howto/vpn.md", asked(9_003), 0),
    )
    with open_bench(workspace) as bench:
        bench.reject(digest("out"), "no question", reviewer="ana", version=1, now=NOW)
    found = compare(workspace)
    assert (found.questions, found.flagged) == (11, 1)
    assert [(one.month, one.questions, one.flagged) for one in found.months] == [("2026-01", 6, 1), ("2026-02", 5, 0)]


def test_what_the_exam_has_already_is_counted_by_month(tmp_path: Path) -> None:
    """A question with the words of a case is nearly in the exam."""
    workspace = released(tmp_path)
    put(workspace, incoming("again", "howto/vpn.md", f"{asked(4)}?", 0), incoming("new", "howto/vpn.md", asked(777), 0))
    (month,) = compare(workspace).months
    assert (month.questions, month.near, month.subject) == (2, 1, "howto")


def test_words_that_only_people_use_are_not_named(tmp_path: Path) -> None:
    """A name in thirty questions that no document holds tells that words differ, and stands nowhere."""
    workspace = released(tmp_path)
    put(
        workspace,
        *(incoming(f"n {at}", "howto/vpn.md", f"canaryname {asked(3_000 + at)}", at) for at in range(30)),
    )
    found = compare(workspace)
    assert facet(found, "words").likeness == "apart"
    assert facet(found, "words").more >= 1
    assert "canaryname" not in found.model_dump_json() + say_incoming(found)


def test_without_links_the_nearest_documents_tell_both_sides(tmp_path: Path) -> None:
    """Where fewer than eight have a resolver's link, one search tells the subject of questions and cases alike."""
    workspace = released(tmp_path)
    put(
        workspace,
        *(candidate(f"p {at}", f"p {at}", query=f"printer tray {asked(at + 400)}", language="en") for at in range(20)),
    )
    subject = facet(compare(workspace), "subject")
    assert subject.basis == "of the document nearest to the words, on both sides"
    assert "printers" in [kind.name for kind in subject.kinds if kind.lacking]


def test_without_documents_the_rest_is_compared(tmp_path: Path) -> None:
    """No documents: wording, words and language are left, and a note says what is not."""
    workspace = released(tmp_path)
    put(workspace, *like_the_exam(20))
    found = compare(workspace, documents=False)
    assert [one.facet for one in found.facets] == ["wording", "words", "language"]
    assert "not compared" in found.notes[0]


def test_nothing_is_compared_before_a_release(tmp_path: Path) -> None:
    """Without a release there is no exam to be like."""
    from builders.ready import portal

    workspace = portal(tmp_path)
    put(workspace, *like_the_exam(3))
    with open_bench(workspace) as bench:
        assert compare_incoming(workspace, bench, None, made=NOW) is None


@pytest.mark.parametrize("order", [1, -1])
def test_order_makes_no_difference(tmp_path: Path, order: int) -> None:
    """Stored forwards or backwards, the same questions give the same verdicts."""
    workspace = released(tmp_path)
    put(workspace, *[*like_the_exam(30), *about_printers(30)][::order])
    found = compare(workspace)
    assert [(one.facet, one.likeness) for one in found.facets] == [
        ("wording", "cannot tell"),
        ("subject", "apart"),
        ("words", "apart"),
        ("overlap", "apart"),
        ("language", "alike"),
    ]
