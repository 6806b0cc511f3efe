"""Grammar of bash: statements by tree-sitter, parts of words by this parser.

Sources: the Bash Reference Manual, 3.1.2 (Quoting), 3.5 (Shell Expansions); tree-sitter-bash 0.25.
"""

from __future__ import annotations

import re
from dataclasses import field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Iterator, Union

from ..record import dataclass
from .pieces import Place, WordPiece, WordText

if TYPE_CHECKING:
    from tree_sitter import Node
    from tree_sitter import Parser as TreeParser

MAX_DEPTH = 48
NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_PLAIN = re.compile(r"[^\\'\"$`~<>]+")
_PLAIN_QUOTED = re.compile(r"[^\\\"$`]+")
_INERT = re.compile(r"[^\\'\"$`(){}\[\] \t\n/:]+")
_PARAMETER = re.compile(r"[A-Za-z_]\w*|[0-9]|[@*#?$!-]", re.ASCII)
_HEAD = re.compile(r"(#(?=[\w@*]))?([A-Za-z_]\w*|[0-9]+|[@*#?$!-])", re.ASCII)
_OPERATOR = re.compile(r":?[-=+?]|##?|%%?|//?|\^\^?|,,?|:")
_GAP = re.compile(r"(?:[ \t\n]|\\\n)+|#[^\n]*")


class Unreadable(Exception):
    """Syntax error at a position; `limit` is True if a size limit is exceeded instead."""

    def __init__(self, message: str, position: int, limit: bool = False) -> None:
        self.position, self.limit = position, limit
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Literal:
    """Literal text; `exact` if equal to the script, character for character."""

    text: str
    place: Place
    quoted: bool = False
    exact: bool = True


@dataclass(frozen=True, slots=True)
class Parameter:
    """Parameter expansion: `$NAME` or `${NAME...}`.

    Attributes
    ----------
    index : text in brackets: ``@``, ``*``, the parts of a subscript, or None.
    operator : such as ``:-``, ``%%``, ``//``, ``:``, ``^^``; "" for none.
    arguments : one or two operands of the operator.
    length : True for `${#NAME}`.
    bad : True if the form is out of scope.
    """

    name: str
    place: Place
    quoted: bool = False
    index: Union[str, tuple[Part, ...], None] = None
    operator: str = ""
    arguments: tuple[tuple[Part, ...], ...] = ()
    length: bool = False
    bad: bool = False

    @property
    def takes_default(self) -> bool:
        """True if the operator defines a default for an unset variable."""
        return not self.bad and self.operator != "" and self.operator[-1] in "-=?+"

    @property
    def is_list(self) -> bool:
        """True for all arguments or all elements of an array."""
        return not (self.bad or self.length) and (self.name in "@*" or self.index in ("@", "*"))


@dataclass(frozen=True, slots=True)
class Inner:
    """Nested construct: `$((...))`, `$(...)`, backticks, `<(...)` or `~`.

    `inside` is the place of the content.
    """

    kind: str
    inside: Place
    place: Place
    quoted: bool = False


Part = Union[Literal, Parameter, Inner]


@dataclass(frozen=True, slots=True)
class Word:
    """Word of a command."""

    parts: tuple[Part, ...]
    place: Place

    @property
    def plain(self) -> str:
        """Text of the word if nothing is quoted or expanded, else ""."""
        literals = [part for part in self.parts if isinstance(part, Literal) and not part.quoted]
        return "".join(part.text for part in literals) if len(literals) == len(self.parts) else ""


@lru_cache(maxsize=1)
def _parser() -> TreeParser:
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


@dataclass
class Script:
    """Text of bash; `origin` maps its characters to places in the file."""

    text: str
    origin: WordText
    _parts: dict[tuple[int, int, bool], tuple[Part, ...]] = field(default_factory=dict, repr=False)

    @staticmethod
    def of(text: str) -> Script:
        """Build the script of a whole file."""
        return Script(text, WordText((WordPiece(text, ((0, len(text)),), True),)))

    @cached_property
    def root(self) -> Node:
        """Syntax tree of the whole text."""
        return _parser().parse(self.text.encode("utf-8", "surrogatepass")).root_node

    @cached_property
    def _offsets(self) -> list[int] | None:
        """Text offset of every byte; None if byte and text offsets are equal."""
        if self.text.isascii():
            return None
        offsets = []
        for position, letter in enumerate(self.text):
            offsets += [position] * len(letter.encode("utf-8", "surrogatepass"))
        return [*offsets, len(self.text)]

    def range(self, node: Node) -> Place:
        """Return the text offsets of a node."""
        if self._offsets is None:
            return node.start_byte, node.end_byte
        return self._offsets[node.start_byte], self._offsets[node.end_byte]

    def written(self, node: Node) -> str:
        """Return the source text of a node."""
        return self.text[slice(*self.range(node))]

    def shown(self, place: Place) -> str:
        """Return the text at a place, shortened to one line."""
        return " ".join(self.text[slice(*place)].split())[:60]

    # -- words

    def command_words(self, node: Node) -> list[Word]:
        """Return the words of a command, without leading assignments and redirections."""
        parent = node.parent
        outer = parent if parent is not None and parent.type == "redirected_statement" else node
        words, (position, end) = list[Word](), self.range(node)
        for child in [*node.children, *(outer.children if outer is not node else ())]:
            start, stop = self.range(child)
            if child == node:  # read its content; redirections follow
                words += self.words(position, end)
                position = max(position, end)
            elif child.type == "variable_assignment" or "redirect" in child.type:
                words += self.words(position, start)
                names = child.children_by_field_name("destination")
                named = child.type == "file_redirect" and names
                position = self.range(names[0])[1] if named else stop
        if outer is not node and outer.children[-1].type != "file_redirect":
            return words
        return [*words, *self.words(position, self.range(outer)[1])]

    def words(self, start: int, end: int) -> Iterator[Word]:
        """Yield the words between two offsets; blanks and comments separate them."""
        position = start
        while position < end:
            if gap := _GAP.match(self.text, position, end):
                position = gap.end()
                continue
            start = position
            while position < end and self.text[position] not in " \t\n":
                position = self._unit_end(position, 0)
            position = min(position, end)
            yield self.word(start, position)

    def word(self, start: int, end: int) -> Word:
        """Return the word between two offsets."""
        return Word(self.parts(start, end), (start, end))

    def parts(self, start: int, end: int, quoted: bool = False, inside: bool = False) -> tuple[Part, ...]:
        """Split a word into parts.

        `inside` an expansion, a quote within quotes ends them.
        """
        key = (start, end, quoted)
        if key not in self._parts:
            self._parts[key] = tuple(self._read(start, end, quoted, inside))
        return self._parts[key]

    def _read(self, start: int, end: int, quoted: bool, inside: bool) -> Iterator[Part]:
        text, position, plain = self.text, start, _PLAIN_QUOTED if quoted else _PLAIN
        while position < end:
            letter, first = text[position], position
            after = text[first + 1 : min(first + 2, end)]
            if match := plain.match(text, position, end):
                position = match.end()
                yield Literal(match[0], (first, position), quoted)
            elif letter == "\\":
                position = min(position + 2, end)
                slash = not after or (quoted and after not in ("$", "`", '"', "\\", "\n"))
                if after != "\n":
                    yield Literal("\\" * slash + after, (first, position), True, exact=slash)
            elif letter == "'" and not quoted:
                position = self._unit_end(first, 0)
                yield Literal(text[first + 1 : position - 1], (first + 1, position - 1), True)
            elif letter == '"' and (inside or not quoted):
                position = self._unit_end(first, 0)
                place = (first + 1, position - 1)
                yield from self.parts(*place, True) or [Literal("", place, True)]
            elif letter == "$":
                part, position = self._dollar(position, end, quoted)
                yield part
            elif letter == "`" or (letter in "<>" and not quoted and after == "("):
                position = self.close(first + 1, "`") + 1 if letter == "`" else self._unit_end(first + 1, 0)
                kind, width = ("command", 1) if letter == "`" else ("process", 2)
                yield Inner(kind, (first + width, position - 1), (first, position), quoted)
            elif letter == "~" and first == start and not quoted and after in ("", "/"):
                position += 1
                yield Inner("tilde", (first, position), (first, position))
            else:
                position += 1
                yield Literal(letter, (first, position), quoted)

    def _dollar(self, start: int, end: int, quoted: bool) -> tuple[Part, int]:
        """Return the part at a dollar, and its end."""
        text, after = self.text, self.text[start + 1 : start + 2]
        if after == "(" or after == "{" or (after == "'" and not quoted):
            close = self._unit_end(start, 0, quoted)
            if after == "{":
                return self._braced((start, close), quoted), close
            if after == "'":
                return Parameter("", (start, close), quoted, bad=True), close
            sum_ = text.startswith("((", start + 1) and text.startswith("))", close - 2)
            if sum_ and self._unit_end(start + 2, 0) == close - 1:
                return Inner("sum", (start + 3, close - 2), (start, close), quoted), close
            return Inner("command", (start + 2, close - 1), (start, close), quoted), close
        if after == "[":
            close = self.close(start + 2, "]") + 1
            return Parameter("", (start, close), quoted, bad=True), close
        name = _PARAMETER.match(text, start + 1, end)
        if name is None:  # `$"..."` is a text in quotes
            translated = after == '"' and not quoted
            return Literal("" if translated else "$", (start, start + 1), quoted, not translated), start + 1
        return Parameter(name[0], (start, name.end()), quoted), name.end()

    def _braced(self, place: Place, quoted: bool) -> Parameter:
        text, (start, end) = self.text, (place[0] + 2, place[1] - 1)
        head = _HEAD.match(text, start, end)
        if head is None:
            return Parameter("", place, quoted, bad=True)
        position, index = head.end(), None
        if text.startswith("[", position):
            bracket = self.close(position + 1, "]")
            inner = text[position + 1 : bracket]
            index = inner if inner in ("@", "*") else self.parts(position + 1, bracket)
            position = bracket + 1
        operator = _OPERATOR.match(text, position, end)
        if operator is None:
            length, bad = head[1] == "#", position < end
            return Parameter(head[2], place, quoted, index, length=length, bad=bad)
        sign, cuts = operator[0], [operator.end(), end]
        if sign[0] == "/" or sign == ":":
            cuts[1:1] = self._separator(operator.end(), end, sign[0])
        plain = quoted and (sign[-1] in "-+=?")
        arguments = tuple(self.parts(low + (at > 0), high, plain, True) for at, (low, high) in enumerate(zip(cuts, cuts[1:])))
        return Parameter(head[2], place, quoted, index, sign, arguments, bad=head[1] is not None)

    def _separator(self, position: int, end: int, letter: str) -> list[int]:
        """Find the first such letter outside of quotes and expansions."""
        while position < end:
            if self.text[position] == letter:
                return [position]
            position = self._unit_end(position, 0)
        return []

    # -- closing signs

    def close(self, position: int, closer: str, quoted: bool = False, depth: int = 0) -> int:
        """Return the offset of the sign that closes the opening before `position`.

        Raises Unreadable.
        """
        if depth > MAX_DEPTH:
            message = f"commands or expansions are nested more than {MAX_DEPTH} levels deep"
            raise Unreadable(message, position, limit=True)
        start, quoted = position, quoted or closer in "\"'"
        while position < len(self.text):
            if self.text[position] == closer:
                return position
            position = self._unit_end(position, depth, quoted, closer)
        opened = self.text[start - 1 : start] if closer in "\"'`" else self.text[max(0, start - 2) : start]
        raise Unreadable(f"what is opened by `{opened.strip()}` is not closed", start - 1)

    def _unit_end(self, position: int, depth: int, quoted: bool = False, closer: str = "") -> int:
        """Return the end of the unit at a position: a letter, a quoted text or an expansion."""
        text, letter = self.text, self.text[position]
        if match := _INERT.match(text, position):
            return match.end()
        after = text[position + 1 : position + 2]
        inner, ends, quotes = 1, "", False
        if letter == "\\":
            return position + 2
        if letter == "'" and not quoted:
            end = text.find("'", position + 1)
            if end < 0:
                raise Unreadable("`'` is not closed", position)
            return end + 1
        if letter in '"`' and closer != letter:
            ends = letter
        elif (letter == "$" and after in ("(", "{")) or (letter + after == "$'" and not quoted):
            inner, ends = 2, {"(": ")", "{": "}", "'": "'"}[after]
            quotes = quoted and after == "{"
        elif (letter == "(" and not quoted and closer in ("", ")")) or letter + closer == "[]":
            ends = ")" if letter == "(" else "]"
        return self.close(position + inner, ends, quotes, depth + 1) + 1 if ends else position + 1
