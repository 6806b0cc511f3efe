"""The tokens of the value of one `--set`.

Source of the grammar: Hydra, hydra/grammar/OverrideLexer.g4. The longest token wins, of equally long ones the first of the list.
"""

from __future__ import annotations

import re

from ..findings.finding import UnusableInput, error
from ..findings.span import Edit, Span
from ..record import dataclass
from ..text.yaml_reader import MAX_DIGITS

WORD = r"[A-Za-z_][A-Za-z0-9_-]*"
NAME = r"[A-Za-z_$][A-Za-z0-9_$-]*"
NATURAL = r"(?:0|[1-9](?:_?[0-9])*)"
_POINTED = rf"(?:{NATURAL}?\.[0-9](?:_?[0-9])*|{NATURAL}\.)"
_TOKENS = {
    name: re.compile(pattern, re.ASCII | re.DOTALL)
    for name, pattern in {
        "(": r"[ \t]*\([ \t]*",
        ",": r"[ \t]*,[ \t]*",
        ")": r"[ \t]*\)",
        "[": r"\[[ \t]*",
        "]": r"[ \t]*\]",
        "{": r"\{[ \t]*",
        "}": r"[ \t]*\}",
        ":": r"[ \t]*:[ \t]*",
        "=": r"[ \t]*=[ \t]*",
        "float": rf"[+-]?(?:(?:{NATURAL}|{_POINTED})[eE][+-]?[0-9](?:_?[0-9])*|{_POINTED}|[Ii][Nn][Ff]|[Nn][Aa][Nn])",
        "int": rf"[+-]?{NATURAL}",
        "bool": r"[Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee]",
        "null": r"[Nn][Uu][Ll][Ll]",
        "other": r"[/\-\\+.$%*@?|]",
        "word": WORD,
        "escape": r"(?:\\[\\()\[\]{}:=, \t])+",
        "space": r"[ \t]+",
        "quoted": r'"(?:(?:\\\\)*|.*?[^\\](?:\\\\)*)"|' + r"'(?:(?:\\\\)*|.*?[^\\](?:\\\\)*)'",
        "reference": r"\$\{[^}]+\}",
    }.items()
}


@dataclass(frozen=True, slots=True)
class Token:
    """One token, and where it stands."""

    kind: str
    text: str
    span: Span


def tokens_of(text: str, position: int, span: Span) -> list[Token]:
    """What a text holds from a position on. Raises UnusableInput with a PW012 Finding."""
    found: list[Token] = []
    while position < len(text):
        matches = [(name, match.end()) for name, pattern in _TOKENS.items() if (match := pattern.match(text, position))]
        if not matches:
            why = f"`{text[position]}` must stand in quotes"
            raise refused(text, why, span.part(position, position + 1), _quoted(found))
        name, end = max(matches, key=lambda each: each[1])
        if name == "int" and end - position > MAX_DIGITS:
            raise refused(text, f"a whole number has more than {MAX_DIGITS} digits", span.part(position, end), "write a smaller number")
        found.append(Token(name, text[position:end], span.part(position, end)))
        position = end
    return found


def _quoted(before: list[Token]) -> str:
    """What to put in quotes, after these tokens: the value, or what stands in the innermost list or map that was not closed yet."""
    open_ = list[str]()
    for token in before:
        if token.kind in ("[", "{"):
            open_.append(token.kind)
        elif token.kind in ("]", "}") and open_:
            open_.pop()
    if not open_:
        return "put the value in quotes, as in `key='a b'`"
    if open_[-1] == "{":
        return "put what stands in the map in quotes, as in `key={a: 'a b'}`"
    return "put what stands in the list in quotes, as in `key=['a b']`"


def refused(text: str, why: str, span: Span, help_: str, edit: Edit | None = None) -> UnusableInput:
    """What to raise for a text that is no setting."""
    return UnusableInput([error("PW012", "", f"`{text[:80]}` cannot be set: {why}", span, label="here", help=help_, edit=edit)])
