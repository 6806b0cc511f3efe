"""RLinf's side of the study `verify_scale`: its own placement code, from the checkout that PLACEWRIGHT_RLINF names.

Its Cluster comes from Ray; here the one object is made that its placement code asks, as its own unit tests do. Counted are
its ComponentPlacement and get_placement alone, neither reading YAML nor making the cluster. Its environment is needed (ray,
omegaconf); torch, which placement does not use, is left empty where it is not installed.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import types
from pathlib import Path
from typing import Any

from case import EACH, FLEXIBLE_STRATEGY, NODE, PACKED_STRATEGY, Case, Work, main

CHECKOUT = Path(os.environ["PLACEWRIGHT_RLINF"])


def import_placement() -> None:
    """Makes rlinf.scheduler.placement importable without all else that `import rlinf` loads."""
    for name in ("rlinf", "rlinf.scheduler"):
        module = types.ModuleType(name)
        module.__path__ = [str(CHECKOUT.joinpath(*name.split(".")))]
        sys.modules[name] = module
    if importlib.util.find_spec("torch") is None:
        torch = types.ModuleType("torch")
        torch.__dict__["__getattr__"] = lambda name: type(name, (), {})  # named in annotations alone
        sys.modules["torch"] = torch


class FakeCluster:
    """What RLinf's placement code asks of a cluster: its node groups and its nodes."""

    def __init__(self, count: int) -> None:
        from rlinf.scheduler.cluster.node import NodeGroupInfo, NodeInfo
        from rlinf.scheduler.hardware import Accelerator, HardwareInfo, HardwareResource

        def node(rank: int) -> Any:
            infos = [HardwareInfo(type=Accelerator.HW_TYPE, model="NV_GPU:H100") for _ in range(NODE)]
            has = [HardwareResource(type=Accelerator.HW_TYPE, infos=infos)]
            return NodeInfo([], rank, f"ray-{rank}", f"10.0.0.{rank}", 32, "python3", {}, {}, has)

        self.nodes = [node(rank) for rank in range(count)]
        self.groups = {"cluster": NodeGroupInfo("cluster", self.nodes), "node": NodeGroupInfo("node", self.nodes, ignore_hardware=True)}
        self.num_nodes, self.num_accelerators = count, count * NODE

    def get_node_group(self, label: str | None = None) -> Any:
        """The group with this label; the whole cluster without one."""
        return self.groups[label or "cluster"]

    def get_node_info(self, rank: int) -> Any:
        """One node."""
        return self.nodes[rank]


def prepare(case: Case) -> Work:
    from omegaconf import OmegaConf
    from rlinf.scheduler.placement import ComponentPlacement, FlexiblePlacementStrategy, PackedPlacementStrategy

    cluster: Any = FakeCluster(case.nodes)
    config = OmegaConf.create(case.text)

    def work(case: Case) -> list[object]:
        if case.form == PACKED_STRATEGY:
            strategies: list[Any] = [PackedPlacementStrategy(0, case.accelerators - 1, EACH)]
        elif case.form == FLEXIBLE_STRATEGY:
            strategies = [FlexiblePlacementStrategy([[rank] for rank in range(case.accelerators)])]
        else:
            placement = ComponentPlacement(config, cluster)
            strategies = [placement.get_strategy(name) for name in case.components]
        return [each for strategy in strategies for each in strategy.get_placement(cluster, True)] if case.made else []

    return work


def told(placement: Any) -> tuple[object, ...]:
    return placement.rank, placement.cluster_node_rank, placement.local_hardware_ranks, placement.visible_accelerators


if __name__ == "__main__":
    import_placement()
    main(prepare, told)
