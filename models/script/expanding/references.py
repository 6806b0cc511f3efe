"""Parameters: what `$NAME`, `${NAME...}`, `${ARRAY[@]}` and `$@` stand for.

Source: the Bash Reference Manual, 3.5.3 (Shell Parameter Expansion).
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Callable, Sequence

from ..holding.value import Held, Keyed, Piece, Text, bounded, derived, in_order, joined
from ..syntax.parts import Parameter, Part, Place
from . import parameters
from .calculation import Calculator, Unfit
from .patterns import Pattern

DEFAULTS = ("-", ":-", "=", ":=", "?", ":?", "+", ":+")
"""Operators that name something in the place of a variable that is not set."""


class References(Calculator):
    """What the parameters of a script stand for."""

    @abstractmethod
    def pattern(self, parts: Sequence[Part]) -> Pattern:
        """The pattern of parts. Raises Unfit where it is not known."""

    def parameter(self, part: Parameter) -> Text:
        """The text that a parameter stands for. Raises Unfit, TooMuch or NotComputed where it is not known."""
        if part.bad:
            raise Unfit(f"`{self.shown(part.place)}` is of a form that is not followed")
        if part.length:
            return self._length(part)
        if part.name in "@*" or part.index in ("@", "*"):
            return joined(self.elements(part), self.separators[:1] if "*" in (part.name, part.index) else " ", part.place)
        if part.operator in DEFAULTS:
            chosen, taken = self.chosen(part)
            if taken:
                found = self.one(part.arguments[0]).used_at(part.place)
                return found.given(assumed=self.taken_as_unset(part), place=part.place)
            return chosen
        value, names = self._value(part)
        if value is None:
            return Text((Piece("", (part.place,), unset=names),))
        return self._operated(value, part) if part.operator else value

    def _length(self, part: Parameter) -> Text:
        if part.index in ("@", "*") or part.name in "@*":
            texts = self.elements_of(part)
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
                raise Unfit(f"`{self.shown(part.place)}` is of a form that is not followed")
            name = target.plain
        if isinstance(part.index, tuple):
            held = self.state.held(name)
            key = self.subscript(part.index, part.place, held)
            if isinstance(held, dict):
                found = held.get(key)
                return (found.used_at(part.place) if found else None), frozenset()
            return (held.used_at(part.place) if held is not None and key == "0" else None), frozenset()
        value = self.state.scalar(name, part.place)
        written = name in self.state.variables or name in self.state.removed
        return value, frozenset() if written else frozenset({f"${name}" if name.isdecimal() else name})

    def subscript(self, parts: Sequence[Part], place: Place, held: Held | None) -> str:
        """A subscript: a number, or the text of an array that has texts. Raises Unfit or NotComputed where it is not known."""
        text = self.one(parts)
        if not text.known:
            raise Unfit(text.why_unknown)
        if isinstance(held, Keyed):
            return text.plain
        number = self.calculate(text, place)
        if number < 0 and isinstance(held, dict):
            number += max((int(key) + 1 for key in held), default=0)
        return str(number)

    def chosen(self, part: Parameter) -> tuple[Text, bool]:
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

    def taken_as_unset(self, part: Parameter) -> frozenset[str]:
        """The variables of the environment that a default counts for because they were taken as not set."""
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

    def elements_of(self, part: Parameter) -> list[Text]:
        """The elements of an array, or the arguments."""
        return self.state.elements(part.name, part.place)

    def elements(self, part: Parameter) -> list[Text]:
        """The elements of an array or the arguments, with what the operator makes of each."""
        texts = self.elements_of(part)
        if part.indirect:
            held = self.state.held(part.name)
            keys = [key for key, _ in in_order(held)] if isinstance(held, dict) else ["0"] * bool(texts)
            return [Text((Piece(key, (part.place,)),)) for key in keys]
        if not part.operator or part.operator in DEFAULTS:
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
    def separators(self) -> str:
        """What splits words: `IFS`."""
        held = self.state.held("IFS")
        return held.plain if isinstance(held, Text) and held.known else " \t\n"
