"""MkDocs hook of mkdocs.yml: adds the pages that are made from the code, and leads links to them.

MkDocs loads this file by its path, so it imports by full names.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import placewright
from mkdocs.plugins import event_priority
from placewright.cli.main import VERBS
from placewright.tools.site.commands import OVERVIEW
from placewright.tools.site.links import redirect_links
from placewright.tools.site.listings import DOCUMENTS, module_of
from placewright.tools.site.pages import made_pages

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

_SOURCES = {uri: name for name, uri in DOCUMENTS.items()}
_facade: tempfile.TemporaryDirectory[str] | None = None


@event_priority(100)
def on_config(config: MkDocsConfig) -> None:
    """Add the verbs to the navigation, and limit mkdocstrings to modules of public names.

    Reading all of the package takes two minutes.
    """
    global _facade
    _with_verbs(config.nav or [])
    _facade = tempfile.TemporaryDirectory(prefix="placewright-site-")
    package = Path(next(iter(placewright.__path__))).resolve()
    for module in {"placewright", *map(module_of, placewright.__all__)}:
        source = Path(sys.modules[module].__file__ or "").resolve()
        link = Path(_facade.name) / "placewright" / source.relative_to(package)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(source)
    for folder in (Path(_facade.name) / "placewright").rglob("*/"):
        if folder.is_dir() and not (folder / "__init__.py").exists():
            (folder / "__init__.py").touch()
    config.plugins["mkdocstrings"].config["handlers"]["python"]["paths"] = [_facade.name]


def _with_verbs(entries: list[Any]) -> None:
    """Add the page of each verb after the page of the command line."""
    if OVERVIEW in entries:
        entries += [{name: f"reference/cli/{name}.md"} for name in VERBS]
    for entry in entries:
        for pages in entry.values() if isinstance(entry, dict) else ():
            if isinstance(pages, list):
                _with_verbs(pages)


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages that are made from the code, and the pictures of the studies."""
    from mkdocs.structure.files import File

    root = Path(config.config_file_path or "mkdocs.yml").resolve().parent
    for uri, text in made_pages(root):
        files.append(File.generated(config, uri, content=text))
    for picture in sorted((root / "benchmarks" / "results").glob("*.svg")):
        files.append(File.generated(config, f"benchmarks/{picture.name}", abs_src_path=str(picture)))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lead links to files of the repository to their pages."""
    uri = page.file.src_uri
    return redirect_links(markdown, uri, _SOURCES.get(uri, f"docs/{uri}"))


def on_post_build(config: MkDocsConfig) -> None:
    """Remove what `on_config` made."""
    if _facade is not None:
        _facade.cleanup()
