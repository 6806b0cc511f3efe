"""Input without a file: standard input as `-`, and pasted command lines."""

from __future__ import annotations

import os
import re
import sys
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TextIO

import click

from ...models.script.recognise import COMMAND_LINE
from ...models.text.source import MAX_BYTES, Source

if TYPE_CHECKING:
    from ...models.placements.plan_file import PlanFile

DASH = "-"
STANDARD_INPUT = "standard input"
UNNAMED = frozenset({STANDARD_INPUT, COMMAND_LINE})
"""Names of texts that are no files."""
_STARTER = r"(?:\S*/)?(?:python[0-9.]*|torchrun|accelerate|deepspeed|srun|ray|uv|nohup|exec|env|bash|sh)"
_COMMAND = re.compile(rf"(?:[A-Za-z_]\w*=\S*\s+)*{_STARTER}\s", re.ASCII)
_PLAN = re.compile(r'\s*\{\s*"schema"\s*:')
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z_0-9]*=.*", re.ASCII | re.DOTALL)


def source_of(word: str) -> str | Source:
    """Return standard input for `-`, a command line as a text, or else the word.

    Raises UnusableInput.
    """
    if word == DASH:
        return Source.of(STANDARD_INPUT, _read_all(sys.stdin))
    return Source(COMMAND_LINE, word) if is_command(word) else word


def plan_file_in(word: str) -> PlanFile | None:
    """Return the plan in a file or in standard input; None for a configuration. Raises UnusableInput."""
    from ...models.placements.plan_file import plan_file_of, read_plan_file

    source = source_of(word)
    if isinstance(source, Source):
        return plan_file_of(source.text.encode(), source.name) if _PLAN.match(source.text) else None
    try:
        with open(word, encoding="utf-8", errors="replace") as stream:
            beginning = stream.read(64)
    except OSError:
        return None
    return read_plan_file(word) if _PLAN.match(beginning) else None


@lru_cache(maxsize=1)
def _read_all(stream: TextIO) -> bytes:
    """Read a stream once; verbs may read their input several times."""
    return stream.buffer.read(MAX_BYTES + 1)


def is_command(word: str) -> bool:
    """Return True for a whole command line that starts a program."""
    return _COMMAND.match(word) is not None and not os.path.exists(word)


class TakesCommand(click.Command):
    """Verb that takes a pasted command line, after `--` or where a program is named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the words; those of a command line become one word."""
        dashes = args.index("--") if "--" in args else len(args)
        start = next((index for index, word in enumerate(args[:dashes]) if _starts_program(word)), None)
        if start is None:
            command = args[dashes + 1 :]
            start = dashes if any(map(_starts_program, command)) else len(args)
        else:
            while start and _VARIABLE.fullmatch(args[start - 1]) and not (start > 1 and args[start - 2].startswith("--")):
                start -= 1
            command = args[start:]
        import shlex

        words: list[Any] = args[:start] if start == len(args) else [*args[:start], "--", shlex.join(command)]
        return super().parse_args(ctx, words)


def _starts_program(word: str) -> bool:
    return re.fullmatch(_STARTER, word) is not None and not os.path.exists(word)
