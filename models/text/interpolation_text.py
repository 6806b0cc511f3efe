"""Parser of interpolations: `a${b.c}d`, `${name:argument,${nested}}`.

Source of the grammar: OmegaConf, omegaconf/grammar (escapes, nesting, quoted arguments).
"""

from __future__ import annotations

import re
from typing import Union

from ..record import dataclass

MAX_NESTING = 32
_OPENING = re.compile(r"(\\*)\$\{")
_ESCAPE = re.compile(r"\\([\\()\[\]{}:=, \t])")
_UNQUOTED = re.compile(rf"({_ESCAPE.pattern}|[\w/\\+.$%*@?|:\- \t])*", re.ASCII)


class BadInterpolation(ValueError):
    """Invalid interpolation; the message is a sentence for users."""


@dataclass(frozen=True, slots=True)
class Reference:
    """Reference `${a.b}`, or `${..a}` from as many levels up; parts may be interpolations."""

    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """Call of a resolver, `${name:argument,argument}`, with arguments split into parts."""

    name: str
    arguments: tuple[tuple[Part, ...], ...]
    quoted: tuple[bool, ...]


Part = Union[str, Reference, Call]


def holds_interpolation(text: str) -> bool:
    """Return True if the text opens an interpolation."""
    return "${" in text


def split(text: str, depth: int = 0, has_escapes: bool = True) -> tuple[Part, ...]:
    """Split a text into plain text, references and calls. Raises BadInterpolation."""
    if depth > MAX_NESTING:
        raise BadInterpolation(f"interpolations are nested more than {MAX_NESTING} levels deep")
    parts: list[Part] = []
    plain, position = "", 0
    while opening := _OPENING.search(text, position):
        slashes = len(opening[1])
        plain += text[position : opening.start()] + "\\" * (slashes // 2 if has_escapes else slashes)
        position = opening.end()
        if has_escapes and slashes % 2:
            plain += "${"
            continue
        if plain:
            parts.append(plain)
        end = _closing(text, position)
        parts.append(_inner(text[position:end], depth + 1))
        plain, position = "", end + 1
    plain += text[position:]
    return (*parts, plain) if plain else tuple(parts)


def _closing(text: str, start: int) -> int:
    """Return the offset of the brace that closes the opening before `start`."""
    depth, quote = 1, ""
    for position in range(start, len(text)):
        letter = text[position]
        if quote:
            quote = "" if letter == quote and text[position - 1] != "\\" else quote
        elif letter in "'\"":
            quote = letter
        elif letter in "{}":
            depth += 1 if letter == "{" else -1
            if not depth:
                return position
    raise BadInterpolation("`${` is not closed by `}`")


def _inner(text: str, depth: int) -> Part:
    colon = _find_outside(text, ":")
    if colon < 0:
        if not text.strip():
            raise BadInterpolation("`${}` names nothing")
        return Reference(split(text.strip(), depth))
    arguments = _arguments(text[colon + 1 :])
    are_quoted = tuple(len(word) > 1 and word[0] in "'\"" and word[-1] == word[0] for word in arguments)
    return Call(text[:colon].strip(), tuple(_argument(*argument, depth) for argument in zip(arguments, are_quoted)), are_quoted)


def _argument(word: str, is_quoted: bool, depth: int) -> tuple[Part, ...]:
    """Split an argument. Only a quoted one may hold any sign, and an escaped interpolation."""
    if is_quoted:
        return split(word[1:-1].replace(f"\\{word[0]}", word[0]), depth)
    parts = split(word, depth, has_escapes=False)
    if is_collection(word):
        return parts
    for part in parts:
        if isinstance(part, str):
            check_unquoted(part)
    return tuple(_ESCAPE.sub(r"\1", part) if isinstance(part, str) else part for part in parts)


def is_collection(text: str) -> bool:
    """Return True if an argument is a list or a map."""
    return text[:1] + text[-1:] in ("[]", "{}")


def check_unquoted(text: str) -> None:
    """Raise BadInterpolation at a sign that text without quotes may not hold."""
    if bad := _UNQUOTED.sub("", text, count=1):
        raise BadInterpolation(f"text with `{bad[0]}` needs quotes")


def _arguments(text: str) -> list[str]:
    arguments = []
    while (comma := _find_outside(text, ",")) >= 0:
        arguments.append(text[:comma].strip())
        text = text[comma + 1 :]
    return [*arguments, text.strip()] if arguments or text.strip() else []


def _find_outside(text: str, sign: str) -> int:
    """Return the first offset of `sign` outside of braces and quotes, or -1."""
    depth, quote, has_text = 0, "", False
    for position, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote and text[position - 1] != "\\" else quote
        elif letter in "'\"" and not has_text:
            quote = letter
        elif letter in "{[(":
            depth += 1
        elif letter in "}])":
            depth -= 1
        elif letter == sign and not depth:
            return position
        has_text = has_text or not letter.isspace()
    return -1
