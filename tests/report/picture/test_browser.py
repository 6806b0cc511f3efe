"""The page in a real browser: no errors, hostile names do nothing, marks follow mouse and keyboard."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, Iterator

import placewright as pw
import pytest
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.parallel import Parallel
from placewright.models.placements.assignment import Assignment
from placewright.models.placements.plan import VERIFIED, Plan
from placewright.models.placements.run import Run
from placewright.report.picture.page import Picture, to_html

from ..planning.accounts import BY_HAND, account

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


HOSTILE = (NAME, "b' onload='alert(3)", 'c" onmouseover="alert(4)', "x" * 300, "d\u202e\x07")
"""Names of components."""
NOTEBOOK = "<!doctype html><meta charset=utf-8><style>body{{color:{0};background:{1};width:900px}}</style>{2}<svg><text class=small>mine</text></svg>"
"""Page with outputs of a notebook, in its colours, and a drawing of its own."""


@pytest.mark.slow
@pytest.mark.parametrize(("ink", "paper"), [("#000", "#fff"), ("#ddd", "#111")])
def test_results_in_a_notebook_keep_to_themselves(browser: Any, tmp_path: Path, ink: str, paper: str) -> None:
    ranks = {name: {"placement": f"{2 * number}-{2 * number + 1}"} for number, name in enumerate(HOSTILE)}
    report = pw.verify({"cluster": "2x8xH100", "components": ranks})
    faulty = pw.verify({"cluster": "1x8xH100", "components": ranks})
    results = (report.plan, report, faulty, account(tmp_path, BY_HAND, searches=0))
    outputs = [f"<div>{result._repr_html_()}</div>" for result in results]  # type: ignore[union-attr]
    (tmp_path / "notebook.html").write_text(NOTEBOOK.format(ink, paper, "".join([f"<div hidden>{outputs[0]}</div>", *outputs])), "utf-8")
    page, said = browser.new_page(), list[str]()
    for event in ("console", "pageerror", "dialog"):
        page.on(event, lambda what: said.append(str(what)))
    page.goto((tmp_path / "notebook.html").as_uri())
    assert said == []
    assert page.locator("script, img").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate("getComputedStyle(document.querySelector('svg > .small')).fontSize") == "16px"
    picture, text = page.locator("svg:visible").nth(0), page.locator("pre").nth(0)
    assert "d\\u202e\\x07" in picture.text_content()
    assert page.evaluate("pre => getComputedStyle(pre).color", text.element_handle()) == f"rgb({', '.join([str(int(ink[1] * 2, 16))] * 3)})"
    drawn = picture.locator(".gpu rect").nth(0).screenshot()
    assert drawn != picture.locator(".gpu rect.idle").nth(0).screenshot()  # though the pattern of the first output is hidden


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
