"""How many processes and replicas the packing modes make of the ranks, and of which settings.

Source: RLinf, rlinf/utils/placement.py, ModelParallelComponentPlacement (_generate_placements, the properties of sizes);
rlinf/workers/megatron_worker.py (data parallel size).
"""

from __future__ import annotations

from ....derivation import DATA_PARALLEL_SIZE, NOT_KNOWN, REPLICA_SIZE, REPLICAS, WORLD_SIZE, Derivation, Figure
from ....findings.wording import with_noun
from ..modes import Placer
from ..modes.degrees import RULE, Degrees, generating, trained
from .inference import inferring
from .shares import Work, figure_of

TRAINED = {Placer.MODEL_PARALLEL: ("actor", "critic"), Placer.MULTI_AGENT: ("actor",)}
"""The components whose degrees the modes read."""


def sizes(work: Work) -> None:
    """The sizes of what trains and of what generates."""
    for role in TRAINED.get(work.mode.placer, ()):
        processes = work.processes(role)
        if processes and work.settings.word(f"{role}.training_backend", RULE) == "megatron":
            _replicas(work, role, processes, trained(work.settings, role))
    for name, its in inferring(work):
        if processes := work.processes(name):
            _replicas(work, name, processes, its)
    if work.mode.packs:
        _engines(work)


def _replicas(work: Work, role: str, processes: int, its: Degrees) -> None:
    degrees = {"tp": its.tp, "pp": its.pp, "cp": its.cp}
    known = [(name, amount) for name, amount in degrees.items() if amount is not None]
    if len(known) < len(degrees):
        return
    size = 1
    for _, amount in known:
        size *= amount.value
    formula, amounts = " x ".join(f"{name} {amount.value}" for name, amount in known), [amount for _, amount in known]
    work.derive(role, REPLICA_SIZE, size, formula, *amounts)
    if processes % size == 0:
        work.derive(role, DATA_PARALLEL_SIZE, processes // size, f"{with_noun(processes, 'process')} // {size} a replica", *amounts)


def _engines(work: Work) -> None:
    """Rollout: a process for each engine of tp x pp; where it shares the actor's accelerators, of tp alone."""
    rollout, processes = work.component("rollout"), work.processes("rollout")
    if rollout is None or not processes:
        return
    its, each = generating(work.settings), rollout.per_process
    if not its.tp or not its.pp or each < its.tp.value:
        why = f"depends on degrees that are not known, or do not fit: see {RULE}"
        work.derivations.append(Derivation("rollout", WORLD_SIZE, NOT_KNOWN, why))
        return
    if each not in (its.tp.value, its.tp.value * its.pp.value):
        return
    engine = f"tp {its.tp.value}" + (f" x pp {its.pp.value}" if each > its.tp.value else "")
    degrees = (its.tp, its.pp) if each > its.tp.value else (its.tp,)
    formula, span = f"{with_noun(processes * each, 'accelerator')} // {each} a process ({engine})", rollout.span("placement")
    placed = [Figure("placement", work.notes.document.excerpt(span), span)] if span else []
    work.derivations.append(Derivation("rollout", WORLD_SIZE, processes, formula, (*placed, *map(figure_of, degrees))))
    work.derive("rollout", REPLICA_SIZE, each, engine, *degrees)
    work.derive("rollout", REPLICAS, processes, f"{with_noun(processes, 'process')}, an engine in each")
