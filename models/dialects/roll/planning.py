"""Roles whose devices and degrees are chosen by their times."""

from __future__ import annotations

from dataclasses import field, replace
from itertools import product
from math import prod
from typing import Callable, Iterator, Mapping, Sequence, Union

from ...component import DISJOINT, Component, Parallel, Relation
from ...counts import in_any
from ...findings.finding import Finding, Severity, warning
from ...hints.block import said_of_plan, timed_names
from ...job import Job
from ...level import TRAINING
from ...machines.cluster import Cluster
from ...machines.node_group import ACCELERATOR
from ...machines.shorthand import AsDeclared
from ...placements.assignment import Assignment
from ...placements.run import Run
from ...planning.way import Shape
from ...planning.workload import Workload
from ...problem import Problem
from ...reading import Reading
from ...record import dataclass
from ...roles import ROLLOUT, role_of
from ...text.document import Document
from ...text.tree import MapNode, Scalar, find, plain, with_value
from ...times import as_it_runs, usual_order
from ..all_refused import all_refused, none_left
from ..following import MOST_READ, following, interpolates
from .modes import RATIO
from .names import CONFIG, DEVICES, PER_WORKER, STRATEGY, WORLD_SIZE
from .recognise import HINTS
from .strategies import BY_ULYSSES, MEGATRON, SGLANG, VLLM

# The keys in which a role says its degrees, and trees with other values of them.

_ENGINE = {"tp": f"{CONFIG}tensor_parallel_size", "pp": f"{CONFIG}pipeline_parallel_size"}
_MEGATRON = {
    "tp": f"{CONFIG}tensor_model_parallel_size", "pp": f"{CONFIG}pipeline_model_parallel_size",
    "cp": f"{CONFIG}context_parallel_size", "ep": f"{CONFIG}expert_model_parallel_size",
}  # fmt: skip
KEYS: Mapping[str, Mapping[str, str]] = {
    VLLM: _ENGINE, SGLANG: _ENGINE, **dict.fromkeys(MEGATRON, _MEGATRON), **{name: {"cp": "model_args.ulysses_size"} for name in BY_ULYSSES},
}  # fmt: skip
"""Strategy -> degree -> its key below the role."""
_DEGREES = ("tp", "pp", "cp", "ep", "dp")


def numbers(root: MapNode, role: str, parallel: Parallel) -> dict[str, int] | None:
    """Key below the role -> its number, of these degrees; None where its strategy has no key for one that is not 1.

    A worker has as many devices as its engine, where the file says how many it has.
    """
    name = find(root, f"{role}.{STRATEGY}.strategy_name")
    strategy = str(plain(name)) if isinstance(name, Scalar) else ""
    keys = KEYS.get(strategy, {})
    if any(getattr(parallel, degree) != 1 and degree not in keys for degree in _DEGREES):
        return None
    found = {key: int(getattr(parallel, degree)) for degree, key in keys.items()}
    if strategy in (VLLM, SGLANG) and find(root, f"{role}.{PER_WORKER}") is not None:
        found[PER_WORKER] = parallel.tp * parallel.pp
    # What is not written and is 1 by default needs no key.
    return {key: value for key, value in found.items() if value != 1 or find(root, f"{role}.{key}") is not None}


def _with_degrees(root: MapNode, degrees: Mapping[str, Parallel]) -> MapNode | str:
    """The tree with other degrees of some roles; the first role whose strategy cannot say them."""
    for role, parallel in degrees.items():
        values = numbers(root, role, parallel)
        if values is None:
            return role
        for key, value in values.items():
            root = with_value(root, f"{role}.{key}", value)
    return root


def _opened_document(document: Document) -> Document:
    """The document without the devices of roles with times, and the number of their workers; roles on CPUs keep theirs."""
    root = document.root
    for role in timed_names(root.get(HINTS)):
        if find(root, f"{role}.{DEVICES}") is not None:
            for key in (DEVICES, WORLD_SIZE):
                root = with_value(root, f"{role}.{key}", None)
    return replace(document, root=root)


# A file with other degrees of its roles, judged in all respects, each choice once: alone, and together with those of other roles.

Read = Callable[[Document, Union[Cluster, AsDeclared, None], str], Reading]
Found = tuple[Union[Problem, None], str]
"""The problem with other degrees, and why these cannot be; "" where they can."""


@dataclass(frozen=True)
class Chosen:
    """The file `opened` on a cluster; `judged` is it as it stands, with all that ROLL refuses of it already."""

    read: Read
    opened: Document
    cluster: Cluster
    judged: Reading
    _known: dict[frozenset[tuple[str, Parallel]], Found] = field(default_factory=dict, repr=False)

    def problem(self, degrees: Mapping[str, Parallel], refused_too: bool = False) -> Problem | str:
        """The problem with these degrees of roles; why, where a strategy cannot say them, or ROLL refuses them, if these are not asked for too."""
        key = frozenset(degrees.items())
        if key not in self._known:
            self._known[key] = self._anew(degrees)
        found, why = self._known[key]
        return found if found is not None and (refused_too or not why) else why

    def job(self, degrees: Mapping[str, Parallel]) -> Job | str:
        """Its job; why, where these degrees cannot be."""
        found = self.problem(degrees)
        return found if isinstance(found, str) else found.job

    def _anew(self, degrees: Mapping[str, Parallel]) -> Found:
        """Some of the degrees may be refused without the others, so that all are judged together."""
        root = _with_degrees(self.opened.root, degrees)
        if isinstance(root, str):
            return None, f"the strategy of `{root}` cannot say them"
        found = self.read(replace(self.opened, root=root), self.cluster, TRAINING)
        before = {(each.code, each.subject) for each in _errors(self.judged)}
        worse = next((each.message for each in _errors(found) if (each.code, each.subject) not in before), "")
        return found.problem, worse or ("" if found.problem is not None else "the file cannot be read")


def _errors(reading: Reading) -> Iterator[Finding]:
    return (each for each in reading.findings if each.severity is Severity.ERROR)


# A file with times, read once more: its roles with times have no devices, and where it places them itself is kept beside.


def anew(read: Read, tried: Read, document: Document, machines: Cluster | AsDeclared | None, level: str) -> Reading:
    """The file as it is planned; `read` reads it as it stands, `tried` what may be chosen."""
    before = read(document, machines, level)
    if before.problem is None:
        return before
    cluster = machines if isinstance(machines, Cluster) else before.problem.cluster
    found, problem, chosen = _opened(read, tried, document, cluster, level)
    if problem is None or chosen is None or problem.job.planning.workload is None:
        return found
    refused = list(_refused(problem, chosen))
    shapes, accepted = dict[str, dict[Parallel, Shape]](), dict[str, frozenset[tuple[int, Parallel]]]()
    parts, choices = {each.name: each for each in problem.components}, _choices(problem)
    # What is refused by itself may go together with another choice of another role.
    some = any(isinstance(chosen.problem({name: c}), str) for name, offered in choices.items() for c in offered)
    together = some and len(choices) > 1 and prod(map(len, choices.values())) <= MOST_READ
    for name, offered in choices.items():
        problems = {c: chosen.problem({name: c}, refused_too=together) for c in offered}
        its = {c: each for c, each in problems.items() if isinstance(each, Problem)}
        if not its and not refused:
            refused += none_left(problem.job, (({name: c}, chosen.job({name: c})) for c in offered))
        parts[name] = part = _widened(parts[name], [each[name] for each in its.values()])
        shapes[name] = {c: Shape(each[name].per_process, each[name].stride, each[name].parallel) for c, each in its.items()}
        accepted[name] = frozenset((count, c) for c, each in its.items() for count in _counts(each, part))
    open_ = {each.name for each in problem.components if each.runs is None}
    written = {each.name: each.runs for each in before.problem.components if each.name in open_ and each.runs is not None}
    shares = chosen.judged.problem.job.shares if chosen.judged.problem is not None else ()
    job = replace(problem.job, components=tuple(parts.values()), overlaps=dict(_overlaps(problem, written)), relations=(*problem.job.relations, *_apart(document, problem)), choices={name: tuple(shapes.get(name, its)) or its for name, its in problem.job.choices.items()}, shares=tuple(share for share in shares if share.component not in accepted), planning=replace(problem.job.planning, own=_within(problem, written), shapes=shapes, accepted=accepted, workload=_workload(document, problem, problem.job.planning.workload)))  # fmt: skip
    if job.choices and (together or interpolates(document.root)):
        job, none = following(job, list(job.choices), chosen.job)
        refused += none if not refused and not found.failed else ()
    unread = (_unread(document, found),) if document.partial else ()
    return replace(found, problem=replace(problem, job=job), findings=(*found.findings, *unread, *refused))


def choices_refused(read: Read, tried: Read, document: Document, machines: Cluster | AsDeclared | None, level: str) -> tuple[Finding, ...]:
    """An error for each role of which no choice of degrees that its hints leave open can be said, or of all where ROLL refuses every one."""
    before = read(document, machines, level).problem
    if before is None:
        return ()
    found, problem, chosen = _opened(read, tried, document, machines if isinstance(machines, Cluster) else before.cluster, level)
    return tuple(_refused(problem, chosen)) if problem is not None and chosen is not None and not found.failed else ()


def _opened(read: Read, tried: Read, document: Document, cluster: Cluster, level: str) -> tuple[Reading, Problem | None, Chosen | None]:
    """The file without the devices of roles with times, its problem, and it with other degrees."""
    opened = _opened_document(document)
    found = read(opened, cluster, level)
    # What no text that was read says is taken to be as ROLL has it by default: what it then refuses is not chosen.
    opened = replace(opened, partial=False)
    judged = tried(opened, cluster, TRAINING)
    problem = read(opened, cluster, level).problem if document.partial else found.problem
    return found, problem, Chosen(tried, opened, cluster, judged) if judged.problem is not None else None


def _choices(problem: Problem) -> dict[str, tuple[Parallel, ...]]:
    """The degrees that are open, of the roles that are planned."""
    names = [each.name for each in problem.components if each.runs is None and each.timed]
    return {name: problem.job.choices[name] for name in names if problem.job.choices.get(name)}


def _refused(problem: Problem, chosen: Chosen) -> Iterator[Finding]:
    """Why no choice is left, in the words of `all_refused`."""
    choices, root = _choices(problem), chosen.opened.root
    unsaid = {name: its for name, its in choices.items() if all(numbers(root, name, each) is None for each in its)}
    for some in [{name: its} for name, its in unsaid.items()] or [choices]:
        yield from all_refused(replace(problem.job, choices=some), chosen.job)


def _unread(document: Document, found: Reading) -> Finding:
    """A warning of what is not checked where texts of `defaults` are missing: counts are chosen as if these said nothing of it."""
    subjects = dict.fromkeys(each.subject for each in found.unchecked)
    keys = [f"`{key}`" for key in subjects if "." in key and find(document.root, key) is None]
    some = f", such as {', '.join(keys[:2])}" if keys else ""
    message = f"texts of `defaults` are missing: what they may say is not checked, and counts are chosen with ROLL's own defaults{some}"
    return warning("PW122", "", message, help="name the folders of these texts with `--config-root DIR`")


def _within(problem: Problem, written: Mapping[str, Sequence[Run]]) -> dict[str, Sequence[Run]]:
    """Where the file has roles that are planned, of those on nodes that there are."""
    held, count = Assignment(written), len(problem.cluster.nodes)
    return {name: runs for name, runs in written.items() if all(node < count for node, _ in held.masks(name))}


def _overlaps(problem: Problem, written: Mapping[str, Sequence[Run]]) -> Iterator[tuple[str, frozenset[str]]]:
    """Each role without times, with the roles that are planned whose devices it shares in the file itself.

    ROLL refuses no such sharing, and counts no device as taken; what the file keeps apart stays apart, for example a judge from what
    generates, as it works meanwhile.
    """
    planned = _devices(written)
    for name, its in _devices(problem.given().runs).items():
        if beside := frozenset(other for other, theirs in planned.items() if other != name and its & theirs):
            yield name, beside


def _devices(runs: Mapping[str, Sequence[Run]]) -> dict[str, frozenset[tuple[int, int]]]:
    """Role -> (node rank, local index) of each of its devices; roles on CPUs have none."""
    placed, found = Assignment(runs), {}
    for name in runs:
        masks = {node: mask for (node, kind), mask in placed.masks(name).items() if kind == ACCELERATOR}
        found[name] = frozenset((node, index) for node, mask in masks.items() for index in range(mask.bit_length()) if mask >> index & 1)
    return {name: its for name, its in found.items() if its}


def _counts(problem: Problem, component: Component) -> Iterator[int]:
    """Counts that divide all that is dealt out, within what the strategy asks for with these degrees."""
    its = problem[component.name]
    most = min(its.most, sum(node.free(ACCELERATOR).bit_count() for node in problem.cluster.nodes))
    shares = [share for share in problem.shares if share.component == its.name]
    for amount in range(max(-(-its.least // its.step), 1) * its.step, most + 1, its.step):
        if its.may_have(amount) and all(share.divides(amount // its.per_process) for share in shares):
            yield amount


def _widened(component: Component, its: Sequence[Component]) -> Component:
    """With every amount that one of these may have: how many a strategy asks for can depend on the degrees."""
    if not its:
        return component
    counts = in_any(each.counts for each in its)
    return replace(component, least=min(each.least for each in its), most=max(each.most for each in its), counts=counts)


def _is_asynchronous(document: Document) -> bool:
    ratio = find(document.root, RATIO)
    return isinstance(ratio, Scalar) and isinstance(ratio.value, (int, float)) and ratio.value > 0


def _apart(document: Document, problem: Problem) -> Iterator[Relation]:
    """What generates meanwhile has its accelerators for itself."""
    open_ = [each for each in problem.components if each.runs is None and problem.kind(each) == ACCELERATOR]
    generating = [each for each in open_ if role_of(each) == ROLLOUT] if _is_asynchronous(document) else []
    for rollout, other in product(generating, open_):
        related = any({rollout.name, other.name} <= set(each.components) for each in problem.job.relations)
        if other is not rollout and not related:
            yield Relation(DISJOINT, (rollout.name, other.name), None, f"ROLL generates while the others work (`{RATIO}`)")


def _workload(document: Document, problem: Problem, workload: Workload) -> Workload:
    """The workload of the file; what its block does not say is as ROLL does it: in turn, or generating while it trains.

    ROLL counts no device as taken: a role may have some of those of another one, unless `nested` says otherwise.
    """
    said = said_of_plan(document.root.get(HINTS))
    workload = as_it_runs(workload, said, f"`{RATIO}`" if _is_asynchronous(document) else "")
    if "nested" not in said:
        workload = replace(workload, nested=True)
    return workload if "workflow" in said else replace(workload, after=tuple(usual_order(problem.components)))
