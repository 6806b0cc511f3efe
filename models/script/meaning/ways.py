"""Ways that a script may take: `if`, `case`, and how two ways come together again."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Iterator

from ..expanding.calculation import Unfit
from ..expanding.expansion import Expander
from ..expanding.patterns import TooMuch
from ..holding.state import State
from ..syntax.commands import Case, If, List
from ..syntax.parts import Place
from .builtins import Untold
from .started import Started
from .truth import Truth

HOLDS, UNKNOWN = Truth(True), Truth(None, "it depends on how a command ends")


@dataclass
class Ways(ABC):
    """Follows statements in a state.

    Attributes
    ----------
    text : the script.
    started : the commands that it starts, in the order of following.
    untold : what may set variables without being read.
    unsure : why it is not known that the present statement is reached, of every way around it.
    depends : the variables and arguments, taken as not given, that decided the ways around the present statement.
    broken : was a loop left where it is not known whether it is left?
    """

    text: str
    state: State
    started: list[Started] = field(default_factory=list)
    untold: list[Untold] = field(default_factory=list)
    unsure: list[str] = field(default_factory=list)
    depends: list[frozenset[str]] = field(default_factory=list)
    broken: bool = False

    @abstractmethod
    def statements(self, body: List) -> Truth:
        """Follows statements as far as they are reached; how the last one ends."""

    @contextmanager
    def deciding(self, depends: frozenset[str]) -> Iterator[None]:
        """Follows a way that was taken because these were not given."""
        self.depends.append(depends)
        yield
        self.depends.pop()

    @contextmanager
    def doubting(self, why: str) -> Iterator[None]:
        """Follows a way of which it is not known that it is taken."""
        self.unsure.append(why)
        yield
        self.unsure.pop()

    def rejoin(self, other: State, place: Place, why: str) -> None:
        """After one of two ways: what differs from the `other` one is not known; a way that ended goes no further."""
        ended, self.state.ended = self.state.ended, ""
        other_ended, other.ended = other.ended, ""
        self.broken = self.broken or not {"break", "continue"}.isdisjoint((ended, other_ended))
        if ended and other_ended:
            self.state.ended = ended
        elif ended:
            self.state.become(other)
        elif not other_ended:
            self.state.merge(other, place, why)

    def if_(self, command: If, position: int = 0) -> Truth:
        """`if`, from one of its conditions on."""
        if position == len(command.branches):
            return self.statements(command.otherwise) if command.otherwise is not None else HOLDS
        condition, body = command.branches[position]
        truth = self.statements(condition)
        if self.state.ended:
            return truth
        if truth.value is not None:
            with self.deciding(truth.depends):
                return self.statements(body) if truth.value else self.if_(command, position + 1)
        other = self.state.copy()
        with self.doubting(truth.why):
            self.statements(body)
            self.state, other = other, self.state
            self.if_(command, position + 1)
            self.state, other = other, self.state
        self.rejoin(other, command.place, truth.why)
        return UNKNOWN

    def case(self, command: Case) -> Truth:
        """`case`: the first arm with a pattern that fits."""
        expander = Expander(self.text, self.state)
        subject = expander.one(command.word.parts)
        if not subject.known:
            shown = expander.shown(command.word.place)
            return self._any(command, f"it depends on `{shown}`, which is not known: {subject.why_unknown}")
        falling = False
        for patterns, body, end in command.arms:
            try:
                fits = falling or any(expander.pattern(pattern.parts).matches(subject.plain) for pattern in patterns)
            except Unfit as problem:
                return self._any(command, str(problem))
            except TooMuch:
                return self._any(command, "matching its pattern takes too long")
            if fits:
                with self.deciding(subject.unset | subject.assumed):
                    truth = self.statements(body)
                if end in ("", ";;") or self.state.ended:
                    return truth
                falling = end == ";&"
        return HOLDS

    def _any(self, command: Case, why: str) -> Truth:
        """Any of the arms, or none."""
        for _, body, _ in command.arms:
            before = self.state.copy()
            with self.doubting(why):
                self.statements(body)
            self.rejoin(before, command.place, why)
        return UNKNOWN
