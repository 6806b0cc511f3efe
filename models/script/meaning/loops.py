"""Loops: turn by turn where that can be told, and once where it cannot."""

from __future__ import annotations

from ..expanding.expansion import Expander
from ..expanding.integers import NotComputed
from ..holding.state import TooMuch
from ..holding.value import Text
from ..syntax.commands import Count, For, List, While
from ..syntax.parts import Place
from .conditions import computed
from .truth import Truth
from .ways import HOLDS, UNKNOWN, Ways

MAX_TURNS = 1_000


class Loops(Ways):
    """Follows loops."""

    def loop(self, command: For | Count | While) -> Truth:
        """A loop. Raises TooMuch where it takes more turns than are followed."""
        before, outer = dict(self.state.variables), self.broken
        self.broken = False
        if isinstance(command, For):
            self._for(command)
        else:
            self._while(command)
        broken, self.broken = self.broken, outer
        if broken:  # which turns were made is not known
            held = self.state.variables
            changed = {name for name in before.keys() | held.keys() if before.get(name) != held.get(name)}
            self.state.unsure(changed, command.place, "it depends on how often a loop was gone through")
            return UNKNOWN
        return HOLDS

    def _for(self, command: For) -> None:
        expander = Expander(self.text, self.state)
        if command.words is None:
            words = self.state.elements("@", command.place)
        else:
            words = [text for word in command.words for text in expander.fields(word)]
        for word in words:
            if word.known:
                self.state.assign(command.name, word)
                self.statements(command.body)
            else:
                why = f"it depends on a loop over what is not known: {word.why_unknown}"
                self._once(command.body, command.place, why, (command.name, word))
            if self._left():
                break

    def _while(self, command: Count | While) -> None:
        try:
            if isinstance(command, Count):
                Expander(self.text, self.state).number(command.start.parts, command.place)
            for _ in range(MAX_TURNS):
                before = dict(self.state.variables)
                truth = self._goes_on(command)
                if truth.value is None:
                    self._once(command.body, command.place, truth.why)
                    return
                if not truth.value or self.state.ended:
                    return
                self.statements(command.body)
                if self._left():
                    return
                if isinstance(command, Count):
                    Expander(self.text, self.state).number(command.step.parts, command.place)
                if before == self.state.variables:  # each turn is like the last: only what is not known here can end it
                    self.broken = True
                    return
        except NotComputed as problem:
            self._once(command.body, command.place, f"it depends on a loop whose turns are not known: {problem}")
            return
        raise TooMuch(f"a loop takes more than {MAX_TURNS:,} turns")

    def _goes_on(self, command: Count | While) -> Truth:
        if isinstance(command, While):
            truth = self.statements(command.condition)
            return truth.negated() if command.until else truth
        if not command.condition.parts:
            return HOLDS
        expander = Expander(self.text, self.state)
        return computed(command.condition, expander, expander.shown(command.condition.place))

    def _once(self, body: List, place: Place, why: str, given: tuple[str, Text] | None = None) -> None:
        """The body of a loop of which nobody knows how often it is gone through."""
        before = self.state.copy()
        if given:
            self.state.assign(*given)
        with self.doubting(why):
            self.statements(body)
        self.state.ended = "" if self.state.ended in ("break", "continue") else self.state.ended
        changed = {name for name, held in self.state.variables.items() if before.variables.get(name) != held}
        self.rejoin(before, place, why)
        self.state.unsure(changed, place, why)

    def _left(self) -> bool:
        """Is the loop left after this turn? A `continue` begins the next one."""
        ended = self.state.ended
        if ended in ("break", "continue"):
            self.state.ended = ""
        return ended not in ("", "continue")
