"""Planning of roles whose devices and degrees are chosen by their times."""

from __future__ import annotations

from dataclasses import field, replace
from itertools import product
from math import prod
from typing import Callable, Iterable, Iterator, Mapping, Sequence, Union

from ...component import DISJOINT, Component, Parallel, Relation
from ...findings.finding import Finding, Severity, warning
from ...hints.block import find_plan_keys, may_leave_degrees, timed_names
from ...job import Job
from ...level import TRAINING
from ...machines.cluster import Cluster
from ...machines.node_group import ACCELERATOR
from ...parallel import DEGREES
from ...placements.assignment import Assignment
from ...placements.run import Run
from ...planning.arrangement import ProcessShape
from ...planning.workload import Workload
from ...problem import Problem
from ...quantity import unite_counts
from ...reading import Reading
from ...record import dataclass
from ...roles import ROLLOUT, role_of
from ...text.document import Document
from ...text.tree import MapNode, Scalar, find, plain, with_value
from ...times import as_it_runs, usual_order
from ..dialect import Machines
from ..following import MAX_JOINT_CHOICES, interpolates, refusal_of_all, report_all_refused, with_dependent_degrees
from .names import DEGREE_KEYS, DEVICES, HINTS, PER_WORKER, SGLANG, STRATEGY, VLLM, WORLD_SIZE
from .sharing import RATIO

# Trees with other values of the keys of a role's degrees.


def degree_numbers(root: MapNode, role: str, parallel: Parallel) -> dict[str, int] | None:
    """Map keys below the role to the numbers of some degrees.

    None if the strategy has no key for a degree other than 1. If the file states the devices per
    worker, a worker has the size of its engine.
    """
    name = find(root, f"{role}.{STRATEGY}.strategy_name")
    strategy = str(plain(name)) if isinstance(name, Scalar) else ""
    keys = DEGREE_KEYS.get(strategy, {})
    if any(getattr(parallel, degree) != 1 and degree not in keys for degree in DEGREES):
        return None
    values = {key: int(getattr(parallel, degree)) for degree, key in keys.items()}
    if strategy in (VLLM, SGLANG) and find(root, f"{role}.{PER_WORKER}") is not None:
        values[PER_WORKER] = parallel.tp * parallel.pp
    # An unset key with the default 1 stays unset.
    return {key: value for key, value in values.items() if value != 1 or find(root, f"{role}.{key}") is not None}


def _with_degrees(root: MapNode, degrees: Mapping[str, Parallel]) -> MapNode | str:
    """Return the tree with other degrees; or the first role whose strategy lacks their keys."""
    for role, parallel in degrees.items():
        values = degree_numbers(root, role, parallel)
        if values is None:
            return role
        for key, value in values.items():
            root = with_value(root, f"{role}.{key}", value)
    return root


def _opened_document(document: Document) -> Document:
    """Remove the devices and worker counts of roles with times; roles on CPUs keep theirs."""
    root = document.root
    for role in timed_names(root.get(HINTS)):
        if find(root, f"{role}.{DEVICES}") is not None:
            for key in (DEVICES, WORLD_SIZE):
                root = with_value(root, f"{role}.{key}", None)
    return replace(document, root=root)


# Problems with other degrees, each choice read once: alone, and together with other roles' choices.

Read = Callable[[Document, Machines, str], Reading]
Found = tuple[Union[Problem, None], str]
"""Problem with other degrees, and why they are refused; "" if accepted."""


def _error_keys(findings: Iterable[Finding]) -> set[tuple[str, str]]:
    """Return code and subject of all errors."""
    return {(finding.code, finding.subject) for finding in findings if finding.severity is Severity.ERROR}


@dataclass(frozen=True)
class DegreeReader:
    """Reader of the `opened` file with other degrees, on a cluster.

    `judged` is the same file with its own degrees: findings that it has already do not count.
    """

    read: Read
    opened: Document
    cluster: Cluster
    judged: Reading
    _known: dict[frozenset[tuple[str, Parallel]], Found] = field(default_factory=dict, repr=False)

    def problem(self, degrees: Mapping[str, Parallel], refused_too: bool = False) -> Problem | str:
        """Return the problem with these degrees, or why they are refused unless `refused_too`."""
        key = frozenset(degrees.items())
        if key not in self._known:
            self._known[key] = self._read_together(degrees)
        problem, why = self._known[key]
        return problem if problem is not None and (refused_too or not why) else why

    def job(self, degrees: Mapping[str, Parallel]) -> Job | str:
        """Return the job with these degrees, or why they are refused."""
        problem = self.problem(degrees)
        return problem if isinstance(problem, str) else problem.job

    def _read_together(self, degrees: Mapping[str, Parallel]) -> Found:
        root = _with_degrees(self.opened.root, degrees)
        if isinstance(root, str):
            return None, f"the strategy of `{root}` cannot express them"
        reading = self.read(replace(self.opened, root=root), self.cluster, TRAINING)
        before = _error_keys(self.judged.findings)
        worse = next((finding.message for finding in reading.findings if _error_keys([finding]) - before), "")
        return reading.problem, worse or ("" if reading.problem is not None else "the file cannot be read")


# Planned file: roles with times have no devices; their written places become the baseline.


@dataclass(frozen=True)
class RollOpening:
    """Document whose roles have times; implements `Opening`."""

    read: Read
    document: Document
    machines: Machines
    level: str

    def open_ranks(self) -> Reading:
        """See `Opening.open_ranks`."""
        as_written = self.read(self.document, self.machines, self.level)
        before = as_written.problem
        if before is None:
            return as_written
        reading, problem, reader = self._open_roles(before)
        if problem is None or reader is None or problem.job.planning.workload is None:
            return reading
        refusals = list(_find_refusals(problem, reader))
        shapes, accepted_counts = dict[str, dict[Parallel, ProcessShape]](), dict[str, frozenset[tuple[int, Parallel]]]()
        by_name, choices = {component.name: component for component in problem.components}, _choices(problem)
        # A choice refused alone may be accepted with another choice of another role.
        has_refusals = any(isinstance(reader.problem({name: parallel}), str) for name, offers in choices.items() for parallel in offers)
        is_joint = has_refusals and len(choices) > 1 and prod(map(len, choices.values())) <= MAX_JOINT_CHOICES
        for name, offers in choices.items():
            problems = {parallel: reader.problem({name: parallel}, refused_too=is_joint) for parallel in offers}
            possible = {parallel: candidate for parallel, candidate in problems.items() if isinstance(candidate, Problem)}
            if not possible and not refusals:
                refusals += refusal_of_all(problem.job, (({name: parallel}, reader.job({name: parallel})) for parallel in offers))
            new = {parallel: candidate[name] for parallel, candidate in possible.items()}
            by_name[name] = _widen(by_name[name], list(new.values()))
            shapes[name] = {
                parallel: ProcessShape(variant.per_process, variant.stride, variant.parallel) for parallel, variant in new.items()
            }
            accepted_counts[name] = frozenset((count, parallel) for parallel in possible for count in _counts(possible[parallel], name))
        current_runs = {component.name: component.runs for component in before.components if component.runs is not None}
        baseline = {name: current_runs[name] for name in current_runs if name in by_name and problem[name].runs is None}
        shares = reader.judged.problem.job.shares if reader.judged.problem is not None else ()
        planning = replace(
            problem.job.planning, own=_limit_runs(problem, baseline), shapes=shapes, accepted=accepted_counts,
            workload=self._workload(problem, problem.job.planning.workload),
        )  # fmt: skip
        job = replace(
            problem.job, components=tuple(by_name.values()), overlaps=dict(_overlaps(problem, baseline)),
            relations=(*problem.job.relations, *self._keep_apart(problem)),
            choices={name: tuple(shapes.get(name, degrees)) or degrees for name, degrees in problem.job.choices.items()},
            shares=tuple(share for share in shares if share.component not in accepted_counts), planning=planning,
        )  # fmt: skip
        if job.choices and (is_joint or interpolates(self.document.root)):
            job, none = with_dependent_degrees(job, list(job.choices), reader.job)
            refusals += none if not refusals and not reading.failed else ()
        findings = (*reading.findings, *self._unread(reading), *refusals)
        return replace(reading, problem=replace(problem, job=job), findings=findings)

    def find_refusals(self) -> tuple[Finding, ...]:
        """See `Opening.find_refusals`."""
        if not may_leave_degrees(self.document.root.get(HINTS)):
            return ()
        before = self.read(self.document, self.machines, self.level).problem
        if before is None:
            return ()
        reading, problem, reader = self._open_roles(before)
        return tuple(_find_refusals(problem, reader)) if problem is not None and reader is not None and not reading.failed else ()

    def _open_roles(self, before: Problem) -> tuple[Reading, Problem | None, DegreeReader | None]:
        """Return the file with open roles, the problem, and a reader of new degrees."""
        cluster = self.machines if isinstance(self.machines, Cluster) else before.cluster
        document = _opened_document(self.document)
        reading = self.read(document, cluster, self.level)
        # Unset values of unread texts count as ROLL's defaults; degrees that ROLL then refuses
        # are not chosen.
        document = replace(document, partial=False)
        full_reading = self.read(document, cluster, TRAINING)
        problem = self.read(document, cluster, self.level).problem if self.document.partial else reading.problem
        return reading, problem, DegreeReader(self.read, document, cluster, full_reading) if full_reading.problem is not None else None

    def _unread(self, reading: Reading) -> Iterator[Finding]:
        if not self.document.partial:
            return
        subjects = dict.fromkeys(note.subject for note in reading.unchecked)
        keys = [f"`{key}`" for key in subjects if "." in key and find(self.document.root, key) is None]
        examples = f", such as {', '.join(keys[:2])}" if keys else ""
        message, why = "texts of `defaults` are missing, so they are not checked", f"counts are chosen with ROLL's own defaults{examples}"
        yield warning("PW122", "", message, help="name the folders of these texts with `--config-root DIR`", notes=(why,))

    @property
    def _is_asynchronous(self) -> bool:
        ratio = find(self.document.root, RATIO)
        return isinstance(ratio, Scalar) and isinstance(ratio.value, (int, float)) and ratio.value > 0

    def _keep_apart(self, problem: Problem) -> Iterator[Relation]:
        open_ = [component for component in problem.components if component.runs is None and problem.kind(component) == ACCELERATOR]
        generating = [component for component in open_ if role_of(component) == ROLLOUT] if self._is_asynchronous else []
        for rollout, neighbor in product(generating, open_):
            is_related = any({rollout.name, neighbor.name} <= set(relation.components) for relation in problem.job.relations)
            if neighbor is not rollout and not is_related:
                yield Relation(DISJOINT, (rollout.name, neighbor.name), None, f"ROLL generates while the others work (`{RATIO}`)")

    def _workload(self, problem: Problem, workload: Workload) -> Workload:
        """Complete the workload: ROLL's order of work, and nested roles, as it counts no device as taken."""
        plan_keys = find_plan_keys(self.document.root.get(HINTS))
        workload = as_it_runs(workload, plan_keys, f"`{RATIO}`" if self._is_asynchronous else "")
        if "nested" not in plan_keys:
            workload = replace(workload, nested=True)
        return workload if "workflow" in plan_keys else replace(workload, after=tuple(usual_order(problem.components)))


def _choices(problem: Problem) -> dict[str, tuple[Parallel, ...]]:
    names = [component.name for component in problem.components if component.runs is None and component.timed]
    return {name: problem.job.choices[name] for name in names if problem.job.choices.get(name)}


def _find_refusals(problem: Problem, reader: DegreeReader) -> Iterator[Finding]:
    choices, root = _choices(problem), reader.opened.root
    unsaid = [name for name, degrees in choices.items() if all(degree_numbers(root, name, parallel) is None for parallel in degrees)]
    for subset in [{name: choices[name]} for name in unsaid] or [choices]:
        yield from report_all_refused(replace(problem.job, choices=subset), reader.job)


def _limit_runs(problem: Problem, baseline: Mapping[str, Sequence[Run]]) -> dict[str, Sequence[Run]]:
    assignment, count = Assignment(baseline), len(problem.cluster.nodes)
    return {name: runs for name, runs in baseline.items() if all(node < count for node, _ in assignment.masks(name))}


def _overlaps(problem: Problem, baseline: Mapping[str, Sequence[Run]]) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield roles without times, with the planned roles on the same devices in the file."""
    fixed_ranks, assignment = problem.build_given(), Assignment(baseline)
    for name in fixed_ranks.runs:
        masks = {place: mask for place, mask in fixed_ranks.masks(name).items() if place[1] == ACCELERATOR}
        roles = (role for role in baseline if role != name and any(assignment.masks(role).get(place, 0) & masks[place] for place in masks))
        if overlapping := frozenset(roles):
            yield name, overlapping


def _counts(problem: Problem, name: str) -> Iterator[int]:
    candidate = problem[name]
    most = min(candidate.most, sum(node.free(ACCELERATOR).bit_count() for node in problem.cluster.nodes))
    shares = [share for share in problem.shares if share.component == candidate.name]
    for amount in range(max(-(-candidate.least // candidate.step), 1) * candidate.step, most + 1, candidate.step):
        if candidate.may_have(amount) and all(share.divides(amount // candidate.per_process) for share in shares):
            yield amount


def _widen(component: Component, candidates: Sequence[Component]) -> Component:
    """Widen the component to every amount of the candidates. Amounts can depend on the degrees."""
    if not candidates:
        return component
    minimum, maximum = min(candidate.least for candidate in candidates), max(candidate.most for candidate in candidates)
    return replace(component, least=minimum, most=maximum, counts=unite_counts(candidate.counts for candidate in candidates))
