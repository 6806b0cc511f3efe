"""A file with times, read once more: its roles with times have no devices, and where it places them itself is kept beside."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable, Iterator, Mapping, Sequence, Union

from ....component import DISJOINT, Component, Parallel, Relation
from ....findings.finding import Finding, Severity, error, warning
from ....job import Job
from ....machines.cluster import Cluster
from ....machines.node_group import ACCELERATOR
from ....machines.shorthand import AsDeclared
from ....placements.assignment import Assignment, Run
from ....planning.usual import as_it_runs, said_of_plan, timed_names, usual_order
from ....planning.way import Shape
from ....planning.workload import Workload
from ....problem import Problem
from ....reading import Reading
from ....roles import ROLLOUT, role_of
from ....text.document import Document
from ....text.tree import Scalar, find
from ...dialect import TRAINING
from ...following import following, interpolates
from ..modes.asynchronous import RATIO
from ..recognise import HINTS
from .keys import numbers, opened_root, with_numbers

Read = Callable[[Document, Union[Cluster, AsDeclared, None], str], Reading]
Accepted = frozenset[tuple[int, Parallel]]


def anew(read: Read, document: Document, machines: Cluster | AsDeclared | None, level: str) -> Reading:
    """The file as it is planned; `read` reads it as it stands."""
    before = read(document, machines, level)
    if before.problem is None:
        return before
    cluster = machines if isinstance(machines, Cluster) else before.problem.cluster
    names = timed_names(document.root.get(HINTS))
    opened = replace(document, root=opened_root(document.root, names))
    found = read(opened, cluster, level)
    # What no text that was read says is taken to be as ROLL has it by default: what it then refuses is not chosen.
    opened = replace(opened, partial=False)
    judged = read(opened, cluster, TRAINING)
    problem = read(opened, cluster, level).problem if document.partial else found.problem
    if problem is None or judged.problem is None or problem.job.workload is None:
        return found
    shapes, accepted, refused = dict[str, dict[Parallel, Shape]](), dict[str, Accepted](), list[Finding]()
    parts = {each.name: each for each in problem.components}
    for component in problem.components:
        if component.runs is None and component.timed and (choices := problem.job.choices.get(component.name)):
            with_each = {c: _with_degrees(read, opened, cluster, component.name, c, judged) for c in choices}
            its = {c: each for c, each in with_each.items() if isinstance(each, Problem)}
            if not its:
                refused.append(_none_left(component, choices))
            parts[component.name] = _widened(component, [each[component.name] for each in its.values()])
            shapes[component.name] = {parallel: _shape(each[component.name]) for parallel, each in its.items()}
            accepted[component.name] = frozenset(pair for parallel, each in its.items() for pair in _counts(each, component, parallel))
    apart, written = tuple(_apart(document, problem)), _written(before.problem, problem)
    job = replace(
        problem.job, components=tuple(parts.values()), own=_within(problem, written), overlaps=dict(_overlaps(problem, written)), shapes=shapes, accepted=accepted, relations=(*problem.job.relations, *apart),
        choices={name: tuple(shapes.get(name, its)) or its for name, its in problem.job.choices.items()},
        shares=tuple(share for share in judged.problem.job.shares if share.component not in accepted),
        workload=_workload(document, problem, problem.job.workload),
    )  # fmt: skip
    if job.choices and interpolates(document.root):
        job, none_left = following(job, list(job.choices), lambda degrees: _job_with(read, opened, cluster, level, degrees, judged))
        refused += none_left if not refused and not found.failed else ()
    taken = (_taken(document, found),) if document.partial else ()
    return replace(found, problem=replace(problem, job=job), findings=(*found.findings, *taken, *refused))


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


def _with_degrees(read: Read, opened: Document, cluster: Cluster, name: str, parallel: Parallel, judged: Reading) -> Problem | str:
    """The problem of the file with other degrees of a role; why, where its strategy cannot say them, or ROLL refuses them."""
    values = numbers(opened.root, name, parallel)
    if values is None:
        return f"the strategy of `{name}` cannot say them"
    found = read(replace(opened, root=with_numbers(opened.root, name, values)), cluster, TRAINING)
    before = {_key(each) for each in _errors(judged)}
    worse = next((each.message for each in _errors(found) if _key(each) not in before), "")
    return worse or found.problem or "the file cannot be read"


def _job_with(read: Read, opened: Document, cluster: Cluster, level: str, degrees: Mapping[str, Parallel], judged: Reading) -> Job | str:
    """The job of the file with other degrees of roles; why, where a strategy cannot say them, or ROLL refuses them."""
    for name, parallel in degrees.items():
        values, its = numbers(opened.root, name, parallel), _with_degrees(read, opened, cluster, name, parallel, judged)
        if values is None or isinstance(its, str):
            return str(its)
        opened = replace(opened, root=with_numbers(opened.root, name, values))
    found = read(opened, cluster, level).problem
    return found.job if found is not None else "the file cannot be read"


def _errors(reading: Reading) -> Iterator[Finding]:
    return (each for each in reading.findings if each.severity is Severity.ERROR)


def _key(finding: Finding) -> tuple[str, str]:
    return finding.code, finding.subject


def _shape(component: Component) -> Shape:
    return Shape(component.per_process, component.stride, component.parallel)


def _counts(problem: Problem, component: Component, parallel: Parallel) -> Iterator[tuple[int, Parallel]]:
    """(count, degrees) that divide all that is dealt out, within what its strategy asks for with these degrees."""
    its = problem[component.name]
    most = min(its.most, sum(node.free(ACCELERATOR).bit_count() for node in problem.cluster.nodes))
    shares = [share for share in problem.shares if share.component == its.name]
    for amount in range(max(-(-its.least // its.step), 1) * its.step, most + 1, its.step):
        if all(share.divides(amount // its.per_process) for share in shares):
            yield amount, parallel


def _widened(component: Component, its: Sequence[Component]) -> Component:
    """With every amount that one of these may have: how many a strategy asks for can depend on the degrees."""
    return replace(component, least=min(each.least for each in its), most=max(each.most for each in its)) if its else component


def _none_left(component: Component, choices: tuple[Parallel, ...]) -> Finding:
    said = " or ".join(str(each) for each in choices)
    message = f"`parallel` of `{component.name}` is {said}, which ROLL refuses or its strategy cannot say"
    return error("PW121", component.name, message, component.span("parallel"), help="leave open what its strategy has a key for")


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
