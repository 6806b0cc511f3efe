"""What the two processes say to each other: one line of JSON each, the question first, then how it stands, last the answer."""

from __future__ import annotations

from functools import cache
from typing import Union

from ...models.answer import Answer
from ...models.machines.cluster import Cluster
from ...models.placements.plan import Plan
from ...models.planning.planned import Planned
from ...models.problem import Problem
from ...models.record import dataclass
from .codec import Codec
from .lines import data_of, line_of


@dataclass(frozen=True)
class Question:
    """What the child is to search: the parameters of `solve`."""

    problem: Problem
    limit: float
    seed: int


@dataclass(frozen=True)
class Standing:
    """A Progress: a better answer, or a better bound; `plan` is None as long as there is no answer."""

    plan: Plan | None
    proved: int
    seconds: float
    refuted: bool


@dataclass(frozen=True)
class Done:
    """The answer. Nothing follows until the next question."""

    answer: Answer


@dataclass(frozen=True)
class Failed:
    """The child's own code raised something: a fault of ours, told in one line. `memory`: there was not enough of it."""

    what: str
    memory: bool = False


Message = Union[Standing, Done, Failed]


def write_question(question: Question) -> bytes:
    """The line that asks it."""
    return line_of(_words().write(question, Question))


def read_question(line: bytes) -> Question:
    """The question in a line. Raises NotOurs."""
    found: Question = _words().read(data_of(line), Question)
    return found


class Messages:
    """Writes and reads what the child says about a problem on one cluster, which both know: it is never sent back."""

    def __init__(self, cluster: Cluster) -> None:
        self._codec = Codec({Cluster: cluster}, compact=False, names={"Planned": Planned})

    def write(self, message: Message) -> bytes:
        """The line that says it."""
        return line_of(self._codec.write(message, Message))

    def read(self, line: bytes) -> Message:
        """What a line says. Raises NotOurs."""
        found: Message = self._codec.read(data_of(line), Message)
        return found


@cache
def _words() -> Codec:
    return Codec()
