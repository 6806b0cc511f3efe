"""Which model each component runs, and what of it its ranks divide.

Source: verl, verl/trainer/config/ (model.path), verl/models/transformers/monkey_patch.py (Ulysses), verl/workers/megatron_workers.py.
"""

from __future__ import annotations

from ....model_cards import ModelUse, Split, engine_splits, megatron_splits, ulysses_splits
from ....model_cards.places import places_of
from ....text.tree import Mapping as Section
from ..components.parallel import OWNERS, engine, trained
from ..entries import Kind
from .degrees import is_engine
from .notices import AFTER_WEIGHTS, WITH_MODEL
from .runs import run_of
from .work import Work

DIVIDES = "PW404"
POLICY = "actor_rollout_ref.model.path"
PATHS = {"critic": "critic.model.path", "reward_model": "reward_model.model.path"}
STAGED = ("pipeline", "account_for")
"""Parts of the keys by which Megatron is told which layers lie in which stage."""


def read_models(work: Work) -> None:
    """Adds the models of the job to its setup."""
    for component in work.setup.components:
        key = "model.path" if work.setup.entry.kind is Kind.GENERATION else PATHS.get(component.name, POLICY)
        splits = _splits(work, component.name)
        if splits:
            # What verl would load by default, nobody means.
            written = work.settings.has(key) and not work.settings.is_open(key, DIVIDES)
            path = work.settings.word(key, DIVIDES) if written else ""
            work.setup.models[component.name] = ModelUse(
                path or "", key, splits, work.settings.place(key) if written else None, run=run_of(work, component.name)
            )


def _splits(work: Work, name: str) -> tuple[Split, ...]:
    if name == "rollout" or is_engine(work, name):
        owner = "reward_model.rollout" if name == "reward_model" else "actor_rollout_ref.rollout"
        known = engine(work.settings, "rollout" if work.setup.entry.kind is Kind.GENERATION else owner)
        return engine_splits(places_of(**known[1]), AFTER_WEIGHTS) if known else ()
    owner = OWNERS.get(name, "")
    strategy = work.is_trained_by(owner) if owner and work.setup.entry.kind not in (Kind.PROCESSES, Kind.TUNING) else None
    if strategy == "fsdp":
        sequence = work.amount(f"{owner}.ulysses_sequence_parallel_size", DIVIDES)
        return ulysses_splits(sequence.value, places_of(sp=sequence), WITH_MODEL) if sequence else ()
    section = work.setup.section(name) if owner else ""
    known = trained(work.settings, owner, section) if strategy == "megatron" else None
    if known is None:
        return ()
    virtual = work.amount(f"{section}.megatron.virtual_pipeline_model_parallel_size", DIVIDES)
    places = places_of(**known[1], vpp=virtual)
    return megatron_splits(places, known[0].pp, virtual.value if virtual else 1, _even_layers(work, owner), WITH_MODEL)


def _even_layers(work: Work, owner: str) -> bool:
    """Does nobody tell Megatron how many layers lie in which stage?"""
    section = work.settings.at(f"{owner}.megatron.override_transformer_config")
    keys = [entry.key.text for entry in section] if isinstance(section, Section) else []
    return not any(part in key for key in keys for part in STAGED)
