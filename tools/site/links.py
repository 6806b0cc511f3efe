"""Links from pages of the site to files of the repository: to the page of the file, else to its name alone."""

from __future__ import annotations

import posixpath
import re

from .listings import DOCUMENTS, EXAMPLES, anchor_of

_LINK = re.compile(r"(!?)\[([^\]\n]*)\]\(([^)#\s]+)(#[^)\s]*)?\)")
_FENCE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)


def redirect_links(markdown: str, uri: str, source: str) -> str:
    """Redirect the links of a page from files outside `docs/` to pages of the site.

    `uri` is the path of the page on the site, `source` that of its text in the repository.
    """
    parts = _FENCE.split(markdown)
    return "".join(
        part if number % 2 else _LINK.sub(lambda match: _redirect(match, uri, source), part) for number, part in enumerate(parts)
    )


def _redirect(match: re.Match[str], uri: str, source: str) -> str:
    image, text, target, anchor = match[1], match[2], match[3], match[4] or ""
    if "://" in target or target.startswith(("mailto:", "/")):
        return match[0]
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
    home = _home(path, anchor)
    if home is None:
        return match[0]
    if not home:
        return text if text.startswith("`") else f"{text} (`{path}`)"
    page, _, place = home.partition("#")
    relative = posixpath.relpath(page, posixpath.dirname(uri) or ".")
    return f"{image}[{text}]({relative}{'#' + place if place else ''})"


def _home(path: str, anchor: str) -> str | None:
    """Return the page of a file of the repository: None where the link is right as it is, "" where there is no page."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/") + anchor
    if path == "README.md":
        return "index.md"
    if path in DOCUMENTS:
        return DOCUMENTS[path] + anchor
    if path.startswith("examples/"):
        return f"{EXAMPLES}#{anchor_of(path)}"
    if path.startswith("benchmarks/results/") and path.endswith(".svg"):
        return path.replace("benchmarks/results/", "benchmarks/")
    return None if path.startswith("..") else ""
