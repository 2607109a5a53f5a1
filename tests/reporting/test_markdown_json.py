"""Reports as Markdown and JSON."""

import json
import re

import pytest

from builders import results
from builders.hostile import HOSTILE, refilled
from findback.model.audit import Audit
from findback.model.evaluation import Evaluation
from findback.reporting.json import render_json
from findback.reporting.markdown import code, prose, render_markdown

RECORDS = (results.audit(), results.evaluation())
CODE = re.compile(r"(?<!\\)(`+)(?!`).*?(?<!`)\1(?!`)")


@pytest.mark.parametrize("record", RECORDS, ids=["audit", "evaluation"])
def test_hostile_text_is_no_markup(record: Audit | Evaluation) -> None:
    """Outside code spans no HTML, link, image, mention or table bar of a field survives."""
    text = render_markdown(refilled(record, lambda _: HOSTILE), by=["all"])
    bare = CODE.sub("", text)
    assert not re.search(r"<(?!!-- -->)", bare)
    assert "://" not in bare
    assert not re.search(r"(?<!\\)!?\[[^\]]*\]\(", bare)
    assert not re.search(r"(?<!\w)@(?=\w)", bare)
    assert "\x1b" not in text
    assert "\u202e" not in text


@pytest.mark.parametrize("record", RECORDS, ids=["audit", "evaluation"])
def test_hostile_text_keeps_tables_whole(record: Audit | Evaluation) -> None:
    """Every row of a table has as many cells as its head."""
    text = render_markdown(refilled(record, lambda _: HOSTILE), by=["all"])
    for table in re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE):
        assert len({row.count("|") for row in table.splitlines()}) == 1


def test_prose_shows_itself() -> None:
    """Markup letters are escaped, plain figures are not."""
    assert prose("a *b* <c> | d") == r"a \*b\* &lt;c&gt; &#124; d"
    assert prose("1. one") == r"1\. one"
    assert prose("- one") == r"\- one"
    assert prose("RR@10, 1.21") == "RR@10, 1.21"


def test_code_spans_hold_any_backticks() -> None:
    """The fence is longer than every run of backticks inside."""
    assert code("a``b`c") == "``` a``b`c ```"


def test_markdown_holds_the_story() -> None:
    """Copied words, commands, bounds and the set's digest are there."""
    text = render_markdown(results.evaluation()) + render_markdown(results.audit())
    assert "# Evaluation: unreleased set, sha256 4be0c9d27a11" in text
    assert "`findback label judge c7f2k9q0zz1 --doc policies/lunch.md --grade 3`" in text
    assert "`The [ingest] [worker] applies an [exponential] [backoff] [policy] on HTTP 429" in text
    assert ".41–.52 (3 errors)" in text


@pytest.mark.parametrize("record", RECORDS, ids=["audit", "evaluation"])
def test_json_reads_back_equal(record: Audit | Evaluation) -> None:
    """JSON is the record: validated again it is equal, hostile or not, with nothing a terminal obeys."""
    for one in (record, refilled(record, lambda _: HOSTILE + "\x7f\u2028\U000e0041")):
        text = render_json(one)
        assert type(record).model_validate_json(text) == one
        assert not re.search("[\\x00-\\x09\\x0b-\\x1f\\x7f-\\x9f\\u2028-\\u202e\\u2066-\\u2069]", text)
        json.loads(text, parse_constant=pytest.fail)
