"""The walk-throughs in docs/ show what really comes out: every command of theirs is run and compared.

`pytest tests/test_docs.py --update` writes what comes out; read what changed.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from .test_readme import PLACEWRIGHT, ROOT, same_every_time

PAGES = sorted((ROOT / "docs").glob("*.md"))
_FENCE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def shown(page: Path) -> list[tuple[str, str]]:
    """Every command of a page with the output that it shows."""
    parts = [part for match in _FENCE.finditer(page.read_text("utf-8")) for part in re.split(r"^\$ ", match[1], flags=re.MULTILINE)[1:]]
    return [(command, output) for command, _, output in (part.partition("\n") for part in parts)]


COMMANDS = [pytest.param(page, number, id=f"{page.stem}-{number}") for page in PAGES for number in range(len(shown(page)))]


@pytest.mark.parametrize(("page", "number"), COMMANDS)
def test_the_output_is_real(page: Path, number: int, request: pytest.FixtureRequest) -> None:
    command, output = shown(page)[number]
    name, *rest = shlex.split(command)
    if name == "cat":
        real = (ROOT / rest[0]).read_text("utf-8")
    else:
        assert name == "placewright"
        arguments = [sys.executable, "-c", PLACEWRIGHT, *rest]
        done = subprocess.run(arguments, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=280)
        real = "\n".join(line.rstrip() for line in (done.stdout + done.stderr).strip("\n").splitlines()) + "\n"
    same = same_every_time(real, False) == same_every_time(output, False)
    if request.config.getoption("--update") and not same:
        text, before = page.read_text("utf-8"), f"$ {command}\n{output}"
        assert text.count(before) == 1
        page.write_text(text.replace(before, f"$ {command}\n{real}"), "utf-8")
        return
    assert same


def test_every_page_is_named_in_the_readme() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert PAGES
    assert [page.name for page in PAGES if f"(docs/{page.name})" not in readme] == []
