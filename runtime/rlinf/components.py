"""RLinf's `component_placement`, read: where each component's workers go, as a strategy."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

import yaml

from ...models.dialects.load import read
from ...models.findings.finding import Severity
from ...models.level import PLACEMENT
from ...models.machines.cluster import Cluster as Machines
from ...models.placements.run import Run
from ...models.strategies import PlacementStrategy
from ...models.text.source import Source
from ..failure import LaunchFailed
from ..refusal import refused
from .cluster import Cluster
from .machines import plain


class Given(PlacementStrategy):
    """Where the processes of one component were said to go."""

    isolate_accelerator = True

    def __init__(self, given: Sequence[Run]) -> None:
        self._given = tuple(given)

    def runs(self, cluster: Machines) -> Sequence[Run]:
        """As they were given, for the cluster that they were read for."""
        return self._given

    @property
    def reach(self) -> int:
        """The highest rank of a node."""
        return max(run.node for run in self._given)

    @property
    def counts_nodes(self) -> bool:
        """It names nodes."""
        return True


class ComponentPlacement:
    """The components of ``config.cluster.component_placement`` and where their workers go on this cluster.

    `config` is a map or an OmegaConf container. Also under RLinf's name HybridComponentPlacement. Raises LaunchFailed with every
    Finding of an error.
    Source: RLinf, rlinf/scheduler/placement/placement.py.
    """

    def __init__(self, config: Mapping[str, Any], cluster: Cluster) -> None:
        section = plain(config["cluster"])
        text = yaml.safe_dump({"cluster": section}, sort_keys=False, allow_unicode=True)
        reading = read(Source("config", text), cluster.machines, "rlinf", PLACEMENT)
        errors = [finding for finding in reading.findings if finding.severity is Severity.ERROR]
        if errors or reading.problem is None:
            raise LaunchFailed(*errors)
        self._runs = dict(reading.problem.given().runs)

    @property
    def components(self) -> list[str]:
        """The names of the components, in the order in which they are written."""
        return list(self._runs)

    def get_strategy(self, component_name: str) -> PlacementStrategy:
        """Where the workers of a component go, for `launch`. Raises ValueError (PW718) for one that is not there."""
        return Given(self._of(component_name))

    def get_world_size(self, component_name: str) -> int:
        """How many workers a component has. Raises as get_strategy."""
        return max(run.ranks.stop for run in self._of(component_name))

    def _of(self, name: str) -> Sequence[Run]:
        if name not in self._runs:
            known = ", ".join(f"`{each}`" for each in self._runs) or "none"
            raise refused("PW718", name, f"there is no component `{name}`; there are {known}", "add it to `cluster.component_placement`")
        return self._runs[name]


HybridComponentPlacement = ComponentPlacement
