"""Derivations of a job's numbers: world sizes, replicas, memory estimates."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Iterable, Iterator

from ...models.component import Component
from ...models.derivation import CPUS, DATA_PARALLEL_SIZE, PROCESSES_PER_NODE, REPLICA_SIZE, REPLICAS, WORLD_SIZE, Derivation, Figure
from ...models.findings.wording import plural, with_noun
from ...models.job import Share
from ...models.machines.node_group import NODE
from ...models.problem import Problem
from ...models.quantity import write_estimate
from ...models.roles import ROLLOUT
from ...models.text.document import Document
from .needs import ComponentNeed, Needs

SIZES = (WORLD_SIZE, PROCESSES_PER_NODE, REPLICA_SIZE, DATA_PARALLEL_SIZE, REPLICAS, CPUS)
"""Sizes of a component in output order; shares per process follow."""
MAX_SIZES = 4
"""Largest number of different processes-per-node values listed."""


def numbers(problem: Problem, needs: Needs, framework_derivations: Iterable[Derivation], document: Document) -> tuple[Derivation, ...]:
    """Return every derived number: by component, then of the job as a whole.

    `framework_derivations` are the dialect's derivations. They replace general derivations of the same name, as
    they use the framework's formula.
    """
    dialect_derivations, derivations = list(framework_derivations), list[Derivation]()
    for component, need in zip(problem.components, needs.components):
        by_dialect = {derivation.name: derivation for derivation in dialect_derivations if derivation.component == component.name}
        general = {derivation.name: derivation for derivation in _derive(problem, component, need, document)}
        sizes = {name: by_dialect.get(name) or general.get(name) for name in SIZES}
        world, per_node = sizes[WORLD_SIZE], sizes[PROCESSES_PER_NODE]
        if world and per_node and WORLD_SIZE in by_dialect:  # the figures name framework keys
            sizes[PROCESSES_PER_NODE] = replace(per_node, figures=world.figures)
        chain = {name: derivation for name, derivation in by_dialect.items() if name not in SIZES}
        shares = {name: derivation for name, derivation in general.items() if name not in SIZES and name not in chain}
        derivations += [derivation for derivation in (*sizes.values(), *chain.values(), *shares.values()) if derivation]
        derivations += memory(problem, component, document)
    names = {component.name for component in problem.components}
    return (*derivations, *(derivation for derivation in dialect_derivations if derivation.component not in names))


def _derive(problem: Problem, component: Component, need: ComponentNeed, document: Document) -> Iterator[Derivation]:
    if need.processes is None:
        return
    name, processes, figures = component.name, need.processes, _read_figure(component, "placement", document)
    yield Derivation(name, WORLD_SIZE, processes, _world_size(component, need), figures)
    if processes > 1:
        yield Derivation(name, PROCESSES_PER_NODE, *_per_node(problem, name, processes), figures)
    replica = component.parallel.replica
    amount = problem.build_given().amount(name)
    if replica > 1 and need.accelerators:
        degrees = {degree: getattr(component.parallel, degree) for degree in ("tp", "pp", "cp", "dp")}
        formula = " x ".join(f"{degree} {size}" for degree, size in degrees.items() if size > 1)
        parallel = _read_figure(component, "parallel", document)
        yield Derivation(name, REPLICA_SIZE, replica, formula, parallel)
        label = REPLICAS if (component.role or name) == ROLLOUT else DATA_PARALLEL_SIZE
        yield Derivation(
            name, label, amount // replica, _format_division(amount, "accelerators", replica, "a replica"), (*figures, *parallel)
        )
    if component.cpus:
        yield Derivation(name, CPUS, need.cpus, f"{processes} {plural('process', processes)} x {component.cpus}")
    yield from _shares([share for share in problem.shares if share.component == name], processes)


def _world_size(component: Component, need: ComponentNeed) -> str:
    processes, per_process = need.processes or 0, component.per_process
    nodes = sum(count for count, _ in need.layout)
    if need.kind == NODE:
        return f"{processes} {plural('process', processes)} on {nodes} {plural('node', nodes)}"
    noun = plural("accelerator" if need.accelerators else need.kind, need.held)
    if need.held == processes * per_process:
        return f"{need.held} {noun} // {per_process} a process"
    if need.held and processes % need.held == 0:
        return f"{need.held} {noun} x {with_noun(processes // need.held, 'process')} on each"
    return f"{processes} {plural('process', processes)} are written for {need.held} {noun}"


def _per_node(problem: Problem, name: str, processes: int) -> tuple[int | str, str]:
    """Return (processes per node, formula)."""
    counts = problem.build_given().processes_on(name)
    sizes, nodes = list(dict.fromkeys(counts.values())), len(counts)
    formula = f"{with_noun(processes, 'process')} on {with_noun(nodes, 'node')}"
    if len(sizes) == 1:
        return sizes[0], formula
    listing = ", ".join(map(str, sizes)) if len(sizes) <= MAX_SIZES else f"{min(sizes)} to {max(sizes)}"
    return listing, formula


def _shares(shares: list[Share], processes: int) -> Iterator[Derivation]:
    """Yield the share of each process in the amounts of a component."""
    occurrences = Counter(share.noun for share in shares)
    for share in shares:
        name = f"{share.noun} per process" + (f" of {share.amount_name}" if occurrences[share.noun] > 1 else "")
        figures = (Figure(share.amount_name, share.amount, share.span),)
        formula = _format_division(share.amount, share.noun, processes, "")
        yield Derivation(share.component, name, share.amount // max(processes, 1), formula, figures)


def _format_division(amount: int, unit: str, among: int, divisor_name: str) -> str:
    """Return a formula such as `64 samples // 8`, with the remainder."""
    remainder = amount % among if among else amount
    return f"{amount} {unit} // {among}" + (f" {divisor_name}" if divisor_name else "") + (f", {remainder} left over" if remainder else "")


def _read_figure(component: Component, field: str, document: Document) -> tuple[Figure, ...]:
    """Return the figure of a component's field as written in the file."""
    span = component.spans.get(field)
    return (Figure(field, document.excerpt(span), span),) if span else ()


def memory(problem: Problem, component: Component, document: Document) -> Iterator[Derivation]:
    """Yield the memory estimate per accelerator.

    Empty without an estimate, or while count or degrees are open.
    """
    amount = problem.build_given().amount(component.name)
    if not amount and component.least == component.most and len(problem.job.choices.get(component.name, ())) < 2:
        amount = component.least
    if component.estimate is None or not amount:
        return
    from ...models.memory.estimate import estimate_memory
    from ...models.memory.terms import EXACT, mebibytes

    use, capacities = problem.job.models.get(component.name), {node.accelerator_memory for node in problem.cluster.nodes}
    capacity = capacities.pop() if len(capacities) == 1 else None
    estimate = estimate_memory(component, use.card if use else None, component.parallel, amount, capacity)
    if estimate is None:
        return
    for term in estimate.terms:
        between = "" if term.spread == EXACT else f"{write_estimate(mebibytes((term.low,)))} to {write_estimate(mebibytes((term.high,)))}; "
        formula = f"{between}{term.formula}; {term.source}"
        yield Derivation(component.name, f"{term.name} (an estimate)", write_estimate(term.mebibytes), formula)
    staying = f"{write_estimate(estimate.kept)} of it stay" if estimate.kept else "nothing of it stays"
    missing = [f"not counted are {missing}" for missing in estimate.missing]
    between = f"{write_estimate(estimate.low)} to {write_estimate(estimate.high)}"
    formula = "; ".join([between, f"{staying} while another phase runs", *missing, *estimate.assumed])
    total = write_estimate(estimate.mebibytes)
    yield Derivation(
        component.name, "memory on each accelerator (an estimate)", total, formula, _read_figure(component, "estimate", document)
    )
