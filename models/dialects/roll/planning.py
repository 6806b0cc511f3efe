"""Planning of roles whose devices and degrees are chosen by their times."""

from __future__ import annotations

from dataclasses import field, replace
from itertools import product
from math import prod
from typing import Callable, Iterator, Mapping, Sequence, Union

from ...component import DISJOINT, Component, Parallel, Relation
from ...findings.finding import Finding, Severity, warning
from ...hints.block import said_of_plan, timed_names
from ...job import Job
from ...level import TRAINING
from ...machines.cluster import Cluster
from ...machines.node_group import ACCELERATOR
from ...machines.shorthand import AsDeclared
from ...placements.assignment import Assignment
from ...placements.run import Run
from ...planning.way import ProcessShape
from ...planning.workload import Workload
from ...problem import Problem
from ...quantity import in_any
from ...reading import Reading
from ...record import dataclass
from ...roles import ROLLOUT, role_of
from ...text.document import Document
from ...text.tree import MapNode, Scalar, find, plain, with_value
from ...times import as_it_runs, usual_order
from ..all_refused import all_refused, refusal_of_all
from ..following import MAX_JOINT_CHOICES, interpolates, with_dependent_degrees
from .modes import RATIO
from .names import CONFIG, DEVICES, PER_WORKER, STRATEGY, WORLD_SIZE
from .recognise import HINTS
from .strategies import BY_ULYSSES, MEGATRON, SGLANG, VLLM

# Keys of a role's degrees, and trees with other values of them.

_ENGINE = {"tp": f"{CONFIG}tensor_parallel_size", "pp": f"{CONFIG}pipeline_parallel_size"}
_MEGATRON = {
    "tp": f"{CONFIG}tensor_model_parallel_size", "pp": f"{CONFIG}pipeline_model_parallel_size",
    "cp": f"{CONFIG}context_parallel_size", "ep": f"{CONFIG}expert_model_parallel_size",
}  # fmt: skip
KEYS: Mapping[str, Mapping[str, str]] = {
    VLLM: _ENGINE, SGLANG: _ENGINE, **dict.fromkeys(MEGATRON, _MEGATRON), **{name: {"cp": "model_args.ulysses_size"} for name in BY_ULYSSES},
}  # fmt: skip
"""Strategy -> degree -> key below the role."""
_DEGREES = ("tp", "pp", "cp", "ep", "dp")


def degree_numbers(root: MapNode, role: str, parallel: Parallel) -> dict[str, int] | None:
    """Map keys below the role to the numbers of some degrees.

    None if the strategy has no key for a degree other than 1. If the file states the devices per
    worker, a worker has the size of its engine.
    """
    name = find(root, f"{role}.{STRATEGY}.strategy_name")
    strategy = str(plain(name)) if isinstance(name, Scalar) else ""
    keys = KEYS.get(strategy, {})
    if any(getattr(parallel, degree) != 1 and degree not in keys for degree in _DEGREES):
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

Read = Callable[[Document, Union[Cluster, AsDeclared, None], str], Reading]
Found = tuple[Union[Problem, None], str]
"""Problem with other degrees, and why they are refused; "" if accepted."""


@dataclass(frozen=True)
class Chosen:
    """Reader of the `opened` file with other degrees, on a cluster.

    `judged` is the same file with its own degrees: findings that it has already do not count.
    """

    read: Read
    opened: Document
    cluster: Cluster
    judged: Reading
    _known: dict[frozenset[tuple[str, Parallel]], Found] = field(default_factory=dict, repr=False)

    def problem(self, degrees: Mapping[str, Parallel], refused_too: bool = False) -> Problem | str:
        """Return the problem with these degrees, or why they are refused.

        With `refused_too`, return the problem of refused degrees too.
        """
        key = frozenset(degrees.items())
        if key not in self._known:
            self._known[key] = self._anew(degrees)
        problem, why = self._known[key]
        return problem if problem is not None and (refused_too or not why) else why

    def job(self, degrees: Mapping[str, Parallel]) -> Job | str:
        """Return the job with these degrees, or why they are refused."""
        problem = self.problem(degrees)
        return problem if isinstance(problem, str) else problem.job

    def _anew(self, degrees: Mapping[str, Parallel]) -> Found:
        """Read the file with all degrees together, as some fail only in isolation."""
        root = _with_degrees(self.opened.root, degrees)
        if isinstance(root, str):
            return None, f"the strategy of `{root}` cannot say them"
        reading = self.read(replace(self.opened, root=root), self.cluster, TRAINING)
        before = {(finding.code, finding.subject) for finding in _errors(self.judged)}
        worse = next((finding.message for finding in _errors(reading) if (finding.code, finding.subject) not in before), "")
        return reading.problem, worse or ("" if reading.problem is not None else "the file cannot be read")


def _errors(reading: Reading) -> Iterator[Finding]:
    return (finding for finding in reading.findings if finding.severity is Severity.ERROR)


# Planned file: roles with times have no devices; their written places become the baseline.


def anew(read: Read, tried: Read, document: Document, machines: Cluster | AsDeclared | None, level: str) -> Reading:
    """Read the file for planning.

    `read` reads the file itself, `tried` its candidates.
    """
    before = read(document, machines, level)
    if before.problem is None:
        return before
    cluster = machines if isinstance(machines, Cluster) else before.problem.cluster
    reading, problem, chosen = _opened(read, tried, document, cluster, level)
    if problem is None or chosen is None or problem.job.planning.workload is None:
        return reading
    refused = list(_refused(problem, chosen))
    shapes, accepted = dict[str, dict[Parallel, ProcessShape]](), dict[str, frozenset[tuple[int, Parallel]]]()
    parts, choices = {component.name: component for component in problem.components}, _choices(problem)
    # A choice refused alone may be accepted with another choice of another role.
    some = any(isinstance(chosen.problem({name: c}), str) for name, offered in choices.items() for c in offered)
    together = some and len(choices) > 1 and prod(map(len, choices.values())) <= MAX_JOINT_CHOICES
    for name, offered in choices.items():
        problems = {c: chosen.problem({name: c}, refused_too=together) for c in offered}
        possible = {c: candidate for c, candidate in problems.items() if isinstance(candidate, Problem)}
        if not possible and not refused:
            refused += refusal_of_all(problem.job, (({name: c}, chosen.job({name: c})) for c in offered))
        parts[name] = part = _widened(parts[name], [candidate[name] for candidate in possible.values()])
        shapes[name] = {
            c: ProcessShape(candidate[name].per_process, candidate[name].stride, candidate[name].parallel)
            for c, candidate in possible.items()
        }
        accepted[name] = frozenset((count, c) for c, candidate in possible.items() for count in _counts(candidate, part))
    open_ = {component.name for component in problem.components if component.runs is None}
    written = {
        component.name: component.runs for component in before.problem.components if component.name in open_ and component.runs is not None
    }
    shares = chosen.judged.problem.job.shares if chosen.judged.problem is not None else ()
    job = replace(problem.job, components=tuple(parts.values()), overlaps=dict(_overlaps(problem, written)), relations=(*problem.job.relations, *_apart(document, problem)), choices={name: tuple(shapes.get(name, degrees)) or degrees for name, degrees in problem.job.choices.items()}, shares=tuple(share for share in shares if share.component not in accepted), planning=replace(problem.job.planning, own=_within(problem, written), shapes=shapes, accepted=accepted, workload=_workload(document, problem, problem.job.planning.workload)))  # fmt: skip
    if job.choices and (together or interpolates(document.root)):
        job, none = with_dependent_degrees(job, list(job.choices), chosen.job)
        refused += none if not refused and not reading.failed else ()
    unread = (_unread(document, reading),) if document.partial else ()
    return replace(reading, problem=replace(problem, job=job), findings=(*reading.findings, *unread, *refused))


def choices_refused(read: Read, tried: Read, document: Document, machines: Cluster | AsDeclared | None, level: str) -> tuple[Finding, ...]:
    """Return an error per role whose open degrees cannot be stated, or are all refused."""
    before = read(document, machines, level).problem
    if before is None:
        return ()
    reading, problem, chosen = _opened(read, tried, document, machines if isinstance(machines, Cluster) else before.cluster, level)
    return tuple(_refused(problem, chosen)) if problem is not None and chosen is not None and not reading.failed else ()


def _opened(read: Read, tried: Read, document: Document, cluster: Cluster, level: str) -> tuple[Reading, Problem | None, Chosen | None]:
    """Return the file with open roles, the problem, and a reader of new degrees."""
    opened = _opened_document(document)
    reading = read(opened, cluster, level)
    # Unset values of unread texts count as ROLL's defaults; degrees that ROLL then refuses
    # are not chosen.
    opened = replace(opened, partial=False)
    judged = tried(opened, cluster, TRAINING)
    problem = read(opened, cluster, level).problem if document.partial else reading.problem
    return reading, problem, Chosen(tried, opened, cluster, judged) if judged.problem is not None else None


def _choices(problem: Problem) -> dict[str, tuple[Parallel, ...]]:
    """Return the open degrees of planned roles."""
    names = [component.name for component in problem.components if component.runs is None and component.timed]
    return {name: problem.job.choices[name] for name in names if problem.job.choices.get(name)}


def _refused(problem: Problem, chosen: Chosen) -> Iterator[Finding]:
    """Yield the findings of `all_refused` if no choice is left."""
    choices, root = _choices(problem), chosen.opened.root
    unsaid = {
        name: degrees for name, degrees in choices.items() if all(degree_numbers(root, name, parallel) is None for parallel in degrees)
    }
    for some in [{name: degrees} for name, degrees in unsaid.items()] or [choices]:
        yield from all_refused(replace(problem.job, choices=some), chosen.job)


def _unread(document: Document, reading: Reading) -> Finding:
    """Return a warning about unchecked, missing texts of `defaults`."""
    subjects = dict.fromkeys(note.subject for note in reading.unchecked)
    keys = [f"`{key}`" for key in subjects if "." in key and find(document.root, key) is None]
    some = f", such as {', '.join(keys[:2])}" if keys else ""
    message = f"texts of `defaults` are missing: what they may say is not checked, and counts are chosen with ROLL's own defaults{some}"
    return warning("PW122", "", message, help="name the folders of these texts with `--config-root DIR`")


def _within(problem: Problem, written: Mapping[str, Sequence[Run]]) -> dict[str, Sequence[Run]]:
    """Keep the written places whose nodes exist."""
    assignment, count = Assignment(written), len(problem.cluster.nodes)
    return {name: runs for name, runs in written.items() if all(node < count for node, _ in assignment.masks(name))}


def _overlaps(problem: Problem, written: Mapping[str, Sequence[Run]]) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield roles without times, with the planned roles on the same devices in the file.

    ROLL refuses no such sharing, and counts no device as taken. Disjoint roles stay disjoint: a
    judge, for example, works while rollout generates.
    """
    planned = _devices(written)
    for name, devices in _devices(problem.given().runs).items():
        if beside := frozenset(role for role, role_devices in planned.items() if role != name and devices & role_devices):
            yield name, beside


def _devices(runs: Mapping[str, Sequence[Run]]) -> dict[str, frozenset[tuple[int, int]]]:
    """Map roles to (node rank, local index) of all devices, without roles on CPUs."""
    placed, devices = Assignment(runs), {}
    for name in runs:
        masks = {node: mask for (node, kind), mask in placed.masks(name).items() if kind == ACCELERATOR}
        devices[name] = frozenset((node, index) for node, mask in masks.items() for index in range(mask.bit_length()) if mask >> index & 1)
    return {name: role_devices for name, role_devices in devices.items() if role_devices}


def _counts(problem: Problem, component: Component) -> Iterator[int]:
    """Yield the counts that divide every share, within the bounds of the degrees."""
    candidate = problem[component.name]
    most = min(candidate.most, sum(node.free(ACCELERATOR).bit_count() for node in problem.cluster.nodes))
    shares = [share for share in problem.shares if share.component == candidate.name]
    for amount in range(max(-(-candidate.least // candidate.step), 1) * candidate.step, most + 1, candidate.step):
        if candidate.may_have(amount) and all(share.divides(amount // candidate.per_process) for share in shares):
            yield amount


def _widened(component: Component, candidates: Sequence[Component]) -> Component:
    """Widen the component to every amount of the candidates.

    The amount that a strategy demands can depend on the degrees.
    """
    if not candidates:
        return component
    counts = in_any(candidate.counts for candidate in candidates)
    return replace(
        component,
        least=min(candidate.least for candidate in candidates),
        most=max(candidate.most for candidate in candidates),
        counts=counts,
    )


def _is_asynchronous(document: Document) -> bool:
    ratio = find(document.root, RATIO)
    return isinstance(ratio, Scalar) and isinstance(ratio.value, (int, float)) and ratio.value > 0


def _apart(document: Document, problem: Problem) -> Iterator[Relation]:
    """Keep the accelerators of asynchronous rollout disjoint from all other roles."""
    open_ = [component for component in problem.components if component.runs is None and problem.kind(component) == ACCELERATOR]
    generating = [component for component in open_ if role_of(component) == ROLLOUT] if _is_asynchronous(document) else []
    for rollout, neighbor in product(generating, open_):
        related = any({rollout.name, neighbor.name} <= set(relation.components) for relation in problem.job.relations)
        if neighbor is not rollout and not related:
            yield Relation(DISJOINT, (rollout.name, neighbor.name), None, f"ROLL generates while the others work (`{RATIO}`)")


def _workload(document: Document, problem: Problem, workload: Workload) -> Workload:
    """Complete the workload with ROLL's own behavior: in turn, or generation during training.

    ROLL counts no device as taken: roles may be nested, unless `nested` says otherwise.
    """
    stated = said_of_plan(document.root.get(HINTS))
    workload = as_it_runs(workload, stated, f"`{RATIO}`" if _is_asynchronous(document) else "")
    if "nested" not in stated:
        workload = replace(workload, nested=True)
    return workload if "workflow" in stated else replace(workload, after=tuple(usual_order(problem.components)))
