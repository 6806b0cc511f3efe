"""Settlement in a process of its own, every answer of which is checked."""

from __future__ import annotations

from dataclasses import field
from functools import cache
from typing import Iterator, Sequence, Union

from ...models.record import dataclass
from ...solver.process import Child
from ...solver.sandbox.messages import Codec, Failed, data_of, line_of
from ...solver.sandbox.solve import MEMORY
from ...solver.sandbox.stopped import Faulty, Stopped
from ...solver.sandbox.talk import begun, patience, talk
from ...solver.sandbox.trust import Lie, OurFault
from ...solver.session import Session
from ..check import faults
from ..costs import cost_model
from .choices import Choices
from .settle import Settled, Unsettled
from .sizing import Sizing


@dataclass(frozen=True)
class Over:
    """Nothing follows."""


Message = Union[Settled, Over, Failed]


def write_question(asked: Unsettled) -> bytes:
    """The line that asks it."""
    return line_of(_words().write(asked, Unsettled))


def read_question(line: bytes) -> Unsettled:
    """The question in a line. Raises NotOurs."""
    found: Unsettled = _words().read(data_of(line), Unsettled)
    return found


def write(message: Message) -> bytes:
    """The line that says it."""
    return line_of(_words().write(message, Message))


def read(line: bytes) -> Message:
    """What a line says. Raises NotOurs."""
    found: Message = _words().read(data_of(line), Message)
    return found


@cache
def _words() -> Codec:
    return Codec()


def command(memory: int = MEMORY) -> tuple[str, ...]:
    """The command line of the process that settles, with its limit of memory in MiB."""
    return begun("placewright.planner.search.child", memory)


@dataclass(frozen=True)
class Settling:
    """Settles structures, with so many MiB of memory; `child` is the command line that does it."""

    memory: int = MEMORY
    child: Sequence[str] | None = None
    session: Session = field(default_factory=Session)

    def __call__(self, asked: Unsettled) -> Iterator[Settled]:
        """What was found out, also where the process was stopped: then it raises Stopped after that. Of a process that lied nothing."""
        found: dict[int, Settled] = {}

        def heard(message: Message, process: Child) -> bool | None:
            if isinstance(message, Settled):
                must_hold(asked, message)
                found[message.number] = message
            return True if isinstance(message, Over) else None

        try:
            talk(self.session, self.child or command(self.memory), write_question(asked), patience(asked.limit), self.memory, read, heard)
        except OurFault as fault:
            raise Faulty(str(fault)) from None
        except Stopped:
            yield from found.values()
            raise
        yield from found.values()


def must_hold(asked: Unsettled, told: Settled) -> None:
    """Raises Lie where what was told of a structure cannot be so."""
    its = next((each for each in asked.structures if each.number == told.number), None)
    if its is None:
        raise Lie("it tells of a structure that nobody asked for")
    if told.places is None:
        if its.best is not None and told.bound > its.best[0]:
            raise Lie(f"its bound is {told.bound}, and an answer of {its.best[0]} is known")
        return
    model = cost_model(asked.model)
    sizing = Sizing(asked.question, model, its.structure, Choices(asked.question, model.divisor(asked.question)), len(its.excluded))
    if len(told.places) != len(sizing.choices) or any(not 0 <= place < len(ways) for place, ways in zip(told.places, sizing.choices)):
        raise Lie("it chose what was no choice")
    chosen = tuple(ways[place] for place, ways in zip(told.places, sizing.choices))
    design, price = sizing.design(chosen), sizing.price(chosen)
    wrong = next(faults(asked.question, model, design), None)
    if wrong is not None:
        raise Lie(wrong)
    if design in its.excluded:
        raise Lie("its design was ruled out")
    if told.bound > price[0] or (its.best is not None and price >= its.best):
        raise Lie(f"its bound is {told.bound} and its design costs {price[0]}")
