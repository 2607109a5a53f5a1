"""The widget in a real browser, on a portal's page under a strict content security policy."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from builders.flags import FLAGS, ORIGIN, TOKEN
from builders.portalpage import Portal, serve_portal
from builders.provider import FOLDER
from builders.reviewsite import SETTINGS, LivePage, serve_page
from findback.model.candidate import Candidate

sync_api = pytest.importorskip("playwright.sync_api", reason="browser-missing: playwright is not installed")

CHROMIUM = shutil.which("chromium")
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking")
AXE = FOLDER / "node_modules" / "axe-core" / "axe.min.js"
WORDS = "  MIXER of bo.lind@example.org, “loud”"

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="browser-missing: chromium is not installed"),
]


class Opened(NamedTuple):
    """A portal's page, the portal, and the findback it sends to."""

    page: "sync_api.Page"
    portal: Portal
    live: LivePage
    said: list[str]
    """Everything the browser complained about."""

    def go(self, *, language: str = "en", more: str = "") -> None:
        self.portal.show(self.live.address, token=TOKEN, language=language, more=more)
        self.page.goto(f"{self.portal.address}/docs/mixer?user=7#top")

    def flags(self) -> list[Candidate]:
        return [one.candidate for one in self.live.desk.bench.list_candidates() if one.candidate.origin == "flagged"]

    def send(self) -> None:
        """Open, send and leave the dialog open."""
        self.page.locator("#q").fill("where is the mixer")
        self.page.get_by_role("button", name="Couldn't find it?").click()
        self.page.get_by_role("button", name="Send").click()


@pytest.fixture(scope="module")
def browser() -> Iterator["sync_api.Browser"]:
    """Start Debian's Chromium once."""
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        yield started
        started.close()


@pytest.fixture
def opened(browser: "sync_api.Browser", tmp_path: Path) -> Iterator[Opened]:
    with serve_portal() as portal:
        settings = SETTINGS + FLAGS.replace(ORIGIN, portal.address)
        with serve_page(tmp_path, settings=settings) as live:
            context = browser.new_context(viewport={"width": 390, "height": 844})
            said: list[str] = []
            page = context.new_page()
            page.on("console", lambda message: said.append(message.text))
            page.on("pageerror", lambda error: said.append(str(error)))
            yield Opened(page, portal, live, said)
            context.close()


def press_until(page: "sync_api.Page", name: str) -> None:
    """Press Tab until a button of a name has the focus."""
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("(document.activeElement.shadowRoot || document).activeElement.textContent") == name:
            return
    raise AssertionError(f"no Tab leads to {name}")


def test_a_flag_by_keyboard_alone_on_a_narrow_screen(opened: Opened, browser: "sync_api.Browser") -> None:
    """Tab, Enter and letters send it; focus comes back; it is on the review page, redacted, when thanks are said."""
    opened.go()
    page = opened.page
    page.locator("#q").focus()
    page.keyboard.type(WORDS)
    press_until(page, "Couldn't find it?")
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="What did you look for?")
    assert dialog.is_visible()
    assert "names covered" in dialog.inner_text()
    assert page.get_by_label("Your search, as typed").input_value() == WORDS
    box = dialog.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.keyboard.press("Tab")
    page.keyboard.type("the one of +49 30 901820")
    press_until(page, "Send")
    page.keyboard.press("Enter")
    dialog.get_by_text("Thank you.").wait_for()
    with browser.new_context() as context:
        review = context.new_page()
        review.goto(opened.live.link)
        review.goto(f"{opened.live.address}/queue")
        shown = review.locator("main").inner_text()
        assert "MIXER of" in shown
        assert "EMAIL_1" in shown
        assert "bo.lind" not in shown
    (flag,) = opened.flags()
    assert flag.query.text == WORDS.replace("bo.lind@example.org", "⟦EMAIL_1⟧")
    assert [one.body.text for one in flag.thread] == ["the one of ⟦PHONE_1⟧", "on the page /docs/mixer"]
    assert [one.document for one in flag.links] == ["howto/badge.md"]
    assert flag.rules[0].evidence == "2 results shown, 1 of them documents"
    assert flag.language == "en"
    link = dialog.get_by_role("link", name="See what comes of it").get_attribute("href")
    page.keyboard.press("Escape")
    assert not dialog.is_visible()
    assert page.evaluate("document.activeElement.shadowRoot.activeElement.textContent") == "Couldn't find it?"
    assert opened.said == []
    page.goto(link or "")
    assert "It waits for a reviewer." in page.locator("main").inner_text()


def test_offline_it_waits_in_memory_and_is_sent_again(opened: Opened) -> None:
    """It says so, keeps nothing on the device, and sends by itself and once when the connection is back."""
    opened.go()
    page = opened.page
    page.context.set_offline(True)
    opened.send()
    page.get_by_role("dialog").get_by_text("Not sent yet.").wait_for()
    assert opened.flags() == []
    page.keyboard.press("Escape")
    assert page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]") == [0, 0, ""]
    assert page.evaluate("indexedDB.databases().then((all) => all.length)") == 0
    page.context.set_offline(False)
    page.get_by_role("status").get_by_text("Thank you.").wait_for()
    assert page.context.cookies() == []
    assert [one.asked for one in opened.flags()] == ["1"]


@pytest.mark.parametrize("status", [429, 503])
def test_a_server_that_cannot_take_it_is_asked_again(opened: Opened, status: int) -> None:
    """After as long as it says; whoever closed the dialog meanwhile is told beside the button."""
    opened.go()
    page = opened.page
    refused = []

    def refuse_once(route: "sync_api.Route") -> None:
        if route.request.method != "POST" or refused:
            return route.continue_()
        refused.append(status)
        shared = {"access-control-allow-origin": "*", "access-control-expose-headers": "Retry-After"}
        return route.fulfill(status=status, headers={**shared, "retry-after": "1"}, json={"code": "x", "message": "x"})

    page.route("**/v1/flags", refuse_once)
    opened.send()
    page.get_by_role("dialog").get_by_text("Not sent yet.").wait_for()
    page.get_by_role("button", name="Close").click()
    page.get_by_role("status").get_by_text("Thank you.").wait_for()
    assert refused == [status]
    assert len(opened.flags()) == 1


def test_what_is_refused_for_good_is_not_sent_again(opened: Opened) -> None:
    """A wrong token: it says that it was not taken, and asks once."""
    opened.portal.show(opened.live.address, token="another public token")
    opened.page.goto(f"{opened.portal.address}/docs/mixer")
    asked = []
    opened.page.on("request", lambda request: asked.append(request.method) if "/v1/flags" in request.url else None)
    opened.send()
    opened.page.get_by_role("dialog").get_by_text("It was not taken.").wait_for()
    assert asked.count("POST") == 1
    assert opened.flags() == []


def test_nothing_but_the_flag_leaves_the_page(opened: Opened) -> None:
    """No cookie, no login, no query of any address: neither of the page nor of the results."""
    opened.page.context.add_cookies([{"name": "findback", "value": "x", "url": opened.live.address}])
    opened.go()
    sent = []
    opened.page.on("request", lambda request: sent.append(request) if request.method == "POST" else None)
    opened.send()
    opened.page.get_by_role("dialog").get_by_text("Thank you.").wait_for()
    (request,) = sent
    assert request.post_data_json == {
        "query": "where is the mixer",
        "page": "/docs/mixer",
        "shown": [f"{opened.portal.address}/howto/vpn.md", "howto/badge.md"],
        "language": "en",
    }
    assert "cookie" not in request.all_headers()


@pytest.mark.parametrize(
    ("language", "button", "send", "thanks"),
    [
        ("de-AT", "Nicht gefunden?", "Senden", "Danke."),
        ("ja", "見つかりませんか？", "送信", "ありがとうございます。"),
        ("fr", "Couldn't find it?", "Send", "Thank you."),
    ],
)
def test_labels_follow_the_page(opened: Opened, language: str, button: str, send: str, thanks: str) -> None:
    """German, Japanese, English for every other language; the note on what is stored names the days."""
    opened.go(language=language, more='data-days="30"')
    page = opened.page
    page.locator("#q").fill("mixer")
    page.get_by_role("button", name=button).click()
    assert "30" in page.get_by_role("dialog").inner_text()
    page.get_by_role("button", name=send).click()
    page.get_by_role("dialog").get_by_text(thanks).wait_for()
    (flag,) = opened.flags()
    assert flag.language == language[:2]


def test_texts_and_looks_are_the_portals_own(opened: Opened) -> None:
    """Each label, the notice and the language can be set; the tag says where the button stands; markup stays text."""
    more = 'data-open="Missing?" data-notice="Read by &lt;b&gt;us&lt;/b&gt;." data-into="main" data-lang="de"'
    opened.go(more=more)
    page = opened.page
    assert page.evaluate("document.querySelector('main').lastElementChild.shadowRoot !== null")
    page.evaluate("document.documentElement.style.setProperty('--findback-accent', 'rgb(1, 2, 3)')")
    page.get_by_role("button", name="Missing?").click()
    assert "Read by <b>us</b>." in page.get_by_role("dialog").inner_text()
    send = page.get_by_role("button", name="Senden")
    assert send.evaluate("(one) => getComputedStyle(one).backgroundColor") == "rgb(1, 2, 3)"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_widget_is_fit_for_everybody(opened: Opened, scheme: str) -> None:
    """axe-core finds nothing in the button, the open dialog, or what it says afterwards."""
    if not AXE.is_file():
        pytest.skip("npm packages are not installed: tests/prepare.sh installs them")
    opened.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    opened.go()
    page = opened.page

    def look() -> None:
        page.evaluate(AXE.read_text("utf-8"))
        found = page.evaluate("axe.run()")["violations"]
        assert [(one["id"], [node["html"][:120] for node in one["nodes"]]) for one in found] == []

    look()
    page.locator("#q").fill("mixer")
    page.get_by_role("button", name="Couldn't find it?").click()
    look()
    page.get_by_role("button", name="Send").click()
    page.get_by_role("dialog").get_by_text("Thank you.").wait_for()
    look()
    page.keyboard.press("Escape")
    look()


@pytest.mark.parametrize("width", [390, 1280])
def test_the_form_and_its_answers_are_fit_for_everybody(opened: Opened, width: int) -> None:
    """Filled in and sent with scripts switched off; nothing is wider than the screen, and axe-core finds nothing."""
    if not AXE.is_file():
        pytest.skip("npm packages are not installed: tests/prepare.sh installs them")
    browser = opened.page.context.browser
    assert browser is not None
    with browser.new_context(java_script_enabled=False, viewport={"width": width, "height": 844}) as context:
        page = context.new_page()
        page.goto(f"{opened.live.address}/flag?q=mixer&page=/docs")
        page.get_by_role("button", name="Send").click()
        link = page.get_by_role("link", name="See what comes of it").get_attribute("href")
    opened.page.set_viewport_size({"width": width, "height": 844})
    for address in ("/flag?q=mixer", link):
        opened.page.goto(f"{opened.live.address}{address}")
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
        opened.page.evaluate(AXE.read_text("utf-8"))
        found = opened.page.evaluate("axe.run()")["violations"]
        assert [(one["id"], [node["html"][:120] for node in one["nodes"]]) for one in found] == []
