"""Expansion of words: parameters, sums, quote removal and field splitting.

Source: the Bash Reference Manual, 3.5. A pattern of file names is unknown, but `key=*` stays as
written. Braces within braces, or with variables, and the rest are unknown.
"""

from __future__ import annotations

import ast
import operator
import re
from abc import ABC, abstractmethod
from dataclasses import field
from fnmatch import translate
from functools import lru_cache
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Callable, Iterable, Iterator, Sequence

from ..record import dataclass
from ..text.environment import NO_VENDOR
from .pieces import Place, WordPiece, WordText, bound, derive, join
from .state import State
from .syntax import Part, Script, Word

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_WORDS = 4_096
MAX_WORK = 2_000_000
_NUMBER = re.compile(r"\s*(-?(0|[1-9][0-9]{0,17}))?\s*", re.ASCII)
_BRACES = re.compile(r"\{([^{}]*(?:,|\.\.)[^{}]*)\}")
_RANGE = re.compile(r"(-?\d{1,9})\.\.(-?\d{1,9})(?:\.\.(-?\d{1,9}))?")
_ASSIGNED = re.compile(r"(?:\+\+|--)\s*([A-Za-z_]\w*)|([A-Za-z_]\w*)\s*(?:(?:[-+*/%&|^]|<<|>>)?=(?!=)|\+\+|--)", re.ASCII)
_BLANKS = " \t\n"
_GLOB = re.compile(r"[*?]|\[[^\[\]]+\]")
_Stretch = tuple["WordText | None", str]
"""Text and the signs that separate its fields; None ends a field."""
MAX_SUM = 512
_NOT_FOLLOWED = "it is not an arithmetic expression that is followed"
_LETTERS = re.compile(r"(?:[0-9]+\b|0[xX][0-9a-fA-F]+\b|[A-Za-z_]\w*\b|[\s+\-*/%()<>=!]|&&|\|\|)*", re.ASCII)
_STEP = re.compile(r"\s*(?P<name>[A-Za-z_]\w*)\s*(?:(?P<twice>\+\+|--)\s*|(?P<sign>[-+*/%]|)=(?!=)(?P<amount>.*))", re.ASCII | re.DOTALL)
_STEP_FIRST = re.compile(r"\s*(?P<twice>\+\+|--)\s*(?P<name>[A-Za-z_]\w*)(?P<sign>)(?P<amount>)\s*", re.ASCII)
_OPERATE: dict[type[ast.AST], Callable[[int, int], int]] = {
    ast.Add: operator.add, ast.UAdd: operator.add, ast.Sub: operator.sub, ast.USub: operator.sub, ast.Mult: operator.mul,
    ast.Div: lambda left, right: abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1),
    ast.Mod: lambda left, right: abs(left) % abs(right) * (-1 if left < 0 else 1),
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip


class NotComputed(Exception):
    """Expression without a value; the message is a reason, as the end of a sentence."""


def names_assigned(expression: str) -> set[str]:
    """Return the variables that an arithmetic expression may assign."""
    return {before or after for before, after in _ASSIGNED.findall(expression)}


@lru_cache
def _splitter(separators: str) -> re.Pattern[str]:
    """Return the pattern of a separator or of a text between separators."""
    blanks = "".join(sign for sign in separators if sign in _BLANKS)
    signs = re.escape("".join(sign for sign in separators if sign not in _BLANKS))
    blank, sign = (f"[{group}]" if group else "(?!)" for group in (blanks, signs))
    return re.compile(f"(?P<sign>{blank}*{sign}{blank}*)|(?P<blank>{blank}+)|[^{blanks}{signs}]+")


def _split(stretches: Iterable[_Stretch]) -> tuple[list[WordText], frozenset[str]]:
    """Return the fields of a word, and the unset variables outside of them (3.5.7).

    An empty text makes no field alone, unless it is in quotes, without separators.
    """
    fields, empty_words, pieces, is_open = list[WordText](), list[WordText](), list[WordPiece](), False
    for text, separators in (*stretches, (None, "")):
        for piece in text.pieces if text is not None else ():
            if not separators or piece.unknown or not piece.text:
                pieces.append(piece)
                is_open = is_open or bool(piece.unknown) or any(name[0] == "$" for name in piece.unset)
                continue
            for match in _splitter(separators).finditer(piece.text):
                is_open = is_open or not match["blank"]
                if not (match["sign"] or match["blank"]):
                    pieces.append(piece.cut(*match.span()))
                else:
                    (fields if is_open else empty_words).append(WordText(tuple(pieces)))
                    pieces, is_open = [], False
        is_open = is_open or (text is not None and not separators)
        if text is None:
            (fields if is_open else empty_words).append(WordText(tuple(pieces)))
            pieces, is_open = [], False
    return fields, frozenset(name for text in empty_words for name in text.unset)


def _with_ends(texts: Iterable[WordText], separators: str) -> Iterator[_Stretch]:
    """Yield texts with an end of the field between them."""
    for position, text in enumerate(texts):
        if position:
            yield None, ""
        yield text, separators


@dataclass
class Expander(ABC):
    """Expander of words in a state; `dropped` are the unset variables of words that vanished."""

    script: Script
    state: State
    dropped: set[str] = field(default_factory=set)

    def fields(self, words: Iterable[Word]) -> list[WordText]:
        """Expand words of a command into fields."""
        return [field for word in words for field in self._fields_of(word)]

    def _fields_of(self, word: Word) -> list[WordText]:
        place = self._place(word)
        if has_braces(word.parts):
            words = _alternatives("".join(part.plain for part in word.parts))
            if words is None:
                return [WordText.unknown(self.script.show(word.place), place, "braces that make several words are not followed")]
            self.state.budget.spend(len(words))
            return [WordText.of(text, place) for text in words if text]
        texts, unset = _split(self._stretches(word.parts))
        self.dropped |= unset
        self.state.budget.spend(1 + len(word.parts) // 2 + len(texts) // 50 + sum(map(_cost, texts)))
        if any(_GLOB.search(part.plain) for part in word.parts):
            texts = [text if "=" in text.plain else self._unknown(word, "it stands for the names of files") for text in texts]
        return [bound(text, place) if text.pieces else WordText.of("", place) for text in texts]

    def separate(self, text: WordText) -> list[WordText]:
        """Split a text into fields. Raises NotComputed if the separators are unknown."""
        return _split([(text, self._separators)])[0]

    def text(self, parts: Sequence[Part]) -> WordText:
        """Expand parts without splitting, as in an assignment."""
        place = self._place(parts[0]) if parts else (0, 0)
        whole = join(map(self._text, parts), place=place)
        self.state.budget.spend(1 + _cost(whole))
        return whole

    def pattern(self, parts: Sequence[Part]) -> str:
        """Return the pattern of parts, as for fnmatch; quoted text matches literally.

        Raises NotComputed.
        """
        pattern = ""
        for part in parts:
            text = self._text(part)
            if not text.known:
                raise NotComputed(text.why_unknown)
            pattern += re.sub(r"[*?\[]", r"[\g<0>]", text.plain) if part.quoted else text.plain.replace("[^", "[!")
        if re.search(r"[?*+@!]\(", pattern):
            raise NotComputed("extended patterns are not followed")
        return pattern

    def calculate(self, text: WordText, place: Place) -> WordText:
        """Compute the sum written in a text. Raises NotComputed."""
        sources = [text]

        def lookup(name: str) -> int:
            """Return the number of a variable."""
            self.state.budget.spend()
            variable = self.state.scalar(name, place) or WordText.of("", place, unset=frozenset({name}))
            sources.append(variable)
            if not variable.known or not _NUMBER.fullmatch(variable.plain):
                raise NotComputed(variable.why_unknown or f"`{name}` is not a number")
            return int(variable.plain.strip() or "0")

        def assign(name: str, number: int) -> None:
            """Set a variable to a number."""
            self.state.assign(name, derive(str(number), sources, place))

        try:
            self.state.budget.spend(1 + len(text.plain) // 50)
            if not text.known:
                raise NotComputed(text.why_unknown)
            return derive(str(calculate(text.plain, lookup, assign)), sources, place)
        except NotComputed:
            self.state.unsure(names_assigned(text.plain), place, f"`{text.plain[:40]}` is not followed")
            raise

    # -- parts of a word

    @property
    def _separators(self) -> str:
        """Signs that separate fields. Raises NotComputed if they are unknown."""
        value = self.state.variables.get("IFS")
        if isinstance(value, WordText) and not value.known:
            raise NotComputed("signs that separate words are not known")
        return value.plain if isinstance(value, WordText) else _BLANKS

    def _place(self, part: Part | Word) -> Place:
        return self.script.origin.place(*part.place)

    def _stretches(self, parts: Sequence[Part], splits_literals: bool = False) -> Iterator[_Stretch]:
        """Yield the texts of the parts of a word; expansions without quotes are split."""
        for part in parts:
            try:
                signs = self._separators if not part.quoted and (splits_literals or part.kind != "text") else ""
                if part.keeps_elements:
                    yield from _with_ends(self._elements(part), signs)
                elif not part.quoted and part.takes_default:
                    value, names = self._value_or_default(part)
                    if value is not None:
                        yield value, signs
                    else:
                        place, fields = self._place(part), _split(self._stretches(part.arguments[0], True))[0]
                        yield from _with_ends((text.use_at(place).assuming(names, place) for text in fields), "")
                else:
                    yield self._text(part), signs
            except NotComputed as problem:
                yield self._unknown(part, str(problem)), ""

    def _text(self, part: Part) -> WordText:
        """Return the text of a part that is not split."""
        whole = self.script.origin.cut(*part.place)
        if not whole.known:
            return whole
        if part.kind == "text":
            if whole.plain == part.text or not part.text:
                return whole if part.text else WordText()
            return WordText.of(part.text, self._place(part))
        try:
            return self._parameter(part) if part.kind == "parameter" else self._construct(part)
        except NotComputed as problem:
            return self._unknown(part, str(problem))

    def _unknown(self, part: Part | Word, why: str, path: str = "") -> WordText:
        return WordText.unknown(self.script.text[slice(*part.place)], self._place(part), why, path)

    def _construct(self, part: Part) -> WordText:
        """Expand a sum, a command or a home folder. Raises NotComputed."""
        excerpt, inner_text = self.script.show(part.place), self.script.text[slice(*part.inside)]
        if part.kind == "tilde":
            raise NotComputed("`~` is a folder of the machine where the script runs")
        if part.kind == "sum":
            try:
                return self.calculate(self.text(self.script.parts(*part.inside, True)), self._place(part))
            except NotComputed as problem:
                raise NotComputed(f"`{excerpt}` is not known: {problem}") from problem
        text = WordText.unknown("", self._place(part), "")
        if part.kind == "command" and not (excerpt[:1] == "`" and "\\" in inner_text):
            text = self.capture(Script(inner_text, self.script.origin.cut(*part.inside), self.script.time))
            if any(not piece.unknown for piece in text.pieces) or not text.pieces:
                return text
        why = NO_VENDOR if NO_VENDOR in text.why_unknown else f"`{excerpt}` is a command, which is not run"
        return self._unknown(part, why, text.path)

    @abstractmethod
    def capture(self, script: Script) -> WordText:
        """Return what a script within `$(...)` prints, without the line ends at its end."""

    def heredoc(self, node: Node) -> WordText | None:
        """Return the text of a here-document; None without a body."""
        parts = {child.type: child for child in node.children}
        if not {"heredoc_start", "heredoc_body"} <= parts.keys():
            return None
        body, start = self.script.range(parts["heredoc_body"]), self.script.read(parts["heredoc_start"])
        is_quoted = any(sign in start for sign in "'\"\\")
        text = self.script.origin.cut(*body) if is_quoted else self.text(self.script.parts(*body, True))
        lines = re.finditer(r"^\t*([^\n]*\n?)", text.plain, re.MULTILINE)
        return join(text.cut(*line.span(1)) for line in lines) if "<<-" in parts else text

    # -- parameters

    def _parameter(self, part: Part) -> WordText:
        place = self._place(part)
        if not part.text:
            raise NotComputed(f"`{self.script.show(part.place)}` is of a form that is not followed")
        if part.length and (part.index in ("@", "*") or part.text in "@*"):
            texts = self.state.elements(part.text, place)
            if any(not text.known for text in texts):
                raise NotComputed("how many elements there are is not known")
            return derive(str(len(texts)), texts, place)
        if part.is_list:
            between = self._separators[:1] if "*" in (part.text, part.index) else " "
            return join(self._elements(part), between, place)
        if part.takes_default:
            value, names = self._value_or_default(part)
            return value if value is not None else self.text(part.arguments[0]).use_at(place).assuming(names, place)
        value, names = self._value(part)
        if value is None:
            return WordText.of("0" if part.length else "", place, unset=names)
        if part.length and value.known:
            return derive(str(len(value.plain)), [value], place)
        return self._apply_operator(value, part) if part.operator else value

    def _value(self, part: Part) -> tuple[WordText | None, frozenset[str]]:
        """Return the value of a parameter; None and the name if it is not set."""
        name, place, nothing = part.text, self._place(part), frozenset[str]()
        if isinstance(part.index, tuple) and name != "BASH_SOURCE":
            entry = self.state.variables.get(name)
            if isinstance(entry, WordText) and not entry.known:
                return entry.use_at(place), nothing
            index = int(self.calculate(self.text(part.index), place).plain)
            elements = entry if isinstance(entry, list) else [entry] if entry is not None else []
            index += len(elements) if index < 0 else 0
            return (elements[index].use_at(place) if 0 <= index < len(elements) else None), nothing
        value = self.state.scalar(name, place)
        if value is not None or name in self.state.variables or (name.isdecimal() and self.state.given):
            return value, nothing
        return None, frozenset({f"${name}" if name.isdecimal() else name})

    def _value_or_default(self, part: Part) -> tuple[WordText | None, frozenset[str]]:
        """Evaluate `${X:-default}` and similar.

        Returns None if the default counts, and the variables that are assumed unset then. Raises
        NotComputed.
        """
        value, names = self._value(part)
        kind, checks_empty = part.operator[-1], ":" in part.operator
        if value is not None and not value.known and checks_empty:
            return value, names
        is_set = value is not None and not (checks_empty and not value.plain)
        if kind == "+" and not is_set:
            return WordText.of("", self._place(part), assumed=names), names
        if is_set and kind != "+":
            return value, names
        if kind == "?":
            self.state.unsure({part.text} & {*names}, self._place(part), "the script ends where it is not set, so it will be set")
            raise NotComputed(f"`{part.text}` must be set, or the script ends here")
        names = names if value is None else value.unset | value.assumed
        if kind == "=":
            self.state.assign(part.text, self.text(part.arguments[0]).assuming(names, self._place(part)))
        return None, names

    def _apply_operator(self, value: WordText, part: Part) -> WordText:
        sign, arguments, place = part.operator, part.arguments, self._place(part)
        if not value.known:
            raise NotComputed(value.why_unknown)
        self.state.budget.spend(1 + len(value.plain) // 100)
        if sign[0] in "#%":
            return value.cut(*_strip(value.plain, sign, self.pattern(arguments[0])))
        if sign[0] == "/":
            old, new = (self.text(argument) for argument in (*arguments, ())[:2])
            pattern, is_anchored = self.pattern(arguments[0]), old.plain[:1] in ("#", "%") and not arguments[0][0].quoted
            if "*" in pattern.replace("[*]", "") or "\\" in old.plain or is_anchored:
                raise NotComputed("replacing what a pattern fits is not followed")
            if not new.known:
                raise NotComputed(new.why_unknown)
            text, count = re.subn(translate(pattern)[:-2], lambda _: new.plain, value.plain, count=sign == "/")
            if count > MAX_WORDS:
                raise NotComputed("replacing more than a few thousand times is not followed")
            return bound(derive(text, [value, new], place) if old.plain else value, place)
        if sign[0] not in "^," or arguments[0]:
            raise NotComputed(f"`{self.script.show(part.place)}` is of a form that is not followed")
        end = 1 if len(sign) == 1 else len(value.plain)
        head, tail = value.plain[:end], value.plain[end:]
        return derive((head.upper() if sign[0] == "^" else head.lower()) + tail, [value], place)

    def _elements(self, part: Part) -> list[WordText]:
        """Return the elements of a list, or those of `${@:offset:length}`. Raises NotComputed."""
        place = self._place(part)
        texts = self.state.elements(part.text, place)
        if not part.operator:
            return texts
        numbers = [int(self.calculate(self.text(argument), place).plain) for argument in part.arguments if part.operator == ":"]
        if not numbers or min(numbers) < (part.text in "@*"):  # arguments count from 1
            raise NotComputed("an operator on a whole list, and a part that counts from the end, are not followed")
        start = numbers[0] - (part.text in "@*")
        return texts[start:][: numbers[1] if len(numbers) > 1 else None]


def has_braces(parts: Iterable[Part]) -> bool:
    """Return True if brace expansion makes several words of the parts."""
    return _BRACES.search("".join(part.plain for part in parts)) is not None


def _alternatives(text: str) -> list[str] | None:
    """Return the words that braces make; None if nested, too many, or with an expansion."""
    if re.search("[{}\0]", _BRACES.sub("", text)) or any("\0" in braces for braces in _BRACES.findall(text)):
        return None
    choices, position = list[list[str]](), 0
    for braces in _BRACES.finditer(text):
        numbers = _RANGE.fullmatch(braces[1])
        items = _range(*numbers.groups()) if numbers else braces[1].split(",") if "," in braces[1] else []
        choices += [[text[position : braces.start()]], items]
        position = braces.end()
    return ["".join(choice) + text[position:] for choice in product(*choices)] if 0 < prod(map(len, choices)) <= MAX_WORDS else None


def _range(first: str, last: str, by: str | None = None) -> list[str]:
    """Return the numbers of a range, as wide as written; none if too many."""
    start, end = int(first), int(last)
    step = (abs(int(by or "1")) or 1) * (1 if end >= start else -1)
    numbers = range(start, end + (1 if step > 0 else -1), step)
    width = max(len(first), len(last)) if re.match("-?0\\d", first) or re.match("-?0\\d", last) else 0
    return [f"{number:0{width}}" if width else str(number) for number in numbers] if len(numbers) <= MAX_WORDS else []


def _cost(text: WordText) -> int:
    return len(text.pieces) // 8 + len(text.plain) // 200


# -- patterns


def fits(text: str, pattern: str, tries: int = 1) -> bool:
    """Return True if a pattern matches the whole text.

    `tries` is the number of matches planned, for the limit on work. Raises NotComputed.
    """
    if len(text) * (1 + pattern.count("*")) * tries > MAX_WORK:
        raise NotComputed("matching its pattern takes too long")
    return re.match(translate(pattern), text) is not None


def _strip(text: str, sign: str, pattern: str) -> tuple[int, int]:
    """Return the range left by `${X#pattern}`, `##`, `%` or `%%`. Raises NotComputed."""
    size, is_prefix = len(text), sign[0] == "#"
    ends = range(size + 1) if is_prefix == (len(sign) == 1) else range(size, -1, -1)
    for end in ends:
        if fits(text[:end] if is_prefix else text[end:], pattern, size):
            return (end, size) if is_prefix else (0, end)
    return 0, size


# -- arithmetic on whole numbers of 64 bits (6.5). The grammar is Python's where it agrees with bash's; the text
# is parsed, never evaluated. Out of scope: an assignment within another expression, `!`, `a ? b : c`, powers, bits.


def calculate(text: str, lookup: Callable[[str], int], assign: Callable[[str, int], None]) -> int:
    """Compute an expression, with variables through `lookup` and `assign`. Raises NotComputed."""
    try:
        return [_step(step, lookup, assign) for step in text.split(",")][-1]
    except ZeroDivisionError as problem:
        raise NotComputed("it divides by zero") from problem
    except (SyntaxError, ValueError, LookupError, MemoryError, RecursionError) as problem:
        raise NotComputed(_NOT_FOLLOWED) from problem


def _step(text: str, lookup: Callable[[str], int], assign: Callable[[str, int], None]) -> int:
    """Compute `i++`, `++i`, `a += sum` or a sum."""
    if match := _STEP.fullmatch(text) or _STEP_FIRST.fullmatch(text):
        name, sign = match["name"], match["twice"][0] if match["twice"] else match["sign"]
        amount = 1 if match["twice"] else _step(match["amount"], lookup, assign)
        before = lookup(name) if sign else amount
        after = _compute(f"({before}) {sign} ({amount})", lookup) if sign else amount
        assign(name, after)
        return before if match["twice"] and match.start("twice") > match.start("name") else after
    return _compute(text, lookup)


def _compute(text: str, lookup: Callable[[str], int]) -> int:
    """Compute a sum. Raises NotComputed, and SyntaxError and its like for another text."""
    if len(text) > MAX_SUM or not _LETTERS.fullmatch(text) or "++" in text or "--" in text:
        raise NotComputed(_NOT_FOLLOWED)
    expression = text.replace("&&", " and ").replace("||", " or ")
    return _value(ast.parse(f"({expression})" if text.strip() else "0", mode="eval").body, lookup)


def _value(node: ast.AST, lookup: Callable[[str], int]) -> int:
    """Compute a node of an expression. Raises NotComputed, LookupError or ZeroDivisionError."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return _wrap(node.value)
    if isinstance(node, ast.Name):
        return lookup(node.id)
    if isinstance(node, ast.UnaryOp):
        return _wrap(_OPERATE[type(node.op)](0, _value(node.operand, lookup)))
    if isinstance(node, ast.BoolOp):
        values = (_value(operand, lookup) for operand in node.values)
        return int(all(values) if isinstance(node.op, ast.And) else any(values))
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        return int(_OPERATE[type(node.ops[0])](_value(node.left, lookup), _value(node.comparators[0], lookup)))
    if isinstance(node, ast.BinOp):
        return _wrap(_OPERATE[type(node.op)](_value(node.left, lookup), _value(node.right, lookup)))
    raise NotComputed(_NOT_FOLLOWED)


def _wrap(value: int) -> int:
    """Wrap a value to a signed number of 64 bits."""
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value
