"""verl job: components of its pools, what hints leave open, and derivations of numbers.

verl's keys state pool sizes, so a hinted component leaves its pool open: the block `placewright:`
names one of its components and the file itself does not write both keys of its size. With seconds
for one component, the pool is planned even if both keys are written, here or in a text of
`defaults`; the written size is the baseline of the plan.
"""

from __future__ import annotations

from dataclasses import field, replace
from itertools import combinations
from typing import Collection, Iterator, Mapping, Sequence

from ... import roles
from ...component import COLOCATED, DISJOINT, UNBOUNDED, Component, Parallel, Relation
from ...configuration.settings import Amount
from ...derivation import Derivation
from ...findings.finding import Severity
from ...findings.span import Span
from ...findings.wording import with_noun
from ...hints.block import find_plan_keys, hinted_entries, timed_names, without
from ...job import HintedJob, Job
from ...machines.cluster import Cluster
from ...model_cards import ModelUse
from ...parallel import DEGREES as DEGREE_NAMES
from ...pools import DeclaredPools, Laying, Pool
from ...record import dataclass
from ...text.nearest import nearest
from ...text.tree import MapNode, Scalar, Value
from ...times import as_it_runs, usual_order
from ..pool_sizes import Changes, Errors, Found, SizeReader, accepted_sizes, find_changes
from ..skeleton import HINTS
from .configuration import SEQUENCE, Configuration
from .degrees import APART, OWNERS, TUNES, Degrees, degrees_in, is_engine, is_teacher, leader_of, own_amounts, place_of, section_of
from .programs import FULLY_ASYNC, TRAINERS, ProgramKind

REASON = "verl runs all roles of a pool in the same processes"
DEGREES, FIT, PLANNED = "PW208", "PW215", "PW604"
MEND = "fix this and plan again: until then, of the counts that verl refuses, those are planned that have fewest such reasons"
SEPARATE = "no two pools of verl have an accelerator in common"
STALE, STEPS = "async_training.staleness_threshold", "async_training.trigger_parameter_sync_step"
NAMES = {
    roles.ACTOR: "actor", roles.ROLLOUT: "rollout", roles.REFERENCE: "ref", roles.CRITIC: "critic", roles.REWARD: "reward_model",
    roles.ENVIRONMENT: "env",
}  # fmt: skip
"""Role -> name of verl's component. Source: verl, verl/trainer/ppo/utils.py, Role."""
_ROLES = {name: role for role, name in NAMES.items()} | {APART: roles.ROLLOUT}


@dataclass
class VerlSetup:
    """Job with derivations and models; checks change the components.

    Attributes
    ----------
    settings : values by dotted path.
    declared : pools of a known size.
    components : components, with ranks if known.
    """

    settings: Configuration
    declared: DeclaredPools
    components: tuple[Component, ...]
    derivations: list[Derivation] = field(default_factory=list)
    models: dict[str, ModelUse] = field(default_factory=dict)

    @property
    def pools(self) -> tuple[Pool, ...]:
        """Pools of a known size."""
        return self.declared.pools

    def component(self, name: str) -> Component | None:
        """Return the component of this name; None if there is none."""
        return next((candidate for candidate in self.components if candidate.name == name), None)

    def change(self, before: Component, after: Component) -> None:
        """Replace a component."""
        self.components = tuple(after if component is before else component for component in self.components)

    def pool(self, component: str) -> Pool | None:
        """Return the pool of a component; None if the size is open."""
        return next((pool for pool in self.pools if component in pool.components), None)

    def degrees(self, component: str) -> Degrees | None:
        """Return the degrees of a component with their settings; None if unknown."""
        return degrees_in(self.settings, self.pool(component), component)

    def world_size(self, component: str) -> int | None:
        """Return the number of processes, regardless of hints; None if unknown."""
        pool = self.pool(component)
        return None if pool is None or self.component(component) is None else self.declared.size(component, pool)

    def is_whole(self, component: Component) -> bool:
        """Return True if a component forms whole replicas, on single nodes or on whole nodes."""
        pool, ranks, size = self.pool(component.name), self.world_size(component.name), component.parallel.replica
        if pool is None or ranks is None or ranks % size:
            return False
        part_size = pool.parts[0].size
        return component.name != "rollout" or not (part_size % size and size % part_size)


def components_of(settings: Configuration, declaration: DeclaredPools, sized_pools: Collection[Pool]) -> tuple[Component, ...]:
    """Return all components of the pools, without ranks; unknown degrees are 1."""
    if not declaration.pools and settings.entry.kind in TRAINERS:
        # Report wrong degrees even if the size is unknown.
        degrees_in(settings, None, "actor")
    return tuple(
        _component(settings, pool, name, declaration.size(name, pool), pool in sized_pools)
        for pool in declaration.pools
        for name in pool.components
    )


def _component(settings: Configuration, pool: Pool, name: str, size: int, has_size: bool) -> Component:
    parallel, amounts = degrees_in(settings, pool, name) or (Parallel(), dict[str, Amount]())
    is_follower = name in OWNERS and section_of(pool, name) != OWNERS[name] and not is_engine(settings, name)
    if (is_follower or is_teacher(name)) and has_size and size % parallel.replica:
        parallel, amounts = Parallel(), {}  # reported for the role that owns the degrees, or with the pool of teachers
    spans: dict[str, Span] = {key: place for key in ("size", "count", "name") if (place := pool.spans.get(key))}
    if place := pool.span("size"):
        spans |= dict.fromkeys(("name", "placement", "amount"), place)
    if degrees := place_of(amounts):
        spans["parallel"] = degrees
    role = roles.STUDENT if settings.entry.kind in TUNES and name == "actor" else roles.TEACHER if is_teacher(name) else _ROLES[name]
    strategy = (settings.word(f"{OWNERS[name]}.strategy", DEGREES) if name in OWNERS else "") or ""
    backend = "fsdp" if strategy == "fsdp2" else strategy
    cpus = pool.cpus if name == pool.components[0] else 0  # a pool reserves CPUs once
    return Component(name, least=size, most=size, parallel=parallel, spans=spans, cpus=cpus, role=role, backend=backend)


def relations_of(declaration: DeclaredPools) -> tuple[Relation, ...]:
    """Colocate the components of a pool, except components on a part of the pool."""
    return tuple(
        Relation(COLOCATED, (name, pool.components[0]), pool.span("name"), REASON)
        for pool in declaration.pools
        for name in pool.components[1:]
        if name not in declaration.ranges
    )


def derive_sizes(setup: VerlSetup) -> Iterator[Derivation]:
    """Yield the derivations of pool sizes, world sizes, replicas and data parallel sizes."""
    for pool in setup.pools:
        keys = (pool.nodes_key, pool.accelerators_key)
        amounts = [setup.settings.whole(key, FIT) for key in keys if key and not key.startswith("--")]
        figures = tuple(amount.figure for amount in amounts if amount is not None)
        yield Derivation("", pool.name, pool.size, f"{pool.sizes} accelerators", figures)
        for component in setup.components:
            ranks = setup.world_size(component.name) if component.name in pool.components else None
            if ranks is not None:
                formula = f"{ranks} of the {with_noun(pool.size, 'accelerator')} of {pool.name}"
                yield Derivation(component.name, "world size", ranks, formula, figures)
                yield from _derive_degrees(setup, component, ranks)


def _derive_degrees(setup: VerlSetup, component: Component, ranks: int) -> Iterator[Derivation]:
    settings, size, name = setup.settings, component.parallel.replica, component.name
    if is_engine(settings, name):
        if (degrees := setup.degrees(name)) is not None:
            figures = tuple(amount.figure for amount in degrees[1].values() if amount.span or amount.default)
            parallel = component.parallel
            yield Derivation(name, "replica size", size, f"tp {parallel.tp} x dp {parallel.dp} x pp {parallel.pp}", figures)
            yield Derivation(name, "replicas", ranks // size, f"{ranks} // {size}", figures)
        return
    if name not in OWNERS or name == "reward_model" or settings.entry.kind in TUNES or (trains := setup.degrees(name)) is None:
        return
    if size > 1:
        figures = tuple(amount.figure for amount in trains[1].values())
        yield Derivation(name, "data parallel size", ranks // size, f"{ranks} // tp x pp x cp = {size}", figures)
    elif (divisor := settings.whole(settings.sequence_key(OWNERS[name]), DEGREES, 1)) is not None:
        formula = f"{ranks} // {divisor.value} sequence parallel" if divisor.value > 1 else str(ranks)
        yield Derivation(name, "data parallel size", ranks // divisor.value, formula, (divisor.figure,))


# -- hints


def is_open(settings: Configuration, pool: Pool) -> bool:
    """Return True if the size of a pool is left to hints."""
    keys = (pool.nodes_key, pool.accelerators_key)
    if not all(keys) or pool.nodes_key.startswith("--") or pool.nodes_key in settings.instead:
        return False
    block, names = settings.tree(HINTS), set(pool.components)
    if timed_names(block) & names:
        return settings.anew or not all(map(settings.has, keys))
    files = (settings.notes.document.source.name, "--set")
    values = map(settings.at, keys)
    return bool(set(hinted_entries(block)) & names) and not all(
        isinstance(value, Scalar) and not value.is_null and value.span.file in files for value in values
    )


def open_component(component: Component) -> Component:
    """Return the component with open amount and place."""
    spans = {name: span for name, span in component.spans.items() if name not in ("placement", "amount")}
    return replace(component, runs=None, least=1, most=UNBOUNDED, counts=(), spans=spans)


def add_hints(
    settings: Configuration, cluster: Cluster, components: tuple[Component, ...], relations: tuple[Relation, ...],
    pools: Sequence[Pool], follow: bool,
) -> HintedJob:  # fmt: skip
    """Add hints to the components and relations; unplanned degrees stay verl's.

    `follow`: degrees may follow from the size of a pool or from another choice, so that a plan
    judges a count with the resulting degrees.
    """
    block, by_name = settings.tree(HINTS), {component.name: component for component in components}
    # Unreadable pools have findings of their own.
    unknown = {name: entry for name, entry in hinted_entries(block).items() if name not in by_name} if by_name else {}
    for name, entry in unknown.items():
        close = nearest(name, list(by_name))
        help_ = f"write `{close}`" if close else f"name one of {', '.join(by_name)}"
        # No edit: hints for another component may open a pool that lacks other settings.
        settings.notes.error("PW121", name, f"`{name}` is not a component of this job", entry.key.span, "", help_)
    block = without(block, unknown)
    if block is None or not by_name:
        return HintedJob(components, relations)
    from ...hints.block import add_block

    tied_names = [name for name in timed_names(block) if find_hint(block, name) is None] if follow else []
    draft = add_block(block, cluster, components, settings.notes.findings, relations, tied_names)
    hinted_components, choices = [], dict[str, tuple[Parallel, ...]]()
    for component in draft.components:
        before, name = by_name[component.name], component.name
        for key, field_name in (("accelerators_per_process", "per_process"), ("cpus", "cpus")):  # verl fixes the fields
            hint, hint_value, verl_value = find_hint(block, name, key), getattr(component, field_name), getattr(before, field_name)
            if hint is not None and hint_value != verl_value:
                message = f"`{key}` of `{name}` is {hint_value}, but verl makes it {verl_value or 'none'}"
                settings.notes.error("PW121", name, message, hint, "differs", f"leave `{key}` out of the hints")
        component = replace(component, per_process=before.per_process, cpus=before.cpus)
        parallel = find_hint(block, name)
        if parallel is not None and component.timed:
            amounts = own_amounts(settings, pools, name)
            open_ = _open_degrees(settings, name, draft.choices.get(name, (component.parallel,)), amounts, parallel)
            if settings.anew and component.runs is None and open_:
                choices[name] = open_
        elif parallel is not None and component.parallel != before.parallel:
            message = f"the hints of `{name}` say {component.parallel}, verl's own keys {before.parallel}"
            settings.notes.error("PW121", name, message, parallel, "differs", "leave `parallel` out of the hints")
        hinted_components.append(replace(component, parallel=before.parallel))
    known_relations = tuple(relation for relation in draft.relations if set(relation.components) <= set(by_name))
    links = tuple(link for link in draft.links if {link.source, link.target} <= set(by_name))
    return HintedJob(tuple(hinted_components), known_relations, choices, links=links, preference=draft.preference, workload=draft.workload)


def find_hint(block: Value | None, name: str, key: str = "parallel") -> Value | None:
    """Return the value of a component's hint, by default the degrees; None if unset."""
    entry = hinted_entries(block).get(name)
    return entry.value.get(key) if entry is not None and isinstance(entry.value, MapNode) else None


def _open_degrees(
    settings: Configuration, name: str, choices: tuple[Parallel, ...], amounts: Mapping[str, Amount], at: Value
) -> tuple[Parallel, ...]:
    """Return the choices that verl's keys can state; add an error for the rest."""
    strange = [parallel for parallel in choices if any(degree not in amounts and getattr(parallel, degree) != 1 for degree in DEGREE_NAMES)]
    if strange:
        keys = ", ".join(f"`{amount.name}`" for amount in amounts.values())
        reason = f"verl takes its degrees from {keys}" if amounts else "verl has no key for degrees of its own"
        help_ = "write degrees that have a key" if amounts else "leave `parallel` out of the hints"
        if strange[0].cp > 1 and "cp" not in amounts and name in OWNERS:
            reason = f"`{OWNERS[name]}.{SEQUENCE}` is taken as the file has it: no plan chooses it"
        message = f"the hints of `{name}` leave {strange[0]} open, and {reason}"
        settings.notes.error("PW121", name, message, at, "cannot be expressed", help_)
    return tuple(parallel for parallel in choices if parallel not in strange)


# -- sizes of open pools


def judge_size(setup: VerlSetup, pool: Pool, before: Collection[tuple[str, str]]) -> Found:
    """Return the errors of the components of a pool, torn replicas included, and all degrees.

    An error of a key that is not in `before`, (code, subject) of the file's own errors, counts for
    all components: the number results from this size.
    """
    findings = (*setup.settings.notes.findings, *setup.settings.unresolved)
    errors = {(finding.code, finding.subject): finding.message for finding in findings if finding.severity is Severity.ERROR}
    names = [known_pool.name for known_pool in setup.pools] + [component.name for component in setup.components]
    job_subjects = {*names, *(subject for _, subject in before)}
    by_component: dict[str, Errors] = {}
    for name in pool.components:
        subjects = ("", pool.name, name)
        own_errors = [(code, message) for (code, subject), message in errors.items() if subject in subjects or subject not in job_subjects]
        component = setup.component(name)
        if component is not None and not setup.is_whole(component):
            own_errors.append(("", f"its replicas of {component.parallel} would be torn"))
        by_component[name] = own_errors
    return by_component, {component.name: component.parallel for component in setup.components}


def laying_of(job: Job, settings: Configuration, pools: Sequence[Pool]) -> Laying:
    """Return the layout of all pools of a file; pools outside the job are open."""
    return Laying(tuple(pool if pool in job.pools else replace(pool, parts=()) for pool in pools), settings.reserves)


def plan_pools(job: Job, settings: Configuration, cluster: Cluster, pools: tuple[Pool, ...], reader: SizeReader) -> Job:
    """Add what verl accepts of open pools; with times also the layout of all `pools`."""
    open_, workload = [pool for pool in pools if pool not in job.pools], job.planning.workload
    if open_ and workload is not None:
        couples = combinations([pool for pool in pools if pool.components], 2)
        names = [(first.components[0], second.components[0]) for first, second in couples if first in open_ or second in open_]
        relations = (*job.relations, *(Relation(DISJOINT, pair, None, SEPARATE) for pair in names))
        # In one pool all take turns, separate pools are steady.
        plan_keys = find_plan_keys(settings.tree(HINTS))
        workload = as_it_runs(workload, plan_keys, _asynchronous(settings))
        workload = workload if "workflow" in plan_keys else replace(workload, after=tuple(usual_order(job.components)))
        # No plan can be written in parts with other degrees than planned, even if verl accepts none.
        by_name = ((name, own_amounts(settings, pools, name)) for pool in pools for name in pool.components)
        by_size = frozenset(name for name, current in by_name if any(amount.name in reader.following for amount in current.values()))
        planning = replace(job.planning, laying=laying_of(job, settings, pools), workload=workload, by_size=by_size)
        job = replace(job, relations=relations, planning=planning)
    current = {component.name: component.parallel for component in job.components}
    messages = {finding.message for finding in settings.notes.findings}
    for pool in open_:
        leaders = {name: leader for name in pool.components if (leader := leader_of(settings, pools, name)) and job.choices.get(leader)}
        choices: dict[str, Mapping[Parallel, Changes]] = {}
        for name in pool.components:
            amounts = own_amounts(settings, pools, leader := leaders.get(name, name))
            offers = {parallel: find_changes(amounts, parallel) for parallel in job.choices.get(leader, ())}
            if offers:
                choices[name] = {parallel: {amounts[key].name: value for key, value in new.items()} for parallel, new in offers.items()}
        outcome = accepted_sizes(pool, cluster, job.components, choices, reader)
        planning = replace(job.planning, tied={**job.planning.tied, **leaders})
        if workload is not None or not (outcome.always or outcome.unread):
            planning = replace(planning, accepted={**planning.accepted, **outcome.pairs})
        for name, always in outcome.always.items() if workload is not None else ():
            if always not in messages:
                message = f"verl refuses every size of `{pool.name}`, such as the largest: {always}"
                settings.notes.warn(PLANNED, name, message, pool.span("name") or settings.top, "", MEND)
        unread, why = len(outcome.unread), ""
        if unread:
            nodes, part_size = min(outcome.unread, key=lambda size: (size[0] * size[1], size))
            why = f"sizes of `{pool.name}`: {unread:,} of those that fit, such as {nodes} x {part_size}, are not planned"
        # Degrees of one component that follow from sizes are choices.
        pairs_of = {name: pairs for name, pairs in outcome.pairs.items() if name not in choices}
        varies = {name: pairs for name, pairs in pairs_of.items() if any(parallel != current[name] for _, parallel in pairs)}
        if len(varies) == 1 and any(component.timed for component in job.components if component.name in varies):
            (name, pairs), *_ = varies.items()
            degrees = dict.fromkeys(parallel for _, parallel in sorted(pairs, key=lambda pair: (pair[0], str(pair[1]))))
            job = replace(job, choices={**job.choices, name: tuple(sorted(degrees, key=lambda parallel: parallel != current[name]))})
        elif varies:
            unread += (count := sum(parallel != current[name] for name, pairs in varies.items() for _, parallel in pairs))
            why += "; " * bool(why) + f"degrees that follow from sizes: {count:,} counts on which several differ are not planned"
        if unread and planning.workload is not None:
            workload = replace(planning.workload, assumed=(*planning.workload.assumed, why))
            planning = replace(planning, sizes_not_read=planning.sizes_not_read + unread, workload=workload)
        job = replace(job, planning=planning)
    return job


def _asynchronous(settings: Configuration) -> str:
    """Return the setting for training during generation; "" if they take turns.

    Source: verl, verl/experimental/one_step_off_policy, and
    verl/experimental/fully_async_policy/README.md, whose first mode waits.
    """
    if settings.entry.kind is not ProgramKind.SEPARATE:
        return ""
    stale = settings.at(STALE)
    if settings.entry.program == FULLY_ASYNC and isinstance(stale, Scalar) and stale.value == 0:
        steps = settings.whole(STEPS, PLANNED)
        if steps is not None and steps.value == 1:
            return ""
    return f"`{settings.entry.program}`"
