"""Every page shows what really comes out: its files are written, its commands and programs run, one after the other.

`pytest tests/docs/test_pages.py --update` writes what comes out; read what changed.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Iterator

import pytest
from _pytest.mark.structures import ParameterSet
from one_search import one_process_that_searches
from placewright.cli.main import run

from .page import PAGES, ROOT, Step, name_of, same_every_time, steps

PLACEWRIGHT = "from placewright.cli.main import main; main()"


@pytest.fixture(scope="module", autouse=True)
def shared_search() -> Iterator[None]:
    with one_process_that_searches():
        yield


class Reader:
    """A reader of a page, in a folder with a copy of the examples."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys
        self.code = 0

    def does(self, step: Step) -> str:
        """Output, then errors, without blanks at the ends of lines."""
        if step.kind == "file":
            Path(step.file).parent.mkdir(parents=True, exist_ok=True)
            Path(step.file).write_text(step.text, "utf-8")
            return ""
        if step.kind == "program":
            return self._in_a_process([sys.executable, "-c", step.text])
        name, *words = shlex.split(step.text)
        if name == "cat":
            return Path(words[0]).read_text("utf-8")
        if name == "echo":
            assert words == ["$?"]
            return f"{self.code}\n"
        if name == "python":
            return self._in_a_process([sys.executable, *words])
        assert name == "placewright", step.text
        if step.needs_ray:
            return self._in_a_process([sys.executable, "-c", PLACEWRIGHT, *words])
        self.capsys.readouterr()
        self.code = run(words)
        captured = self.capsys.readouterr()
        return _trimmed(captured.out + captured.err)

    def _in_a_process(self, arguments: list[str]) -> str:
        done = subprocess.run(arguments, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=280)
        self.code = done.returncode
        return _trimmed(done.stdout + done.stderr)


def _trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines()) + "\n"


def parameters() -> list[ParameterSet]:
    found = []
    for page in PAGES:
        todo = list(steps(page))
        marks = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(600)] if any(step.needs_ray for step in todo) else []
        if sum(step.text.startswith("placewright plan") for step in todo) > 6:
            marks.append(pytest.mark.slow)  # a second each
        if todo:
            found.append(pytest.param(page, marks=marks, id=name_of(page)))
    return found


@pytest.mark.parametrize("page", parameters())
def test_a_page_shows_what_comes_out(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    (tmp_path / "run").mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))  # where detached launches are written down
    reader, text, place = Reader(capsys), page.read_text("utf-8"), 0
    for step in list(steps(page)):
        real = reader.does(step)
        if step.kind == "program":
            assert reader.code == 0, real
        if step.output is None:
            continue
        place = text.index(step.written(step.output), place)
        if _same(real, step):
            place += len(step.written(step.output))
        elif request.config.getoption("--update"):
            text = text[:place] + text[place:].replace(step.written(step.output), step.written(real), 1)
            place += len(step.written(real))
        else:
            assert same_every_time(real, step.needs_ray) == same_every_time(step.output, step.needs_ray), step.text
    if request.config.getoption("--update"):
        page.write_text(text, "utf-8")
    assert os.getcwd() == str(tmp_path)


def _same(real: str, step: Step) -> bool:
    return same_every_time(real, step.needs_ray) == same_every_time(step.output or "", step.needs_ray)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_output_is_our_own_fault(page: Path) -> None:
    text = page.read_text("utf-8")
    assert "placewright itself failed: " not in text
    assert "Traceback (most recent call last)" not in text
