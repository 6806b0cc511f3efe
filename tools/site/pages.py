"""Pages that are made from the code."""

from __future__ import annotations

from pathlib import Path
from typing import Iterator

from .codes import code_pages
from .commands import command_pages
from .forms import form_pages
from .listings import listed_pages


def made_pages(root: Path) -> Iterator[tuple[str, str]]:
    """Yield (path below `docs/`, Markdown) of every page that is made; `root` is the repository."""
    yield from command_pages()
    yield from form_pages()
    yield from code_pages()
    yield from listed_pages(root)
