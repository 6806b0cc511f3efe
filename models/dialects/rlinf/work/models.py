"""Which model each component runs, and what of it its ranks divide.

RLinf pads no vocabulary: it takes that of the checkpoint for the padded one and asserts that the actor's tp divides it.
Source: RLinf, rlinf/config.py (validate_cfg, validate_model_cfg_by_hf_config, build_transformer_config);
rlinf/workers/inference/megatron_inference_worker.py; rlinf/workers/rollout/{sglang,vllm}.
"""

from __future__ import annotations

from dataclasses import replace

from ....component import Parallel
from ....configuration.settings import Amount
from ....model_cards import ModelUse, Split, engine_splits, megatron_splits, vocabulary_split, with_sizes
from ....model_cards.places import places_of
from ..capabilities import AT_LAUNCH
from ..modes import Placer
from ..modes.degrees import INFERENCE, Degrees, generating, inferred, trained
from .runs import runs
from .shares import Work

DIVIDES = "PW404"
MEGATRON = "megatron"
WITH_MODEL = "RLinf notices this only after workers have started, when they build the model"
IN_ENGINE = "RLinf notices this only after workers have started, when they start the engine"


def models(work: Work) -> None:
    """Adds the models of the job to the work. Embodied models on Hugging Face workers divide nothing."""
    task = work.mode.task
    if not task or task == "embodied_eval":
        return
    if task != "reasoning_eval":
        _trained(work, "actor", "actor.model.model_path" if task == "sft" else "rollout.model.model_path")
        if work.settings.flag("critic.use_critic_model", DIVIDES):
            _trained(work, "critic", "rollout.model.model_path")
        for name, role in INFERENCE.items():
            _inferring(work, name, role)
    if work.mode.placer is not Placer.HYBRID:
        its = generating(work.settings)
        _add(work, "rollout", "rollout.model.model_path", its, engine_splits(places_of(tp=its.tp), IN_ENGINE))
    runs(work)


def _trained(work: Work, role: str, key: str) -> None:
    """Only Megatron divides a model; the vocabulary is asserted of the actor alone, but the critic's embedding is as large.

    An engine's tp is at most that of the actor, so it goes down with it.
    """
    if not work.component(role) or work.settings.word(f"{role}.training_backend", DIVIDES) != MEGATRON:
        return
    its = trained(work.settings, role)
    experts = work.settings.whole(f"{role}.model.expert_model_parallel_size", DIVIDES, 1)
    places = places_of(tp=its.tp, pp=its.pp, ep=experts)
    splits = (*megatron_splits(places, when=WITH_MODEL), vocabulary_split(places, AT_LAUNCH if role == "actor" else WITH_MODEL))
    engine = generating(work.settings).tp
    if role == "actor" and work.component("rollout") and work.mode.placer is not Placer.HYBRID and engine:
        splits = tuple(replace(split, at_least=(engine.name, engine.value)) if split.degree == "tp" else split for split in splits)
    _add(work, role, key, its, splits, experts)


def _inferring(work: Work, name: str, role: str) -> None:
    """The model of its role, on ranks of its own with degrees of its own; its experts are not looked at."""
    if not work.component(name) or work.settings.word(f"{role}.training_backend", DIVIDES) != MEGATRON:
        return
    its = inferred(work.settings, role)
    places = places_of(tp=its.tp, pp=its.pp)
    splits = tuple(split for split in megatron_splits(places, when=WITH_MODEL) if split.degree != "ep")
    _add(work, name, "rollout.model.model_path", its, (*splits, vocabulary_split(places, WITH_MODEL)))


def _add(work: Work, name: str, key: str, its: Degrees, splits: tuple[Split, ...], experts: Amount | None = None) -> None:
    component, parallel = work.component(name), its.parallel
    if component is None or parallel is None:
        return
    written = Parallel(parallel.tp, parallel.pp, parallel.cp, experts.value if experts else 1)
    path = work.settings.word(key, DIVIDES)
    if path is not None:
        place = work.settings.at(key)
        work.models[name] = ModelUse(path, key, with_sizes(splits, written, component.parallel), place.span if place else None)
