"""Words expanded: parameters, arithmetic, quotes removed, split into fields. What only running could tell is not known.

Source: the Bash Reference Manual, 3.5. File names are not looked up: `*` stays as it is written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Sequence

from ..syntax.parts import Arithmetic, Literal, Parameter, Part, Place, Substitution, Tilde, Word
from . import parameters
from .arithmetic import NotComputed, compute
from .braces import TooMany, braced
from .fields import Fields
from .patterns import Pattern, TooMuch
from .state import State
from .value import Piece, Text, bounded, derived, in_order, joined

MAX_REFERENCES = 16
_DEFAULTS = ("-", ":-", "=", ":=", "?", ":?", "+", ":+")


class Unfit(Exception):
    """A part of a word is not followed; the message says why."""


@dataclass
class Expander:
    """Expands words of a script in a state. `text` is the script."""

    text: str
    state: State

    def fields(self, word: Word) -> list[Text]:
        """The words that one word of a command becomes."""
        try:
            words = braced(word.parts)
        except TooMany:
            return [self._unknown(word.place, "the braces make too many words")]
        found: list[Text] = []
        for parts in words:
            fields = Fields(self._separators)
            self._into(fields, parts)
            found += fields.all()
            self.state.budget.spend(1)
        self.state.budget.spend(sum(len(text.plain) for text in found) // 200)
        return [bounded(text, word.place) for text in found]

    def one(self, parts: Sequence[Part]) -> Text:
        """The text of parts that are not split: an assignment, a subject of `case`, an operand of `[[ ]]`."""
        pieces: list[Text] = []
        for part in parts:
            pieces.append(self._text(part))
        found = joined(pieces, place=parts[0].place if parts else (0, 0))
        self.state.budget.spend(1 + len(found.plain) // 200)
        return found

    def pattern(self, parts: Sequence[Part]) -> Pattern:
        """The pattern of parts; what is quoted stands for itself. Raises Unfit where it is not known."""
        letters, active = "", list[bool]()
        for part in parts:
            text = self._text(part)
            if not text.known:
                raise Unfit(text.why_unknown)
            plain = text.plain
            letters += plain
            active += [not part.quoted] * len(plain)
        if any(
            letters[position + 1 : position + 2] == "(" and letters[position] in "?*+@!" and active[position]
            for position in range(len(letters))
        ):
            raise Unfit("extended patterns are not followed")
        return Pattern(letters, active)

    def number(self, parts: Sequence[Part], place: Place) -> int:
        """The value of an arithmetic expression. Raises NotComputed."""
        return self.calculate(self.one(parts), place)

    def calculate(self, text: Text, place: Place) -> int:
        """The value of the expression that a text is; what it reads counts as a source of it. Raises NotComputed."""
        self._sources = [text]
        return self._compute(text, place, 0)

    @property
    def sources(self) -> list[Text]:
        """What the number that was computed last depends on."""
        return self._sources

    def _compute(self, text: Text, place: Place, depth: int) -> int:
        if not text.known:
            raise NotComputed(text.why_unknown)
        if depth > MAX_REFERENCES:
            raise NotComputed("variables refer to each other without end")

        def lookup(name: str) -> int:
            self.state.budget.spend()
            held = self.state.scalar(name, place)
            if held is None:
                self._sources.append(Text((Piece("", (place,), unset=frozenset({name})),)))
                return 0
            self._sources.append(held)
            return self._compute(held, place, depth + 1)

        def store(name: str, value: int) -> None:
            self.state.assign(name, derived(str(value), self._sources, place))

        self.state.budget.spend(1 + len(text.plain) // 50)
        return compute(text.plain, lookup, store)

    # -- parts

    def _into(self, fields: Fields, parts: Sequence[Part]) -> None:
        for part in parts:
            if isinstance(part, Parameter) and (part.name in "@*" or part.index in ("@", "*")) and part.name and not part.length:
                self._all_into(fields, part)
            elif isinstance(part, Parameter) and part.operator in _DEFAULTS and not part.quoted and not part.bad:
                self._default_into(fields, part)
            elif part.quoted or isinstance(part, Literal):
                fields.add(self._text(part))
            elif isinstance(part, (Substitution, Tilde)):
                fields.vanishing(self._text(part))
            else:
                fields.split(self._text(part))

    def _all_into(self, fields: Fields, part: Parameter) -> None:
        """`$@`, `"${ARRAY[@]}"` and their kin: each element by itself."""
        each = "@" in (part.name, part.index)
        if part.operator in _DEFAULTS and not self._elements_of(part):
            self._into(fields, part.arguments[0]) if "+" not in part.operator else None
            return
        if part.operator in _DEFAULTS and "+" in part.operator:
            self._into(fields, part.arguments[0])
            return
        try:
            texts = self._elements(part)
        except (Unfit, TooMuch, NotComputed) as problem:
            fields.vanishing(self._unknown(part.place, f"`{self._shown(part.place)}` is not known: {problem}"))
            return
        if part.quoted and not each:
            fields.add(joined(texts, self._separators[:1], part.place))
            return
        for position, text in enumerate(texts):
            if position:
                fields.next()
            if part.quoted:
                fields.add(text)
            else:
                fields.split(text)

    def _default_into(self, fields: Fields, part: Parameter) -> None:
        """`${X:-words}` without quotes: what stands in its place is split as it is quoted itself."""
        value, taken = self._chosen(part)
        if not taken:
            fields.split(value)
            return
        inner = Fields(self._separators)
        self._into(inner, part.arguments[0])
        for position, text in enumerate(inner.all()):
            if position:
                fields.next()
            fields.add(text.used_at(part.place).given(assumed=self._taken_as_unset(part), place=part.place))

    def _text(self, part: Part) -> Text:
        if isinstance(part, Literal):
            return Text((Piece(part.text, (part.place,), part.exact),)) if part.text else Text()
        if isinstance(part, Substitution):
            return self._unknown(part.place, f"`{self._shown(part.place)}` is a command, which is not run")
        if isinstance(part, Tilde):
            return self._unknown(part.place, "`~` is a folder of the machine where the script runs")
        if isinstance(part, Arithmetic):
            try:
                value = self.number(part.parts, part.place)
            except NotComputed as problem:
                return self._unknown(part.place, f"`{self._shown(part.place)}` is not known: {problem}")
            return derived(str(value), self.sources, part.place)
        try:
            return self._parameter(part)
        except Unfit as problem:
            return self._unknown(part.place, str(problem))
        except TooMuch:
            return self._unknown(part.place, "matching its pattern takes too long")
        except NotComputed as problem:
            return self._unknown(part.place, f"`{self._shown(part.place)}` is not known: {problem}")

    def _parameter(self, part: Parameter) -> Text:
        if part.bad:
            raise Unfit(f"`{self._shown(part.place)}` is of a form that is not followed")
        if part.length:
            return self._length(part)
        if part.name in "@*" or part.index in ("@", "*"):
            return joined(self._elements(part), self._separators[:1] if "*" in (part.name, part.index) else " ", part.place)
        if part.operator in _DEFAULTS:
            chosen, taken = self._chosen(part)
            if taken:
                found = self.one(part.arguments[0]).used_at(part.place)
                return found.given(assumed=self._taken_as_unset(part), place=part.place)
            return chosen
        value, names = self._value(part)
        if value is None:
            value = Text((Piece("", (part.place,), unset=names),))
        return self._operated(value, part) if part.operator else value

    def _length(self, part: Parameter) -> Text:
        if part.index in ("@", "*") or part.name in "@*":
            texts = self._elements_of(part)
            if any(not text.known for text in texts):
                raise Unfit("how many elements there are is not known")
            return derived(str(len(texts)), texts, part.place)
        value, names = self._value(part)
        if value is not None and not value.known:
            raise Unfit(value.why_unknown)
        return derived(str(len(value.plain) if value else 0), [value] if value else [], part.place).given(assumed=() if value else names)

    def _value(self, part: Parameter) -> tuple[Text | None, frozenset[str]]:
        """What the parameter itself holds; where it is not set, None and the name that is not."""
        name = part.name
        if part.indirect:
            target = self.state.scalar(name, part.place)
            if target is None or not target.known or target.secret or not target.plain.isidentifier():
                raise Unfit(f"`{self._shown(part.place)}` is of a form that is not followed")
            name = target.plain
        if isinstance(part.index, tuple):
            held = self.state.held(name)
            key = self._key(part.index, part.place, isinstance(held, dict))
            if isinstance(held, dict):
                found = held.get(key)
                return (found.used_at(part.place) if found else None), frozenset()
            return (held.used_at(part.place) if held is not None and key == "0" else None), frozenset()
        value = self.state.scalar(name, part.place)
        written = name in self.state.variables or name in self.state.removed
        return value, frozenset() if written else frozenset({f"${name}" if name.isdecimal() else name})

    def _key(self, parts: tuple[Part, ...], place: Place, array: bool) -> str:
        """A subscript: a number, or the text of an associative array."""
        text = self.one(parts)
        if not text.known:
            raise Unfit(text.why_unknown)
        if text.plain.isdecimal() or (array and not text.plain.replace("_", "").isalnum()):
            return text.plain
        held_as_text = any(isinstance(held, dict) and text.plain in held for held in self.state.variables.values())
        return text.plain if held_as_text else str(self.calculate(text, place))

    def _chosen(self, part: Parameter) -> tuple[Text, bool]:
        """For `${X:-default}` and its kin: the value, or True where what is written in its place counts."""
        value, names = self._value(part)
        if value is not None and not value.known and ":" in part.operator:
            return value, False
        is_set = value is not None and (":" not in part.operator or bool(value.plain))
        kind = part.operator[-1]
        if kind == "+":
            return Text((Piece("", (part.place,), assumed=names),) if not is_set else ()), is_set
        if is_set and value is not None:
            return value, False
        if kind == "?":
            raise Unfit(f"`{part.name}` must be set, or the script ends here")
        if kind == "=":
            self.state.assign(part.name, self.one(part.arguments[0]).given(assumed=names, place=part.place))
        return Text(), True

    def _taken_as_unset(self, part: Parameter) -> frozenset[str]:
        value, names = self._value(part)
        return (names if value is None else frozenset()) | (value.unset | value.assumed if value is not None else frozenset())

    def _operated(self, value: Text, part: Parameter) -> Text:
        """The value with what the operator makes of it."""
        if not value.known:
            raise Unfit(value.why_unknown)
        operator, arguments = part.operator, part.arguments
        if operator == ":":
            offset, length = self._range(part)
            cut = parameters.part(value, offset, length)
            if cut is None:
                raise Unfit("the length of the part is negative")
            return cut
        pattern = self.pattern(arguments[0])
        try:
            if operator in ("#", "##"):
                return parameters.without_prefix(value, pattern, operator == "##")
            if operator in ("%", "%%"):
                return parameters.without_suffix(value, pattern, operator == "%%")
            if operator.startswith("/"):
                by = self.one(arguments[1]) if len(arguments) > 1 else Text()
                return bounded(parameters.replaced(value, pattern, by, operator), part.place)
            matches: Callable[[str], bool] = pattern.matches if arguments[0] else lambda letter: True
            return parameters.in_case(value, operator, matches)
        finally:
            self.state.budget.spend(pattern.work // 100)

    def _range(self, part: Parameter) -> tuple[int, int | None]:
        offset = self.number(part.arguments[0], part.place)
        return offset, self.number(part.arguments[1], part.place) if len(part.arguments) > 1 else None

    def _elements_of(self, part: Parameter) -> list[Text]:
        return self.state.elements(part.name, part.place)

    def _elements(self, part: Parameter) -> list[Text]:
        """The elements of an array or the arguments, with what the operator makes of each."""
        texts = self._elements_of(part)
        if part.indirect:
            held = self.state.held(part.name)
            keys = [key for key, _ in in_order(held)] if isinstance(held, dict) else ["0"] * bool(texts)
            return [Text((Piece(key, (part.place,)),)) for key in keys]
        if not part.operator or part.operator in _DEFAULTS:
            return texts
        if part.operator == ":":
            offset, length = self._range(part)
            if part.name in "@*":  # the arguments count from 1; 0 is the script itself
                if offset == 0:
                    raise Unfit("`$0` is known only where the script runs")
                offset -= offset > 0
            found = parameters.items(texts, offset, length)
            if found is None:
                raise Unfit("the length of the part is negative")
            return found
        return [self._operated(text, part) for text in texts]

    @property
    def _separators(self) -> str:
        held = self.state.held("IFS")
        return held.plain if isinstance(held, Text) and held.known else " \t\n"

    def _unknown(self, place: Place, why: str) -> Text:
        return Text.unknown(self.text[place[0] : place[1]], place, why)

    def _shown(self, place: Place) -> str:
        return " ".join(self.text[place[0] : place[1]].split())[:60]
