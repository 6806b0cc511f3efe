"""An estimate of what nobody wrote is never an error: it changes neither a verdict nor a placement, and what is said of it is marked, with formula and source."""

from __future__ import annotations

import random
from dataclasses import replace

import placewright as pw
from placewright.models.component import COLOCATED, Component, Parallel, Relation
from placewright.models.estimate import OPTIMIZERS, RECOMPUTED, SHARDINGS, MemoryInput
from placewright.models.findings.finding import Finding, Severity
from placewright.models.job import Job
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.memory.estimate import with_estimates
from placewright.models.model_cards.known import KNOWN
from placewright.models.problem import Problem
from placewright.solver.check import check_explicit
from placewright.solver.verify import advise


def question(draw: random.Random) -> Problem:
    """Two components on small accelerators, each with the estimate of some model; most fit nowhere."""
    components = []
    for name in ("actor", "rollout"):
        amount = draw.choice((2, 4, 8))
        estimate = MemoryInput(
            draw.choice(list(KNOWN)), sharding=draw.choice(SHARDINGS), shards=draw.choice((0, 2)), optimizer=draw.choice(("", *OPTIMIZERS)),
            sequence=draw.choice((0, 1024, 131_072)), micro_batch=draw.choice((1, 64)), recompute=draw.choice(RECOMPUTED),
            sequences=draw.choice((0, 512)), utilization=draw.choice((0, 90)), offload=draw.random() < 0.5, lora_rank=draw.choice((0, 32)),
        )  # fmt: skip
        components.append(Component(name, least=amount, most=amount, parallel=Parallel(tp=draw.choice((1, 2))), estimate=estimate))
    together = draw.random() < 0.5 and components[0].least == components[1].least
    relations = (Relation(COLOCATED, ("actor", "rollout")),) if together else ()
    machines = read_shorthand(draw.choice(("2x8xH100", "2x8x4090")))
    job = with_estimates(Job(tuple(components), relations), states_divisions=False)
    job = replace(job, models={name: replace(use, card=KNOWN[use.path]) for name, use in job.models.items()})
    return Problem(machines, job)  # type: ignore[arg-type]


def silent(problem: Problem) -> Problem:
    """The same without any estimate."""
    components = tuple(replace(each, estimate=None) for each in problem.components)
    return replace(problem, job=replace(problem.job, components=components, models={}))


def is_marked(finding: Finding) -> bool:
    """Does it say that it is an estimate, and of each term how it comes about and from where?"""
    terms = [note for note in finding.notes if " = " in note]
    return "estimate" in finding.message and all(note.endswith(")") and " (" in note for note in terms) and finding.label == "estimated"


def test_an_estimate_changes_neither_verdict_nor_placement() -> None:
    draw, told = random.Random(7), 0
    for _ in range(60):
        problem = question(draw)
        with_, without = (pw.solve(each, sandbox=False) for each in (problem, silent(problem)))
        assert with_.plan is not None and without.plan is not None
        assert with_.plan.assignment == without.plan.assignment and with_.plan.status == without.plan.status
        runs = {name: with_.plan.assignment.runs[name] for name in ("actor", "rollout")}
        given = replace(
            problem, job=replace(problem.job, components=tuple(replace(each, runs=runs[each.name]) for each in problem.components))
        )
        found = [*check_explicit(given), *advise(given)]
        assert not [each for each in found if each.severity is Severity.ERROR]
        warned = [each for each in found if each.code == "PW805"]
        assert all(map(is_marked, warned))
        told += bool(warned)
    assert told > 30
