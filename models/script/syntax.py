"""The grammar of bash: tree-sitter finds statements and words, the parts of a word are read here.

Sources: the Bash Reference Manual, 3.1.2 (Quoting) and 3.5 (Shell Expansions); tree-sitter-bash 0.25.
"""

from __future__ import annotations

import re
from dataclasses import field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Iterator, Union

from ..record import dataclass
from .pieces import Piece, Place, Text

if TYPE_CHECKING:
    from tree_sitter import Node
    from tree_sitter import Parser as TreeParser

MAX_DEPTH = 48
NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_PLAIN = re.compile(r"[^\\'\"$`~<>]+")
_PLAIN_QUOTED = re.compile(r"[^\\\"$`]+")
_INERT = re.compile(r"[^\\'\"$`(){}\[\] \t\n/:]+")
_PARAMETER = re.compile(r"[A-Za-z_]\w*|[0-9]|[@*#?$!-]", re.ASCII)
_HEAD = re.compile(r"(#(?=[\w@*?$!\[#-])|!(?=\w))?([A-Za-z_]\w*|[0-9]+|[@*#?$!-])", re.ASCII)
_OPERATOR = re.compile(r":?[-=+?]|##?|%%?|/[/#%]?|\^\^?|,,?|:")
_GAP = re.compile(r"(?:[ \t\n]|\\\n)+|#[^\n]*")


class Unreadable(Exception):
    """The text is no script from this place on. `limit`: it is only too large."""

    def __init__(self, message: str, position: int, limit: bool = False) -> None:
        self.position, self.limit = position, limit
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Literal:
    """Text as it is; `exact` if its characters are those of the script, one for one."""

    text: str
    place: Place
    quoted: bool = False
    exact: bool = True


@dataclass(frozen=True, slots=True)
class Parameter:
    """`$NAME` or `${NAME...}`.

    Attributes
    ----------
    index : what stands in brackets: ``@``, ``*``, the parts of a subscript, or None.
    operator : such as ``:-``, ``%%``, ``//``, ``:``, ``^^``; "" for none.
    arguments : what the operator works with, one or two of them.
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


@dataclass(frozen=True, slots=True)
class Inner:
    """`$((...))`, `$(...)`, backticks, `<(...)` or `~`: its `kind`, and where its inside stands."""

    kind: str
    inside: Place
    place: Place
    quoted: bool = False


Part = Union[Literal, Parameter, Inner]


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a command."""

    parts: tuple[Part, ...]
    place: Place

    @property
    def plain(self) -> str:
        """Its text if nothing in it is quoted or expanded; "" otherwise."""
        if all(isinstance(part, Literal) and not part.quoted for part in self.parts):
            return "".join(part.text for part in self.parts if isinstance(part, Literal))
        return ""


@lru_cache(maxsize=1)
def _parser() -> TreeParser:
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


@dataclass
class Script:
    """A text of bash. `origin` says where its characters really stand: in a file, or in the variable that `eval` takes."""

    text: str
    origin: Text
    _words: dict[tuple[int, int, bool], tuple[Part, ...]] = field(default_factory=dict, repr=False)

    @staticmethod
    def of(text: str) -> Script:
        """A file as a script."""
        return Script(text, Text((Piece(text, ((0, len(text)),), True),)))

    @cached_property
    def root(self) -> Node:
        """The tree of the whole text."""
        return _parser().parse(self.text.encode("utf-8", "surrogatepass")).root_node

    @cached_property
    def _offsets(self) -> list[int] | None:
        if self.text.isascii():
            return None
        every = []
        for position, letter in enumerate(self.text):
            every += [position] * len(letter.encode("utf-8", "surrogatepass"))
        return [*every, len(self.text)]

    def range(self, node: Node) -> Place:
        """The offsets of a node in the text."""
        if self._offsets is None:
            return node.start_byte, node.end_byte
        return self._offsets[node.start_byte], self._offsets[node.end_byte]

    def written(self, node: Node) -> str:
        """What a node is written as."""
        start, end = self.range(node)
        return self.text[start:end]

    def commands(self, node: Node) -> list[Node] | None:
        """The simple commands of `a; b && c`; None if it is anything else."""
        if node.type == "command":
            return [node]
        if node.type == "redirected_statement":
            body = node.child_by_field_name("body")
            return self.commands(body) if body is not None else None
        if node.type not in ("program", "list") or any(child.type == "||" for child in node.children):
            return None
        inner = [self.commands(child) for child in node.named_children if child.type != "comment"]
        return [command for each in inner for command in each or ()] if all(inner) else None

    # -- words

    def command_words(self, node: Node) -> list[Word]:
        """The words of a command, without assignments before it and redirections."""
        found, position = list[Word](), self.range(node)[0]
        around = node.parent if node.parent is not None and node.parent.type == "redirected_statement" else None
        for child in [*node.children, *(around.children if around is not None else ())]:
            if child.type == "variable_assignment" or "redirect" in child.type:
                start, end = self.range(child)
                found += self.words(position, start)
                names = child.children_by_field_name("destination")
                position = self.range(names[0])[1] if child.type == "file_redirect" and names else end
            elif child == node:  # what stands in it was read; redirections follow
                found += self.words(position, self.range(node)[1])
                position = self.range(node)[1]
        if around is None or position < self.range(node)[1]:
            return [*found, *self.words(position, self.range(node)[1])]
        last = around.children[-1]
        return [*found, *(self.words(position, self.range(last)[1]) if last.type == "file_redirect" else ())]

    def word(self, start: int, end: int) -> Word:
        """The word between two offsets."""
        return Word(self.parts(start, end), (start, end))

    def words(self, start: int, end: int) -> Iterator[Word]:
        """The words between two offsets, with blanks and comments between them."""
        position = start
        while position < end:
            if gap := _GAP.match(self.text, position, end):
                position = gap.end()
                continue
            first, position = position, self._word_end(position, end)
            yield self.word(first, position)

    def _word_end(self, position: int, end: int) -> int:
        while position < end and self.text[position] not in " \t\n":
            position = self._past(position, 0)
        return min(position, end)

    def parts(self, start: int, end: int, quoted: bool = False, inside: bool = False) -> tuple[Part, ...]:
        """The parts of a word between two offsets; `inside`: in an expansion, where a quote within quotes ends them."""
        key = (start, end, quoted)
        if key not in self._words:
            self._words[key] = tuple(self._parts(start, end, quoted, inside))
        return self._words[key]

    def _parts(self, start: int, end: int, quoted: bool, inside: bool) -> Iterator[Part]:
        text, position, plain = self.text, start, _PLAIN_QUOTED if quoted else _PLAIN
        while position < end:
            letter, first = text[position], position
            if found := plain.match(text, position, end):
                position = found.end()
                yield Literal(found[0], (first, position), quoted)
            elif letter == "\\":
                position = min(position + 2, end)
                if text[first + 1 : position] == "\n":
                    continue
                kept = quoted and text[first + 1 : position] not in ("$", "`", '"', "\\")
                whole = kept or position == first + 1
                yield Literal(text[first + (not whole) : position], (first, position), True, exact=whole)
            elif letter == "'" and not quoted:
                position = self._closing("'", position + 1, "`'` is not closed")
                yield Literal(text[first + 1 : position], (first + 1, position), True)
                position += 1
            elif letter == '"' and (inside or not quoted):
                position = self.close(position + 1, '"')
                yield from self.parts(first + 1, position, True) or [Literal("", (first + 1, position), True)]
                position += 1
            elif letter == "$":
                part, position = self._dollar(position, end, quoted)
                if part is not None:
                    yield part
            elif letter == "`":
                position = self.close(position + 1, "`") + 1
                yield Inner("command", (first + 1, position - 1), (first, position), quoted)
            elif letter in "<>" and not quoted and text.startswith("(", position + 1):
                position = self.close(position + 2, ")") + 1
                yield Inner("process", (first + 2, position - 1), (first, position), quoted)
            elif letter == "~" and first == start and not quoted and text[first + 1 : min(first + 2, end)] in ("", "/"):
                position += 1
                yield Inner("tilde", (first, position), (first, position))
            else:
                position += 1
                yield Literal(letter, (first, position), quoted)

    def _dollar(self, start: int, end: int, quoted: bool) -> tuple[Part | None, int]:
        text, after = self.text, self.text[start + 1 : start + 2]
        if after == "'" and not quoted:
            close = self.close(start + 2, "'", True) + 1
            return Parameter("", (start, close), quoted, bad=True), close
        if after == '"' and not quoted:
            return None, start + 1
        if after == "(":
            close = self.close(start + 2, ")") + 1
            if text.startswith("((", start + 1) and text[close - 2 : close] == "))" and self._is_sum(start + 3, close - 2):
                return Inner("sum", (start + 3, close - 2), (start, close), quoted), close
            return Inner("command", (start + 2, close - 1), (start, close), quoted), close
        if after == "[":
            close = self.close(start + 2, "]") + 1
            return Parameter("", (start, close), quoted, bad=True), close
        if after == "{":
            close = self.close(start + 2, "}", quoted) + 1
            return self._braced(start, close, quoted), close
        found = _PARAMETER.match(text, start + 1, end)
        if found is None:
            return Literal("$", (start, start + 1), quoted), start + 1
        return Parameter(found[0], (start, found.end()), quoted), found.end()

    def _is_sum(self, start: int, end: int) -> bool:
        """True if the parentheses are balanced: `$(( (1) ))`, not `$((a); (b))`."""
        depth = 0
        for letter in self.text[start:end]:
            depth += (letter == "(") - (letter == ")")
            if depth < 0:
                return False
        return True

    def _braced(self, start: int, close: int, quoted: bool) -> Parameter:
        text, place, end = self.text, (start, close), close - 1
        head = _HEAD.match(text, start + 2, end)
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
            bad = position < end or head[1] == "!"
            return Parameter(head[2], place, quoted, index, length=head[1] == "#", bad=bad)
        name, cuts = operator[0], [operator.end(), end]
        if name[0] == "/" or name == ":":
            cuts[1:1] = self._separator(operator.end(), end, name[0])
        plain = quoted and name[0] not in "/#%^," and name != ":"
        arguments = tuple(self.parts(low + (at > 0), high, plain, True) for at, (low, high) in enumerate(zip(cuts, cuts[1:])))
        return Parameter(head[2], place, quoted, index, name, arguments, bad=head[1] is not None)

    def _separator(self, start: int, end: int, letter: str) -> list[int]:
        """Where the first such letter is that is neither quoted nor in an expansion."""
        position = start + (letter == "/" and self.text.startswith("/", start))
        while position < end:
            if self.text[position] == letter:
                return [position]
            position = self._past(position, 0)
        return []

    # -- what closes what

    def close(self, position: int, closer: str, quoted: bool = False, depth: int = 0) -> int:
        """Where the sign is that closes what was opened before `position`. Raises Unreadable."""
        if depth > MAX_DEPTH:
            message = f"commands or expansions are nested more than {MAX_DEPTH} levels deep"
            raise Unreadable(message, position, limit=True)
        start, quoted = position, quoted or closer == '"'
        while position < len(self.text):
            if self.text[position] == closer:
                return position
            position = self._past(position, depth, quoted, closer)
        opened = self.text[start - 1 : start + 1] if closer == '"' else self.text[max(0, start - 2) : start]
        raise Unreadable(f"what is opened by `{opened.strip()}` is not closed", start - 1)

    def _past(self, position: int, depth: int, quoted: bool = False, closer: str = "") -> int:
        """Where what begins here ends: one letter, or all that is quoted or expanded."""
        text, letter = self.text, self.text[position]
        if found := _INERT.match(text, position):
            return found.end()
        if letter == "\\":
            return position + 2
        if letter == "'" and not quoted:
            return self._closing("'", position + 1, "`'` is not closed") + 1
        if letter == '"' and closer != '"':
            return self.close(position + 1, '"', depth=depth + 1) + 1
        if letter == "`" and closer != "`":
            return self.close(position + 1, "`", depth=depth + 1) + 1
        if letter == "$" and (after := text[position + 1 : position + 2]) in ("(", "{", "'"):
            if after == "'":
                return position + 1 if quoted else self.close(position + 2, "'", True, depth + 1) + 1
            return self.close(position + 2, ")" if after == "(" else "}", quoted and after == "{", depth + 1) + 1
        if letter == "(" and not quoted and closer in ("", ")"):
            return self.close(position + 1, ")", depth=depth + 1) + 1
        if letter == "[" and closer == "]":
            return self.close(position + 1, "]", depth=depth + 1) + 1
        return position + 1

    def _closing(self, letter: str, start: int, problem: str) -> int:
        end = self.text.find(letter, start)
        if end < 0:
            raise Unreadable(problem, start - 1)
        return end
