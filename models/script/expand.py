"""Words expanded: parameters, sums, quotes removed, split into fields; the rest is unknown.

Source: the Bash Reference Manual, 3.5. File names are not looked up: `*` stays as it is written.
"""

from __future__ import annotations

import os
import re
from dataclasses import field
from typing import TYPE_CHECKING, Sequence

from ..record import dataclass
from .arithmetic import NotComputed, Sum
from .patterns import MAX_WORDS, Pattern, braced
from .pieces import Piece, Place, Text, bounded, derived, joined
from .state import State, TooMuch
from .syntax import Inner, Literal, Parameter, Part, Script, Word

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_FIELDS = 20_000
MAX_REFERENCES = 16
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)\s*(?:(?:[-+*/%&|^]|<<|>>)?=(?!=)|\+\+|--)", re.ASCII)
_STRETCH = re.compile(r"[ \t\n]+|[^ \t\n]+")


class Fields:
    """The words that one word becomes, split at blanks (3.5.7, Word Splitting)."""

    def __init__(self) -> None:
        self._done, self._pieces, self._begun = list[Text](), list[Piece](), False

    def add(self, text: Text, vanishing: bool = False) -> None:
        """Add text that is not split; if `vanishing`, an empty one makes no field by itself."""
        self._pieces += text.pieces
        self._begun = self._begun or not vanishing or bool(text.plain) or not text.known

    def split(self, text: Text) -> None:
        """Add text that is split at blanks."""
        for piece in text.pieces:
            if piece.unknown or not piece.text:
                argument = any(name[0] == "$" for name in piece.unset)
                self.add(Text((piece,)), vanishing=not argument)
                continue
            for match in _STRETCH.finditer(piece.text):
                if match[0][0] in " \t\n":
                    self.next()
                else:
                    self.add(Text((piece.cut(*match.span()),)))

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

    def fields(self, word: Word) -> list[Text]:
        """The words that one word of a command becomes."""
        place, texts = self.place(word.place), list[Text]()
        try:
            words = braced(word.parts)
        except NotComputed as problem:
            return [Text.unknown(self.script.shown(word.place), place, str(problem))]
        for parts in words:
            fields = Fields()
            self._into(fields, parts)
            texts += fields.all()
            self.state.budget.spend(1)
        self.state.budget.spend(sum(map(_cost, texts)))
        return [bounded(text, place) for text in texts]

    def all_fields(self, words: Sequence[Word]) -> list[Text]:
        """The words that several words of a command become."""
        return [text for word in words for text in self.fields(word)]

    def one(self, parts: Sequence[Part]) -> Text:
        """The text of parts that are not split, such as what is assigned."""
        place = self.place(parts[0].place) if parts else (0, 0)
        whole = joined([self._text(part) for part in parts], place=place)
        self.state.budget.spend(1 + _cost(whole))
        return whole

    def pattern(self, parts: Sequence[Part]) -> Pattern:
        """The pattern of parts; what is quoted stands for itself. Raises NotComputed."""
        letters, active = "", list[bool]()
        for part in parts:
            text = self._text(part)
            if not text.known:
                raise NotComputed(text.why_unknown)
            letters += text.plain
            active += [not part.quoted] * len(text.plain)
        return Pattern(letters, active)

    # -- parts of a word

    def _into(self, fields: Fields, parts: Sequence[Part], split: bool = False) -> None:
        """Add the parts of a word; `split`: what is written in it without quotes is split too."""
        for part in parts:
            try:
                if isinstance(part, Parameter) and part.is_list:
                    self._list_into(fields, part)
                elif not part.quoted and isinstance(part, Parameter) and part.takes_default:
                    self._default_into(fields, part)
                elif part.quoted or (isinstance(part, Literal) and not split):
                    fields.add(self._text(part))
                elif isinstance(part, Inner) and part.kind != "sum":
                    fields.add(self._text(part), vanishing=True)
                elif "IFS" in self.state.variables and not isinstance(part, Literal):
                    raise NotComputed("splitting it at other signs than blanks is not followed")
                else:
                    fields.split(self._text(part))
            except NotComputed as problem:
                fields.add(self._unknown(part, str(problem)), vanishing=True)

    def _list_into(self, fields: Fields, part: Parameter) -> None:
        """`$@`, `"${ARRAY[@]}"` and their kin: each element by itself. Raises NotComputed."""
        if part.takes_default:
            is_set, other = bool(self._elements_of(part)), "+" in part.operator
            if is_set == other:
                self._into(fields, part.arguments[0], split=not part.quoted)
            if is_set == other or other:
                return
        texts = self._elements(part)
        if part.quoted and "*" in (part.name, part.index):
            fields.add(joined(texts, self._between, self.place(part.place)))
            return
        for position, text in enumerate(texts):
            if position:
                fields.next()
            fields.add(text) if part.quoted else fields.split(text)

    def _default_into(self, fields: Fields, part: Parameter) -> None:
        """`${X:-words}` without quotes: what stands in its place is split as it is quoted."""
        value, taken = self._chosen(part)
        if not taken:
            fields.split(value)
            return
        inner, place = Fields(), self.place(part.place)
        self._into(inner, part.arguments[0], split=True)
        for position, text in enumerate(inner.all()):
            if position:
                fields.next()
            fields.add(text.used_at(place).assuming(self._taken_as_unset(part), place))

    def _text(self, part: Part) -> Text:
        whole = self.script.origin.cut(*part.place)
        if any(piece.unknown for piece in whole.pieces):
            return whole
        if isinstance(part, Literal):
            if part.exact or not part.text:
                return whole if part.text else Text()
            return Text((Piece(part.text, (self.place(part.place),)),))
        try:
            return self._parameter(part) if isinstance(part, Parameter) else self._inner(part)
        except NotComputed as problem:
            return self._unknown(part, str(problem))

    def _unknown(self, part: Part, why: str, path: str = "") -> Text:
        written = self.script.text[slice(*part.place)]
        return Text.unknown(written, self.place(part.place), why, path)

    def _inner(self, part: Inner) -> Text:
        """A sum, a command or a home folder. Raises NotComputed."""
        place, shown = self.place(part.place), self.script.shown(part.place)
        if part.kind == "tilde":
            raise NotComputed("`~` is a folder of the machine where the script runs")
        if part.kind == "sum":
            try:
                return derived(str(self.number(part.inside, place)), self.sources, place)
            except NotComputed as problem:
                raise NotComputed(f"`{shown}` is not known: {problem}") from problem
        text, path = None, ""
        if part.kind == "command":
            written = self.script.text[slice(*part.inside)]
            inner = Script(written, self.script.origin.cut(*part.inside))
            text, path = Expander(inner, self.state)._command_text(inner, place)
        why = f"`{shown}` is a command, which is not run"
        return text if text is not None else self._unknown(part, why, path)

    # -- commands that only take names apart

    def _command_text(self, inner: Script, place: Place) -> tuple[Text | None, str]:
        """What `$(dirname X)`, `$(basename X)`, `$(echo X)` give; of folders the path alone."""
        commands, folder = _commands(inner.root) or [], self.state.folder
        for node in commands:
            texts = self.all_fields(inner.command_words(node))
            name = texts[0].plain if texts and texts[0].known else ""
            words = [text for text in texts[1:] if not text.plain.startswith("-")]
            if name == "cd" and len(words) == 1:
                folder = self.state.absolute(words[0].path)
            elif name == "pwd":
                return None, folder
            elif name == "echo" and len(commands) == 1 and len(words) == len(texts) - 1:
                return (joined(words, " ", place).used_at(place) if words else None), ""
            elif name in ("realpath", "readlink") and words:
                return None, self.state.absolute(words[0].path.rstrip("/"))
            elif name in ("dirname", "basename") and words:
                return _path_of(name, words, place)
            else:
                break
        return None, ""

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
            why = f"`{text.plain[:40]}` is not followed"
            self.state.unsure(set(_ASSIGNED.findall(text.plain)), place, why)
            raise

    def _compute(self, text: Text, place: Place, depth: int) -> int:
        if not text.known or depth > MAX_REFERENCES:
            raise NotComputed(text.why_unknown or "variables refer to each other without end")

        def lookup(name: str) -> int:
            """A variable; its text is a sum again."""
            self.state.budget.spend()
            held = self.state.scalar(name, place)
            self.sources.append(held or Text((Piece("", (place,), unset=frozenset({name})),)))
            return self._compute(held, place, depth + 1) if held is not None else 0

        def store(name: str, value: int) -> None:
            """An assignment within the sum."""
            self.state.assign(name, derived(str(value), self.sources, place))

        self.state.budget.spend(1 + len(text.plain) // 50)
        return Sum(text.plain, lookup, store).value()

    # -- parameters

    def _parameter(self, part: Parameter) -> Text:
        """The text that a parameter stands for. Raises NotComputed."""
        place = self.place(part.place)
        if part.bad:
            shown = self.script.shown(part.place)
            raise NotComputed(f"`{shown}` is of a form that is not followed")
        if part.length:
            return self._length(part, place)
        if part.is_list:
            return joined(self._elements(part), self._between if "*" in (part.name, part.index) else " ", place)
        if part.takes_default:
            chosen, taken = self._chosen(part)
            if not taken:
                return chosen
            text = self.one(part.arguments[0]).used_at(place)
            return text.assuming(self._taken_as_unset(part), place)
        value, names = self._value(part)
        if value is None:
            return Text((Piece("", (place,), unset=names),))
        return self._operated(value, part) if part.operator else value

    def _length(self, part: Parameter, place: Place) -> Text:
        """`${#X}` and `${#X[@]}`. Raises NotComputed."""
        if part.index in ("@", "*") or part.name in "@*":
            texts = self._elements_of(part)
            if any(not text.known for text in texts):
                raise NotComputed("how many elements there are is not known")
            return derived(str(len(texts)), texts, place)
        value, names = self._value(part)
        if value is not None and not value.known:
            raise NotComputed(value.why_unknown)
        sources = [value] if value is not None else []
        return derived(str(len(value.plain) if value else 0), sources, place).assuming(names, place)

    def _value(self, part: Parameter) -> tuple[Text | None, frozenset[str]]:
        """What the parameter itself holds; if it is not set, None and the name that is not."""
        name, place, nothing = part.name, self.place(part.place), frozenset[str]()
        if isinstance(part.index, tuple) and name != "BASH_SOURCE":
            held, index = self.state.variables.get(name), self.calculate(self.one(part.index), place)
            elements = held if isinstance(held, list) else [held] if held is not None else []
            if isinstance(held, Text) and not held.known:
                index = 0
            index += len(elements) if index < 0 else 0
            found = 0 <= index < len(elements)
            return (elements[index].used_at(place) if found else None), nothing
        value = self.state.scalar(name, place)
        if value is not None or name in self.state.variables or name in self.state.removed:
            return value, nothing
        return None, frozenset({f"${name}" if name.isdecimal() else name})

    def _chosen(self, part: Parameter) -> tuple[Text, bool]:
        """`${X:-default}` and its kin: the value, or True if what is written in its place counts."""
        value, names = self._value(part)
        if value is not None and not value.known and ":" in part.operator:
            return value, False
        is_set = value is not None and (":" not in part.operator or bool(value.plain))
        kind, place = part.operator[-1], self.place(part.place)
        if kind == "+":
            return Text(() if is_set else (Piece("", (place,), assumed=names),)), is_set
        if is_set and value is not None:
            return value, False
        if kind == "?":
            raise NotComputed(f"`{part.name}` must be set, or the script ends here")
        if kind == "=":
            text = self.one(part.arguments[0]).assuming(names, place)
            self.state.assign(part.name, text)
        return Text(), True

    def _taken_as_unset(self, part: Parameter) -> frozenset[str]:
        """The variables that a default counts for because they were taken as not set."""
        value, names = self._value(part)
        return names if value is None else value.unset | value.assumed

    def _operated(self, value: Text, part: Parameter) -> Text:
        """The value with what the operator makes of it. Raises NotComputed."""
        sign, arguments, place = part.operator, part.arguments, self.place(part.place)
        if not value.known:
            cut = _path_without(value, part) if sign in ("%", "##") else ""
            if not cut:
                raise NotComputed(value.why_unknown)
            return self._unknown(part, value.why_unknown, cut)
        self.state.budget.spend(1 + len(value.plain) // 100)
        if sign == ":":
            return value.cut(*self._range(part, len(value.plain)))
        if sign[0] in "#%":
            kept = self.pattern(arguments[0]).without(value.plain, sign)
            return value.cut(*kept)
        if sign[0] == "/":
            wanted = self.one(arguments[0])
            signs = any(letter in wanted.plain for letter in "*?[\\") or wanted.plain[:1] in ("#", "%")
            if signs or not wanted.known or value.plain.count(wanted.plain) > MAX_WORDS:
                raise NotComputed("replacing what a pattern fits is not followed")
            by = self.one(arguments[1]) if len(arguments) > 1 else Text()
            if not by.known:
                raise NotComputed(by.why_unknown)
            text = value.plain.replace(wanted.plain, by.plain, 1 if sign == "/" else -1)
            return bounded(derived(text, [value, by], place) if wanted.plain else value, place)
        if arguments[0]:
            raise NotComputed("changing the case of some letters is not followed")
        change = str.upper if sign[0] == "^" else str.lower
        end = None if len(sign) == 2 else 1
        text = change(value.plain[:end]) + (value.plain[1:] if end else "")
        return derived(text, [value], place)

    def _range(self, part: Parameter, size: int) -> tuple[int, int]:
        """The elements of `${@:offset:length}`. Raises NotComputed."""
        place = self.place(part.place)
        numbers = [self.calculate(self.one(each), place) for each in part.arguments]
        start = numbers[0] - (part.name in "@*")  # the arguments count from 1
        if start < 0 or min(numbers) < 0:
            raise NotComputed("a part that counts from the end is not followed")
        return start, size if len(numbers) < 2 else start + numbers[1]

    def _elements_of(self, part: Parameter) -> list[Text]:
        return self.state.elements(part.name, self.place(part.place))

    def _elements(self, part: Parameter) -> list[Text]:
        """The elements of a list, with what the operator makes of each. Raises NotComputed."""
        texts = self._elements_of(part)
        if not part.operator or part.takes_default:
            return texts
        if part.operator == ":":
            return texts[slice(*self._range(part, len(texts)))]
        return [self._operated(text, part) for text in texts]

    @property
    def _between(self) -> str:
        """What joins the elements of `${X[*]}`: the first sign of `IFS`."""
        held = self.state.variables.get("IFS")
        return held.plain[:1] if isinstance(held, Text) and held.known else " "


def _commands(node: Node) -> list[Node] | None:
    """The simple commands of `a; b && c`; None if it is anything else."""
    if node.type == "command":
        return [node]
    if node.type == "redirected_statement":
        body = node.child_by_field_name("body")
        return _commands(body) if body is not None else None
    if node.type not in ("program", "list") or any(child.type == "||" for child in node.children):
        return None
    inner = [_commands(child) for child in node.named_children if child.type != "comment"]
    return [command for each in inner for command in each or ()] if all(inner) else None


def _path_of(name: str, words: Sequence[Text], place: Place) -> tuple[Text | None, str]:
    """What `dirname` and `basename` give; the path alone if the text is unknown."""
    text = words[0]
    known = text.known and not text.unset and not text.secret
    path = (text.plain if known else text.path).rstrip("/")
    ending = words[1].plain if len(words) > 1 and words[1].known else ""
    if name == "dirname":
        result = os.path.dirname(path)
        result = result or ("/" if known and text.plain[:1] == "/" else "." if known else "")
    else:
        result = os.path.basename(path).removesuffix(ending)
    return (derived(result, words, place), "") if known else (None, result)


def _path_without(value: Text, part: Parameter) -> str:
    """`${0%/*}` and `${0##*/}`: the folder or the name of a path."""
    plain = "".join(each.text for each in part.arguments[0] if isinstance(each, Literal))
    if part.operator == "%":
        return os.path.dirname(value.path) if plain == "/*" else ""
    return os.path.basename(value.path) if plain == "*/" else ""


def _cost(text: Text) -> int:
    return len(text.pieces) // 8 + len(text.plain) // 200
