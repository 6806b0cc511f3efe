"""RLinf's `component_placement` as strategies: the placement of every component's workers."""

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
    """Strategy with the runs that a file prescribes for a component."""

    isolate_accelerator = True

    def __init__(self, runs: Sequence[Run]) -> None:
        self._given = tuple(runs)

    def runs(self, cluster: Machines) -> Sequence[Run]:
        """Return the prescribed runs; valid only for the cluster they were read for."""
        return self._given

    @property
    def reach(self) -> int:
        """Highest node rank in use."""
        return max(run.node for run in self._given)

    @property
    def counts_nodes(self) -> bool:
        """True: the runs name nodes."""
        return True


class ComponentPlacement:
    """Components of ``config.cluster.component_placement`` and their placement on a cluster.

    `config` is a map or an OmegaConf container. Also under RLinf's name HybridComponentPlacement.
    Raises LaunchFailed with all errors. Source: RLinf, rlinf/scheduler/placement/placement.py.
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
        """Names of the components, in written order."""
        return list(self._runs)

    def get_strategy(self, component_name: str) -> PlacementStrategy:
        """Return the placement strategy of a component, for `launch`.

        Raises ValueError (PW718) for an unknown component.
        """
        return Given(self._of(component_name))

    def get_world_size(self, component_name: str) -> int:
        """Return the number of workers of a component.

        Raises ValueError (PW718) for an unknown component.
        """
        return max(run.ranks.stop for run in self._of(component_name))

    def _of(self, name: str) -> Sequence[Run]:
        if name not in self._runs:
            known = ", ".join(f"`{component}`" for component in self._runs) or "none"
            raise refused("PW718", name, f"there is no component `{name}`; there are {known}", "add it to `cluster.component_placement`")
        return self._runs[name]


HybridComponentPlacement = ComponentPlacement
