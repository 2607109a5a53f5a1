"""The report in a real browser."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from builders import results
from builders.hostile import HOSTILE, refilled
from findback.reporting.card import render_card
from findback.reporting.html import render_report

sync_api = pytest.importorskip("playwright.sync_api", reason="browser-missing: playwright is not installed")

CHROMIUM = shutil.which("chromium")
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="browser-missing: chromium is not installed"),
]

CONTRAST = """
() => {
  const parse = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, at) => sum + v * [0.2126, 0.7152, 0.0722][at], 0);
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const poor = [];
  for (const node of document.querySelectorAll("body *")) {
    const own = [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim());
    if (!own || !node.getClientRects().length) continue;
    const style = getComputedStyle(node);
    const ink = parse(node instanceof SVGElement ? style.fill : style.color);
    const [a, b] = [light(ink), light(behind(node))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    const name = `${node.tagName} ${node.textContent.slice(0, 30)}`;
    if (ratio < 4.5) poor.push(`${name} ${ratio.toFixed(2)}`);
  }
  return poor;
}
"""


@pytest.fixture(scope="module")
def browser() -> Iterator["sync_api.Browser"]:
    """Start Debian's Chromium once."""
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        yield started
        started.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Write a plain report, a hostile one and a card."""
    folder = tmp_path_factory.mktemp("reports")
    hostile = (
        refilled(results.evaluation(), lambda _: HOSTILE + "x" * 400),
        refilled(results.audit(), lambda _: HOSTILE),
    )
    texts = {
        "plain": render_report(results.evaluation(), results.audit()),
        "hostile": render_report(*hostile),
        "card": render_card(results.evaluation(), "hybrid").html,
    }
    written = {}
    for name, text in texts.items():
        written[name] = folder / f"{name}.html"
        written[name].write_text(text, "utf-8")
    return written


@pytest.mark.parametrize("name", ["plain", "hostile", "card"])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_never_scrolls_sideways(
    browser: "sync_api.Browser", pages: dict[str, Path], name: str, width: int
) -> None:
    """At a phone's and a desk's width nothing is wider than the page, and nothing loads or runs."""
    page = browser.new_page(viewport={"width": width, "height": 844})
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.on("console", lambda message: said.append(message.text))
    page.goto(pages[name].as_uri())
    page.evaluate("document.querySelectorAll('details').forEach((node) => { node.open = true })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert asked == [pages[name].as_uri()]
    assert said == []
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["plain", "card"])
def test_every_text_has_contrast_in_light_and_dark(
    browser: "sync_api.Browser", pages: dict[str, Path], name: str, scheme: str
) -> None:
    """All text, in charts too, stands out from its background at least 4.5 to 1."""
    page = browser.new_page(color_scheme=scheme, viewport={"width": 1280, "height": 900})
    page.goto(pages[name].as_uri())
    page.evaluate("document.querySelectorAll('details').forEach((node) => { node.open = true })")
    if name == "card":
        page.evaluate("document.querySelector('.badge').remove()")
    assert page.evaluate(CONTRAST) == []
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == ("rgb(20, 23, 27)" if scheme == "dark" else "rgb(251, 250, 247)")
    page.close()


def test_a_table_that_goes_on_shows_it_and_scrolls_by_keyboard(
    browser: "sync_api.Browser", pages: dict[str, Path]
) -> None:
    """On a phone a wide table's box is named, takes the focus, has a shadow, and moves with the arrow key."""
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.goto(pages["plain"].as_uri())
    box = page.locator("#scores .scroll").first
    assert box.evaluate("node => node.scrollWidth > node.clientWidth")
    assert box.get_attribute("role") == "region"
    label = box.get_attribute("aria-labelledby")
    assert page.locator(f"[id='{label}']").text_content() == "Every metric over all answerable questions"
    style = box.evaluate("node => getComputedStyle(node).backgroundAttachment")
    assert style == "local, local, scroll, scroll"
    box.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("node => node.scrollLeft > 0", arg=box.element_handle())
    page.close()


def test_charts_use_the_width_they_have(browser: "sync_api.Browser", pages: dict[str, Path]) -> None:
    """A chart that stands alone is drawn wide on a desk, in half that on a phone, and one drawing shows at a time."""
    for width, shown, least, most in ((1280, "wide", 700, 760), (390, "narrow", 300, 358)):
        page = browser.new_page(viewport={"width": width, "height": 844})
        page.goto(pages["plain"].as_uri())
        visible = page.locator("#scores .chart svg:visible")
        assert visible.count() == 1
        assert visible.evaluate("node => node.parentElement.className") == shown
        assert least <= visible.evaluate("node => node.getBoundingClientRect().width") <= most
        page.close()


def test_misses_stay_closed_in_print(browser: "sync_api.Browser", pages: dict[str, Path]) -> None:
    """Paper holds the numbers behind charts, but of each missed question only its summary."""
    page = browser.new_page()
    page.goto(pages["plain"].as_uri())
    page.emulate_media(media="print")
    assert page.locator(".miss .why").first.is_hidden()
    height = "node => node.getBoundingClientRect().height"
    assert page.locator(".numbers table").first.evaluate(height) > 0
    page.close()


def test_the_first_tab_offers_to_skip(browser: "sync_api.Browser", pages: dict[str, Path]) -> None:
    """A keyboard user reaches the report with tab and enter."""
    page = browser.new_page()
    page.goto(pages["plain"].as_uri())
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the report"
    assert page.evaluate("document.activeElement.getBoundingClientRect().top") >= 0
    page.keyboard.press("Enter")
    assert page.url.endswith("#main")
    page.close()
