"""Commands that hold others: if, for, while, case, groups, functions."""

from __future__ import annotations

import re

from .commands import Case, Command, Compute, Count, For, Function, Group, If, List, While
from .cursor import Unreadable
from .parts import Word
from .reserved import Reserved

_FUNCTION = re.compile(r"([^\s;&|<>()$`\"'\\={}\[\]]+)[ \t]*\([ \t]*\)")
_NAMED = re.compile(r"function[ \t]+([^\s;&|<>()$`\"'\\]+)[ \t]*(?:\([ \t]*\))?")


def compound(parser: Reserved) -> Command | None:
    """The command that holds others and begins here; None if none does."""
    start, text = parser.position, parser.text
    if parser.reserved("if"):
        return _if(parser, start)
    if parser.reserved("for") or parser.reserved("select"):
        return _for(parser, start)
    for word in ("while", "until"):
        if parser.reserved(word):
            condition = parser.list("do")
            body = _body(parser, start)
            return While(condition, body, word == "until", (start, parser.position))
    if parser.reserved("case"):
        return _case(parser, start)
    if parser.reserved("{"):
        inner = parser.list("}")
        parser.expect("}", (start, start + 1))
        return Group(inner, False, (start, parser.position))
    if parser.at("((") and (end := parser.arithmetic_end(start + 2)) is not None:
        parser.position += 2
        expression = _expression(parser, end)
        parser.position = end + 2
        return Compute(expression, (start, parser.position))
    if parser.take("("):
        inner = parser.list(")")
        parser.position += 1
        return Group(inner, True, (start, parser.position))
    found = _NAMED.match(text, start) or _FUNCTION.match(text, start)
    if found:
        parser.position = found.end()
        parser.newlines()
        return Function(found[1], parser.command(), (start, parser.position))
    if parser.ahead("then", "elif", "else", "fi", "do", "done", "esac", "}"):
        raise Unreadable(f"`{text[start : start + 8].split()[0]}` has no beginning", start)
    return None


def _if(parser: Reserved, start: int) -> If:
    branches: list[tuple[List, List]] = []
    otherwise: List | None = None
    while True:
        condition = parser.list("then")
        parser.expect("then", (start, start + 2))
        branches.append((condition, parser.list("elif", "else", "fi")))
        if parser.reserved("elif"):
            continue
        if parser.reserved("else"):
            otherwise = parser.list("fi")
        parser.expect("fi", (start, start + 2))
        return If(tuple(branches), otherwise, (start, parser.position))


def _for(parser: Reserved, start: int) -> For | Count:
    parser.blanks()
    if parser.at("((") and (end := parser.arithmetic_end(parser.position + 2)) is not None:
        parser.position += 2
        inside = _split(parser, end)
        parser.position = end + 2
        return Count(inside[0], inside[1], inside[2], _body(parser, start), (start, parser.position))
    name = parser.name()
    parser.newlines()
    words: list[Word] | None = None
    if parser.reserved("in"):
        words = []
        parser.blanks()
        while parser.letter not in ("", "\n", ";"):
            if parser.letter in "&|<>()":
                raise Unreadable(f"`{parser.letter}` cannot stand here", parser.position)
            words.append(parser.word())
            parser.blanks()
    body = _body(parser, start)
    return For(name, None if words is None else tuple(words), body, (start, parser.position))


def _body(parser: Reserved, start: int) -> List:
    parser.blanks()
    parser.take(";")
    parser.newlines()
    if parser.reserved("{"):
        inner = parser.list("}")
        parser.expect("}", (start, start + 1))
        return inner
    parser.expect("do", (start, start + 3))
    body = parser.list("done")
    parser.expect("done", (start, start + 3))
    return body


def _case(parser: Reserved, start: int) -> Case:
    parser.blanks()
    word = parser.word()
    parser.expect("in", (start, start + 4))
    arms: list[tuple[tuple[Word, ...], List, str]] = []
    while True:
        parser.newlines()
        if parser.reserved("esac"):
            return Case(word, tuple(arms), (start, parser.position))
        parser.take("(")
        patterns = []
        while True:
            parser.blanks()
            patterns.append(parser.word())
            parser.blanks()
            if parser.take(")"):
                break
            if not parser.take("|"):
                raise Unreadable("`case` has a pattern that is not closed by `)`", parser.position)
        body = parser.list(";;", ";&", "esac")
        end = next((each for each in (";;&", ";;", ";&") if parser.take(each)), "")
        arms.append((tuple(patterns), body, end))


def _expression(parser: Reserved, end: int) -> Word:
    start = parser.position
    return Word(parser.until(end), (start, end))


def _split(parser: Reserved, end: int) -> list[Word]:
    """The three expressions of `for ((a; b; c))`."""
    found = []
    for _ in range(2):
        stop = parser.text.find(";", parser.position, end)
        if stop < 0:
            raise Unreadable("`for ((` needs three expressions", parser.position)
        found.append(_expression(parser, stop))
        parser.position = stop + 1
    return [*found, _expression(parser, end)]
