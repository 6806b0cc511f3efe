"""Contradictions between hints, or between hints and the cluster, before any search."""

from __future__ import annotations

from dataclasses import replace
from typing import Collection, Iterator, Mapping, Sequence

from ..component import APART, BETWEEN_DOMAINS, KEYS, NOT_FEWER, TOGETHER, UNBOUNDED, WHOLE, Component, Parallel, Relation
from ..estimate import MEGATRON, NONE, TRAINABLE
from ..findings.finding import Finding, Severity, error, warning
from ..findings.span import Span
from ..findings.wording import with_noun
from ..machines.cluster import Cluster
from ..machines.node_group import NODE
from ..machines.topology import LEVELS, NUMA
from ..memory.work import optimizer_of
from ..parallel import UNDIVIDED
from ..quantity import write_counts, write_memory
from ..text.edit import correct_name
from .amount import multiples

UNNAMED = "PW127"


def topology_of(component: Component, cluster: Cluster) -> Iterator[Finding]:
    """Yield faults of a component's demands on the topology."""
    for keep in component.keep:
        if keep.domains == 1 and not has_level(cluster, keep.level):
            yield unnamed_level(component.name, keep.level, f"`keep` of {keep.unit} holds by itself", keep.span)
    for spread in component.spread:
        if not has_level(cluster, spread.level) and (spread.domains > 1 or spread.percent < 100):
            yield unnamed_level(component.name, spread.level, "`spread` cannot be kept", spread.span, Severity.ERROR)
    name, span = component.name, component.span("offloaded")
    if component.offloaded and not component.phases:
        message = f"`{name}` has no phase, so that it is never offloaded"
        yield error("PW121", name, message, span, help="name its phase, such as `phase: train`, or drop `offloaded`")
    elif component.memory and component.offloaded > component.memory:
        message = f"`{name}` keeps {write_memory(component.offloaded)} while it is offloaded, more than the {write_memory(component.memory)} that it needs"
        yield error("PW121", name, message, span, help="write less, or more `memory`")


def has_level(cluster: Cluster, level: str) -> bool:
    """Return True if any node names a domain of the level."""
    if level == NUMA:
        return any(stretch.node.numa_domains > 1 for stretch in cluster.alike)
    return level not in LEVELS or any(stretch.node.topology.get(level) for stretch in cluster.alike)


def unnamed_level(name: str, level: str, consequence: str, span: Span | None, severity: Severity = Severity.WARNING) -> Finding:
    """Return the finding of a level of the topology that no node names."""
    unknown = "no node says how many NUMA domains it has" if level == NUMA else f"no node names its {level}: all are in one"
    example = "accelerators: {count: 8, numa: 2}" if level == NUMA else f"topology: {{{level}: {level[0]}1}}"
    help_ = f"give the nodes of the cluster `{example}`"
    return Finding(UNNAMED, severity, name, f"{unknown}, so {consequence}", span, label="not named by any node", help=help_)


def check_consistency(
    components: Sequence[Component], relations: list[Relation], choices: Mapping[str, tuple[Parallel, ...]], cluster: Cluster,
    findings: list[Finding], further: Sequence[Relation], without_verdict: Collection[str] = (), without_division: Collection[str] = (),
) -> None:  # fmt: skip
    """Collect the faults of components and relations in `findings`.

    Relations to unknown components are removed.

    Parameters
    ----------
    further : those of the relations that are not keys of a component.
    without_verdict : components of unknown size, due to faulty hints of their own or of a related
        component.
    without_division : components whose framework divides nothing by their degrees.
    """
    by_name = {component.name: component for component in components}
    wrong = []
    for relation in list(relations):
        key = f"relation `{relation.kind}`" if any(relation is extra for extra in further) else f"`{KEYS[relation.kind]}`"
        faults = list(_relation(relation, by_name, cluster, key, without_verdict))
        findings += faults
        if any(fault.severity is Severity.ERROR for fault in faults):
            relations.remove(relation)
            wrong.append(relation)
    sizes = _sized_components(components, relations, without_verdict)
    for component in components:
        has_size = component.name in sizes or any(r.kind in TOGETHER and component.name == r.components[0] for r in wrong)
        degrees = (UNDIVIDED,) if component.name in without_division else choices.get(component.name, (component.parallel,))
        findings += _component(component, degrees, has_size, cluster)


def _sized_components(components: Sequence[Component], relations: Sequence[Relation], without_verdict: Collection[str]) -> set[str]:
    """Return the components of known size: their own, shared, chosen by time, or `without_verdict`."""
    size_keys = {"amount", "placement"}
    with_size = {
        component.name for component in components if component.runs is not None or component.timed or size_keys & component.spans.keys()
    }
    with_size |= set(without_verdict)
    growing = True
    while growing:
        neighbours = {name for r in relations if r.kind in TOGETHER and with_size & set(r.components) for name in r.components}
        growing = not neighbours <= with_size
        with_size |= neighbours
    return with_size


def _meaningless_hints(component: Component, choices: tuple[Parallel, ...]) -> Iterator[Finding]:
    """Yield faults for accelerator hints of a component counted in processes on nodes."""
    values = {
        "accelerator": component.accelerator_model, "memory": component.memory, "estimate": component.estimate, "contiguous": component.contiguous,
        "parallel": choices != (Parallel(),), "offloaded": component.offloaded,
    }  # fmt: skip
    hints = [(key, component.span(key)) for key, value in values.items() if value]
    hints += [(f"keep.{keep.unit}", keep.span) for keep in component.keep if keep.unit != WHOLE or keep.level == NUMA]
    for key, span in hints:
        message = f"`{key}` has no meaning for `{component.name}`, whose node group numbers nodes"
        yield error("PW121", component.name, message, span, help=f"drop `{key}`, or name a group with accelerators")


def _relation(
    relation: Relation, by_name: Mapping[str, Component], cluster: Cluster, key: str, without_verdict: Collection[str]
) -> Iterator[Finding]:
    """Yield faults of a relation: first in the names, then in the placement."""
    name, names = relation.components[0], [*dict.fromkeys((*by_name, *sorted(without_verdict)))]
    for target in relation.components:
        if target not in by_name:
            candidates = ", ".join(f"`{candidate}`" for candidate in names if candidate != name)
            advice, edit = correct_name(target, names, relation.span, f"name one of {candidates}")
            message = f"`{name}` names `{target}` in {key}, which is not a component"
            yield error("PW121", name, message, relation.span, label="not a component", help=advice, edit=edit)
            return
    if len(set(relation.components)) < len(relation.components):
        yield error("PW121", name, f"`{name}` names itself in {key}", relation.span, help="name another component")
    elif relation.kind in BETWEEN_DOMAINS:
        if not has_level(cluster, relation.level):
            consequence, severity = (
                ("cannot be apart", Severity.ERROR) if relation.kind == APART else ("are near by themselves", Severity.WARNING)
            )
            yield unnamed_level(name, relation.level, f"`{name}` and `{relation.components[1]}` {consequence}", relation.span, severity)
    elif relation.kind != NOT_FEWER:
        components = [by_name[component] for component in relation.components]
        yield from _comparability_faults(relation, components, key, cluster)


def _comparability_faults(relation: Relation, components: Sequence[Component], key: str, cluster: Cluster) -> Iterator[Finding]:
    """Yield faults of relations between accelerators: none, or ranges in different numberings."""
    first = components[0]
    kinds = [cluster.kind(component.node_groups) for component in components]
    strange = next((position for position, kind in enumerate(kinds) if kind == NODE or kind != kinds[0]), None)
    if strange is not None:
        second = components[strange] if strange else components[1]
        message = f"`{first.name}` is placed on {kinds[0]}s and `{second.name}` on {cluster.kind(second.node_groups)}s: they cannot be compared by accelerator"
        yield error("PW121", first.name, message, relation.span, help=f"drop {key}, or name a node group with accelerators")
    contiguous = [component for component in components if component.contiguous]
    if relation.kind in TOGETHER and len({component.node_groups for component in contiguous}) > 1:
        message = f"`{first.name}` and `{components[1].name}` are both contiguous, in the numberings of different node groups"
        yield error("PW121", first.name, message, relation.span, help="give both the same `node_group`")


def _component(component: Component, choices: tuple[Parallel, ...], has_size: bool, cluster: Cluster) -> Iterator[Finding]:
    name = component.name
    if component.stride > 1 and not component.contiguous:
        message = f"`{name}` has stride {component.stride} but is not contiguous"
        yield error("PW121", name, message, component.span("stride"), help="add `contiguous: true`, or drop `stride`")
    yield from _unnamed_phases(component)
    yield from topology_of(component, cluster)
    if cluster.kind(component.node_groups) == NODE:
        yield from _meaningless_hints(component, choices)
        return
    if component.runs is not None or "placement" in component.spans:
        return  # the rules judge what was placed
    if not has_size:
        message = f"the size of `{name}` is unknown"
        yield error("PW101", name, message, component.span("name"), label="no amount", help="add `accelerators:` or `processes:`")
    for parallel in choices:
        per_process = component.per_process
        if parallel.tp % per_process and per_process % parallel.tp and "per_process" in component.spans:
            message = f"processes of {per_process} accelerators and tp groups of {parallel.tp} do not nest in `{name}`"
            yield error("PW121", name, message, component.span("parallel"), help="make one a multiple of the other")
            return
    lower, upper = component.least, component.most
    steps = [replace(component, parallel=parallel).step for parallel in choices]
    counts = component.counts or ((lower, upper),)
    if upper < UNBOUNDED and not any(-(-low // step) * step <= high for low, high in counts for step in steps):
        step = steps[0]
        request = write_counts(counts)
        noun = "accelerator" if upper == 1 else "accelerators"
        none = "no multiple" if len(counts) == 1 and lower == upper else "none of which is a multiple"
        message = f"`{name}` asks for {request} {noun}, {none} of {step} ({choices[0]}, {component.per_process} a process)"
        advice = multiples(component, choices[0], step, cluster)
        yield error("PW208", name, message, component.span("amount"), label=f"no multiple of {step}", help=advice, amount=lower % step)


def _unnamed_phases(component: Component) -> Iterator[Finding]:
    """Yield a warning for times in a phase that `phase` omits: no memory counts in it."""
    if component.timed is None or not {"seconds", "phase"} <= component.spans.keys():
        return
    phases = " and ".join(f"`{phase}`" for phase in component.phases)
    for phase in component.timed.phases:
        if phase and phase not in component.phases:
            message = f"`{component.name}` has times for the phase `{phase}`, and its `phase` says {phases}"
            help_ = "name all its phases in `phase`, or leave that out: its times name them"
            yield warning("PW121", component.name, message, component.span("phase"), label=f"not `{phase}`", help=help_)


def explain_unlikely(component: Component) -> tuple[str, str, str] | None:
    """Return (message, key, help) of an impossible estimate."""
    estimate = component.estimate
    if estimate is None:
        return None
    if estimate.parameters and estimate.trainable > estimate.parameters:
        message = f"`{component.name}` trains {estimate.trainable:,} of {estimate.parameters:,} parameters"
        return message, "trainable", "write fewer, or leave it out where all are trained"
    if estimate.shards and "sharding" in estimate.written and estimate.sharding in (NONE, MEGATRON):
        message = f"`{component.name}` divides nothing among {with_noun(estimate.shards, 'rank')} with `sharding: {estimate.sharding}`"
        return message, "shards", "leave it out, or write a `sharding` that divides"
    if optimizer_of(component) != NONE and estimate.precision not in TRAINABLE and not (estimate.trainable or estimate.lora_rank):
        trainable = "one of " + ", ".join(f"`{word}`" for word in TRAINABLE)
        message = f"`{component.name}` trains all its weights in `{estimate.precision}`, which no trainer supports"
        return message, "precision", f"write {trainable}, or `trainable: 40M` where adapters are trained"
    return None
