"""The processes of rollout with degrees that are chosen, for it or for the actor.

Source: RLinf, rlinf/utils/placement.py, ModelParallelComponentPlacement._generate_placements.
"""

from __future__ import annotations

from itertools import product

from ....component import Parallel
from ....planning.way import Multiple, Paired, Shape
from .degrees import Degrees
from .parts import Parts
from .undivided import FSDP, of_undivided
from .weights import CODE, looks, matched


def collocated(actor: int, rollout: int, fsdp: bool) -> Shape | None:
    """Rollout on the accelerators of the actor, from the tp of both: its engines interleave; None if they do not go together.

    Of `fsdp` with a tp that is smaller than that of rollout, and not 1, no rank finds the one that it hands its weights to.
    """
    if (actor > rollout and actor % rollout) or (fsdp and 1 < actor < rollout):
        return None
    return Shape(rollout, max(actor // rollout, 1), Parallel(rollout))


def apart(parallel: Parallel) -> Shape:
    """Rollout on accelerators of its own, with these degrees: whole engines."""
    return Shape(parallel.tp * parallel.pp, 1, parallel)


def paired_degrees(parts: Parts, actor: Degrees, rollout: Degrees, together: bool) -> tuple[Paired, ...]:
    """What becomes of rollout with every choice of degrees; nothing where neither it nor the actor has one, or the other's are not known.

    A megatron actor takes rollout of at most its own tp (see presence.py). Stages of rollout do nothing where it shares the actor's
    accelerators: there it is as with one alone, where that is a choice too.
    """
    found: dict[tuple[Parallel | None, Parallel | None], Shape] = {}
    mine, its = parts.choices.get("rollout", ()), parts.choices.get("actor", ())
    if not mine and not its:
        return ()
    backend = parts.settings.word("actor.training_backend", CODE)
    for one, other in product(mine or (None,), its or (None,)):
        engine, trained = one or rollout.parallel, other or actor.parallel
        if engine is None or trained is None:
            return ()
        if backend == "megatron" and engine.tp > trained.tp:
            continue
        if together and engine.pp > 1 and any((each.tp, each.pp) == (engine.tp, 1) for each in mine):
            continue
        if together:
            shape = collocated(trained.tp, engine.tp, backend == FSDP)
        else:
            shape = apart(engine) if not looks(parts) or trained.tp % engine.tp == 0 else None
        if shape is not None:
            found[one, other] = shape
    return (Paired("rollout", "actor", found),)


def multiples(parts: Parts, actor: Degrees, rollout: Degrees) -> tuple[Multiple, ...]:
    """What must hold of the numbers of accelerators apart, with each choice of degrees. Of pipeline stages of rollout nothing is known."""
    mine, its = parts.choices.get("rollout", ()), parts.choices.get("actor", ())
    if not mine and not its:
        found = matched(parts, actor, rollout)
        return () if found is None else (found,)
    engines = [each for each in mine or (rollout.parallel,) if each is not None and each.pp == 1]
    whatever = not mine or len(engines) == len(mine)
    if not looks(parts) or not engines:
        return ()
    steps: list[tuple[Parallel | None, int]] = [(each, each.tp) for each in its]
    if not its and actor.parallel:
        steps.append((None, actor.parallel.tp))
    return tuple(
        Multiple("rollout", "actor", step, engine, trains) for engine in ([None] if whatever else engines) for trains, step in steps
    )


def equal_counts(parts: Parts, actor: Degrees) -> tuple[Multiple, ...]:
    """What must hold of the number of accelerators that rollout shares with what FSDP trains, with each choice of its tp.

    Engines interleave in whole groups of that tp. Megatron is on whole replicas anyway.
    """
    if parts.settings.word("actor.training_backend", CODE) != FSDP:
        return ()
    its = parts.choices.get("actor", ())
    steps: list[tuple[Parallel | None, int]] = [(each, each.tp) for each in its] or ([(None, actor.tp.value)] if actor.tp else [])
    return tuple(Multiple("rollout", "actor", step, None, trains, equal=True) for trains, step in steps if step > 1)


def of_choices(parts: Parts) -> dict[str, dict[Parallel, Shape]]:
    """The processes of rollout and of what trains by themselves, with each choice of their degrees, where their ranks are planned."""
    mine = parts.choices.get("rollout", ()) if "rollout" in parts.planned else ()
    found = {"rollout": {parallel: apart(parallel) for parallel in mine}} if mine else {}
    return {**found, **of_undivided(parts)}
