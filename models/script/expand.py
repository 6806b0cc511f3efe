"""Words expanded: parameters, sums, quotes removed, split into fields. What only running could tell is unknown.

Source: the Bash Reference Manual, 3.5. File names are not looked up: `*` stays as it is written.
"""

from __future__ import annotations

import os
import re
from dataclasses import field
from typing import Sequence

from ..record import dataclass
from .patterns import Pattern, Slow, braced, changed_case, replaced, without_prefix, without_suffix
from .pieces import Piece, Place, Text, bounded, derived, joined
from .state import State, TooMuch
from .sums import NotComputed, Sum
from .syntax import Inner, Literal, Parameter, Part, Script, Word

MAX_FIELDS = 20_000
MAX_PARTS = 20_000
MAX_REFERENCES = 16
_DEFAULTS = ("-", ":-", "=", ":=", "?", ":?", "+", ":+")
"""Operators that name something in the place of a variable that is not set."""
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)\s*(?:(?:[-+*/%&|^]|<<|>>)?=(?!=)|\+\+|--)", re.ASCII)


class Unfit(Exception):
    """A part of a word is out of scope; the message says why."""


class Fields:
    """The words that one word becomes, split as bash splits (3.5.7, Word Splitting)."""

    def __init__(self, separators: str) -> None:
        self._done: list[Text] = []
        self._pieces: list[Piece] = []
        self._begun = self._after_space = False
        self._separators = separators

    def add(self, text: Text, vanishing: bool = False) -> None:
        """Add text that is not split; if `vanishing`, an empty one makes no field by itself."""
        self._pieces += text.pieces
        self._begun = self._begun or not vanishing or bool(text.plain) or not text.known

    def split(self, text: Text) -> None:
        """Add text that is split at separators."""
        for piece in text.pieces:
            if piece.unknown or not piece.text:
                self._pieces.append(piece)
                self._begun = self._begun or bool(piece.unknown) or any(name[0] == "$" for name in piece.unset)
                continue
            start = 0
            for position, letter in enumerate(piece.text):
                if letter in self._separators:
                    self._put(piece, start, position)
                    space = letter in " \t\n"
                    if not space and not self._after_space:
                        self._begun = True
                    self._after_space = space and (self._begun or self._after_space)
                    self.next()
                    start = position + 1
            self._put(piece, start, len(piece.text))

    def _put(self, piece: Piece, start: int, end: int) -> None:
        if start < end:
            self._pieces.append(piece.cut(start, end))
            self._begun, self._after_space = True, False

    def next(self) -> None:
        """End the field, if there is one. Raises TooMuch."""
        if self._begun:
            if len(self._done) >= MAX_FIELDS:
                raise TooMuch(f"a word becomes more than {MAX_FIELDS:,} words")
            self._done.append(Text(tuple(self._pieces)))
            self._pieces, self._begun = [], False

    def all(self) -> list[Text]:
        """Every field."""
        self.next()
        return self._done


@dataclass
class Expander:
    """Expands words of a script in a state. `sources` is what the last number depends on."""

    script: Script
    state: State
    sources: list[Text] = field(default_factory=list)

    def place(self, place: Place) -> Place:
        """Where a place of this script stands in the file."""
        return self.script.origin.place(*place)

    def shown(self, place: Place) -> str:
        """What stands at a place, in one short line."""
        return " ".join(self.script.text[place[0] : place[1]].split())[:60]

    def fields(self, word: Word) -> list[Text]:
        """The words that one word of a command becomes."""
        place, found = self.place(word.place), list[Text]()
        if len(word.parts) > MAX_PARTS:
            return [Text.unknown(self.shown(word.place), place, "the word has too many parts")]
        try:
            words = braced(word.parts)
        except Slow:
            return [Text.unknown(self.shown(word.place), place, "the braces make too many words")]
        for parts in words:
            fields = Fields(self.separators)
            self._into(fields, parts)
            found += fields.all()
            self.state.budget.spend(1)
        self.state.budget.spend(sum(_cost(text) for text in found))
        return [bounded(text, place) for text in found]

    def one(self, parts: Sequence[Part]) -> Text:
        """The text of parts that are not split: an assignment, a subject of `case`, an operand of `[[ ]]`."""
        place = self.place(parts[0].place) if parts else (0, 0)
        whole = joined([self._text(part) for part in parts], place=place)
        self.state.budget.spend(1 + _cost(whole))
        return whole

    def pattern(self, parts: Sequence[Part]) -> Pattern:
        """The pattern of parts; what is quoted stands for itself. Raises Unfit if it is unknown."""
        letters, active = "", list[bool]()
        for part in parts:
            text = self._text(part)
            if not text.known:
                raise Unfit(text.why_unknown)
            letters += text.plain
            active += [not part.quoted] * len(text.plain)
        if any(letters[at + 1 : at + 2] == "(" and letters[at] in "?*+@!" and active[at] for at in range(len(letters))):
            raise Unfit("extended patterns are not followed")
        return Pattern(letters, active)

    # -- parts of a word

    def _into(self, fields: Fields, parts: Sequence[Part], split: bool = False) -> None:
        """Add the parts of a word; `split`: what is written in it without quotes is split too."""
        for part in parts:
            if (isinstance(part, Parameter) and not part.bad and not part.length and "@*".find(part.name) + 1) or (
                isinstance(part, Parameter) and not part.bad and not part.length and part.index in ("@", "*")
            ):
                self._all_into(fields, part)
            elif isinstance(part, Parameter) and part.operator in _DEFAULTS and not part.quoted and not part.bad:
                self._default_into(fields, part)
            elif part.quoted or (isinstance(part, Literal) and not split):
                fields.add(self._text(part))
            elif isinstance(part, Inner) and part.kind != "sum":
                fields.add(self._text(part), vanishing=True)
            else:
                fields.split(self._text(part))

    def _all_into(self, fields: Fields, part: Parameter) -> None:
        """`$@`, `"${ARRAY[@]}"` and their kin: each element by itself."""
        if part.operator in _DEFAULTS and bool(self._elements_of(part)) == ("+" in part.operator):
            self._into(fields, part.arguments[0], split=not part.quoted)
            return
        if part.operator in _DEFAULTS and "+" in part.operator:
            return
        try:
            texts = self._elements(part)
        except (Unfit, Slow, NotComputed) as problem:
            why = f"`{self.shown(part.place)}` is not known: {problem}"
            fields.add(self._unknown(part, why), vanishing=True)
            return
        if part.quoted and "@" not in (part.name, part.index):
            fields.add(joined(texts, self.separators[:1], self.place(part.place)))
            return
        for position, text in enumerate(texts):
            if position:
                fields.next()
            fields.add(text) if part.quoted else fields.split(text)

    def _default_into(self, fields: Fields, part: Parameter) -> None:
        """`${X:-words}` without quotes: what stands in its place is split as it is quoted itself."""
        try:
            value, taken = self._chosen(part)
        except (Unfit, NotComputed) as problem:
            fields.add(self._unknown(part, str(problem)), vanishing=True)
            return
        if not taken:
            fields.split(value)
            return
        inner, place = Fields(self.separators), self.place(part.place)
        self._into(inner, part.arguments[0], split=True)
        for position, text in enumerate(inner.all()):
            if position:
                fields.next()
            fields.add(text.used_at(place).given(assumed=self._taken_as_unset(part), place=place))

    def _text(self, part: Part) -> Text:
        whole = self.script.origin.cut(*part.place)
        if any(piece.unknown for piece in whole.pieces):
            return whole
        if isinstance(part, Literal):
            if part.exact:
                return whole if part.text else Text()
            return Text((Piece(part.text, (self.place(part.place),)),)) if part.text else Text()
        try:
            if isinstance(part, Parameter):
                return self.parameter(part)
            return self._inner(part)
        except Unfit as problem:
            return self._unknown(part, str(problem))
        except Slow:
            return self._unknown(part, "matching its pattern takes too long")
        except NotComputed as problem:
            return self._unknown(part, f"`{self.shown(part.place)}` is not known: {problem}")

    def _unknown(self, part: Part, why: str, path: str = "") -> Text:
        written = self.script.text[part.place[0] : part.place[1]]
        return Text.unknown(written, self.place(part.place), why, path)

    def _inner(self, part: Inner) -> Text:
        """A sum, a command or a home folder. Raises NotComputed."""
        if part.kind == "tilde":
            return self._unknown(part, "`~` is a folder of the machine where the script runs")
        if part.kind == "sum":
            place = self.place(part.place)
            return derived(str(self.number(part.inside, place)), self.sources, place)
        why = f"`{self.shown(part.place)}` is a command, which is not run"
        if part.kind == "process":
            return self._unknown(part, why)
        start, end = part.inside
        inner = Script(self.script.text[start:end], self.script.origin.cut(start, end))
        text, path = Expander(inner, self.state)._command_text(inner, self.place(part.place))
        return text if text is not None else self._unknown(part, why, path)

    # -- commands that only take names apart

    def _command_text(self, inner: Script, place: Place) -> tuple[Text | None, str]:
        """What `$(dirname X)`, `$(basename X)`, `$(echo X)` give; of folders the path alone."""
        commands, folder = inner.commands(inner.root), self.state.folder
        for node in commands or ():
            texts = [text for word in inner.command_words(node) for text in self.fields(word)]
            name = texts[0].plain if texts and texts[0].known else ""
            given = [text for text in texts[1:] if not text.plain.startswith("-")]
            if name == "cd" and len(given) == 1:
                folder = self.state.absolute(given[0].path)
            elif name == "pwd":
                return None, folder
            elif name == "echo" and len(commands or ()) == 1 and len(given) == len(texts) - 1:
                return joined(given, " ", place).used_at(place) if given else None, ""
            elif name in ("dirname", "basename", "realpath", "readlink") and given:
                return self._path_of(name, given, place)
            else:
                break
        return None, ""

    def _path_of(self, name: str, given: Sequence[Text], place: Place) -> tuple[Text | None, str]:
        plain, path = given[0].plain.rstrip("/") or "/", given[0].path.rstrip("/")
        if name == "dirname":
            if given[0].known and not given[0].unset and not given[0].secret:
                return derived(os.path.dirname(plain) or ".", given, place), ""
            return None, os.path.dirname(path)
        if name == "basename":
            ending = given[1].plain if len(given) > 1 and given[1].known else ""
            if given[0].known and not given[0].unset and not given[0].secret:
                return derived(os.path.basename(plain).removesuffix(ending), given, place), ""
            return None, os.path.basename(path).removesuffix(ending)
        return None, self.state.absolute(path)

    # -- sums

    def number(self, inside: Place, place: Place) -> int:
        """The value of the sum between two offsets. Raises NotComputed."""
        return self.calculate(self.one(self.script.parts(*inside, True)), place)

    def calculate(self, text: Text, place: Place) -> int:
        """The value of the sum that a text is. Raises NotComputed."""
        self.sources = [text]
        try:
            return self._compute(text, place, 0)
        except NotComputed:
            self.state.unsure(set(_ASSIGNED.findall(text.plain)), place, f"`{text.plain[:40]}` is not followed")
            raise

    def _compute(self, text: Text, place: Place, depth: int) -> int:
        if not text.known:
            raise NotComputed(text.why_unknown)
        if depth > MAX_REFERENCES:
            raise NotComputed("variables refer to each other without end")

        def lookup(name: str) -> int:
            """A variable; its text is a sum again."""
            self.state.budget.spend()
            held = self.state.scalar(name, place)
            if held is None:
                self.sources.append(Text((Piece("", (place,), unset=frozenset({name})),)))
                return 0
            self.sources.append(held)
            return self._compute(held, place, depth + 1)

        def store(name: str, value: int) -> None:
            """An assignment within the sum."""
            self.state.assign(name, derived(str(value), self.sources, place))

        self.state.budget.spend(1 + len(text.plain) // 50)
        return Sum(text.plain, lookup, store).value()

    # -- parameters

    def parameter(self, part: Parameter) -> Text:
        """The text that a parameter stands for. Raises Unfit, Slow or NotComputed if it is unknown."""
        place = self.place(part.place)
        if part.bad:
            raise Unfit(f"`{self.shown(part.place)}` is of a form that is not followed")
        if part.length:
            return self._length(part, place)
        if part.name in "@*" or part.index in ("@", "*"):
            between = self.separators[:1] if "*" in (part.name, part.index) else " "
            return joined(self._elements(part), between, place)
        if part.operator in _DEFAULTS:
            chosen, taken = self._chosen(part)
            if not taken:
                return chosen
            text = self.one(part.arguments[0]).used_at(place)
            return text.given(assumed=self._taken_as_unset(part), place=place)
        value, names = self._value(part)
        if value is None:
            return Text((Piece("", (place,), unset=names),))
        return self._operated(value, part) if part.operator else value

    def _length(self, part: Parameter, place: Place) -> Text:
        if part.index in ("@", "*") or part.name in "@*":
            texts = self._elements_of(part)
            if any(not text.known for text in texts):
                raise Unfit("how many elements there are is not known")
            return derived(str(len(texts)), texts, place)
        value, names = self._value(part)
        if value is not None and not value.known:
            raise Unfit(value.why_unknown)
        length = derived(str(len(value.plain) if value else 0), [value] if value else [], place)
        return length.given(assumed=() if value else names)

    def _value(self, part: Parameter) -> tuple[Text | None, frozenset[str]]:
        """What the parameter itself holds; if it is not set, None and the name that is not."""
        name, place = part.name, self.place(part.place)
        if isinstance(part.index, tuple) and name != "BASH_SOURCE":
            held, key = self.state.held(name), self._subscript(part.index, place)
            if isinstance(held, list):
                key += len(held) if key < 0 else 0
                return (held[key].used_at(place) if 0 <= key < len(held) else None), frozenset()
            return (held.used_at(place) if held is not None and key == 0 else None), frozenset()
        value = self.state.scalar(name, place)
        written = name in self.state.variables or name in self.state.removed
        return value, frozenset() if written else frozenset({f"${name}" if name.isdecimal() else name})

    def _subscript(self, parts: Sequence[Part], place: Place) -> int:
        """The number of an element. Raises Unfit or NotComputed."""
        text = self.one(parts)
        if not text.known:
            raise Unfit(text.why_unknown)
        return self.calculate(text, place)

    def _chosen(self, part: Parameter) -> tuple[Text, bool]:
        """For `${X:-default}` and its kin: the value, or True if what is written in its place counts."""
        value, names = self._value(part)
        if value is not None and not value.known and ":" in part.operator:
            return value, False
        is_set = value is not None and (":" not in part.operator or bool(value.plain))
        kind = part.operator[-1]
        if kind == "+":
            place = self.place(part.place)
            return Text(() if is_set else (Piece("", (place,), assumed=names),)), is_set
        if is_set and value is not None:
            return value, False
        if kind == "?":
            raise Unfit(f"`{part.name}` must be set, or the script ends here")
        if kind == "=":
            text = self.one(part.arguments[0]).given(assumed=names, place=self.place(part.place))
            self.state.assign(part.name, text)
        return Text(), True

    def _taken_as_unset(self, part: Parameter) -> frozenset[str]:
        """The variables of the environment that a default counts for because they were taken as not set."""
        value, names = self._value(part)
        return names if value is None else value.unset | value.assumed

    def _operated(self, value: Text, part: Parameter) -> Text:
        """The value with what the operator makes of it."""
        operator, arguments = part.operator, part.arguments
        if not value.known:
            cut = self._path_without(value, part) if operator in ("%", "%%", "#", "##") else ""
            if cut:
                return self._unknown(part, value.why_unknown, cut)
            raise Unfit(value.why_unknown)
        if operator == ":":
            offset, length = self._range(part)
            size = len(value.plain)
            start = offset if offset >= 0 else size + offset
            end = size if length is None else start + length if length >= 0 else size + length
            if not 0 <= start <= size:
                return Text()
            if end < start:
                raise Unfit("the length of the part is negative")
            return value.cut(start, min(end, size))
        self.state.budget.spend(1 + len(value.plain) // 100)
        if operator in ("/", "//"):
            wanted = self.one(arguments[0])
            if not wanted.known or any(letter in wanted.plain for letter in "*?[\\") or wanted.plain[:1] in ("#", "%"):
                raise Unfit("replacing what a pattern fits is not followed")
            by = self.one(arguments[1]) if len(arguments) > 1 else Text()
            return bounded(replaced(value, wanted.plain, by, operator == "//"), self.place(part.place))
        if operator[0] in "^,":
            if arguments[0]:
                raise Unfit(f"`{self.shown(part.place)}` is of a form that is not followed")
            return changed_case(value, operator)
        if operator[0] not in "#%":
            raise Unfit(f"`{self.shown(part.place)}` is of a form that is not followed")
        pattern = self.pattern(arguments[0])
        if operator in ("#", "##"):
            return without_prefix(value, pattern, operator == "##")
        return without_suffix(value, pattern, operator == "%%")

    def _path_without(self, value: Text, part: Parameter) -> str:
        """`${0%/*}` and `${0##*/}`: the folder or the name of a path."""
        plain = "".join(each.text for each in part.arguments[0] if isinstance(each, Literal))
        if value.path and plain == "/*" and part.operator == "%":
            return os.path.dirname(value.path)
        return os.path.basename(value.path) if plain == "*/" and part.operator == "##" else ""

    def _range(self, part: Parameter) -> tuple[int, int | None]:
        place = self.place(part.place)
        numbers = [self.calculate(self.one(each), place) for each in part.arguments]
        return numbers[0], numbers[1] if len(numbers) > 1 else None

    def _elements_of(self, part: Parameter) -> list[Text]:
        return self.state.elements(part.name, self.place(part.place))

    def _elements(self, part: Parameter) -> list[Text]:
        """The elements of an array or the arguments, with what the operator makes of each."""
        texts = self._elements_of(part)
        if not part.operator or part.operator in _DEFAULTS:
            return texts
        if part.operator != ":":
            return [self._operated(text, part) for text in texts]
        offset, length = self._range(part)
        if part.name in "@*":  # the arguments count from 1; 0 is the script itself
            if offset == 0:
                raise Unfit("`$0` is known only where the script runs")
            offset -= offset > 0
        start = offset if offset >= 0 else len(texts) + offset
        if start < 0:
            return []
        if length is not None and length < 0:
            raise Unfit("the length of the part is negative")
        return texts[start:] if length is None else texts[start : start + length]

    @property
    def separators(self) -> str:
        """What splits words: `IFS`."""
        held = self.state.held("IFS")
        return held.plain if isinstance(held, Text) and held.known else " \t\n"


def _cost(text: Text) -> int:
    return len(text.pieces) // 8 + len(text.plain) // 200
