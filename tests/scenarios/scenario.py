"""A scenario: input files, commands, and for each command its exit code and exact text.

::

    What is true, in a sentence.

    === file train.yaml
    cluster: ...
    === run verify train.yaml --cluster 2x8
    === exit 1
    error[PW102]: ...
    === stderr
    (only where something is written there)

`=== file NAME times 1000` holds its text a thousand times over, `=== file NAME in latin-1` in another encoding.
`=== env NAME VALUE` is a variable of the environment.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, Iterator

_MARK = "=== "
_FILE = re.compile(r"(\S+)(?: times (\d+))?(?: in (\S+))?")
_SECONDS = re.compile(r"\b\d+(?:\.\d+)? (?:s|ms)\b")

Runner = Callable[[list[str]], "Outcome"]


@dataclass
class Outcome:
    """How one command ended."""

    code: int
    out: str
    err: str


@dataclass
class Section:
    """A line that starts with ``===``, without that mark, and the text below it."""

    title: str
    body: str

    @property
    def word(self) -> str:
        """What kind of section it is."""
        return self.title.split(" ", 1)[0]

    @property
    def rest(self) -> str:
        """What follows the first word."""
        return self.title.partition(" ")[2]


@dataclass
class Scenario:
    """A scenario file, taken apart."""

    sentence: str
    sections: list[Section] = field(default_factory=list)

    @staticmethod
    def parse(text: str) -> Scenario:
        """The scenario of a text."""
        sentence, *parts = re.split(rf"^{_MARK}", text, flags=re.MULTILINE)
        sections = []
        for part in parts:
            title, _, body = part.partition("\n")
            sections.append(Section(title.strip(), body))
        return Scenario(sentence, sections)

    def __str__(self) -> str:
        return self.sentence + "".join(f"{_MARK}{section.title}\n{section.body}" for section in self.sections)

    def write_files(self, folder: Path) -> None:
        """Puts its input files into a folder."""
        for section in self.sections:
            if section.word == "file":
                match = _FILE.fullmatch(section.rest)
                if not match:
                    raise ValueError(f"not a file section: {section.title}")
                path = folder / match[1]
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes((section.body * int(match[2] or 1)).encode(match[3] or "utf-8"))

    @property
    def environment(self) -> dict[str, str]:
        """Its variables of the environment."""
        pairs = (section.rest.partition(" ") for section in self.sections if section.word == "env")
        return {name: value for name, _, value in pairs}

    def played(self, run: Runner) -> Scenario:
        """The same scenario with what really comes out of its commands."""
        return Scenario(self.sentence, list(self._played(run)))

    def _played(self, run: Runner) -> Iterator[Section]:
        for section in self.sections:
            if section.word in ("exit", "stderr"):
                continue
            yield section
            if section.word == "run":
                outcome = run(shlex.split(section.rest))
                yield Section(f"exit {outcome.code}", normal(outcome.out))
                if outcome.err:
                    yield Section("stderr", normal(outcome.err))


def normal(text: str) -> str:
    """The text with times made equal, ending in a line end."""
    text = _SECONDS.sub("0 s", text)
    return text if text.endswith("\n") or not text else text + "\n"
