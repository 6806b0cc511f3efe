"""Pages of codes for a person at a terminal and for a program, and the list of all codes."""

from __future__ import annotations

import json
import textwrap
from dataclasses import asdict
from typing import Iterable, Iterator

from ..models.findings.codes import CODES
from .page import Example, Page, family_of
from .terminal import paint

SCHEMA = 1
WIDTH = 80
INDENT = "    "


def render(page: Page, colour: bool = False) -> str:
    """A page in at most WIDTH columns; only the text of an example may be wider."""
    asked, answered = _command(page.wrong), _command(page.right)
    blocks = [
        f"{paint(page.code, 'cyan', colour)}: {paint(page.title, 'bold', colour)}",
        _prose(page.text),
        _heading("wrong", "red", asked, colour),
        *_examples(page.wrong),
        _heading("right", "green", answered if answered != asked else "", colour),
        *_examples(page.right),
        _titled("mend", page.mend, colour),
    ]
    if page.source:
        blocks.append(_titled("source", page.source, colour))
    if page.see_also:
        lines = [f"  {code}  {CODES[code]}" for code in page.see_also]
        blocks.append("\n".join([f"{paint('see also', 'bold', colour)}:", *lines]))
    return "\n\n".join(blocks)


def render_list(colour: bool = False) -> str:
    """Every code with its title, family by family."""
    blocks: dict[str, list[str]] = {}
    for code, title in sorted(CODES.items()):
        blocks.setdefault(family_of(code), []).append(f"  {paint(code, 'cyan', colour)}  {title}")
    families = ["\n".join([paint(family, "bold", colour), *lines]) for family, lines in blocks.items()]
    return "\n\n".join([*families, "`placewright explain CODE` says more about one of them"])


def pages_to_json(pages: Iterable[Page]) -> str:
    """The pages as one JSON text with all their fields by name."""
    return json.dumps({"schema": SCHEMA, "codes": [asdict(page) for page in pages]}, indent=1)


def list_to_json() -> str:
    """Every code with its title and its family as one JSON text."""
    codes = [{"code": code, "title": title, "family": family_of(code)} for code, title in sorted(CODES.items())]
    return json.dumps({"schema": SCHEMA, "codes": codes}, indent=1)


def _command(examples: Iterable[Example]) -> str:
    return next((example.command for example in examples if example.command), "")


def _heading(word: str, style: str, command: str, colour: bool) -> str:
    used = f" (`placewright {command}`)" if command else ""
    return f"{paint(word, style, colour)}{used}:"


def _examples(examples: Iterable[Example]) -> Iterator[str]:
    """Each with its name; with its command where the heading has that of another one."""
    first = True
    for example in examples:
        yield _example(example, f"placewright {example.command}" if example.command and not first else example.file)
        first = False


def _example(example: Example, named: str) -> str:
    name = f"{INDENT}# {named}\n" if named and (not example.command or named != example.file) else ""
    return name + textwrap.indent(example.text.rstrip("\n"), INDENT)


def _titled(word: str, text: str, colour: bool) -> str:
    """`word: text`, the word in bold."""
    return paint(word, "bold", colour) + _prose(f"{word}: {text}")[len(word) :]


def _prose(text: str) -> str:
    """Every paragraph, broken into lines."""
    return "\n".join(textwrap.fill(line, WIDTH, break_long_words=False, break_on_hyphens=False) for line in text.split("\n"))
