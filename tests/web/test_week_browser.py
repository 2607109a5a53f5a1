"""The page of the week in a real browser, with everything it can show."""

import shutil
from datetime import timedelta
from pathlib import Path

import pytest

from builders.candidates import candidate
from builders.provider import FOLDER
from builders.reviewsite import serve_page
from builders.weeks import like_the_exam
from findback.model.week import Week
from findback.steps.kept import newest, now
from findback.steps.week import WeekRequest, plan_week

sync_api = pytest.importorskip("playwright.sync_api", reason="browser-missing: playwright is not installed")

CHROMIUM = shutil.which("chromium")
AXE = FOLDER / "node_modules" / "axe-core" / "axe.min.js"

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="browser-missing: chromium is not installed"),
]


def test_the_week_fits_and_can_be_read_by_everybody(tmp_path: Path) -> None:
    """With a flag, skipped weeks and what was compared, at 1280 and 390 pixels, light and dark; n starts the clock."""
    flag = candidate("flag", query="heliport booking form " * 12, origin="flagged")
    with serve_page(tmp_path, [flag]) as live, sync_api.sync_playwright() as playwright:
        live.desk.bench.put(like_the_exam(20), now=now() - timedelta(days=30))
        plan_week(live.desk.workspace, WeekRequest())
        assert newest(live.desk.workspace, Week).result is not None
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        context = browser.new_context()
        page = context.new_page()
        page.goto(live.link)
        for width, scheme in ((1280, "light"), (390, "dark")):
            page.set_viewport_size({"width": width, "height": 844})
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            page.goto(f"{live.address}/week")
            assert page.get_by_role("table", name="The last weeks").locator("tbody tr").count() >= 3
            assert page.get_by_text("in a row: something waited").is_visible()
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            if AXE.is_file():
                page.evaluate(AXE.read_text("utf-8"))
                found = page.evaluate("axe.run()")["violations"]
                assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
        page.keyboard.press("n")
        page.wait_for_url("**/items/*week=*")
        assert "heliport booking form" in page.content()
        browser.close()
