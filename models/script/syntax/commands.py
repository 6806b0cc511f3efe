"""Commands, as they are written.

Source: the Bash Reference Manual, 3.2 (Shell Commands).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union

from .parts import Place, Word


@dataclass(frozen=True, slots=True)
class Item:
    """One element of `NAME=(...)`; with `key` for `[key]=value`."""

    value: Word
    key: Word | None = None


@dataclass(frozen=True, slots=True)
class Assignment:
    """`NAME=value`, `NAME+=value`, `NAME[index]=value`; `value` is a tuple for `NAME=(...)`."""

    name: str
    value: Union[Word, tuple[Item, ...]]
    place: Place
    append: bool = False
    index: Word | None = None


@dataclass(frozen=True, slots=True)
class Simple:
    """Assignments, and a command with its arguments.

    `cut` is the place of a comment that ends the command although the line before it goes on with a backslash.
    """

    assignments: tuple[Assignment, ...]
    words: tuple[Union[Word, Assignment], ...]
    place: Place
    cut: Place | None = None


@dataclass(frozen=True, slots=True)
class Condition:
    """`[[ ... ]]`: its words and operators; an operator is a text, or a word that is one unquoted."""

    words: tuple[Word, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class Compute:
    """`((...))`."""

    expression: Word
    place: Place


@dataclass(frozen=True, slots=True)
class If:
    """`if ...; then ...; elif ...; else ...; fi`: conditions with what follows, and what follows if none holds."""

    branches: tuple[tuple[List, List], ...]
    otherwise: List | None
    place: Place


@dataclass(frozen=True, slots=True)
class For:
    """`for NAME in words; do ...; done`; `words` is None for the arguments of the script."""

    name: str
    words: tuple[Word, ...] | None
    body: List
    place: Place


@dataclass(frozen=True, slots=True)
class Count:
    """`for ((start; condition; step)); do ...; done`."""

    start: Word
    condition: Word
    step: Word
    body: List
    place: Place


@dataclass(frozen=True, slots=True)
class While:
    """`while ...; do ...; done`, or `until`."""

    condition: List
    body: List
    until: bool
    place: Place


@dataclass(frozen=True, slots=True)
class Case:
    """`case word in pattern | pattern) ... ;; esac`; each arm ends in ``;;``, ``;&`` or ``;;&``."""

    word: Word
    arms: tuple[tuple[tuple[Word, ...], List, str], ...]
    place: Place


@dataclass(frozen=True, slots=True)
class Group:
    """`{ ...; }`, or `( ... )`, whose variables are its own."""

    body: List
    subshell: bool
    place: Place


@dataclass(frozen=True, slots=True)
class Function:
    """`name() { ...; }`."""

    name: str
    body: Command
    place: Place


Command = Union[Simple, Condition, Compute, If, For, Count, While, Case, Group, Function]


@dataclass(frozen=True, slots=True)
class Pipeline:
    """`command | command`; `negated` by `!`."""

    commands: tuple[Command, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Chain:
    """`pipeline && pipeline || pipeline`: the first, and the others with their operators; `background` by `&`."""

    first: Pipeline
    others: tuple[tuple[str, Pipeline], ...] = ()
    background: bool = False


List = tuple[Chain, ...]
