"""What crosses a level of the topology: the terms that are counted in MiB."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Iterator

from ....models.component import Component
from ....models.link import Link
from ....models.machines.node_group import NODE
from ....models.problem import Problem
from ....models.record import dataclass
from ..presence import WORDS, is_open, several

if TYPE_CHECKING:
    from ...model.variables import Variables


@dataclass(frozen=True)
class BytesAcross:
    """A term that is weighed with the others of its level, or with all of them if the preference is weighted."""

    what: ClassVar[str]
    level: str

    @property
    def name(self) -> str:
        """What is counted, as it is printed."""
        return f"MiB of {self.what} across {WORDS[self.level]}"


def links(problem: Problem, level: str) -> Iterator[tuple[Link, Component, Component]]:
    """(link, source, target) of every link of which an end is searched, if the level has several domains."""
    names = {component.name for component in problem.components}
    for link in problem.job.links if several(problem, level) else ():
        if link.source in names and link.target in names:
            source, target = problem[link.source], problem[link.target]
            if any(is_open(problem, end) or (end.runs is None and problem.kind(end) == NODE) for end in (source, target)):
                yield link, source, target


def same_place(variables: Variables, source: Component, target: Component) -> bool:
    """Are both ends of a link on the same accelerators, so that nothing crosses?"""
    bundle = variables.bundle(source)
    return bundle is not None and bundle is variables.bundle(target)
