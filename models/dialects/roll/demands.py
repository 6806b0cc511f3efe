"""Demands of workers and strategies on the settings of their roles, as data."""

from __future__ import annotations

from functools import partial
from typing import Any, Iterator

from ...findings.finding import Severity
from ...findings.wording import with_noun
from ...releases.release import Range
from ...text.tree import Scalar
from ..checks import AtLeast, Check, Equals, Facts, Number, OneOf, Requires, run_checks
from . import names
from .job import Role, RoleFacts, RollSetup, whole_of
from .names import (
    ACTOR_INFER,
    ACTOR_TRAIN,
    AT_CREATION,
    AT_LOAD,
    AT_TRAINING,
    AT_UPDATE,
    CONFIG,
    CRITICS,
    DEEPSPEED,
    IN_ENGINE,
    IN_WORKERS,
    MEGATRON,
    REFERENCES,
    SGLANG,
    STRATEGY,
    VLLM,
    WITH_MODEL,
)
from .roles import WHOLE_WORKERS
from .strategies import degrees

MISSING, REFUSED, MATCHES = "PW101", "PW123", "PW403"
_FOLDER = "ROLL, roll/distributed/strategy/"
_MODELS, _PACKING = "ROLL, roll/models/model_providers.py", "ROLL, roll/utils/sequence_packing.py"
_PPO, _SINCE = "ROLL, roll/pipeline/rlvr/rlvr_pipeline.py, agentic/agentic_pipeline.py", Range(since="0.2.0")
_SYNCHRONOUS = (ACTOR_TRAIN, REFERENCES, CRITICS, names.STUDENTS, names.TEACHERS, names.SFT_TRAIN)
"""Parts whose default workers have no asynchronous method: base_worker.py, {distill,sft}_worker.py, dpo/actor_worker.py."""
_LENGTHS = {ACTOR_TRAIN: "train", REFERENCES: "forward"}
_TOKENS = {ACTOR_TRAIN: "train", REFERENCES: "infer"}


def check_demands(setup: RollSetup) -> None:
    """Add what the pipeline, the workers and the strategies of the started roles refuse.

    Of a configuration with unread parts, only the sizes of engines are judged.
    """
    whole = not setup.notes.partial
    run_checks(_of_pipeline(setup) if whole else (), Facts(setup.notes, setup.settings))
    for role in setup.roles:
        if role.created and role.key in setup.components:
            facts = RoleFacts(setup, role)
            run_checks(_of_engine(role), facts)
            run_checks((*_of_worker(setup, role), *_of_strategy(setup, role)) if whole else (), facts)


def _of_pipeline(setup: RollSetup) -> Iterator[Check]:
    rewards = setup.settings.at(names.REWARDS)
    if setup.pipeline.config == names.RLVR and isinstance(rewards, Scalar) and rewards.is_null:
        yield Requires(
            code=MISSING, source="ROLL, roll/pipeline/rlvr/rlvr_config.py", when=AT_LOAD, key=names.REWARDS,
            message=f"`{names.REWARDS}` is null, but ROLL asks for the devices of each reward", help=f"write `{names.REWARDS}: {{}}`",
        )  # fmt: skip


def _of_worker(setup: RollSetup, role: Role) -> Iterator[Check]:
    """Yield the demands of ROLL's own worker, if the role has that."""
    settings, path, kind = setup.settings, role.path, role.part
    if settings.has(path("worker_cls")):
        return
    if kind == ACTOR_TRAIN:
        yield Requires(
            code=MISSING, source="ROLL, roll/configs/base_config.py", when=AT_LOAD, releases=WHOLE_WORKERS, key=path(STRATEGY),
            message=f"`{role.key}` has no `{STRATEGY}`, and ROLL reads its `strategy_name`", help=f"give `{role.key}` a `{STRATEGY}`",
            only_if=lambda facts: facts.settings.at(path(STRATEGY)) is None,
        )  # fmt: skip
    if kind in _SYNCHRONOUS:
        yield Equals(
            code=REFUSED, source="ROLL, roll/distributed/executor/cluster.py", when=AT_CREATION, releases=_SINCE, right=1,
            left=path("max_concurrency"), message=f"{{left}}, but the workers of {role.key} do one thing at a time",
        )  # fmt: skip
    if kind == CRITICS:
        others, values = [name for name in setup.profile.strategies if name.endswith("_train")], ("trl", "auto_token_classification")
        value_model = partial(OneOf, code=REFUSED, source=_MODELS, when=WITH_MODEL)
        yield value_model(
            key=path(f"{STRATEGY}.strategy_name"), values=[name for name in others if name not in MEGATRON],
            message="ROLL has no value model for Megatron, but {left} is `{right}`", only_if=lambda _: role.by_megatron,
        )  # fmt: skip
        yield value_model(key=path("model_args.model_type"), values=values, message="a critic is no `{right}`: {left}")
    if kind in _TOKENS and setup.pipeline.ppo:
        mode = _TOKENS[kind]
        key = path(f"max_tokens_per_microbatch_in_{mode}")
        yield Requires(
            code=REFUSED, source=_PPO, when=AT_TRAINING, releases=Range(since="0.1.3"), key=key, help=f"write `{key}: 16384`, for example",
            message=f"`use_dynamic_batching_in_{mode}` of {role.key} needs `max_tokens_per_microbatch_in_{mode}`",
            only_if=lambda facts: facts.settings.flag(path(f"use_dynamic_batching_in_{mode}"), REFUSED),
        )  # fmt: skip
    if setup.pipeline.config == names.DPO:
        yield Requires(
            code=REFUSED, source="ROLL, roll/pipeline/dpo/dpo_config.py", when=AT_LOAD, releases=_SINCE,
            key=path("use_sequence_packing"), value=False, message="ROLL refuses `use_sequence_packing` in its dpo pipeline",
        )  # fmt: skip


def _stage(facts: Facts) -> Number | None:
    return whole_of("zero_optimization.stage", MATCHES, 0, CONFIG)(facts)


def _world(facts: Facts) -> Number | None:
    world = facts.role.world_size if isinstance(facts, RoleFacts) and facts.role.on_devices else None
    note = "each worker is one data parallel rank"
    return None if world is None else Number(world, f"{facts.subject} has {with_noun(world, 'worker')}", note=note)


def _ranks(facts: Facts) -> Number | None:
    ranks = whole_of("data_parallel_size", MATCHES, 1, CONFIG)(facts)
    return ranks if ranks is not None and ranks.value > 1 else None


def _of_engine(role: Role) -> Iterator[Check]:
    """Yield the demands on the sizes of vLLM and of DeepSpeed."""
    if role.strategy == VLLM:
        yield Equals(
            code=MATCHES, source=f"{_FOLDER}vllm_strategy.py", when=IN_WORKERS, releases=_SINCE, left=_ranks, right=_world,
            message="{left}, but {right}",
        )  # fmt: skip
    elif role.strategy in DEEPSPEED:
        stage = partial(AtLeast, right=1) if role.strategy == DEEPSPEED[0] else partial(Equals, right=3)
        yield stage(code=MATCHES, source=f"{_FOLDER}deepspeed_strategy.py", when=IN_WORKERS, left=_stage)


def _of_strategy(setup: RollSetup, role: Role) -> Iterator[Check]:
    """Yield the demands of the role's strategy on its settings."""
    settings, config = setup.settings, role.config
    if role.strategy:
        yield OneOf(
            code=REFUSED, source="ROLL, roll/configs/worker_config.py", when=AT_LOAD, releases=Range(since="0.3.0"),
            key=role.path("router_replay.mode"), values=("disable", "R3"), message="ROLL does not support {left}: `{right}`",
        )  # fmt: skip
    if role.strategy == SGLANG:
        yield from _of_sglang(setup, role)
    elif role.by_megatron:
        yield from _of_megatron(setup, role)
    if role.is_engine and setup.pipeline.name == "rlvr_rollout" and setup.notes.document.program is not None:
        key, word = config("load_format"), settings.word(config("load_format"), REFUSED)
        loads: dict[str, Any] = {"code": REFUSED, "source": "ROLL, roll/pipeline/rlvr/rlvr_rollout_pipeline.py", "when": AT_LOAD}
        why = "the rollout pipeline gets no weights from training, so its engine must load them"
        yield Requires(key=key, message=why, help=f"write `{key}: auto`", **loads)
        yield OneOf(key=key, message=f"{{left}} is `{{right}}`, but {why}", values=("auto",), only_if=lambda _: word == "dummy", **loads)


def _of_sglang(setup: RollSetup, role: Role) -> Iterator[Check]:
    memory, trained = role.config("mem_fraction_static"), setup.role(ACTOR_TRAIN)
    yield Requires(
        code=REFUSED, source=f"{_FOLDER}sglang_strategy.py", when=IN_ENGINE, severity=Severity.WARNING, key=memory,
        message=f"ROLL reads `mem_fraction_static` of {role.key}, which is not set", help=f"write `{memory}: 0.7`, for example",
        only_if=lambda facts: facts.settings.at(memory) is None,
    )  # fmt: skip
    if trained is not None and role.part == ACTOR_INFER and setup.settings.has(trained.path("model_args.lora_target")):
        yield OneOf(
            code=REFUSED, source=f"{_FOLDER}sglang_strategy.py", when=AT_UPDATE, releases=_SINCE, values=(VLLM,),
            key=role.path(f"{STRATEGY}.strategy_name"), message=f"ROLL updates no adapters (`lora_target` of {trained.key}) in `{{right}}`",
        )  # fmt: skip


def _of_megatron(setup: RollSetup, role: Role) -> Iterator[Check]:
    settings, config, sizes = setup.settings, role.config, degrees(setup, role)
    off = partial(Requires, code=REFUSED, when=IN_WORKERS, value=False)
    yield off(
        source=f"{_FOLDER}megatron_strategy.py", key=config("overlap_param_gather"), message="ROLL does not support `overlap_param_gather`",
    )  # fmt: skip
    yield off(
        source="ROLL, mcore_adapter/training_args.py", key=config("variable_seq_lengths"),
        message="`variable_seq_lengths` needs `moe_token_dispatcher_type: alltoall`",
        help="write `moe_token_dispatcher_type: alltoall` beside it, or remove it",
        only_if=lambda _: settings.word(config("moe_token_dispatcher_type"), REFUSED) in ("", "allgather"),
    )  # fmt: skip
    if sizes is not None and settings.has(config("virtual_pipeline_model_parallel_size")):
        yield AtLeast(
            code=REFUSED, source="Megatron-LM, core/parallel_state.py", when=IN_WORKERS, left=sizes.pp, right=2, edits=False,
            message="`virtual_pipeline_model_parallel_size` needs several pipeline stages, but {left}",
            help=f"remove it, or set `{sizes.pp.name}: 2`",
        )  # fmt: skip
    if settings.flag(role.path("use_sequence_packing"), REFUSED):
        algorithm = role.path("sequence_packing_args.algorithm")
        packs: dict[str, Any] = {"code": REFUSED, "source": _PACKING, "when": AT_TRAINING, "releases": _SINCE}
        yield OneOf(key=algorithm, values=("none", "load_balance"), **packs)
        if role.part in _LENGTHS and settings.word(algorithm, REFUSED) == "load_balance":
            length = role.path(f"sequence_packing_args.max_packed_sequence_length_{_LENGTHS[role.part]}")
            yield Requires(
                key=length, message=f"`{algorithm}: load_balance` needs `{length}`", help=f"write `{length}: 16384`, for example", **packs
            )
