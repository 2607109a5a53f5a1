"""What an audit's report says in words."""

from builders import results
from findback.model.audit import MissingType, Yardstick
from findback.model.evaluation import Count
from findback.reporting.audit import audit_report
from findback.reporting.blocks import Block, Points, Prose, Table
from findback.reporting.buckets import LEAK_LIMIT, bucket_table
from findback.reporting.card import render_card
from findback.reporting.html import render_report
from findback.reporting.makeup import chosen, set_mixes
from findback.reporting.markdown import render_markdown
from findback.reporting.notebook import render_text
from findback.reporting.yardsticks import say_measured, yardstick_table

UNKNOWN = (Count(name="unknown", count=16),)


def blocks_of(key: str) -> tuple[Block, ...]:
    """Return the blocks of one section of the builders' audit."""
    return next(section.blocks for section in audit_report(results.audit()).sections if section.key == key)


def test_the_articles_figures_have_no_floor() -> None:
    """The footnote says so, and blames no missing documents."""
    (table,) = (block for block in blocks_of("articles") if isinstance(block, Table))
    notes = {cell.note for row in table.rows for cell in row if cell.note}
    assert notes == {"the articles' figures have no chance floor"}


def test_a_floor_is_missing_for_the_reason_it_is_missing() -> None:
    """Nothing measured and nothing to draw from are told apart."""
    none = Yardstick(measure="leak", figures=results.distribution(None, ()), floor=None, corrected=None)
    some = Yardstick(measure="leak", figures=results.distribution(0.5, results.HIGH), floor=None, corrected=None)
    rows = yardstick_table("t", (("leak", "set", none), ("leak", "set", some))).rows
    assert [(row[-2].note, row[-1].note) for row in rows] == [
        ("no question could be measured", "no question could be measured"),
        ("no other documents to draw from", "not corrected without a chance floor"),
    ]


def test_questions_without_leak_are_no_contradiction() -> None:
    """Who has a gold text and who of them has no leak are two counts of one sentence."""
    reasons = (Count(name="fewer than 3 rare words", count=16),)
    side = results.side(0.5, results.HIGH, measured=80, unmeasurable=16, unmeasurable_reasons=reasons)
    assert say_measured(side) == (
        "80 questions have a gold text; leak cannot be measured for 16 of them: fewer than 3 rare words (16)"
    )
    one = side.model_copy(update={"measured": 1, "unmeasurable": 0})
    assert say_measured(one) == "1 question has a gold text; leak can be measured for all of them"
    assert say_measured(side.model_copy(update={"measured": 0})) == "no question has a gold text"


def test_what_is_unknown_for_all_is_not_counted() -> None:
    """A set that says nothing of its cases has no mix of unknowns, and the card says that it does not say."""
    silent = results.makeup(by={"origin": UNKNOWN, "stratum": UNKNOWN, "answer": results.counts(one=16)})
    assert chosen(silent) == "the set does not say"
    assert [mix.axis for mix in set_mixes(silent).mixes] == ["answer"]
    assert chosen(results.makeup(by={"origin": results.counts(mined=3)})) == "3 mined; stratum not recorded"
    evaluation = results.evaluation(set=silent)
    assert "How the cases were chosen: the set does not say." in render_text(evaluation)
    assert "the set does not say" in render_card(evaluation, "bm25").html
    assert "16 unknown" not in render_text(evaluation) + render_report(evaluation)
    audit = results.audit(set=results.side(0.6, results.HIGH, set=silent), sample=None)
    text = render_markdown(audit)
    assert "Questions by answer" in text
    assert "Questions by origin" not in text


def test_a_side_that_does_not_say_has_dashes_and_no_zeros() -> None:
    """Beside a sample that knows its wording, a silent set has no count of any, and is not said to lack one."""
    silent = results.side(0.6, results.HIGH, set=results.makeup(by={"wording": UNKNOWN}))
    missing = tuple(
        MissingType(axis="wording", type=name, set_share=None, sample_share=0.3) for name in ("plain", "vague")
    )
    sections = audit_report(results.audit(set=silent, missing_types=missing)).sections
    points, *tables = next(section.blocks for section in sections if section.key == "mix")
    assert points == Points(("The set does not say its wording, so what it lacks cannot be told.",))
    table = next(block for block in tables if isinstance(block, Table) and "wording" in block.title)
    assert [cell.text for cell in table.rows[0]] == ["plain", "–", "–", "20", ".270"]
    assert "unknown" not in [row[0].text for row in table.rows]


def test_success_by_overlap_names_its_metric_and_keeps_leak_apart() -> None:
    """Overlap buckets and leak buckets are two tables, and the limit of leak is explained."""
    assert "RR@10 by overlap" in [section.title for section in audit_report(results.audit()).sections]
    titles = {b.title: [row[0].text for row in b.rows] for b in blocks_of("buckets") if isinstance(b, Table)}
    assert titles == {
        "RR@10 by overlap, on the set": ["0", "0-.25", ".25-.5", ".5-.75", ".75-1"],
        "RR@10 by overlap, on the sample": ["0", "0-.25", ".25-.5", ".5-.75", ".75-1"],
        "RR@10 of leaked and unleaked questions, on the set": ["leaked", "unleaked"],
    }
    assert blocks_of("buckets")[-1] == Prose(LEAK_LIMIT, "aside")
    assert ".35" in LEAK_LIMIT
    assert "leaked" not in render_report(audit=results.audit()).split('class="charts"')[2].split("</figure>")[0]


def test_a_bucket_table_counts_the_most_cases() -> None:
    """A retriever without a bucket gets a dash with a reason."""
    one, other = results.audited("a", 0.8, 0.4), results.audited("b", 0.8, 0.4)
    table = bucket_table("t", ((one, one.buckets[:1]), (other, ())))
    assert [cell.text for cell in table.rows[0]] == ["0", "1", "–", "–"]
    assert table.rows[0][3].note == "no question in it"


def test_notes_of_both_sets_are_printed() -> None:
    """How set and sample were read stands under the verdict, in every medium; without notes nothing does."""
    read, other = "read as mapped: gold in 'gold'", "gold resolved: 149 by id"
    audit = results.audit(
        set=results.side(0.6, results.HIGH, set=results.makeup(notes=(read,))),
        sample=results.side(0.2, results.LOW, set=results.makeup(notes=(other,))),
    )
    for page in (render_text(audit), render_markdown(audit), render_report(audit=audit).replace("&#39;", "'")):
        assert page.index(read) < page.index(other) < page.rindex("How much wording is borrowed")
    bare = results.side(0.6, results.HIGH, set=results.makeup(notes=()))
    shown = audit_report(results.audit(set=bare, sample=None)).sections[0].blocks
    assert not [block for block in shown if isinstance(block, Points)]


def test_public_sets_stand_only_where_the_record_has_them() -> None:
    """Without orientation there is no such table."""
    assert "Overlap of public sets" in render_text(results.audit())
    assert "public sets" not in render_text(results.audit(orientation=()))
