"""Pages that are made from the code, links between all pages, the picture, and the site as a whole."""

from __future__ import annotations

import os
import posixpath
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import placewright
import pytest
import yaml
from placewright.cli.main import VERBS
from placewright.models.findings.codes import CODES, url_of
from placewright.tools.picture import PICTURE, picture
from placewright.tools.site.links import redirect_links
from placewright.tools.site.listings import DOCUMENTS
from placewright.tools.site.pages import made_pages

from .page import PAGES, README, ROOT

MADE = dict(made_pages(ROOT))
WRITTEN = {page.relative_to(ROOT / "docs").as_posix(): page.read_text("utf-8") for page in PAGES if page != README}
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
_IMAGE = re.compile(r"!\[[^\]]*\]\(([^)\s]+)\)")
_FENCES = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def anchors(text: str) -> set[str]:
    """The anchors of a page, as Python-Markdown names them."""
    headings = re.findall(r"^#+ (.+)$", _FENCES.sub("", text), re.MULTILINE)
    return {re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", re.sub(r"[`*]", "", heading)).strip().lower()) for heading in headings}


def test_every_verb_code_and_public_name_has_its_place() -> None:
    assert {f"reference/cli/{verb}.md" for verb in VERBS} < MADE.keys()
    assert {f"reference/codes/{code}.md" for code in CODES} < MADE.keys()
    assert all(re.search(rf"::: placewright\.\S+\.{name}$", MADE["reference/python.md"], re.MULTILINE) for name in placewright.__all__)


def test_links_to_codes_lead_to_the_pages_of_the_site() -> None:
    files = pytest.importorskip("mkdocs.structure.files", reason="needs the extra `docs`")
    directories = re.search(r"^use_directory_urls: (\w+)", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    assert directories is not None
    page = files.File("reference/codes/PW102.md", "docs", "site", directories[1] == "true")
    assert url_of("PW102", "https://docs.example.org/") == f"https://docs.example.org/{page.url}"


def test_every_option_of_every_verb_is_listed() -> None:
    for page in (text for uri, text in MADE.items() if uri.startswith("reference/cli/") and "index" not in uri):
        assert "--help" in page
        assert "\b" not in page


def test_every_key_of_hints_is_explained() -> None:
    """So that what the schema completes is explained."""
    from placewright.models.hints.block import BlockForm
    from placewright.models.hints.forms import ComponentForm, EstimateForm, ParallelForm, PlacedForm
    from placewright.models.hints.plan import BudgetForm, PlanForm
    from placewright.models.hints.relations import LinkForm, RelationForm

    forms = (ComponentForm, ParallelForm, PlacedForm, EstimateForm, PlanForm, BudgetForm, RelationForm, LinkForm, BlockForm)
    keys = {key.name_in_file for form in forms for key in form.keys.values()}
    assert [key for key in sorted(keys) if f"| `{key}`" not in MADE["reference/hints.md"]] == []


def test_every_link_of_the_site_leads_to_a_page_and_a_heading() -> None:
    pages = {**WRITTEN, **MADE}
    for uri in [*WRITTEN, *(uri for uri in MADE if uri not in DOCUMENTS.values())]:
        text = redirect_links(pages[uri], uri, f"docs/{uri}")
        for target in _LINK.findall(_FENCES.sub("", text)):
            if "://" in target:
                continue
            path, _, anchor = target.partition("#")
            page = posixpath.normpath(posixpath.join(posixpath.dirname(uri), path)) if path else uri
            assert page in pages, (uri, target)
            assert not anchor or anchor in anchors(pages[page]), (uri, target)


def test_every_link_to_a_file_of_the_repository_leads_somewhere() -> None:
    for page in [*PAGES, *(ROOT / name for name in DOCUMENTS)]:
        text = _FENCES.sub("", page.read_text("utf-8"))
        for target in _LINK.findall(text) + _IMAGE.findall(text):
            path, _, anchor = target.partition("#")
            if "://" in target or not path:
                continue
            file = (page.parent / path).resolve()
            uri = file.relative_to(ROOT / "docs").as_posix() if file.is_relative_to(ROOT / "docs") else ""
            assert file.exists() or uri in MADE, (page, target)
            if anchor and file.suffix == ".md" and uri not in MADE:
                assert anchor in anchors(file.read_text("utf-8")), (page, target)


def test_a_link_out_of_the_pages_is_led_to_the_page_of_its_file() -> None:
    page = (
        "[a](../../examples/verl/ppo.sh) [b](../../SECURITY.md#reporting) [c](../memory.md) [`d`](../../tools/picture.py) [e](https://x.y)"
    )
    assert redirect_links(page, "how_to/a.md", "docs/how_to/a.md") == (
        "[a](../reference/examples.md#examplesverlpposh) [b](../about/security.md#reporting) [c](../memory.md) `d` [e](https://x.y)"
    )


def test_the_picture_is_what_its_commands_print() -> None:
    assert (ROOT / PICTURE).read_text("utf-8") == picture(ROOT)
    assert "http" not in (ROOT / PICTURE).read_text("utf-8").replace("http://www.w3.org/2000/svg", "").replace(
        "https://www.textualize.io", ""
    )


def test_every_page_is_in_the_navigation_once() -> None:
    def pages_of(node: object) -> list[str]:
        if isinstance(node, str):
            return [node]
        return [page for part in (node.values() if isinstance(node, dict) else node) for page in pages_of(part)]  # type: ignore[attr-defined]

    shown = pages_of(yaml.load((ROOT / "mkdocs.yml").read_text("utf-8"), yaml.BaseLoader)["nav"])
    without = {f"reference/codes/{code}.md" for code in CODES} | {f"reference/cli/{verb}.md" for verb in VERBS}  # the hook adds these
    assert sorted(shown) == sorted((WRITTEN.keys() | MADE.keys()) - without)


@pytest.mark.slow
@pytest.mark.skipif(find_spec("mkdocs") is None or find_spec("mkdocstrings") is None, reason="needs the extra `docs`")
def test_the_site_is_built_without_a_warning_and_asks_nobody(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)],
        cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True, timeout=280,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    page = (tmp_path / "index.html").read_text("utf-8")
    assert re.findall(r'(?:src|href)="(https?:[^"]+)"', page) == []
    assert (tmp_path / "benchmarks" / "place_scale.svg").exists()
