"""The parts of a word before anything is expanded, each with the offsets where it stands.

Source: the Bash Reference Manual, 3.1.2 (Quoting) and 3.5 (Shell Expansions).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union

Place = tuple[int, int]
"""Offsets into the script, the end exclusive."""


@dataclass(frozen=True, slots=True)
class Literal:
    """Text as it is. `exact`: its characters are those of the script, one for one."""

    text: str
    place: Place
    quoted: bool = False
    exact: bool = True


@dataclass(frozen=True, slots=True)
class Parameter:
    """`$NAME` or `${NAME...}`.

    Attributes
    ----------
    name : of the variable, or a special one such as ``@``, ``#``, ``1``.
    index : what stands in brackets: ``@``, ``*``, the parts of a subscript, or None.
    operator : such as ``:-``, ``%%``, ``//``, ``:``, ``^^``; "" for none.
    arguments : what the operator works with, one or two of them.
    length : is it `${#NAME}`?
    indirect : is it `${!NAME}`?
    bad : is it of a form that is not understood?
    """

    name: str
    place: Place
    quoted: bool = False
    index: Union[str, tuple[Part, ...], None] = None
    operator: str = ""
    arguments: tuple[tuple[Part, ...], ...] = ()
    length: bool = False
    indirect: bool = False
    bad: bool = False


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`$((...))`: the parts of the expression."""

    parts: tuple[Part, ...]
    place: Place
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Substitution:
    """`$(...)`, backticks, `<(...)` or `>(...)`: what only running something could tell."""

    place: Place
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Tilde:
    """`~` at the beginning of a word."""

    place: Place
    quoted: bool = False


Part = Union[Literal, Parameter, Arithmetic, Substitution, Tilde]


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a command."""

    parts: tuple[Part, ...]
    place: Place

    @property
    def plain(self) -> str | None:
        """Its text if nothing in it is quoted or to be expanded; None otherwise."""
        if all(isinstance(part, Literal) and not part.quoted for part in self.parts):
            return "".join(part.text for part in self.parts if isinstance(part, Literal))
        return None
