"""Picture at the head of README.md: a real error and a real plan, as a terminal shows them.

`python -m placewright.tools.picture` writes `docs/assets/terminal.svg`.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
from pathlib import Path
from typing import Iterator

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

from ..cli.main import run

PICTURE = Path("docs", "assets", "terminal.svg")
"""Path of the picture below the root of the repository."""
WIDTH = 100
"""Columns of the terminal."""
SHOWN = (
    ("verify examples/faulty.yaml --cluster 2x8xH100", (0, -1)),
    ("solve examples/hints.yaml --cluster 4x8xH100", (0, 1, -1)),
)
"""Command, and the paragraphs of its output in the picture."""
_SECONDS = re.compile(r" in \d+\.\d+ s\b")
_REMOTE_FONTS = re.compile(r"@font-face \{\{.*?\}\}\s*", re.DOTALL)


class _Terminal(io.StringIO):
    """Stream that takes colour."""

    def isatty(self) -> bool:
        return True


def picture(root: Path) -> str:
    """Return the picture as SVG; the commands run in `root`, the repository."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), color_system="truecolor", legacy_windows=False)
    for command, paragraphs in SHOWN:
        console.print(Text.assemble(("$ ", "bold green"), (f"placewright {command}", "bold")))
        output = _output(command, root).split("\n\n")
        console.print(Text.from_ansi("\n\n".join(output[number] for number in paragraphs) + "\n"))
    code_format = _REMOTE_FONTS.sub("", CONSOLE_SVG_FORMAT)
    text = console.export_svg(title="placewright", code_format=code_format, unique_id="placewright")
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def _output(command: str, root: Path) -> str:
    """Return what a command prints on a terminal, without the time that it took."""
    stream = _Terminal()
    with _as_on_a_terminal(root), contextlib.redirect_stdout(stream):
        run(shlex.split(command))
    return _SECONDS.sub("", stream.getvalue()).strip("\n")


@contextlib.contextmanager
def _as_on_a_terminal(folder: Path) -> Iterator[None]:
    """Work in a folder, whatever the terminal and the settings of whoever runs this are."""
    variables, here = dict(os.environ), os.getcwd()
    os.environ.update(TERM="xterm-256color", COLUMNS=str(WIDTH))
    for name in ("NO_COLOR", "PLACEWRIGHT_CLUSTER"):
        os.environ.pop(name, None)
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(here)
        os.environ.clear()
        os.environ.update(variables)


if __name__ == "__main__":
    here = Path(__file__).resolve().parents[1]
    (here / PICTURE).write_text(picture(here), "utf-8")
