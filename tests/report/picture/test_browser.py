"""The page in a real browser: no errors, hostile names do nothing, marks follow mouse and keyboard."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, Iterator

import pytest
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.parallel import Parallel
from placewright.models.placements.assignment import Assignment
from placewright.models.placements.plan import VERIFIED, Plan
from placewright.models.placements.run import Run
from placewright.report.picture.page import Picture, to_html

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
NAME = "</text></svg><script>alert(1)</script><img src=x onerror=alert(2)>"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium of this machine."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs the package playwright")
    if CHROMIUM is None:
        pytest.skip("needs Chromium")
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_marks_follow_mouse_and_keyboard(browser: Any, tmp_path: Path, scheme: str) -> None:
    plan = Plan(read_shorthand("2x4xH100"), Assignment({NAME: (Run(range(4), 0), Run(range(4, 8), 1))}), VERIFIED)  # type: ignore[arg-type]
    (tmp_path / "plan.html").write_text(to_html(Picture(NAME, NAME, plan, {NAME: Parallel(tp=2)}, data=NAME)), "utf-8")
    page, said = browser.new_page(color_scheme=scheme, viewport={"width": 390, "height": 900}), list[str]()
    for event in ("console", "pageerror", "dialog"):
        page.on(event, lambda what: said.append(str(what)))
    page.goto((tmp_path / "plan.html").as_uri())
    page.hover(".gpu >> nth=3")
    assert page.inner_text("#detail") == f"node-0:3 H100\nA {NAME}: rank 3, tp group 1"
    assert page.locator(".gpu.on").count() == 2
    page.mouse.move(1, 1)
    page.locator(".gpu >> nth=0").focus()
    page.keyboard.press("ArrowDown")
    assert page.inner_text("#detail").startswith("node-1:0 H100")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert said == []
