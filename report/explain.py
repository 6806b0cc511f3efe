"""Pages of codes as text and JSON, and the list of all codes."""

from __future__ import annotations

import json
import textwrap
from dataclasses import asdict
from typing import Iterable, Iterator

from ..models.findings.codes import CODES
from .page import Example, Page, command_of, family_of
from .terminal import paint
from .wrapping import COLUMNS

SCHEMA = 1
WIDTH = 80
INDENT = "    "


def render(page: Page, colour: bool = False) -> str:
    """Format a page in at most WIDTH columns; examples may be wider."""
    wrong_command, right_command = command_of(page.wrong), command_of(page.right)
    blocks = [
        f"{paint(page.code, 'cyan', colour)}: {paint(page.title, 'bold', colour)}",
        _prose(page.text),
        _heading("wrong", "red", wrong_command, colour),
        *_examples(page.wrong),
        _heading("right", "green", right_command if right_command != wrong_command else "", colour),
        *_examples(page.right),
        _add_title("fix", page.fix, colour),
    ]
    if page.source:
        blocks.append(_add_title("source", page.source, colour))
    if page.see_also:
        lines = [f"  {code}  {CODES[code]}" for code in page.see_also]
        blocks.append("\n".join([f"{paint('see also', 'bold', colour)}:", *lines]))
    return "\n\n".join(blocks)


def render_list(colour: bool = False) -> str:
    """Format every code with its title, by family."""
    blocks: dict[str, list[str]] = {}
    for code, title in sorted(CODES.items()):
        blocks.setdefault(family_of(code), []).append(f"  {paint(code, 'cyan', colour)}  {title}")
    families = ["\n".join([paint(family, "bold", colour), *lines]) for family, lines in blocks.items()]
    return "\n\n".join([*families, "`placewright explain CODE` says more about one of them"])


def pages_to_json(pages: Iterable[Page]) -> str:
    """Format the pages as JSON, with all fields by name."""
    return json.dumps({"schema": SCHEMA, "codes": [asdict(page) for page in pages]}, indent=1)


def list_to_json() -> str:
    """Format every code with title and family as JSON."""
    codes = [{"code": code, "title": title, "family": family_of(code)} for code, title in sorted(CODES.items())]
    return json.dumps({"schema": SCHEMA, "codes": codes}, indent=1)


def _heading(word: str, style: str, command: str, colour: bool) -> str:
    note = f" (`placewright {command}`)" if command else ""
    return f"{paint(word, style, colour)}{note}:"


def _examples(examples: Iterable[Example]) -> Iterator[str]:
    """Yield examples with names; with commands if these differ from the heading."""
    for number, example in enumerate(examples):
        title = f"placewright {example.command}" if example.command and number else example.file
        name = f"{INDENT}# {title}\n" if title and (not example.command or title != example.file) else ""
        yield name + textwrap.indent(example.text.rstrip("\n"), INDENT)


def _add_title(word: str, text: str, colour: bool) -> str:
    """Format `word: text` with a bold word."""
    return paint(word, "bold", colour) + _prose(f"{word}: {text}")[len(word) :]


def _prose(text: str) -> str:
    """Break every paragraph into lines."""
    return "\n".join(
        textwrap.fill(line, min(WIDTH, COLUMNS.get()), break_long_words=False, break_on_hyphens=False) for line in text.split("\n")
    )
