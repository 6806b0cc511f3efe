"""A file with times, read once more: its roles with times have no devices, and where it places them itself is kept beside."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Iterator, Mapping, Sequence

from ....component import DISJOINT, Component, Parallel, Relation
from ....counts import in_any
from ....findings.finding import Finding, warning
from ....hints.said import said_of_plan, timed_names
from ....machines.cluster import Cluster
from ....machines.node_group import ACCELERATOR
from ....machines.shorthand import AsDeclared
from ....placements.assignment import Assignment, Run
from ....planning.way import Shape
from ....planning.workload import Workload
from ....problem import Problem
from ....reading import Reading
from ....roles import ROLLOUT, role_of
from ....text.document import Document
from ....text.tree import Scalar, find
from ....times.usual import as_it_runs, usual_order
from ...all_refused import all_refused, none_left
from ...dialect import TRAINING
from ...following import MOST_READ, following, interpolates
from ..modes.asynchronous import RATIO
from ..recognise import HINTS
from .chosen import Chosen, Read
from .keys import opened_root
from .mended import mended, of_the_file

Accepted = frozenset[tuple[int, Parallel]]


def anew(read: Read, document: Document, machines: Cluster | AsDeclared | None, level: str) -> Reading:
    """The file as it is planned; `read` reads it as it stands."""
    before = read(document, machines, level)
    if before.problem is None:
        return before
    cluster = machines if isinstance(machines, Cluster) else before.problem.cluster
    found, problem, chosen = _opened(read, document, cluster, level)
    own_degrees, faults = True, tuple[Finding, ...]()
    if (other := mended(read, document, cluster, level, found)) is not None:
        own_degrees, faults = False, tuple(of_the_file(found))
        found, problem, chosen = _opened(read, other, cluster, level)
    if problem is None or chosen is None or problem.job.workload is None:
        return found
    refused = list(_refused(problem, chosen))
    shapes, accepted = dict[str, dict[Parallel, Shape]](), dict[str, Accepted]()
    parts = {each.name: each for each in problem.components}
    choices = _choices(problem)
    single = {(name, c): chosen.problem({name: c}) for name, its in choices.items() for c in its}
    some = any(isinstance(each, str) for each in single.values())
    # What is refused by itself may go together with another choice of another role.
    together = some and len(choices) > 1 and prod(map(len, choices.values())) <= MOST_READ
    for name, offered in choices.items():
        problems = {c: chosen.problem({name: c}, refused_too=together) for c in offered}
        its = {c: each for c, each in problems.items() if isinstance(each, Problem)}
        if not its and not refused:
            refused += none_left(problem.job, (({name: c}, chosen.job({name: c})) for c in offered))
        parts[name] = _widened(parts[name], [each[name] for each in its.values()])
        shapes[name] = {parallel: _shape(each[name]) for parallel, each in its.items()}
        accepted[name] = frozenset(pair for parallel, each in its.items() for pair in _counts(each, parts[name], parallel))
    apart, written = tuple(_apart(document, problem)), _written(before.problem, problem)
    job = replace(
        problem.job, components=tuple(parts.values()), own=_within(problem, written) if own_degrees else {}, overlaps=dict(_overlaps(problem, written)), shapes=shapes, accepted=accepted, relations=(*problem.job.relations, *apart),
        choices={name: tuple(shapes.get(name, its)) or its for name, its in problem.job.choices.items()},
        shares=tuple(share for share in chosen.shares if share.component not in accepted),
        workload=_workload(document, problem, problem.job.workload),
    )  # fmt: skip
    if job.choices and (together or interpolates(document.root)):
        job, none = following(job, list(job.choices), chosen.job)
        refused += none if not refused and not found.failed else ()
    taken = (_taken(document, found),) if document.partial else ()
    return replace(found, problem=replace(problem, job=job), findings=(*found.findings, *faults, *taken, *refused))


def choices_refused(read: Read, document: Document, machines: Cluster | AsDeclared | None, level: str) -> tuple[Finding, ...]:
    """An error for each role of which no choice of degrees that its hints leave open can be said, or of all where ROLL refuses every one."""
    before = read(document, machines, level).problem
    if before is None:
        return ()
    found, problem, chosen = _opened(read, document, machines if isinstance(machines, Cluster) else before.cluster, level)
    return tuple(_refused(problem, chosen)) if problem is not None and chosen is not None and not found.failed else ()


def _opened(read: Read, document: Document, cluster: Cluster, level: str) -> tuple[Reading, Problem | None, Chosen | None]:
    """The file without the devices of roles with times, its problem, and it with other degrees."""
    opened = replace(document, root=opened_root(document.root, timed_names(document.root.get(HINTS))))
    found = read(opened, cluster, level)
    # What no text that was read says is taken to be as ROLL has it by default: what it then refuses is not chosen.
    opened = replace(opened, partial=False)
    judged = read(opened, cluster, TRAINING)
    problem = read(opened, cluster, level).problem if document.partial else found.problem
    return found, problem, Chosen(read, opened, cluster, judged) if judged.problem is not None else None


def _choices(problem: Problem) -> dict[str, tuple[Parallel, ...]]:
    """The degrees that are open, of the roles that are planned."""
    names = [each.name for each in problem.components if each.runs is None and each.timed]
    return {name: problem.job.choices[name] for name in names if problem.job.choices.get(name)}


def _refused(problem: Problem, chosen: Chosen) -> Iterator[Finding]:
    """Why no choice is left, in the words of `all_refused`."""
    choices = _choices(problem)
    unsaid = {name: its for name, its in choices.items() if not any(chosen.says(name, each) for each in its)}
    for name, its in (unsaid or {"": ()}).items():
        job = replace(problem.job, choices={name: its} if name else choices)
        yield from all_refused(job, chosen.job)


def _taken(document: Document, found: Reading) -> Finding:
    """Of what is not checked where texts of `defaults` are missing: that the counts are judged as if these said nothing of it."""
    keys = [
        f"`{key}`" for key in dict.fromkeys(each.subject for each in found.unchecked) if "." in key and find(document.root, key) is None
    ]
    some = f", such as {', '.join(keys[:2])}" if keys else ""
    message = f"texts of `defaults` are missing: what they may say is not checked, and counts are chosen with ROLL's own defaults{some}"
    return warning("PW122", "", message, help="name the folders of these texts with `--config-root DIR`")


def _written(before: Problem, problem: Problem) -> dict[str, Sequence[Run]]:
    """Where the file itself has the components that are planned, be there such nodes or not."""
    open_ = {each.name for each in problem.components if each.runs is None}
    return {each.name: each.runs for each in before.components if each.name in open_ and each.runs is not None}


def _within(problem: Problem, written: Mapping[str, Sequence[Run]]) -> dict[str, Sequence[Run]]:
    """Those on nodes that there are."""
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
    placed = Assignment(runs)
    found = {}
    for name in runs:
        masks = {node: mask for (node, kind), mask in placed.masks(name).items() if kind == ACCELERATOR}
        found[name] = frozenset((node, index) for node, mask in masks.items() for index in range(mask.bit_length()) if mask >> index & 1)
    return {name: its for name, its in found.items() if its}


def _shape(component: Component) -> Shape:
    return Shape(component.per_process, component.stride, component.parallel)


def _counts(problem: Problem, component: Component, parallel: Parallel) -> Iterator[tuple[int, Parallel]]:
    """(count, degrees) that divide all that is dealt out, within what its strategy asks for with these degrees."""
    its = problem[component.name]
    most = min(its.most, sum(node.free(ACCELERATOR).bit_count() for node in problem.cluster.nodes))
    shares = [share for share in problem.shares if share.component == its.name]
    for amount in range(max(-(-its.least // its.step), 1) * its.step, most + 1, its.step):
        if its.may_have(amount) and all(share.divides(amount // its.per_process) for share in shares):
            yield amount, parallel


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
    if not _is_asynchronous(document):
        return
    open_ = [each for each in problem.components if each.runs is None and problem.kind(each) == ACCELERATOR]
    for one in (each for each in open_ if role_of(each) == ROLLOUT):
        for other in open_:
            if other is not one and not any({one.name, other.name} <= set(each.components) for each in problem.job.relations):
                yield Relation(DISJOINT, (one.name, other.name), None, f"ROLL generates while the others work (`{RATIO}`)")


def _workload(document: Document, problem: Problem, workload: Workload) -> Workload:
    """The workload of the file; what its block does not say is as ROLL does it: in turn, or generating while it trains.

    ROLL counts no device as taken: a role may have some of those of another one, unless `nested` says otherwise.
    """
    said = said_of_plan(document.root.get(HINTS))
    workload = as_it_runs(workload, said, f"`{RATIO}`" if _is_asynchronous(document) else "")
    if "nested" not in said:
        workload = replace(workload, nested=True)
    return workload if "workflow" in said else replace(workload, after=tuple(usual_order(problem.components)))
