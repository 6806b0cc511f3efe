"""A ROLL job while it is read: what the later steps look at, and what they add to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Iterator

from ....component import Component, Parallel, Relation
from ....configuration.notes import Notes
from ....configuration.settings import Settings
from ....derivation import Derivation
from ....findings.span import Span
from ....machines.cluster import Cluster
from ....model_cards import ModelUse
from ....share import Share
from .pipelines import Pipeline
from .role import Role


@dataclass
class Setup:
    """The roles of one file and what is known about them.

    Attributes
    ----------
    pipeline : which of ROLL's pipelines it is.
    roles : every role that is declared or created, in ROLL's order of creation.
    per_node : how many devices ROLL counts on a node; `assumed` tells that nobody described the machines.
    num_nodes : how many nodes ROLL reserves.
    cluster : these nodes, or all that could be reserved where something is left to solve.
    components : by name what is placed; modes may replace them, but not take one away.
    hinted : relations that hints state.
    choices : degrees that hints leave open, by the name of the component; where a strategy fixes them they are taken out.
    relations, shares, derivations : what is found out besides, by anyone.
    in_step : pairs of which the first shares whole workers of the second, where they share devices.
    models : by name of the component, which model it runs and what of it its ranks divide.
    """

    notes: Notes
    settings: Settings
    pipeline: Pipeline
    roles: tuple[Role, ...]
    per_node: int
    assumed: bool
    num_nodes: int
    cluster: Cluster
    components: dict[str, Component]
    hinted: tuple[Relation, ...] = ()
    choices: dict[str, tuple[Parallel, ...]] = field(default_factory=dict)
    relations: list[Relation] = field(default_factory=list)
    shares: list[Share] = field(default_factory=list)
    derivations: list[Derivation] = field(default_factory=list)
    in_step: list[tuple[str, str]] = field(default_factory=list)
    models: dict[str, ModelUse] = field(default_factory=dict)

    def role(self, part: str) -> Role | None:
        """The first role of a part that the pipeline creates; None if there is none, or none whose creation is known."""
        return next(self.all(part), None)

    def all(self, part: str) -> Iterator[Role]:
        """The roles of a part that the pipeline creates."""
        return (role for role in self.roles if role.part == part and role.created)

    def declared(self, part: str) -> Iterator[Role]:
        """The roles of a part, whether the pipeline creates them or not."""
        return (role for role in self.roles if role.part == part)

    @property
    def top(self) -> Span:
        """Where nothing better can be pointed at."""
        return self.settings.top
