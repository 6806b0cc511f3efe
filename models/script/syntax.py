"""Grammar of bash: statements by tree-sitter, parts of words by this parser.

Sources: the Bash Reference Manual, 3.1.2 (Quoting), 3.5 (Shell Expansions); tree-sitter-bash 0.25.
"""

from __future__ import annotations

import re
from dataclasses import field
from functools import cached_property, lru_cache
from time import process_time
from typing import TYPE_CHECKING, Iterator, NamedTuple, Union

from ..record import dataclass
from .pieces import Place, WordText

if TYPE_CHECKING:
    from tree_sitter import Node
    from tree_sitter import Parser as TreeParser

MAX_DEPTH = 48
MAX_SECONDS = 2.0
"""CPU seconds of tree-sitter for a script. A real script of 120 KiB takes 0.1 s."""
CLOSERS = ("then", "elif", "else", "fi", "do", "done", "esac", "}", ")", "))", "]]", "]")
NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_SEPARATORS = (";", "&", ";;", "\n", "&&", "||", "|", "|&")
_WORDS = (
    "string", "concatenation", "expansion", "simple_expansion", "word", "number", "raw_string",
    "command_substitution", "arithmetic_expansion", "ansi_c_string", "translated_string",
    "process_substitution", "brace_expression", "command_name", "test_command", "heredoc_body",
    "heredoc_redirect", "extglob_pattern", "regex",
)  # fmt: skip
"""Nodes read letter by letter: parse errors of tree-sitter inside do not count."""
_BLANKS = " \t\n"
_PARAMETER = re.compile(r"[A-Za-z_]\w*|[0-9]|[@*#?$!-]", re.ASCII)
_HEAD = re.compile(r"(#(?=[\w@*]))?([A-Za-z_]\w*|[0-9]+|[@*#?$!-])", re.ASCII)
_OPERATOR = re.compile(r":?[-=+?]|##?|%%?|//?|\^\^?|,,?|:")
_BEFORE_TILDE = re.compile(r"(?:[A-Za-z_]\w*=(?:[^\s\"'$`]*:)?)?", re.ASCII)
_LINE_END = re.compile(r";|(?=[ \t\n])[ \t]*(?:\\\n[ \t]*)*(?:#[^\n]*)?\n")
_GAP = re.compile(r"(?:[ \t\n]|\\\n)+|#[^\n]*")


@lru_cache
def _plain(stops: str, is_quoted: bool) -> re.Pattern[str]:
    """Return the pattern of text without a special letter."""
    special = '\\"$`' if is_quoted else "\\'\"$`~<>([" if stops in (_BLANKS, ")", "]") else "\\'\"$`~<>"
    return re.compile(f"[^{re.escape(special + stops)}]+")


class Unreadable(Exception):
    """Syntax error at a position; `limit` is True if a size limit is exceeded instead."""

    def __init__(self, message: str, position: int, limit: bool = False) -> None:
        self.position, self.limit = position, limit
        super().__init__(message)


def check_depth(depth: int, position: int) -> None:
    """Check the nesting of constructs. Raises Unreadable."""
    if depth > MAX_DEPTH:
        raise Unreadable(f"commands or expansions are nested more than {MAX_DEPTH} levels deep", position, limit=True)


@dataclass(frozen=True, slots=True)
class Part:
    """Part of a word.

    Attributes
    ----------
    kind : ``text``, ``parameter``, ``sum``, ``command``, ``process`` or ``tilde``.
    text : literal text without quotes, or the name of a parameter; "" for an unsupported form.
    inside : place of the content of a sum or command.
    index : text in brackets after a name: ``@``, ``*``, the parts of a subscript, or None.
    operator : such as ``:-``, ``%%``, ``//``, ``:``, ``^^``; "" for none.
    arguments : one or two operands of the operator.
    length : True for `${#NAME}`.
    """

    kind: str
    text: str
    place: Place
    quoted: bool = False
    inside: Place = (0, 0)
    index: Union[str, tuple[Part, ...], None] = None
    operator: str = ""
    arguments: tuple[tuple[Part, ...], ...] = ()
    length: bool = False

    @property
    def plain(self) -> str:
        """Text outside of quotes; a sign without a meaning for anything else."""
        return self.text if self.kind == "text" and not self.quoted else "\0"

    @property
    def takes_default(self) -> bool:
        """True if the operator defines a default for an unset variable."""
        return self.operator != "" and self.operator[-1] in "-=?+"

    @property
    def is_list(self) -> bool:
        """True for all arguments or all elements of an array."""
        return self.kind == "parameter" and not self.length and (self.text in ("@", "*") or self.index in ("@", "*"))

    @property
    def keeps_elements(self) -> bool:
        """True for a list whose elements stay apart, also within quotes."""
        return self.is_list and (not self.quoted or "@" in (self.text, self.index))


class Word(NamedTuple):
    """Word of a command."""

    parts: tuple[Part, ...]
    place: Place


@lru_cache(maxsize=1)
def _parser() -> TreeParser:
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


def _separate(root: Node, text: str, buffer: bytearray) -> None:
    """Separate lines of assignments and redirections, which tree-sitter joins to the next command."""
    nodes = [root]
    while nodes:
        node = nodes.pop()
        nodes += node.children
        for child in node.children if node.type in ("command", "ERROR") else ():
            start, end = child.start_byte, child.end_byte
            if child.type == "file_redirect":
                buffer[start:end] = b" " * (end - start)
            if child.type in ("variable_assignment", "file_redirect") and _LINE_END.match(text, end):
                buffer[end : end + 1] = b";"


@dataclass
class ParseTime:
    """CPU seconds left for parsing; tree-sitter takes quadratic time on nested broken text."""

    left: float = MAX_SECONDS

    def parse(self, text: bytes) -> Node:
        """Return the syntax tree of a text. Raises Unreadable if no time is left."""
        parser, end = _parser(), process_time() + self.left
        try:
            tree = parser.parse(lambda at, _: text[at : at + len(text)], progress_callback=lambda _offset, _failed: process_time() > end)
        except ValueError as problem:
            parser.reset()
            raise Unreadable(f"parsing takes more than {MAX_SECONDS:g} s of CPU", 0, limit=True) from problem
        finally:
            self.left = end - process_time()
        return tree.root_node


@dataclass
class Script:
    """Text of bash; `origin` maps its characters to places in the file.

    `time` is what is left for parsing it, and the texts within it.
    """

    text: str
    origin: WordText
    time: ParseTime = field(default_factory=ParseTime)

    @staticmethod
    def of(text: str) -> Script:
        """Build the script of a whole file."""
        return Script(text, WordText.of(text, (0, len(text)), exact=True))

    @cached_property
    def root(self) -> Node:
        """Syntax tree of the whole text; its byte offsets are offsets of the text.

        tree-sitter misreads letters beyond ASCII and escaped blanks, which are ordinary to bash, as
        `x` is.
        """
        ordinary = re.sub(r"\\(?:[ \t]|(.))", lambda match: match[0] if match[1] else "xx", self.text, flags=re.DOTALL)
        text = bytearray(re.sub(r"[^\x00-\x7f]", "x", ordinary).encode())
        before = bytes(text)
        root = self.time.parse(before)
        _separate(root, self.text, text)
        return root if text == before else self.time.parse(bytes(text))

    def range(self, node: Node) -> Place:
        """Return the text offsets of a node."""
        return node.start_byte, node.end_byte

    def place(self, node: Node) -> Place:
        """Return the place of a node in the file."""
        return self.origin.place(*self.range(node))

    def read(self, node: Node) -> str:
        """Return the source text of a node."""
        return self.text[slice(*self.range(node))]

    def show(self, place: Place) -> str:
        """Return the text at a place, shortened to one line."""
        return " ".join(self.text[slice(*place)].split())[:60]

    def check(self, node: Node) -> None:
        """Check a node for syntax errors. Raises Unreadable at the first error of bash."""
        start, end = self.range(node)
        if node.is_missing:
            if node.type in CLOSERS:
                raise Unreadable(f"`{node.type}` is missing", len(self.text))
        elif node.type == "ERROR" or not (node.is_named or node.type in _SEPARATORS):
            sign = self.text[start:end].strip(" \t\n\\")
            outermost = node.parent is None or node.parent.type in ("program", "ERROR")
            if sign and (outermost or sign[0] in "()&|;<>"):
                raise Unreadable(f"`{' '.join(sign.split())[:20]}` is not allowed here", start)
        elif not node.has_error:
            return
        elif node.type in _WORDS:
            self.parts(start, end)
        elif node.type == "array":
            if any(child.is_missing for child in node.children):
                raise Unreadable("what is opened by `(` is not closed", start)
            list(self.words(start + 1, end - 1))
        else:
            for child in node.children:
                if child.has_error or child.is_missing:
                    self.check(child)

    # -- words

    def command_words(self, node: Node) -> list[Word]:
        """Return the words of a command, without leading assignments and redirections."""
        outer, holes, (start, end) = node.parent, list[Place](), self.range(node)
        is_redirected = outer is not None and outer.type == "redirected_statement"
        for child in (*node.children, *(outer.children if outer is not None and is_redirected else ())):
            if child.type == "variable_assignment" or "redirect" in child.type:
                names = child.children_by_field_name("destination") if child.type == "file_redirect" else []
                holes.append((child.start_byte, names[0].end_byte if names else child.end_byte))  # words may follow the name
                end = max(end, child.end_byte) if child.type == "file_redirect" else end
        holes.sort()
        starts, ends = (start, *(hole[1] for hole in holes)), (*(hole[0] for hole in holes), end)
        return [word for first, last in zip(starts, ends) for word in self.words(first, last)]

    def words(self, start: int, end: int) -> Iterator[Word]:
        """Yield the words between two offsets; blanks and comments separate them."""
        position = start
        while position < end:
            if gap := _GAP.match(self.text, position, end):
                position = gap.end()
                continue
            start = position
            parts, position = self._read(start, end, _BLANKS)
            yield Word(parts, (start, min(position, end)))

    def parts(self, start: int, end: int, is_quoted: bool = False) -> tuple[Part, ...]:
        """Split a text into parts, as within double quotes if `is_quoted`."""
        return self._read(start, end, "", is_quoted)[0]

    def _within(self, start: int, stops: str, is_quoted: bool = False, depth: int = 0) -> tuple[tuple[Part, ...], int]:
        """Return the parts after an opening sign, and the offset of its closing sign."""
        check_depth(depth, start)
        parts, position = self._read(start, len(self.text), stops, is_quoted, depth)
        if position >= len(self.text):
            opening = self.text[start - 1 : start] if stops in "\"'`" else self.text[max(0, start - 2) : start]
            raise Unreadable(f"what is opened by `{opening.strip()}` is not closed", start - 1)
        return parts, position

    def _read(self, start: int, end: int, stops: str, is_quoted: bool = False, depth: int = 0) -> tuple[tuple[Part, ...], int]:
        """Return the parts up to a sign of `stops` or the end, and the offset."""
        text, position, plain, parts = self.text, start, _plain(stops, is_quoted), list[Part]()
        brackets = {_BLANKS: "()", ")": "()", "]": "[]"}.get(stops, "")
        while position < end and (letter := text[position]) not in stops:
            first, after = position, text[position + 1 : min(position + 2, end)]
            if match := plain.match(text, position, end):
                position = match.end()
                parts.append(Part("text", match[0], (first, position), is_quoted))
            elif letter == "\\":
                position = min(position + 2, end)
                is_kept = not after or (is_quoted and after not in '$`"\\\n')
                if after != "\n":
                    parts.append(Part("text", "\\" * is_kept + after, (first, position), True))
            elif letter == "'" and not is_quoted:
                position = text.find("'", position + 1) + 1
                if not position:
                    raise Unreadable("`'` is not closed", first)
                parts.append(Part("text", text[first + 1 : position - 1], (first + 1, position - 1), True))
            elif letter == '"' and (not is_quoted or "}" in stops):  # within an expansion, quotes nest
                inner, position = self._within(first + 1, '"', True, depth + 1)
                parts += inner or [Part("text", "", (position, position), True)]
                position += 1
            elif letter == "$":
                part, position = self._dollar(first, end, is_quoted, depth + 1)
                parts.append(part)
            elif letter == "`" or (letter in "<>" and not is_quoted and after == "("):
                kind, content_start, closer = ("command", first + 1, "`") if letter == "`" else ("process", first + 2, ")")
                close = self._within(content_start, closer, depth=depth + 1)[1]
                position = close + 1
                parts.append(Part(kind, "", (first, position), is_quoted, (content_start, close)))
            elif letter == brackets[:1] and not is_quoted:
                inner, close = self._within(first + 1, brackets[1], depth=depth + 1)
                position = close + 1
                parts += [Part("text", letter, (first, first + 1)), *inner, Part("text", brackets[1], (close, position))]
            else:
                position += 1
                is_tilde = letter == "~" and _BEFORE_TILDE.fullmatch(text, start, first) and not is_quoted and after in ("", "/")
                place = (first, position)
                parts.append(Part("tilde" if is_tilde else "text", letter, place, is_quoted))
        return tuple(parts), position

    def _dollar(self, start: int, end: int, is_quoted: bool, depth: int) -> tuple[Part, int]:
        text, after = self.text, self.text[start + 1 : start + 2]
        if after == "{":
            return self._read_braced(start, is_quoted, depth)
        if after == "(":
            position, is_sum = start + 2, False
            if text.startswith("(", position):
                position = self._within(position + 1, ")", depth=depth)[1] + 1
                is_sum = text.startswith(")", position)
            close = self._within(position, ")", depth=depth)[1]
            kind, width = ("sum", 2) if is_sum else ("command", 1)
            return Part(kind, "", (start, close + 1), is_quoted, (start + 1 + width, close + 1 - width)), close + 1
        if after == "[" or (after == "'" and not is_quoted):
            close = self._within(start + 2, "]" if after == "[" else "'", after == "'", depth)[1]
            return Part("parameter", "", (start, close + 1), is_quoted), close + 1
        name = _PARAMETER.match(text, start + 1, end)
        if name is None:  # `$"..."` is a text in quotes
            text = "" if after == '"' and not is_quoted else "$"
            return Part("text", text, (start, start + 1), is_quoted), start + 1
        return Part("parameter", name[0], (start, name.end()), is_quoted), name.end()

    def _read_braced(self, start: int, is_quoted: bool, depth: int) -> tuple[Part, int]:
        text, head = self.text, _HEAD.match(self.text, start + 2)
        position, index = head.end() if head else start + 2, None
        if head and text.startswith("[", position):
            subscript, close = self._within(position + 1, "]", depth=depth)
            inner = text[position + 1 : close]
            index, position = inner if inner in ("@", "*") else subscript, close + 1
        operator = _OPERATOR.match(text, position) if head else None
        sign, arguments = operator[0] if operator else "", tuple[tuple[Part, ...], ...]()
        if operator is None:
            close = self._within(position, "}", is_quoted, depth)[1]
        else:
            stops, in_quotes = f"{sign[0]}}}" if sign[0] == "/" or sign == ":" else "}", is_quoted and sign[-1] in "-+=?"
            argument, close = self._within(operator.end(), stops, in_quotes, depth)
            arguments = (argument,)
            if text[close] != "}":
                argument, close = self._within(close + 1, "}", in_quotes, depth)
                arguments = (*arguments, argument)
        place = (start, close + 1)
        if head is None or (head[1] if operator else close > position):
            return Part("parameter", "", place, is_quoted), close + 1
        return Part("parameter", head[2], place, is_quoted, (0, 0), index, sign, arguments, head[1] is not None), close + 1
