"""Which model each role runs, and what of it its ranks divide.

Megatron's embedding is as large as the checkpoint has it: ROLL's adapter pads no vocabulary.
Source: ROLL, roll/distributed/strategy/fsdp2_strategy.py (FSDP2StrategyBase._validate_ulysses_compat); mcore_adapter,
models/model_config.py (McaModelConfig.__post_init__) and models/model_factory.py (PretrainedModel.from_pretrained); for the paths
roll/configs/base_config.py (PPOConfig.__post_init__) and the configurations of the other pipelines in roll/pipeline.
"""

from __future__ import annotations

from ....model_cards import ModelUse, Split, engine_splits, megatron_splits, ulysses_splits, vocabulary_split, with_sizes
from ....model_cards.places import places_of
from ..modes.degrees import FSDP2, MEGATRON, SGLANG, VLLM, Degrees, degrees
from ..modes.notices import IN_ENGINE, WITH_MODEL
from ..roles.parts import ACTOR_INFER, ACTOR_TRAIN, CRITICS, REFERENCES, SFT_TRAIN, STUDENTS, TEACHERS
from ..roles.pipelines import DPO
from ..roles.role import Role
from ..roles.setup import Setup
from .runs import is_asked, run_of

DIVIDES = "PW404"
STAGED = ("pipeline_model_parallel_layout", "account_for_embedding_in_pipeline_split", "account_for_loss_in_pipeline_split")
"""Keys by which the layers are not simply dealt out to the stages."""
WITHOUT_ULYSSES = "NPU"
"""Where ROLL takes an ulysses_size of 1 instead. Source: ROLL, roll/platforms/npu.py, `apply_ulysses_patch`."""
MODEL = "model_args.model_name_or_path"
TOGETHER = ((ACTOR_TRAIN, ACTOR_INFER, REFERENCES), (STUDENTS, TEACHERS), (CRITICS,))
"""Parts that all get their models from the top of the file if one of them names none; DPO has no `actor_infer`."""
AT_TOP = {STUDENTS: "student_pretrain", TEACHERS: "teacher_pretrain", CRITICS: "reward_pretrain"}
"""Part -> the key at the top of the file; `pretrain` for all others."""


def models(setup: Setup) -> None:
    """Adds the models of the roles to the setup."""
    for role in setup.roles:
        component = setup.components.get(role.key)
        its = degrees(setup, role) if role.created and component is not None else None
        if its is None or component is None:
            continue
        splits = _splits(setup, role, its)
        key = _key(setup, role)
        path = setup.settings.word(key, DIVIDES) if splits or is_asked(setup, role) else ""
        if (splits or is_asked(setup, role)) and path is not None:
            fixed = splits if component.runs is None else with_sizes(splits, its.parallel, component.parallel)
            place = setup.settings.at(key)
            setup.models[role.key] = ModelUse(path, key, fixed, place.span if place else None, run=run_of(setup, role))


def _splits(setup: Setup, role: Role, its: Degrees) -> tuple[Split, ...]:
    if role.strategy in (VLLM, SGLANG):
        return engine_splits(places_of(tp=its.tp), IN_ENGINE)
    if role.strategy in FSDP2:
        known = not any(each.vendor == WITHOUT_ULYSSES for node in setup.cluster.nodes for each in node.accelerators[:1])
        return ulysses_splits(its.cp.value, places_of(sp=its.cp), WITH_MODEL) if known else ()
    if role.strategy not in MEGATRON:
        return ()
    path = role.config("virtual_pipeline_model_parallel_size")
    virtual = setup.settings.whole(path, DIVIDES, 1, exact=True) if setup.settings.has(path) else None
    places = places_of(tp=its.tp, pp=its.pp, ep=its.ep, vpp=virtual)
    splits = megatron_splits(places, its.pp.value, virtual.value if virtual else 1, _even_layers(setup, role), WITH_MODEL)
    return (*splits, vocabulary_split(places, WITH_MODEL))


def _even_layers(setup: Setup, role: Role) -> bool:
    """Does nobody tell Megatron how many layers lie in which stage?"""
    return not any(setup.settings.has(role.config(key)) for key in STAGED)


def _key(setup: Setup, role: Role) -> str:
    """Where the path of its model is written."""
    own = role.path(MODEL)
    if role.part == SFT_TRAIN:
        return "pretrain"
    for parts in TOGETHER:
        if role.part in parts:
            asked = [part for part in parts if setup.pipeline.config != DPO or part != ACTOR_INFER]
            members = [next(setup.declared(part), None) for part in asked]
            if role in members and not all(each and setup.settings.has(each.path(MODEL)) for each in members):
                return AT_TOP.get(role.part, "pretrain")
    return own
