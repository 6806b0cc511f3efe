"""Changed problems to be priced: a dropped demand, other machines, a previous plan."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Iterator, Sequence

from ...models.dialect_names import FRAMEWORKS
from ...models.findings.finding import Finding, Severity, UnusableInput, error
from ...models.findings.wording import are, with_noun
from ...models.job import Job
from ...models.machines.changed import with_nodes, without_nodes
from ...models.machines.cluster import Cluster
from ...models.machines.node import Node, accelerators
from ...models.machines.node_group import NODE
from ...models.machines.shorthand import MAX_ACCELERATORS_PER_NODE, MAX_NODES
from ...models.placements.plan import Plan
from ...models.problem import AMOUNT, Demand, Problem
from ...models.reading import Reading
from ...models.text.nearest import nearest
from ..refuting.conflict import can_be_dropped, key_of
from ..replanning import immovable, lose, replan
from ..wording import join_names
from .price import Named, without

MAX_LISTED = 8
_MORE = re.compile(r"\+?([0-9]{1,6})(?:x([0-9]{1,6}))?(?:x([A-Za-z0-9][A-Za-z0-9_.:-]{0,63}))?")
_FEWER = re.compile(r"-([0-9]{1,6})")


def names(problem: Problem) -> dict[str, Demand]:
    """Return all demands by full name, such as ``actor.memory`` or ``actor.keep.replica.rack``."""
    by_name: dict[str, Demand] = {}
    for demand in problem.demands:
        by_name.setdefault(_full(problem, demand), demand)
    return by_name


def demands_named(problem: Problem, text: str) -> tuple[Demand, ...] | Finding:
    """Return the demands with this name, or a Finding if there are none.

    Accepts full names, unambiguous shorter names and words such as ``keep replica in rack``. A name
    shared by several components selects all of them.
    """
    words = " ".join(text.strip().split())
    matches = tuple(demand for name, demand in names(problem).items() if words in _ways(name, demand))
    if matches:
        return matches
    demand_names = list(names(problem))
    close = nearest(words, demand_names)
    advice = f"name `{close}`" if close else "name one of " + join_names([f"`{name}`" for name in demand_names[:MAX_LISTED]])
    return error(
        "PW612", "", f"`{text[:80]}` is not a demand of this file", help=advice if demand_names else "there is nothing to drop in this file"
    )


def _full(problem: Problem, demand: Demand) -> str:
    subject, _, partners = demand.component.partition("+")
    first, *rest = demand.field.split()
    if demand.field == AMOUNT:
        return f"{subject}.{'processes' if problem.kind(problem[subject]) == NODE else 'accelerators'}"
    if first in ("keep", "spread", "pins"):
        # keep tp in rack, spread over rack, pins 0-7
        return ".".join([subject, "pin" if first == "pins" else first, *(word for word in rest if word not in ("in", "over"))])
    key = key_of(demand).replace(" ", "_")
    return f"{subject}.{key}.{partners.replace('+', '.')}" if partners else f"{subject}.{key}"


def _ways(name: str, demand: Demand) -> Iterator[str]:
    """Yield all accepted names of a demand."""
    words = name.split(".")
    for stop in range(2, len(words) + 1):
        yield ".".join(words[:stop])
    subject = demand.component.partition("+")[0]
    yield from (f"{subject}.{demand.field}", demand.field, ".".join(words[1:]), words[1])


def move_to_machines(problem: Problem, text: str) -> Problem | Finding:
    """Return the problem on other machines, or a Finding.

    ``+4`` adds nodes like the largest, ``4xH100`` nodes like the H100 nodes, ``4x8xH100`` nodes of
    this form; ``-2`` removes the last two. A Finding if the text is malformed or no node can be
    copied.
    """
    if match := _FEWER.fullmatch(text.strip()):
        count, size = int(match[1]), len(problem.cluster.nodes)
        if not 0 < count < size:
            return _unread(text, f"there {are(size)} {with_noun(size, 'node')}; at least one of them must be left")
        nodes = range(size - count, size)
        return next(immovable(problem, nodes), None) or lose(problem, nodes)
    match = _MORE.fullmatch(text.strip())
    if not match or not 0 < int(match[1]) <= MAX_NODES - len(problem.cluster.nodes):
        return _unread(text, "write such as `+4x8xH100`, `4xH100`, `+2` or `-2`")
    sample = _sample(problem.cluster, int(match[2]) if match[2] else None, match[3] or "")
    if sample is None:
        return _unread(text, f"no node has {match[3] or 'accelerators'}: write a number, such as `{match[1]}x8x{match[3] or 'H100'}`")
    return replace(problem, cluster=with_nodes(problem.cluster, sample, int(match[1])))


def without_named(problem: Problem, words: Sequence[str], file: Reading | None = None) -> Problem | tuple[Finding, ...]:
    """Return the problem without nodes, by name or rank; Findings for unknown nodes.

    A framework's `file` is read again on the remaining machines, as its ranks are relative to
    these. If it is refused there, hints are searched on what is left of its own nodes.
    """
    is_framework = file is not None and file.dialect in FRAMEWORKS and file.session.as_before is not None
    machines = file.machines if file is not None and is_framework and file.machines is not None else problem.cluster
    lost_ranks, findings = _ranks_named(machines, words)
    if findings:
        return findings
    remaining = replace(without_nodes(machines, lost_ranks), declared=())
    lost_names = {machines.name(rank) for rank in lost_ranks}
    own_ranks = [node.rank for node in problem.cluster.nodes if node.name in lost_names]
    obstacles = tuple(immovable(problem, own_ranks))
    is_whole = len(machines.nodes) == len(problem.cluster.nodes)
    if file is None or not is_framework or (problem.hinted and is_whole and not obstacles):
        return obstacles or lose(problem, own_ranks)
    reading = file.session.read(file.source.text, remaining).to_solve
    if reading.problem is not None and not reading.failed:
        return reading.problem
    errors = tuple(finding for finding in reading.findings if finding.severity is Severity.ERROR)
    return (obstacles or lose(problem, own_ranks)) if problem.hinted or not errors else errors


def _ranks_named(machines: Cluster, words: Sequence[str]) -> tuple[tuple[int, ...], tuple[Finding, ...]]:
    """Return the ranks of nodes by name or rank, and the findings against them."""
    numbers = {machines.name(rank): rank for rank in range(len(machines.nodes))}
    ranks, findings = dict[int, None](), list[Finding]()
    for word in words:
        if word in numbers:
            ranks[numbers[word]] = None
        elif word.isdecimal() and int(word) < len(numbers):
            ranks[int(word)] = None
        else:
            close = nearest(word, numbers)
            advice = f"name `{close}`" if close else f"name one of them, such as `{next(iter(numbers), '')}`, or its rank"
            findings.append(error("PW609", "", f"`{word[:80]}` is not a node of this cluster", help=advice))
    if len(ranks) == len(numbers):
        findings.append(error("PW609", "", "nothing is left without these nodes", help="leave at least one node"))
    return tuple(ranks), tuple(findings)


def _sample(cluster: Cluster, size: int | None, model: str) -> Node | None:
    """Return a template of new nodes; the rank selects node groups, -1 for none."""
    nodes = [stretch.node for stretch in cluster.alike if stretch.node.accelerators]
    like = [node for node in nodes if not model or node.accelerator_model.lower() == model.lower()]
    largest = max(like, key=lambda node: len(node.accelerators), default=None)
    if largest is not None and (size is None or size == len(largest.accelerators)):
        return largest
    if size is None or not size <= MAX_ACCELERATORS_PER_NODE:
        return None
    if largest is not None:
        device = largest.accelerators[0]
        return replace(largest, accelerators=accelerators(size, f"{device.vendor}:{device.model}", device.memory))
    return Node(-1, "", accelerators(size, model or "GPU"))


def _unread(text: str, advice: str) -> Finding:
    return error("PW609", "", f"`{text[:80]}` does not say which machines", help=advice)


def without_each(problem: Problem) -> list[Named]:
    """Return a problem per droppable demand, without that demand."""
    return [
        (f"without {name}", without(problem, [demand]))
        for name, demand in names(problem).items()
        if demand.field != AMOUNT and can_be_dropped(problem, demand)
    ]


def drop_demands(problem: Problem, texts: Sequence[str]) -> list[Named]:
    """Return a problem per named demand, without it. Raises UnusableInput."""
    pairs = [(text, demands_named(problem, text)) for text in texts]
    _refuse([result for _, result in pairs if isinstance(result, Finding)])
    return [(f"without {text}", without(problem, result)) for text, result in pairs if not isinstance(result, Finding)]


def vary_machines(problem: Problem, nodes: Sequence[str], losses: Sequence[Sequence[str]], file: Reading | None = None) -> list[Named]:
    """Return a problem per change of nodes and per list of lost nodes.

    Findings take the place of a problem if the job cannot run without the lost nodes. The `file` is read for the
    counts that its framework accepts on other machines; without it more nodes are an error if such counts matter.
    Raises UnusableInput.
    """
    elsewhere = file.session.elsewhere if file is not None else None
    changes: list[Named] = []
    findings: list[Finding] = []
    for text in nodes:
        variant = move_to_machines(problem, text)
        if isinstance(variant, Finding):
            findings.append(variant)
        else:
            total = "" if text.strip()[:1] in "+-" else f" more ({with_noun(len(variant.cluster.nodes), 'node')})"
            changes.append((f"--nodes {text}{total}", variant))
        if (
            isinstance(variant, Problem)
            and problem.job.planning.accepted
            and elsewhere is None
            and len(variant.cluster.nodes) > len(problem.cluster.nodes)
        ):
            findings.append(_not_known(text))
    for words in losses:
        outcome = without_named(problem, words, file)
        if isinstance(outcome, tuple) and any(finding.code == "PW609" for finding in outcome):
            findings += outcome
        else:
            changes.append((f"--lose {','.join(words)}", outcome))
    _refuse(findings)
    if elsewhere is None or not problem.job.planning.accepted:
        return changes
    return [
        (
            name,
            replace(variant, job=_take_counts(variant.job, elsewhere.job_on(variant.cluster))) if isinstance(variant, Problem) else variant,
        )
        for name, variant in changes
    ]


def _take_counts(job: Job, reread: Job | None) -> Job:
    """Return the job with accepted counts, per choice of degrees, read for another cluster."""
    if reread is None:
        return replace(job, planning=replace(job.planning, accepted={}, followed=(), unread_choices=0, sizes_not_read=0))
    return replace(job, choices=reread.choices, planning=replace(job.planning, accepted=reread.planning.accepted, tied=reread.planning.tied, followed=reread.planning.followed, unread_choices=reread.planning.unread_choices, sizes_not_read=reread.planning.sizes_not_read, by_size=reread.planning.by_size))  # fmt: skip


def _not_known(text: str) -> Finding:
    message = f"`{text[:80]}`: which counts its framework takes on more nodes is read from a file, and this job is none"
    return error("PW609", "", message, help="name the file")


def _refuse(findings: Sequence[Finding]) -> None:
    if findings:
        raise UnusableInput(findings)


def stay_near_plan(problem: Problem, before: Plan | None, losses: Sequence[str] = (), file: Reading | None = None) -> Problem:
    """Return the problem without lost nodes, to be solved near the running plan, if any.

    Raises UnusableInput for unknown nodes, and if the job cannot run without the nodes (see `without_named`).
    """
    if losses:
        outcome = without_named(problem, losses, file)
        if isinstance(outcome, tuple):
            raise UnusableInput(outcome)
        problem = outcome
    return problem if before is None else replan(problem, before)
