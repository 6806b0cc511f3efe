"""Pages of the documentation as tests read them: fences, and the commands and programs in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
PAGES = (README, *sorted((ROOT / "docs").rglob("*.md")))
"""Every page that somebody wrote; those that are made from the code are in `placewright.tools.site`."""
_FENCE = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_TITLE = re.compile(r'title="([^"]+)"')
_TIME = re.compile(r"\b\d+(?:\.\d+)? ?(?:s|ms|seconds)\b|(?<=\"seconds\": )[\d.]+")
_IDENTIFIER = re.compile(r"\b(?:[0-9a-f]{8}|\d{3,})\b")
"""A Ray node or a process, in the table of a launch."""
_ADDRESS = re.compile(r"\b\d+\.\d+\.\d+\.\d+:\d+\b|\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
"""Where Ray is, or since when a launch runs."""


@dataclass(frozen=True)
class Fence:
    """A fence of a page.

    Attributes
    ----------
    language : the word after the backticks.
    file : name of the file that the text is (`title="job.yaml"`), "" where it is none.
    text : the text, ending in a line end.
    """

    language: str
    file: str
    text: str


@dataclass(frozen=True)
class Step:
    """One thing that a reader does.

    Attributes
    ----------
    kind : ``file``, ``command`` or ``program``.
    text : the text of a file or a program, or a command line without its `$`.
    output : what the page shows for it; None where it shows nothing.
    file : name of a file.
    """

    kind: str
    text: str
    output: str | None = None
    file: str = ""

    @property
    def needs_ray(self) -> bool:
        """True if it starts workers."""
        words = self.text.split()
        return (
            words[:1] == ["python"]
            or (self.kind == "command" and words[1:2] in (["launch"], ["status"], ["stop"]))
            or (self.kind == "program" and re.search(r"\blaunch\(|simulated_cluster|init_standalone", self.text) is not None)
        )

    def written(self, output: str) -> str:
        """Return the piece of the page that shows it with an output."""
        return f"{self.text}```\n\n```text\n{output}" if self.kind == "program" else f"$ {self.text}\n{output}"


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def fences(page: Path) -> list[Fence]:
    found = []
    for match in _FENCE.finditer(page.read_text("utf-8")):
        title = _TITLE.search(match[2])
        found.append(Fence(match[1], title[1] if title else "", match[3]))
    return found


def steps(page: Path) -> Iterator[Step]:
    """Yield what a reader does on a page, in order."""
    program: str | None = None
    for fence in fences(page):
        if program is not None:
            yield Step("program", program, fence.text if fence.language == "text" else None)
            program = None
        if fence.file:
            yield Step("file", fence.text, file=fence.file)
        elif fence.language == "console":
            for part in re.split(r"^\$ ", fence.text, flags=re.MULTILINE)[1:]:
                command, _, output = part.partition("\n")
                yield Step("command", command, output)
        elif fence.language == "python":
            program = fence.text
    if program is not None:
        yield Step("program", program)


def same_every_time(text: str, launched: bool) -> str:
    """The text without what differs from run to run; a launch also has columns as wide as its process numbers."""
    text = _TIME.sub("0 s", text).strip()
    if launched:
        text = "\n".join(" ".join(line.split()) for line in _IDENTIFIER.sub("N", _ADDRESS.sub("N", text)).splitlines())
    return text
