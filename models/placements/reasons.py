"""Reasons for the place of a component or an accelerator of a plan, without wording."""

from __future__ import annotations

from ..record import dataclass

ALL, OUT, SMALL, FULL, MORE = "all", "out", "small", "full", "more"
"""Reasons for not holding an accelerator.

The component has all that it may have (`all`); a rule keeps it off the node (`out`); too few
accelerators are idle there (`small`); another component holds the accelerator (`full`); it could
have more, and no answer gives more, or none was found (`more`).
"""


@dataclass(frozen=True)
class Reason:
    """Reason for a component not to hold an accelerator: figure, or code and message of a rule."""

    component: str
    why: str
    figure: int = 0
    code: str = ""
    message: str = ""


@dataclass(frozen=True)
class WhyAccelerator:
    """Holders of an accelerator, and the reasons of the remaining components.

    Attributes
    ----------
    node, index : the name of its node, and its number there.
    holders : (component, process rank), in the order of the components.
    idle : number of idle accelerators on its node.
    rejected : reason of each searched component that does not hold it.
    proved : True if the answer is proved optimal.
    """

    node: str
    index: int
    holders: tuple[tuple[str, int], ...]
    taken: bool
    idle: int
    rejected: tuple[Reason, ...]
    proved: bool


@dataclass(frozen=True)
class Without:
    """Best answer without a domain; `changes` are (name, value now, value then) of terms."""

    domain: str
    verdict: str
    changes: tuple[tuple[str, int, int], ...] = ()


@dataclass(frozen=True)
class WhyComponent:
    """Place of a component, and the reasons.

    Attributes
    ----------
    level : level of the domains: a topology level, or the node.
    held : (domain, accelerators of the component there), in the order of the nodes.
    may : (number of usable nodes, number of nodes).
    barred : (code of a rule, number of nodes it excludes), largest first.
    possible : domains with a usable node.
    without : effect of losing each domain.
    """

    name: str
    given: bool
    level: str
    held: tuple[tuple[str, int], ...]
    may: tuple[int, int] = (0, 0)
    barred: tuple[tuple[str, int], ...] = ()
    possible: tuple[str, ...] = ()
    without: tuple[Without, ...] = ()
