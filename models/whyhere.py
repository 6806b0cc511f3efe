"""Why a component or an accelerator of a plan is where it is: what was computed, for whoever words it."""

from __future__ import annotations

from .record import dataclass

ALL, OUT, SMALL, FULL, MORE = "all", "out", "small", "full", "more"
"""Why a component does not hold it: it has all that it may have; a rule keeps it off the node; too few accelerators are idle there; the
accelerator is held by another; it could have more, and no answer gives it more (or none was found)."""


@dataclass(frozen=True)
class Reason:
    """Why one component does not hold an accelerator: one of the reasons above, and its figure or the code and message of the rule."""

    component: str
    why: str
    figure: int = 0
    code: str = ""
    message: str = ""


@dataclass(frozen=True)
class WhyAccelerator:
    """Who holds an accelerator, and why others do not.

    Attributes
    ----------
    node, index : the name of its node, and its number there.
    holders : (component, process rank), in the order of the components.
    taken : whether another job holds it.
    idle : how many accelerators of its node nobody holds.
    others : why each other component that is searched does not hold it.
    proved : whether it is proved that no answer is better.
    """

    node: str
    index: int
    holders: tuple[tuple[str, int], ...]
    taken: bool
    idle: int
    others: tuple[Reason, ...]
    proved: bool


@dataclass(frozen=True)
class Without:
    """What the best answer is if the component may not use a domain.

    `changes` are the terms of the objective that differ: (name, value now, value then).
    """

    domain: str
    verdict: str
    changes: tuple[tuple[str, int, int], ...] = ()


@dataclass(frozen=True)
class WhyComponent:
    """Where a component is and why.

    Attributes
    ----------
    name : the component.
    given : whether its ranks are given, so that nothing was chosen.
    level : what is meant by a domain: a level of the topology, or the node.
    held : (domain, accelerators that it has there), in the order of the nodes.
    may : how many nodes it may use at all, of how many.
    barred : (code of a rule, how many nodes it keeps it off), the most first.
    possible : the domains that have a node that it may use.
    without : what it would cost if it could not be in a domain, one by one.
    """

    name: str
    given: bool
    level: str
    held: tuple[tuple[str, int], ...]
    may: tuple[int, int] = (0, 0)
    barred: tuple[tuple[str, int], ...] = ()
    possible: tuple[str, ...] = ()
    without: tuple[Without, ...] = ()
