"""ROLL's own checks, run on questions that come as lines of JSON: ``python own.py CHECKOUT PER_NODE``.

Each answer is the list of the checks at which it fails. What ROLL does only within a process group (the strategies) is not run.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import types
import typing
from collections import defaultdict
from pathlib import Path
from typing import Any, Iterator

sys.path.insert(0, str(Path(__file__).parent))
from stand_ins import install

FAILURES = (AssertionError, ValueError, TypeError, ZeroDivisionError, KeyError, RuntimeError, AttributeError)
NAMES = {"_group": "contiguity", "_pairs": "pairs", "_partial": "partial", "_transfer": "transfer"}


def made(kind: Any, values: Any) -> Any:
    """A dataclass of a map, as dacite makes it: keys that are not known are dropped."""
    if isinstance(values, dict):
        choices = typing.get_args(kind) if typing.get_origin(kind) is typing.Union else (kind,)
        for choice in choices:
            if dataclasses.is_dataclass(choice):
                hints = typing.get_type_hints(choice)
                return choice(**{name: made(hints[name], value) for name, value in values.items() if name in hints})
        inner = next((typing.get_args(choice) for choice in choices if typing.get_args(choice)), ())
        if inner:
            return {name: made(inner[-1], value) for name, value in values.items()}
    return values


class Asked:
    """One configuration."""

    def __init__(self, pipeline: str, config: dict[str, Any]) -> None:
        self.pipeline = pipeline
        self.values = config
        self.config: Any = None

    def failures(self) -> Iterator[str]:
        """The checks at which it fails."""
        try:
            self.config = self._loaded()
        except FAILURES as problem:
            yield f"load: {problem!r}"
            return
        checks = {"rlvr": (self._group, self._pairs), "agentic": (self._group, self._pairs, self._partial), "distill": (self._transfer,)}
        for check in checks.get(self.pipeline, ()):
            try:
                check()
            except FAILURES as problem:
                yield f"{NAMES[check.__name__]}: {problem!r}"

    def _loaded(self) -> Any:
        from roll.pipeline.agentic.agentic_config import AgenticConfig
        from roll.pipeline.distill.distill_config import DistillConfig
        from roll.pipeline.dpo.dpo_config import DPOConfig
        from roll.pipeline.rlvr.rlvr_config import RLVRConfig
        from roll.pipeline.sft.sft_config import SFTConfig

        kinds = {"rlvr": RLVRConfig, "agentic": AgenticConfig, "distill": DistillConfig, "dpo": DPOConfig, "sft": SFTConfig}
        return made(kinds[self.pipeline], self.values)

    def _group(self) -> None:
        from roll.distributed.executor.model_update_group import ModelUpdateGroup

        clusters = [
            types.SimpleNamespace(worker_config=its, workers=[], cluster_name="")
            for its in (self.config.actor_train, self.config.actor_infer)
        ]
        ModelUpdateGroup(*clusters, self.config)

    def _pairs(self) -> None:
        """Every rank sets up its side; those that meet a worker are looked up in the ids of both."""
        train, infer = self.config.actor_train, self.config.actor_infer
        if not set(train.device_mapping) & set(infer.device_mapping):
            return
        each, reached = infer.num_gpus_per_worker, set()
        cluster = types.SimpleNamespace(workers=list(range(infer.world_size)), worker_config=infer)
        for rank in range(train.world_size):
            updater = self._updater(rank, cluster)
            reached |= set(updater._broadcast_workers or ())
            worker = updater._co_infer_worker
            if worker is None:
                continue
            reached.add(worker)
            group = updater._infer_parallel_cpu_group
            held = infer.device_mapping[worker * each : (worker + 1) * each]
            sees = held if infer.strategy_args.strategy_name == "sglang" else [held[group.index(rank)]]
            if train.device_mapping[rank] not in sees:
                raise ValueError(f"rank {rank} on {train.device_mapping[rank]} meets worker {worker} on {held}")
        if reached != set(cluster.workers):
            raise ValueError(f"workers {set(cluster.workers) - reached} are not reached")

    def _updater(self, rank: int, cluster: Any) -> Any:
        train = self.config.actor_train
        name = "megatron" if "megatron" in train.strategy_args.strategy_name else "fsdp2"
        module = __import__(f"roll.third_party.{name}.model_update", fromlist=["_"])
        world = types.SimpleNamespace(
            get_rank=lambda: rank, get_world_size=lambda: train.world_size, new_group=lambda ranks, backend: ranks
        )
        module.dist = world
        kind = module.MegatronWeightUpdater if name == "megatron" else module.FSDP2WeightUpdater
        kind._setup_broadcast_group = lambda self: None
        module.gather_weights_meta_cross_pp = lambda models: None
        options = {"models_unwrapped": []} if name == "megatron" else {"model": None, "is_lora": False}
        return kind(pipeline_config=self.config, worker_config=train, model_update_name="", infer_cluster=cluster, **options)

    def _partial(self) -> None:
        from roll.pipeline.agentic.agentic_pipeline import AgenticPipeline

        config = self.config
        if not config.partial_gpu_mode:
            return
        pipeline = types.SimpleNamespace()
        for name in ("_validate_partial_gpu_config", "_validate_minimum_active_ranks"):
            setattr(pipeline, name, types.MethodType(AgenticPipeline.__dict__[name], pipeline))
        cluster = {
            name: types.SimpleNamespace(worker_config=getattr(config, name))
            for name in ("actor_train", "actor_infer", "critic", "reference")
        }
        pipeline.pipeline_config, pipeline.actor_train, pipeline.actor_infer = config, cluster["actor_train"], cluster["actor_infer"]
        pipeline.reward = types.SimpleNamespace(worker_config=config.reward) if config.reward is not None else None
        if config.enable_reference and config.actor_train.model_args.lora_target is None:
            pipeline.references = {"default": cluster["reference"]}
        if config.adv_estimator == "gae":
            pipeline.critic = cluster["critic"]
        pipeline._validate_partial_gpu_config()

    def _transfer(self) -> None:
        from roll.pipeline.distill.logits_transfer_group import LogitsTransferGroup

        group = object.__new__(LogitsTransferGroup)
        group.src_cluster, group.tgt_cluster = _cluster(self.config.teacher), _cluster(self.config.student)
        if not group.src_cluster or not group.tgt_cluster:
            return
        group.backend, group.edge_info, group.offset = self.config.logits_transfer_backend, {}, 0
        group.broadcast_comm_pan = defaultdict(lambda: defaultdict(list))
        group.p2p_comm_plan = defaultdict(lambda: defaultdict(list))
        group.make_comm_plan()


def _cluster(worker: Any) -> Any:
    """A cluster whose ranks lie as Megatron and FSDP2 number them; None where they do not come out even."""
    strategy = worker.strategy_args.strategy_config
    megatron = "megatron" in worker.strategy_args.strategy_name
    tp, pp, cp = (strategy.get(f"{name}_parallel_size", 1) if megatron else 1 for name in ("tensor_model", "pipeline_model", "context"))
    cp = cp if megatron else worker.model_args.ulysses_size
    world = len(worker.device_mapping)
    if world % (tp * pp * cp):
        return None
    infos = [
        types.SimpleNamespace(
            tp_rank=rank % tp,
            cp_rank=rank // tp % cp,
            dp_rank=rank % (world // pp) // (tp * cp),
            is_pipeline_last_stage=rank // (world // pp) == pp - 1,
        )
        for rank in range(world)
    ]
    devices = {rank: [{"node_rank": id_ // PER_NODE, "gpu_rank": id_ % PER_NODE}] for rank, id_ in enumerate(worker.device_mapping)}
    return types.SimpleNamespace(dp_size=world // (tp * pp * cp), tp_size=tp, worker_rank_info=infos, rank2devices=devices)


if __name__ == "__main__":
    PER_NODE = int(sys.argv[2])
    install(sys.argv[1], PER_NODE)
    for line in sys.stdin:
        asked = json.loads(line)
        print(json.dumps(list(Asked(asked["pipeline"], asked["config"]).failures())), flush=True)
