"""Review in a real browser."""

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from builders.candidates import candidate, line, span
from builders.provider import FOLDER
from builders.reviewsite import LivePage, serve_page
from builders.reviewteam import SETTINGS as TEAM
from builders.reviewteam import run_site, write_team
from findback.evalset.release import read_release, release_folder
from findback.model.candidate import Candidate, DocumentLink, RedactedText
from findback.model.reviewer import Reviewer
from findback.steps.review import open_item
from findback.web.oidc import Claims
from findback.web.sessions import local_visitor, start_session
from findback.web.site import Site

sync_api = pytest.importorskip("playwright.sync_api", reason="browser-missing: playwright is not installed")

CHROMIUM = shutil.which("chromium")
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking")
AXE = FOLDER / "node_modules" / "axe-core" / "axe.min.js"
PAGES = (
    "/queue",
    "/week",
    "/cases",
    "/scores",
    "/gaps",
    "/glossary",
    "/releases",
    "/agreement",
    "/jobs",
    "/privacy",
    "/tokens",
)
ODD = "who is 👩🏽‍🔧 Zoe\u0308 at the desk"
"""An emoji of four code points and a letter of two."""

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="browser-missing: chromium is not installed"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator["sync_api.Browser"]:
    """Start Debian's Chromium once."""
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        yield started
        started.close()


def asked() -> list[Candidate]:
    answer = line("reply", "bo", "see the badge page", 3, role="resolver")
    suggested = "can Rosa open the tunnel again"
    return [
        candidate(
            "badge",
            replies=[answer],
            links=(DocumentLink(document="howto/badge.md", line=1, by="resolver", kind="url-in-text"),),
            language="en",
            seen_on="2026-02",
        ),
        candidate(
            "tunnel",
            query=RedactedText(
                text=suggested, spans=(span(4, 8, band="suggested", rule="names", version="2"),), raw_hmac="1" * 64
            ),
            language="en",
            seen_on="2026-02",
        ),
        candidate("odd", query=RedactedText(text=ODD, raw_hmac="2" * 64), language="en", seen_on="2026-02"),
    ]


@pytest.fixture
def live(tmp_path: Path) -> Iterator[LivePage]:
    with serve_page(tmp_path, asked()) as running:
        yield running


@pytest.fixture
def page(browser: "sync_api.Browser", live: LivePage) -> Iterator["sync_api.Page"]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    opened = context.new_page()
    opened.goto(live.link)
    yield opened
    context.close()


def key_of(live: LivePage, number: int) -> str:
    return live.desk.bench.list_candidates()[number].candidate.key


def own(live: LivePage, number: int):
    subject = live.desk.bench.reviews_of(key_of(live, number))
    return subject[0]


def settled(page: "sync_api.Page", press: Callable[[], None]) -> None:
    """Do something that saves, and wait until the page shows what was saved."""
    with page.expect_response(lambda answer: answer.request.method == "GET" and "/items/" in answer.url):
        press()
    wait_until(lambda: page.locator("#notice").inner_text() != "Saving…")


def wait_until(holds: Callable[[], bool], seconds: float = 20) -> None:
    """Ask again until something holds; the page's policy forbids the browser to evaluate it by itself."""
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until, "it did not come true"
        time.sleep(0.02)


def test_the_one_time_link_leaves_the_address_and_works_once(browser: "sync_api.Browser", live: LivePage) -> None:
    """The token is exchanged for a cookie that scripts cannot read, and a second use is refused."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(live.link)
    assert page.url == f"{live.address}/queue"
    assert page.evaluate("document.cookie") == ""
    again = browser.new_context().new_page()
    answer = again.goto(live.link)
    assert answer is not None
    assert answer.status == 401


def test_a_review_from_new_to_ready_by_keyboard_alone(page: "sync_api.Page", live: LivePage) -> None:
    """Opening, grading, wording and submitting need no mouse, and the next candidate follows."""
    page.keyboard.press("n")
    page.wait_for_url("**/items/**")
    assert page.locator(".pool > li").first.is_visible()
    page.keyboard.press("w")
    page.keyboard.press("ArrowRight")
    settled(page, lambda: page.keyboard.press("Enter"))
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.id") == "document-1"
    first = page.url
    settled(page, lambda: page.keyboard.press("e"))
    assert page.url != first
    saved = own(live, 0)
    assert (saved.stage, saved.review.wording) == ("submitted", "vague")
    assert [(one.doc, one.grade) for one in saved.review.judged] == [("howto/badge.md", 3)]
    assert live.desk.bench.get(key_of(live, 0)).state in ("ready", "second-opinion")


def tab_to(page: "sync_api.Page", selector: str) -> None:
    """Walk the page with the Tab key until something has the focus."""
    for _ in range(120):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"the Tab key does not lead to {selector}")


def test_from_new_to_released_by_keyboard_alone(page: "sync_api.Page", live: LivePage) -> None:
    """Review, then the releases page, a note and the button: the case is in a release, and no mouse was touched."""
    page.keyboard.press("n")
    page.wait_for_url("**/items/**")
    page.keyboard.press("w")
    settled(page, lambda: page.keyboard.press("Enter"))
    settled(page, lambda: page.keyboard.press("e"))
    assert live.desk.bench.get(key_of(live, 0)).state == "ready"
    tab_to(page, "nav a[href='/releases']")
    page.keyboard.press("Enter")
    page.wait_for_url("**/releases")
    tab_to(page, "input[name=message]")
    page.keyboard.type("first exam")
    page.keyboard.press("Enter")
    wait_until(lambda: live.desk.bench.get(key_of(live, 0)).state == "released", 60)
    released = read_release(release_folder(live.desk.workspace.evalset, 1))
    assert [case.query for case in released.content.cases] == ["where is the page about badge?"]


def test_keys_pressed_faster_than_the_server_answers_are_not_lost(page: "sync_api.Page", live: LivePage) -> None:
    """What is typed while a change is on its way waits for the page it was meant for."""
    page.keyboard.press("n")
    page.wait_for_url("**/items/**")
    first = page.url
    for key in ("w", "Enter", "e"):
        page.keyboard.press(key)
    wait_until(lambda: page.evaluate("location.href") != first)
    assert own(live, 0).stage == "submitted"


def test_a_selection_over_emoji_and_combining_letters_redacts_exactly_them(
    page: "sync_api.Page", live: LivePage
) -> None:
    """Positions are code points of the stored text, whatever the browser counts in."""
    page.goto(f"{live.address}/items/{key_of(live, 2)}")
    start, end = ODD.index("👩"), ODD.index(" at")
    page.evaluate(
        """([text, from, to]) => {
          const node = document.querySelector("#query-text").firstElementChild.firstChild;
          const units = (points) => [...text].slice(0, points).join("").length;
          const range = document.createRange();
          range.setStart(node, units(from));
          range.setEnd(node, units(to));
          getSelection().removeAllRanges();
          getSelection().addRange(range);
        }""",
        [ODD, start, end],
    )
    wait_until(lambda: "Zoe" in page.locator("#redact-chosen").inner_text())
    settled(page, lambda: page.locator("#redact button").click())
    found = own(live, 2).review.spans
    assert [(one.start, one.end, one.action) for one in found] == [(start, end, "redact")]
    shown = page.locator("#query-text").inner_text()
    assert "Zoe" not in shown
    assert shown.startswith("who is ")
    assert shown.rstrip().endswith("at the desk")


def test_words_are_selected_and_redacted_by_keyboard(page: "sync_api.Page", live: LivePage) -> None:
    """`s`, arrows and Enter choose words; Enter on the button redacts them."""
    page.goto(f"{live.address}/items/{key_of(live, 0)}")
    page.keyboard.press("s")
    for _ in range(5):
        page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "redact-type"
    page.keyboard.press("Tab")
    settled(page, lambda: page.keyboard.press("Enter"))
    assert [(one.start, one.end) for one in own(live, 0).review.spans] == [(0, 5)]


def test_a_suggestion_must_be_decided_and_can_be_taken_back(page: "sync_api.Page", live: LivePage) -> None:
    """Submitting waits for it; `y` redacts it, `u` takes that back, `i` keeps it."""
    page.goto(f"{live.address}/items/{key_of(live, 1)}")
    assert "1 suggested redaction to decide" in page.locator("main").inner_text()
    settled(page, lambda: page.keyboard.press("y"))
    assert "Rosa" not in page.locator("#query-text").inner_text()
    settled(page, lambda: page.keyboard.press("u"))
    assert "Rosa" in page.locator("#query-text").inner_text()
    settled(page, lambda: page.keyboard.press("i"))
    assert [one.action for one in own(live, 1).review.spans] == ["keep"]


def test_grading_keeps_its_place_in_the_list(page: "sync_api.Page", live: LivePage) -> None:
    """After a grade was saved the next key still means the same document, and `j` the one after it."""
    page.goto(f"{live.address}/items/{key_of(live, 0)}?q=device+certificate+desk+leave")
    page.keyboard.press("j")
    page.keyboard.press("j")
    settled(page, lambda: page.keyboard.press("0"))
    assert page.evaluate("document.activeElement.id") == "document-2"
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.id") == "document-3"


def test_a_key_that_opens_a_form_goes_to_its_field_and_escape_leaves_it(page: "sync_api.Page", live: LivePage) -> None:
    """`a`, `l` and `r` are typed into at once; Escape folds the form away."""
    page.goto(f"{live.address}/items/{key_of(live, 0)}")
    for key in "alr":
        page.keyboard.press(key)
        assert page.evaluate("document.activeElement.name") == "reason"
        page.keyboard.press("Escape")
        assert page.evaluate("document.activeElement.tagName") == "SUMMARY"
        assert not page.evaluate("document.activeElement.parentElement.open")


def test_what_was_submitted_is_one_key_away(page: "sync_api.Page", live: LivePage) -> None:
    """The next page says what became of the one before, aloud too; `b` goes back to it, and `u` takes it back."""
    page.keyboard.press("n")
    page.wait_for_url("**/items/**")
    page.keyboard.press("w")
    settled(page, lambda: page.keyboard.press("Enter"))
    settled(page, lambda: page.keyboard.press("e"))
    said = "The one before is ready for the next release."
    assert said in page.locator("main [role=status]").inner_text()
    assert page.title() == f"{said} Review – findback"
    notice = page.locator("#notice")
    assert (notice.get_attribute("role"), notice.inner_text()) == ("status", said)
    page.keyboard.press("j")
    settled(page, lambda: page.keyboard.press("3"))
    assert notice.inner_text() == "Saved."
    with page.expect_navigation():
        page.keyboard.press("b")
    settled(page, lambda: page.keyboard.press("u"))
    assert live.desk.bench.get(key_of(live, 0)).state == "in-review"


def test_typing_in_a_field_presses_no_keys(page: "sync_api.Page", live: LivePage) -> None:
    """A search for words full of shortcuts changes nothing."""
    page.goto(f"{live.address}/items/{key_of(live, 0)}")
    page.keyboard.press("/")
    page.keyboard.type("new y03")
    assert page.locator("input[name=q]").input_value() == "new y03"
    assert live.desk.bench.reviews_of(key_of(live, 0)) == []


def test_every_key_the_page_names_does_something(page: "sync_api.Page", live: LivePage) -> None:
    """No key on the list of keys is without a handler on the page."""
    page.goto(f"{live.address}/items/{key_of(live, 1)}")
    handled = set(page.eval_on_selector_all("[data-key]", "all => all.map(one => one.dataset.key)"))
    handled |= set(page.eval_on_selector_all("[data-row-key]", "all => all.map(one => one.dataset.rowKey)"))
    handled |= {"j", "k", "0", "3", "g", "?", "Enter", "Esc", "p", "x", "u", "b"}
    page.keyboard.press("?")
    named = set(page.locator("#keys kbd").all_inner_texts())
    assert named <= handled, named - handled


def test_two_windows_on_one_item_show_both_and_lose_nothing(page: "sync_api.Page", live: LivePage) -> None:
    """The second window's change is refused with what it said, and can be pressed again."""
    address = f"{live.address}/items/{key_of(live, 0)}"
    page.goto(address)
    other = page.context.new_page()
    other.goto(address)
    settled(page, lambda: page.locator("#wording-1").click())
    with other.expect_response(lambda answer: answer.status == 409):
        other.locator("#wording-2").click()
    other.wait_for_selector("text=This was changed in another window")
    assert "wording-vague" in other.locator("main").inner_text()
    settled(other, lambda: other.locator("#wording-2").click())
    assert own(live, 0).review.wording == "vague"


def test_a_decision_survives_reload_and_a_killed_server(browser: "sync_api.Browser", tmp_path: Path) -> None:
    """What the server acknowledged is there after it was stopped; what it could not be told stays on the page."""
    context = browser.new_context()
    page = context.new_page()
    with serve_page(tmp_path, asked()) as live:
        page.goto(live.link)
        address = f"{live.address}/items/{key_of(live, 0)}"
        page.goto(address)
        settled(page, lambda: page.locator("#wording-1").click())
        page.reload()
        assert page.locator("#wording-1").get_attribute("aria-pressed") == "true"
    page.locator("#wording-2").click()
    page.wait_for_selector("text=Not saved: the server did not answer")
    port = int(live.address.rpartition(":")[2])
    with serve_page(tmp_path, port=port) as again:
        settled(page, lambda: page.locator("#wording-2").click())
        assert own(again, 0).review.wording == "vague"
    context.close()


def test_a_review_without_javascript(browser: "sync_api.Browser", live: LivePage) -> None:
    """Every decision is a form: redacting words, wording, grading and submitting work with scripts off."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(live.link)
    page.goto(f"{live.address}/items/{key_of(live, 1)}")
    page.click("#redact-box summary")
    page.fill("#redact input[name=words]", "Rosa")
    page.click("#redact button")
    page.click("#wording-1")
    page.locator(".pool button[data-grade='3']").first.click()
    page.click("#submit")
    saved = own(live, 1)
    assert saved.stage == "submitted"
    assert [(one.place, one.action) for one in saved.review.spans] == [("query", "redact"), ("line", "redact")]
    context.close()


def test_a_login_that_ends_in_the_middle_of_a_form_loses_nothing(browser: "sync_api.Browser", live: LivePage) -> None:
    """What was typed stays on the page; after a login in another tab it is shown once more, and sent."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(live.link)
    site = Site(desk=live.desk, local=True, base_url=live.address)
    page.goto(f"{live.address}/items/{key_of(live, 0)}")
    page.keyboard.press("l")
    page.keyboard.type("the people at the gate")
    live.desk.bench.end_sessions_of(local_visitor().subject)
    page.keyboard.press("Enter")
    wait_until(lambda: "Not saved: open the link" in page.locator("#notice").inner_text())
    assert page.evaluate("document.activeElement.value") == "the people at the gate"
    context.add_cookies([{"name": site.cookie, "value": start_session(site, local_visitor()), "url": live.address}])
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Send it again?")
    assert "the people at the gate" in page.locator("main").inner_text()
    with page.expect_navigation():
        page.keyboard.press("y")
    assert own(live, 0).review.later_reason == "the people at the gate"
    context.close()


def test_a_phone_shows_a_document_in_a_few_lines(browser: "sync_api.Browser", live: LivePage) -> None:
    """At 390 pixels a document, its extract and all its grades take less than 200, and what is secondary is folded."""
    page = browser.new_context(viewport={"width": 390, "height": 844}).new_page()
    page.goto(live.link)
    page.goto(f"{live.address}/items/{key_of(live, 1)}")
    rows = [row for row in page.locator(".pool > li").all() if row.get_attribute("data-chosen") is None]
    boxes = [row.bounding_box() for row in rows]
    assert boxes
    assert all(box is not None and box["height"] < 200 for box in boxes)
    grades = [one.bounding_box() for one in rows[0].locator(".grades > *").all()]
    assert len({round(box["y"]) for box in grades if box is not None}) == 1
    assert not page.locator("kbd").first.is_visible()
    assert not page.get_by_text("Make a link that asks one question").is_visible()
    page.goto(f"{live.address}/queue")
    assert not page.locator("select[name=sources]").is_visible()
    page.keyboard.press("f")
    assert page.evaluate("document.activeElement.name") == "sources"


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_fit_and_have_no_serious_accessibility_fault(
    browser: "sync_api.Browser", live: LivePage, width: int, scheme: str
) -> None:
    """axe-core finds nothing serious on any page, and nothing is wider than the screen."""
    if not AXE.is_file():
        pytest.skip("npm packages are not installed: tests/prepare.sh installs them")
    context = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(live.link)
    item = f"/items/{key_of(live, 1)}"
    for address in (*PAGES, item, f"{item}/document?id=howto/badge.md", f"{item}?q=badge"):
        page.goto(f"{live.address}{address}")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, address
        page.evaluate(AXE.read_text("utf-8"))
        found = page.evaluate("axe.run()")["violations"]
        bad = [
            (one["id"], [node["html"][:120] for node in one["nodes"]][:3])
            for one in found
            if one["impact"] in ("serious", "critical")
        ]
        assert bad == [], address
    context.close()


def test_nothing_is_kept_in_the_browser(page: "sync_api.Page", live: LivePage) -> None:
    """No text lies in browser storage or caches, and every page with text says it must not be stored."""
    answer = page.goto(f"{live.address}/items/{key_of(live, 0)}")
    assert answer is not None
    assert answer.headers["cache-control"] == "no-store"
    assert page.evaluate("[localStorage.length, sessionStorage.length]") == [0, 0]


def test_what_is_reviewed_reads_as_stored(live: LivePage) -> None:
    """The page's own words for a text are the stored ones."""
    me = Reviewer("anyone", None, ("reviewer",), ("public",))
    item = open_item(live.desk, me, key_of(live, 2), now=live.desk.bench.list_candidates()[0].stored_at)
    assert item.query.text == ODD


def test_two_reviewers_in_two_browsers_on_one_item(browser: "sync_api.Browser", tmp_path: Path) -> None:
    """The second is told that somebody has it; both opinions are kept apart, blind, and a lead settles them."""
    settings = TEAM.replace("[mining]", "[review]\noverlap = 1.0\n\n[mining]")
    workspace = write_team(tmp_path, str(tmp_path / "private" / "bench.sqlite"), settings=settings)
    with run_site(workspace) as team:
        team.site.bench.put(asked()[:1], now=team.site.now())
        key = team.site.bench.list_candidates()[0].candidate.key

        def sit_down(name: str, group: str) -> "sync_api.Page":
            context = browser.new_context()
            token = start_session(team.site, Claims(f"issuer|{name}", name, (group,)))
            context.add_cookies([{"name": team.site.cookie, "value": token, "url": team.address}])
            page = context.new_page()
            page.goto(f"{team.address}/items/{key}")
            return page

        ana = sit_down("Ana", "reviewers")
        bo = sit_down("Bo", "reviewers")
        assert "somebody else" in bo.locator("main").inner_text()
        settled(ana, lambda: ana.locator("#wording-1").click())
        with ana.expect_response(lambda answer: answer.request.method == "POST"):
            ana.keyboard.press("e")
        wait_until(lambda: team.site.bench.get(key).state == "second-opinion")
        bo.reload()
        assert "Ana" not in bo.locator("main").inner_text()
        assert bo.locator("#wording-1").get_attribute("aria-pressed") == "false"
        settled(bo, bo.locator("button[data-grade='0']").first.click)
        settled(bo, lambda: bo.locator("#wording-2").click())
        bo.keyboard.press("a")
        bo.keyboard.type("nobody wrote it")
        settled(bo, lambda: bo.keyboard.press("Enter"))
        bo.locator("summary", has_text="It is no answer").first.click()
        settled(bo, lambda: drop(bo))
        with bo.expect_response(lambda answer: answer.request.method == "POST"):
            bo.locator("#submit").click()
        wait_until(lambda: len([one for one in team.site.bench.reviews_of(key) if one.stage == "submitted"]) == 2)
        lea = sit_down("Lea", "leads")
        assert "Settle" in lea.locator("h1").inner_text()
        opinions = {(one.reviewer.partition("|")[2], one.review.wording) for one in team.site.bench.reviews_of(key)}
        assert opinions == {("Ana", "plain"), ("Bo", "vague")}


def drop(page: "sync_api.Page") -> None:
    """Say why the resolver's document is no answer."""
    page.locator(".pool input[name=reason]").first.fill("it is about another desk")
    page.locator("button[value=drop]").first.click()
