"""Words expanded: parameters, arithmetic, quotes removed, split into fields. What only running could tell is not known.

Source: the Bash Reference Manual, 3.5. File names are not looked up: `*` stays as it is written.
"""

from __future__ import annotations

from typing import Sequence

from ..holding.value import Piece, Text, bounded, derived, joined
from ..syntax.parts import Arithmetic, Literal, Parameter, Part, Substitution, Tilde, Word
from .braces import TooMany, braced
from .calculation import Unfit
from .fields import Fields
from .integers import NotComputed
from .patterns import Pattern, TooMuch
from .references import DEFAULTS, References


class Expander(References):
    """Expands words of a script in a state. `text` is the script."""

    def fields(self, word: Word) -> list[Text]:
        """The words that one word of a command becomes."""
        try:
            words = braced(word.parts)
        except TooMany:
            return [self.unknown(word.place, "the braces make too many words")]
        found: list[Text] = []
        for parts in words:
            fields = Fields(self.separators)
            self._into(fields, parts)
            found += fields.all()
            self.state.budget.spend(1)
        self.state.budget.spend(sum(1 + len(text.pieces) // 8 + len(text.plain) // 200 for text in found))
        return [bounded(text, word.place) for text in found]

    def one(self, parts: Sequence[Part]) -> Text:
        """The text of parts that are not split: an assignment, a subject of `case`, an operand of `[[ ]]`."""
        pieces: list[Text] = []
        for part in parts:
            pieces.append(self._text(part))
        found = joined(pieces, place=parts[0].place if parts else (0, 0))
        self.state.budget.spend(1 + len(found.pieces) // 8 + len(found.plain) // 200)
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

    # -- parts

    def _into(self, fields: Fields, parts: Sequence[Part], split: bool = False) -> None:
        """Adds the parts of a word; `split`: also what is written in it without quotes is split."""
        for part in parts:
            if isinstance(part, Parameter) and (part.name in "@*" or part.index in ("@", "*")) and part.name and not part.length:
                self._all_into(fields, part)
            elif isinstance(part, Parameter) and part.operator in DEFAULTS and not part.quoted and not part.bad:
                self._default_into(fields, part)
            elif part.quoted or (isinstance(part, Literal) and not split):
                fields.add(self._text(part))
            elif isinstance(part, (Substitution, Tilde)):
                fields.vanishing(self._text(part))
            else:
                fields.split(self._text(part))

    def _all_into(self, fields: Fields, part: Parameter) -> None:
        """`$@`, `"${ARRAY[@]}"` and their kin: each element by itself."""
        each = "@" in (part.name, part.index)
        if part.operator in DEFAULTS and not self.elements_of(part):
            self._into(fields, part.arguments[0], split=not part.quoted) if "+" not in part.operator else None
            return
        if part.operator in DEFAULTS and "+" in part.operator:
            self._into(fields, part.arguments[0], split=not part.quoted)
            return
        try:
            texts = self.elements(part)
        except (Unfit, TooMuch, NotComputed) as problem:
            fields.vanishing(self.unknown(part.place, f"`{self.shown(part.place)}` is not known: {problem}"))
            return
        if part.quoted and not each:
            fields.add(joined(texts, self.separators[:1], part.place))
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
        try:
            value, taken = self.chosen(part)
        except (Unfit, NotComputed) as problem:
            fields.vanishing(self.unknown(part.place, str(problem)))
            return
        if not taken:
            fields.split(value)
            return
        inner = Fields(self.separators)
        self._into(inner, part.arguments[0], split=True)
        for position, text in enumerate(inner.all()):
            if position:
                fields.next()
            fields.add(text.used_at(part.place).given(assumed=self.taken_as_unset(part), place=part.place))

    def _text(self, part: Part) -> Text:
        if isinstance(part, Literal):
            return Text((Piece(part.text, (part.place,), part.exact),)) if part.text else Text()
        if isinstance(part, Substitution):
            return self.unknown(part.place, f"`{self.shown(part.place)}` is a command, which is not run")
        if isinstance(part, Tilde):
            return self.unknown(part.place, "`~` is a folder of the machine where the script runs")
        if isinstance(part, Arithmetic):
            try:
                value = self.number(part.parts, part.place)
            except NotComputed as problem:
                return self.unknown(part.place, f"`{self.shown(part.place)}` is not known: {problem}")
            return derived(str(value), self.sources, part.place)
        try:
            return self.parameter(part)
        except Unfit as problem:
            return self.unknown(part.place, str(problem))
        except TooMuch:
            return self.unknown(part.place, "matching its pattern takes too long")
        except NotComputed as problem:
            return self.unknown(part.place, f"`{self.shown(part.place)}` is not known: {problem}")
