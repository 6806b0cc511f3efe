"""Which program reads the configuration: the one that a command line starts, else the one that the keys speak for."""

from __future__ import annotations

from ....configuration.notes import Notes
from ....text.program import Program
from ....text.tree import Mapping, Sequence, find
from .entry import Entry, Kind
from .programs import DECLARED, EVALUATION, FULLY_ASYNC, GENERATION, MAIN_PPO, ONE_STEP_OFF, PROCESSES, PROGRAMS, SERVER, SPLIT, VLA

SPEC, TOPOLOGY = "resource_pool_spec", "topology"
_SECTIONS = ("trainer", "actor_rollout_ref", "critic", "reward_model", "rollout", "env", "engine", SPEC, TOPOLOGY)
"""Where the keys stand that speak of placement."""
_SPEAK = ("actor_rollout_ref", "critic", "rollout", "engine", "model.partial_pretrain", "env.disagg_sim", "trainer.n_gpus_per_node")
"""Keys by which a file without a program is one of a known program."""
WORKS_LIKE = "Verify it as the program of verl that places the same roles, such as `-m verl.trainer.main_ppo`"


def entry_of(notes: Notes, root: Mapping, program: Program | None) -> Entry:
    """The program; where nobody names it, that is noted as unchecked."""
    if program is not None and program.name:
        known = _named(program.name)
        if known is not None and known.kind is not Kind.NOTHING:
            return known
        if known is not None or not any(find(root, section) is not None for section in _SECTIONS):
            why = "runs on CPUs" if known else "is not known here, and nothing that is set places anything"
            notes.unsure("PW122", "", f"`{program.name}` {why}", not known, WORKS_LIKE)
            return EVALUATION
        found = _of_keys(root)
        why = f"`{program.name}` is not known here; it is taken to place its roles as `{found.program}` does"
        notes.unsure("PW122", "", why, True, WORKS_LIKE)
        return Entry(program.name, found.kind, found.configuration, (), True, found.trained, found.rolled, found.slots)
    found = _of_keys(root, notes.document.source.name)
    if found is not DECLARED:
        by_keys = any(find(root, key) is not None for key in _SPEAK)
        notes.unsure("PW122", "", f"nothing says which program reads this file; `{found.program}` is assumed", not by_keys, WORKS_LIKE)
    return found


def _named(name: str) -> Entry | None:
    """The program of a module or file name; recipes by their last two words, as they may lie anywhere."""
    words = name.removesuffix(".py").replace("/", ".").strip(".").split(".")
    for size in (len(words), 3, 2, 1):
        tail = words[-size:]
        found = [entry for entry in PROGRAMS if entry.program.split(".")[-size:] == tail]
        if len(found) == 1:
            return found[0]
    return MAIN_PPO if words[-1] == "main_ppo" else None


def _of_keys(root: Mapping, file: str = "") -> Entry:
    if find(root, SPEC) is not None or isinstance(find(root, f"{TOPOLOGY}.device_pools"), Sequence):
        return DECLARED
    named = [entry for entry in PROGRAMS if file.rpartition("/")[2] == f"{entry.configuration}.yaml"]
    if len(named) == 1 and (named[0].own_trainer or named[0] is SPLIT):
        return named[0]
    if find(root, "env.disagg_sim") is not None or find(root, "trainer.n_env_gpus_per_node") is not None:
        return VLA
    if find(root, "async_training") is not None:
        return FULLY_ASYNC
    if find(root, "actor_rollout_ref") is not None or find(root, "algorithm") is not None or find(root, "critic") is not None:
        separate = find(root, "rollout.nnodes") is not None or find(root, "rollout.n_gpus_per_node") is not None
        return ONE_STEP_OFF if separate else MAIN_PPO
    if find(root, "data.n_samples") is not None and find(root, "rollout") is not None:
        return GENERATION
    if find(root, "model.partial_pretrain") is not None or find(root, "engine") is not None:
        return next(entry for entry in PROGRAMS if entry.name == "sft_trainer") if find(root, "engine") is not None else PROCESSES
    return MAIN_PPO


__all__ = ["SERVER", "SPEC", "TOPOLOGY", "entry_of"]
