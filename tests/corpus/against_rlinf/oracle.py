"""RLinf's own answers, one line of JSON for each line of JSON: `python oracle.py CHECKOUT`.

A question is ``{"text": YAML, "nodes": [{"accelerators": 8, "model": "NV_GPU:H100"}], "placer": "HybridComponentPlacement"}``.
An answer has the Placements of every component, or the stage at which RLinf refuses and its exception. Run are its
ClusterConfig, its NodeProbe (with these nodes instead of those of Ray), the placement class, get_strategy and get_placement;
with ``"validates": true`` also all of its validate_cfg but for the model that it would load, apart, in ``"validation"``.
Robots answer and have all cameras: what the world is like is not judged here.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import resource
import signal
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import stand_ins

LIMIT = 3
"""CPU seconds after which a question is given up: RLinf may loop forever."""

MEMORY = 2 << 30
"""Bytes that it may take in doing so."""

CUSTOM = {"MultiAgentModelParallelComponentPlacement", "MultiAgentModelParallelEvalComponentPlacement"}
"""The classes whose programs ask for other components with a strategy of their own (examples/agent/wideseek_r1)."""


AGENTS = CUSTOM | {"ModelParallelEvalComponentPlacement"}
"""The classes whose programs start an agent for every process of rollout (also examples/agent/searchr1/eval.py)."""


class Everything:
    """A set of cameras that has every camera."""

    def __contains__(self, item: object) -> bool:
        return True

    def __iter__(self) -> Any:
        return iter(())

    def __bool__(self) -> bool:
        return True


class World:
    """RLinf's scheduler, imported, with a table of nodes instead of a Ray cluster."""

    def __init__(self, checkout: Path) -> None:
        stand_ins.install(checkout)
        import icmplib
        import torch

        logging.disable(logging.CRITICAL)
        warnings.simplefilter("ignore")
        icmplib.ping = lambda *_, **__: SimpleNamespace(is_alive=True)
        self.torch = torch
        scheduler = sys.modules["rlinf.scheduler"]
        from rlinf.scheduler import cluster, hardware, placement
        from rlinf.scheduler.hardware.robots.franka import FrankaRobot

        FrankaRobot.enumerate_cameras = classmethod(lambda cls, kind="": Everything())
        FrankaRobot._validate_camera_sdk = staticmethod(lambda *_: None)
        for module in (cluster, placement):
            vars(scheduler).update({name: getattr(module, name) for name in module.__all__})
        from rlinf.utils import omega_resolver
        from rlinf.utils import placement as classes

        omega_resolver.omegaconf_register()
        scheduler.__dict__["__getattr__"] = stand_ins.made_up  # workers and channels, which are not started

        self.cluster, self.hardware, self.classes = cluster, hardware, classes
        self.nodes: list[dict[str, Any]] = []
        hardware.Accelerator.enumerate = classmethod(lambda cls, rank, configs=None: self.accelerators(rank))
        cluster.Cluster.get_alive_nodes = staticmethod(self.alive)

    def alive(self) -> list[dict[str, Any]]:
        return [
            {"NodeID": f"node-{rank}", "NodeManagerAddress": f"10.0.0.{rank}", "Resources": {"CPU": 32}} for rank in range(len(self.nodes))
        ]

    def accelerators(self, rank: int) -> Any:
        node = self.nodes[rank]
        infos = [self.hardware.HardwareInfo(type="Accelerator", model=node["model"]) for _ in range(node["accelerators"])]
        return self.hardware.HardwareResource(type="Accelerator", infos=infos) if infos else None

    def started(self, section: Any) -> Any:
        """RLinf's Cluster as it is after its start; refused as it refuses."""
        from rlinf.scheduler.cluster.node import NodeProbe

        config = self.cluster.ClusterConfig.from_dict_cfg(section)
        if len(self.nodes) < config.num_nodes:
            raise TimeoutError("waits for more nodes forever")
        made = object.__new__(self.cluster.Cluster)
        made._cluster_cfg, made._num_nodes = config, config.num_nodes
        probe = NodeProbe(config.num_nodes, config)
        made._nodes, made._node_groups = probe.nodes, probe.node_groups
        made._has_initialized = True
        return made

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        from omegaconf import OmegaConf

        self.nodes = question["nodes"]
        self.torch.cuda = SimpleNamespace(device_count=lambda: self.nodes[0]["accelerators"])
        answer: dict[str, Any] = {"stage": "text"}
        try:
            config = OmegaConf.create(question["text"])
            OmegaConf.set_struct(config, True)  # as Hydra does
            answer["stage"] = "cluster"
            cluster = self.started(config.cluster)
            answer["stage"] = "component_placement"
            placed = getattr(self.classes, question["placer"])(config, cluster)
            answer["stage"] = "launch"
            answer["components"] = {name: self.component(placed, cluster, name, question) for name in placed.components}
            answer["stage"] = "program"
            self.program(placed, config, answer["components"], question)
        except Exception as refused:
            answer["error"] = _told(refused)
        if question.get("validates"):
            answer["validation"] = self.validation(question["text"])
        return answer

    def validation(self, text: str) -> str:
        """How validate_cfg refuses the configuration; "" if it does not."""
        from omegaconf import OmegaConf, open_dict
        from rlinf import config as validating

        def model(config: Any, path: str) -> Any:
            with open_dict(config):
                config.model.padded_vocab_size = config.model.tensor_model_parallel_size
            return config

        validating.validate_model_cfg_by_hf_config = model
        made: list[Any] = []

        def cluster(cluster_cfg: Any = None, **_: Any) -> Any:
            if cluster_cfg is not None:
                made.append(self.started(cluster_cfg))
            return made[-1]

        validating.Cluster = cluster
        try:
            validating.validate_cfg(OmegaConf.create(text))
        except Exception as refused:
            return _told(refused)
        return ""

    def program(self, placed: Any, config: Any, components: dict[str, Any], question: dict[str, Any]) -> None:
        """What all programs of a class do besides (rlinf/config.py; examples/reasoning, examples/agent)."""
        kind = type(placed).__name__
        recomputes = "Eval" not in kind and kind != "HybridComponentPlacement" and config.algorithm.recompute_logprobs
        if kind == "ModelParallelComponentPlacement" and placed.is_disaggregated and recomputes:
            placed.get_strategy("inference")
        for name in question["custom"]:
            placed.get_strategy(name)
        if kind in AGENTS and "placements" in components["rollout"]:
            processes = len(components["rollout"]["placements"])
            assert processes == placed.rollout_dp_size, f"{processes} agents, but a rollout of dp {placed.rollout_dp_size}"

    def component(self, placed: Any, cluster: Any, name: str, question: dict[str, Any]) -> dict[str, Any]:
        """The Placements of one component, or how RLinf refuses it."""
        own = question["placer"] in CUSTOM and name in question["custom"]
        try:
            name = self.inference(placed, name)
            strategy = placed.get_strategy(name, self.classes.PackedPlacementStrategy) if own else placed.get_strategy(name)
            return {"placements": [vars(each) for each in strategy.get_placement(cluster, question.get("isolate", True))]}
        except Exception as refused:
            return {"error": _told(refused)}

    @staticmethod
    def inference(placed: Any, name: str) -> str:
        """The name under which the programs ask for the actor's inference, which the class makes of either of two names."""
        if type(placed).__name__ != "ModelParallelComponentPlacement" or placed.is_collocated:
            return name
        its = "inference" if "inference" in placed.components else "actor_inference"
        return (
            ("actor_inference" if "critic_inference" in placed.components and not placed.is_auto else "inference") if name == its else name
        )


def _told(refused: Exception) -> str:
    return f"{type(refused).__name__}: {refused}"[:600]


def _too_long(*_: Any) -> None:
    raise TimeoutError("no answer in time")


def main() -> None:
    """Answers every line of standard input."""
    world = World(Path(sys.argv[1]))
    signal.signal(signal.SIGPROF, _too_long)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for line in sys.stdin:
        signal.setitimer(signal.ITIMER_PROF, LIMIT)
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            found = world.answer(json.loads(line))
        signal.setitimer(signal.ITIMER_PROF, 0)
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
