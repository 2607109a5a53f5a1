"""Reports as HTML."""

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser

import pytest

from builders import results
from builders.hostile import HOSTILE, refilled
from findback.errors import MissingError, UsageError
from findback.model.audit import Audit
from findback.model.evaluation import Evaluation
from findback.model.record import Record
from findback.reporting.card import render_card
from findback.reporting.figures import figure
from findback.reporting.html import NO_CHARTS, render_fragment, render_report

VOID = {"meta", "br", "img", "input", "link", "hr"}
ADDRESSES = {"src", "href", "action", "data", "poster", "srcset", "background", "formaction", "xlink:href"}


class Page(HTMLParser):
    """Elements, attributes and texts of a page; fails on elements that do not close in order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str, str]] = []
        self.data: list[tuple[float, str]] = []
        self.value: float | None = None
        self.feed(html)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.tags.add(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag == "data":
            self.value = float(dict(attrs)["value"] or "nan")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element that closes itself."""
        self.tags.add(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        """Close the innermost element."""
        assert self.open.pop() == tag
        if tag == "data":
            self.value = None

    def handle_data(self, data: str) -> None:
        """Note a figure's text."""
        if self.value is not None:
            self.data.append((self.value, data))


def pages(evaluation: Evaluation, audit: Audit) -> tuple[str, ...]:
    """Return every kind of page of two records."""
    name = evaluation.retrievers[0].name
    return (
        render_report(evaluation, audit),
        render_report(evaluation, charts=False),
        render_report(audit=audit),
        render_fragment(evaluation),
        render_fragment(audit),
        render_card(evaluation, name).html,
    )


def test_hostile_text_is_inert() -> None:
    """Every text field may hold markup, templates and terminal codes: the pages have the same elements as before."""
    clean = [Page(page) for page in pages(results.evaluation(), results.audit())]
    evaluation = refilled(results.evaluation(), lambda _: HOSTILE)
    audit = refilled(results.audit(), lambda _: HOSTILE)
    for before, page in zip(clean, pages(evaluation, audit), strict=True):
        after = Page(page)
        assert after.tags <= before.tags | {"sup", "a", "ol", "p", "ul", "li"}
        assert "<script" not in page.lower()
        assert not [name for _, name, _ in after.attributes if name.startswith("on")]
        assert not [char for char in "\x1b\x9b\x00\u202e\u2066" if char in page]
        assert "{{7*7}}" in page
        assert ">49<" not in page


def test_a_page_names_no_outside_address() -> None:
    """No script, no element that loads, no address but an anchor; the policy forbids the rest."""
    evaluation = refilled(results.evaluation(), lambda _: HOSTILE)
    for page in (*pages(results.evaluation(), results.audit()), *pages(evaluation, results.audit())):
        parsed = Page(page)
        assert not parsed.tags & {
            "script",
            "link",
            "img",
            "iframe",
            "object",
            "embed",
            "base",
            "form",
            "image",
            "use",
        }
        assert all(value.startswith("#") for _, name, value in parsed.attributes if name in ADDRESSES)
        assert not re.search(r"url\(|@import", page)
    page = render_report(results.evaluation(), results.audit())
    assert not re.search(r"https?://", page)
    assert "content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\"" in page


def test_a_megabyte_in_every_field_is_clipped() -> None:
    """Huge texts do not make a huge page."""
    evaluation = refilled(results.evaluation(), lambda _: "x" * 1_000_000)
    assert len(render_report(evaluation, charts=False)) < 600_000


def figures_of(record: object) -> Iterator[float]:
    """Yield every estimate's value in a record."""
    if isinstance(record, Record):
        for name in type(record).model_fields:
            value = getattr(record, name)
            if name == "estimate" and value.value is not None:
                yield value.value
            yield from figures_of(value)
    elif isinstance(record, tuple):
        for item in record:
            yield from figures_of(item)


def test_every_number_equals_the_records() -> None:
    """Each figure carries its exact value, prints it in the one format, and no score of the record is missing."""
    evaluation, audit = results.evaluation(), results.audit()
    page = Page(render_report(evaluation, audit))
    for value, text in page.data:
        allowed = {figure(value), figure(value, signed=True), figure(value, digits=2), f"{value:,.0f}"}
        allowed |= {f"{value:.1f} ms", f"{value:.0f} ms"}
        assert text in allowed
    shown = {value for value, _ in page.data}
    assert set(figures_of(evaluation)) | set(figures_of(audit.retrievers)) <= shown


def test_share_leaves_out_texts_and_ids() -> None:
    """A canary in each text that is neither findback's own nor a name that must stay is in no shared page.

    A card says whose number it is, and no more.
    """
    stays = re.compile(
        r"(^|\.)(findback|tokenizer|primary|metric|metrics|label|legend|limits|cautions|verdict|needs_gold|reason|"
        r"heading|corpus_digest|config_digest|kind|bucket|measure|sign)$|retrievers\.(name|coverage\.reason)$|"
        r"(groups\.value|ranks\.name|misses\.name|unmeasurable_reasons\.name|set\.by\.name|type)$|orientation\."
    )

    def canary(path: str) -> str:
        return f"fine {path}" if stays.search(path) else f"CANARY {path} CANARY"

    evaluation = refilled(results.evaluation(), canary, skip=frozenset({"primary", "metrics"}))
    audit = refilled(results.audit(), canary)
    assert "CANARY" in render_report(evaluation, audit)
    assert "CANARY" not in render_report(evaluation, audit, share=True)
    assert "CANARY" not in render_report(evaluation, None, share=True) + render_report(None, audit, share=True)
    card = render_card(evaluation, evaluation.retrievers[0].name)
    named = card.html.replace("CANARY workspace CANARY", "")
    assert named != card.html
    assert "CANARY" not in named + card.badge


def test_the_same_record_gives_the_same_bytes() -> None:
    """A report is a function of its records, charts included."""
    assert render_report(results.evaluation(), results.audit()) == render_report(results.evaluation(), results.audit())


def test_without_the_libraries_the_tables_remain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without altair the report names the pip line and holds every table openly."""
    with_charts = render_report(results.evaluation(), results.audit())
    monkeypatch.delitem(sys.modules, "findback.reporting.charts")
    monkeypatch.setitem(sys.modules, "altair", None)
    without = render_report(results.evaluation(), results.audit())
    assert NO_CHARTS.split("'")[1] in without
    assert without.count("<table>") == with_charts.count("<table>")
    assert 'class="numbers"' not in without


def test_every_chart_can_be_heard() -> None:
    """Each chart is an image with a text alternative that holds numbers."""
    page = render_report(results.evaluation(), results.audit())
    labels = re.findall(r'role="img" aria-label="([^"]*)"', page)
    assert len(labels) == page.count('<figure class="chart">') == 10
    assert page.count('<div class="wide">') == page.count('<div class="narrow">') == 3
    assert all(re.search(r"\.\d{3}|\d", label) and len(label) > 40 for label in labels)


def test_a_report_ends_with_what_it_does_not_tell() -> None:
    """Limits and cautions are the last section, merged."""
    page = render_report(results.evaluation(), results.audit())
    last = page[page.rindex("<section") :]
    assert "What this does not tell you" in last
    assert results.evaluation().limits[0] in last
    assert results.audit().cautions[0] in last


def test_the_verdict_follows_the_headline() -> None:
    """A joint report says what the audit found before anything is explained, and does not go back and forth."""
    page = render_report(results.evaluation(), results.audit())
    keys = re.findall(r'<section id="([^"]+)"', page)
    assert keys[:5] == ["headline", "verdict", "wording", "gap", "audit-scores"]
    assert keys[-3:] == ["latency", "legend", "limits"]
    evaluated = [keys.index(key) for key in ("exam", "scores", "apart", "types", "ranks", "misses", "coverage")]
    assert evaluated == list(range(evaluated[0], evaluated[0] + 7))
    assert evaluated[0] > keys.index("worst")
    assert "The audit of golden.jsonl against harbour-users.jsonl:" in page


def test_a_page_is_titled_by_its_workspace() -> None:
    """The workspace's name comes first, the digests below; a shared page keeps the name out."""
    evaluation, audit = results.evaluation(workspace="Harbour"), results.audit()
    page = render_report(evaluation, audit)
    assert "<title>Harbour: evaluation and audit</title>" in page
    assert "<h1><bdi>Harbour: evaluation and audit</bdi></h1>" in page
    assert "harbour-users.jsonl, unreleased set, sha256 4be0c9d27a11; audit of golden.jsonl" in page
    assert "<title>Harbour: evaluation</title>" in render_report(evaluation)
    assert "<title>Audit</title>" in render_report(audit=audit)
    shared = render_report(evaluation, audit, share=True)
    assert "<title>Evaluation and audit</title>" in shared
    assert "<bdi>unreleased set, sha256 4be0c9d27a11; audit of unreleased set" in shared


def test_a_badge_says_that_a_set_is_no_release() -> None:
    """Badge and page of an unreleased set say so; those of a release do not."""
    card = render_card(results.evaluation(), "hybrid")
    assert "n 62  unreleased</text>" in card.badge
    released = render_card(results.evaluation(set=results.makeup(heading="release 3")), "hybrid")
    assert "unreleased" not in released.badge
    assert "release 3" in released.html


def test_a_card_says_whose_it_is_and_what_it_does_not_tell_apart() -> None:
    """The workspace is named, and meaning and limits are two lists."""
    html = render_card(results.evaluation(workspace="Harbour"), "hybrid").html
    assert "<dt>Workspace</dt><dd><bdi>Harbour</bdi></dd>" in html
    meaning, limits = html.split('id="means"')[1].split('id="limits-title"')
    assert "RR@10: mean of 1 / rank" in meaning
    assert results.evaluation().limits[0] not in meaning
    assert results.evaluation().limits[0] in limits


def test_structure_serves_keyboard_and_screen_reader() -> None:
    """One h1, a skip link to main, unique ids, labelled scroll boxes, scoped heads, a language."""
    page = render_report(results.evaluation(), results.audit())
    parsed = Page(page)
    ids = [value for _, name, value in parsed.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    assert page.count("<h1") == 1
    assert '<html lang="en">' in page
    assert '<a class="skip" href="#main">' in page
    wanted = {value.removeprefix("#") for _, name, value in parsed.attributes if name == "href"}
    wanted |= {value for _, name, value in parsed.attributes if name == "aria-labelledby"}
    assert wanted <= set(ids)
    assert page.count('class="scroll" role="region"') == page.count("<table>")
    assert not re.search(r"<th(?! scope|ead)", page)


def test_a_card_holds_what_an_honest_number_needs() -> None:
    """Metric, value, interval, n, clusters, set, date, retriever, selection and version stand on card and badge."""
    card = render_card(results.evaluation(), "hybrid")
    for needed in (
        ">.550<", "[.43, .67]", "62 in 58 clusters", "unreleased set, sha256 4be0c9d27a11", "2031-05-04",
        "50 mined, 12 flagged, 12 generated; 52 failure, 22 control", "findback 0.1.0", "bootstrap over clusters",
    ):  # fmt: skip
        assert needed in card.html
    assert ".550 [.43, .67]  n 62" in card.badge
    assert Page(card.badge).tags <= {"svg", "title", "rect", "path", "g", "text"}


def test_a_card_of_a_failing_engine_shows_bounds() -> None:
    """Errors leave bounds on the card and the badge, never a mean."""
    card = render_card(results.evaluation(), "engine")
    assert ".41–.52" in card.badge
    assert "3 errors" in card.badge
    assert "3 failed searches (bounds, not a mean)" in card.html


def test_a_card_is_no_contest() -> None:
    """With several retrievers one must be named, and an unknown name says which there are."""
    with pytest.raises(UsageError) as several:
        render_card(results.evaluation())
    assert "bm25, dense, hybrid, reranked, engine" in (several.value.hint or "")
    with pytest.raises(MissingError):
        render_card(results.evaluation(), "nobody")


def test_a_report_needs_something_to_report() -> None:
    """Nothing to show is refused."""
    with pytest.raises(ValueError, match="needs an evaluation, an audit or what a model wrote"):
        render_report()
