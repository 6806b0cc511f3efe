"""Changes of a question that have a price: without a demand, on other machines, near a plan."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Iterator, Sequence

from ...models.demand import Demand
from ...models.findings.finding import Finding, UnusableInput, error
from ...models.findings.wording import are, with_noun
from ...models.job import Job
from ...models.machines.accelerators import accelerators
from ...models.machines.changed import with_nodes
from ...models.machines.cluster import Cluster
from ...models.machines.node import Node
from ...models.machines.node_group import NODE
from ...models.machines.shorthand import MAX_ACCELERATORS_PER_NODE, MAX_NODES
from ...models.placements.plan import Plan
from ...models.problem import AMOUNT, Problem
from ...models.reading import Elsewhere
from ...models.text.nearest import nearest
from ..refuting.conflict import can_be_dropped, key_of
from ..replanning.lose import given_on, lose
from ..replanning.replan import after
from ..wording import listed
from .price import Named, without

MAX_LISTED = 8


_MORE = re.compile(r"\+?([0-9]{1,6})(?:x([0-9]{1,6}))?(?:x([A-Za-z0-9][A-Za-z0-9_.:-]{0,63}))?")
_FEWER = re.compile(r"-([0-9]{1,6})")


def names(problem: Problem) -> dict[str, Demand]:
    """Every demand by its one full name, such as ``actor.memory`` or ``actor.keep.replica.rack``, in the written order."""
    found: dict[str, Demand] = {}
    for demand in problem.demands:
        found.setdefault(_full(problem, demand), demand)
    return found


def called(problem: Problem, text: str) -> tuple[Demand, ...] | Finding:
    """The demands that a text names: by their full name, by a shorter one that says as much, or by words such as ``keep replica in rack``.

    What names demands of several components names them all. A Finding where it names none.
    """
    wanted = " ".join(text.strip().split())
    found = tuple(demand for name, demand in names(problem).items() if wanted in _ways(name, demand))
    if found:
        return found
    known = list(names(problem))
    close = nearest(wanted, known)
    advice = f"name `{close}`" if close else "name one of " + listed([f"`{name}`" for name in known[:MAX_LISTED]])
    return error("PW612", "", f"`{text[:80]}` is no demand of this file", help=advice if known else "there is nothing to drop in this file")


def _full(problem: Problem, demand: Demand) -> str:
    one, _, other = demand.component.partition("+")
    first, *rest = demand.field.split()
    if demand.field == AMOUNT:
        return f"{one}.{'processes' if problem.kind(problem[one]) == NODE else 'accelerators'}"
    if first in ("keep", "spread", "pins"):
        # keep tp in rack, spread over rack, pins 0-7
        return ".".join([one, "pin" if first == "pins" else first, *(word for word in rest if word not in ("in", "over"))])
    key = key_of(demand).replace(" ", "_")
    return f"{one}.{key}.{other.replace('+', '.')}" if other else f"{one}.{key}"


def _ways(name: str, demand: Demand) -> Iterator[str]:
    """All that a demand may be called."""
    parts = name.split(".")
    for stop in range(2, len(parts) + 1):
        yield ".".join(parts[:stop])
    one = demand.component.partition("+")[0]
    yield from (f"{one}.{demand.field}", demand.field, ".".join(parts[1:]), parts[1])


def with_machines(problem: Problem, text: str) -> Problem | Finding:
    """The question on other machines: ``+4`` nodes like the largest, ``4xH100`` like those, ``4x8xH100`` of this form, ``-2`` the last ones.

    A Finding where the text is none of these, or no node like that is there to be copied.
    """
    if match := _FEWER.fullmatch(text.strip()):
        count, size = int(match[1]), len(problem.cluster.nodes)
        if not 0 < count < size:
            return _unread(text, f"there {are(size)} {with_noun(size, 'node')}; at least one of them must be left")
        gone = range(size - count, size)
        return next(given_on(problem, gone), None) or lose(problem, gone)
    match = _MORE.fullmatch(text.strip())
    if not match or not 0 < int(match[1]) <= MAX_NODES - len(problem.cluster.nodes):
        return _unread(text, "write such as `+4x8xH100`, `4xH100`, `+2` or `-2`")
    sample = _sample(problem.cluster, int(match[2]) if match[2] else None, match[3] or "")
    if sample is None:
        return _unread(
            text, f"no node has {match[3] or 'accelerators'}; say how many each has, such as `{match[1]}x8x{match[3] or 'H100'}`"
        )
    return replace(problem, cluster=with_nodes(problem.cluster, sample, int(match[1])))


def without_named(problem: Problem, words: Sequence[str]) -> Problem | tuple[Finding, ...]:
    """The question without nodes that are named or numbered; Findings for those that do not exist."""
    numbers = {problem.cluster.name(rank): rank for rank in range(len(problem.cluster.nodes))}
    lost, findings = dict[int, None](), list[Finding]()
    for word in words:
        if word in numbers:
            lost[numbers[word]] = None
        elif word.isdecimal() and int(word) < len(numbers):
            lost[int(word)] = None
        else:
            close = nearest(word, numbers)
            advice = f"name `{close}`" if close else f"name one of them, such as `{next(iter(numbers), '')}`, or its rank"
            findings.append(error("PW609", "", f"`{word[:80]}` is no node of this cluster", help=advice))
    if len(lost) == len(numbers):
        findings.append(error("PW609", "", "nothing is left without these nodes", help="leave at least one node"))
    findings += given_on(problem, tuple(lost))
    return tuple(findings) or lose(problem, tuple(lost))


def _sample(cluster: Cluster, each: int | None, model: str) -> Node | None:
    """A node like the ones to add; its rank is that of the node whose groups they are to be in, -1 if there is none."""
    nodes = [alike.node for alike in cluster.alike if alike.node.accelerators]
    like = [node for node in nodes if not model or node.accelerator_model.lower() == model.lower()]
    largest = max(like, key=lambda node: len(node.accelerators), default=None)
    if largest is not None and (each is None or each == len(largest.accelerators)):
        return largest
    if each is None or not each <= MAX_ACCELERATORS_PER_NODE:
        return None
    if largest is not None:
        its = largest.accelerators[0]
        return replace(largest, accelerators=accelerators(each, f"{its.vendor}:{its.model}", its.memory))
    return Node(-1, "", accelerators(each, model or "GPU"))


def _unread(text: str, advice: str) -> Finding:
    return error("PW609", "", f"`{text[:80]}` does not say which machines", help=advice)


def each_dropped(problem: Problem) -> list[Named]:
    """The question without each demand in turn that the user can drop."""
    return [
        (f"without {name}", without(problem, [demand]))
        for name, demand in names(problem).items()
        if demand.field != AMOUNT and can_be_dropped(problem, demand)
    ]


def dropped(problem: Problem, texts: Sequence[str]) -> list[Named]:
    """The question without what each text names. Raises UnusableInput for those that name nothing."""
    found = [(text, called(problem, text)) for text in texts]
    _refuse([each for _, each in found if isinstance(each, Finding)])
    return [(f"without {text}", without(problem, each)) for text, each in found if not isinstance(each, Finding)]


def on_other_machines(
    problem: Problem, nodes: Sequence[str], losses: Sequence[Sequence[str]], elsewhere: Elsewhere | None = None
) -> list[Named]:
    """The question with each change of the nodes, such as `+4x8xH100`, and without nodes that are named. Raises UnusableInput.

    `elsewhere` reads which counts the framework takes there; without it nothing is known of counts on more nodes where that matters.
    """
    found: list[Named] = []
    findings: list[Finding] = []
    for text in nodes:
        changed = with_machines(problem, text)
        if isinstance(changed, Finding):
            findings.append(changed)
        else:
            found.append((f"--nodes {text}", changed))
        if (
            isinstance(changed, Problem)
            and problem.job.planning.accepted
            and elsewhere is None
            and len(changed.cluster.nodes) > len(problem.cluster.nodes)
        ):
            findings.append(_not_known(text))
    for words in losses:
        left = without_named(problem, words)
        if isinstance(left, tuple):
            findings += left
        else:
            found.append((f"--lose {','.join(words)}", left))
    _refuse(findings)
    if elsewhere is None or not problem.job.planning.accepted:
        return found
    return [(name, replace(each, job=_taken(each.job, elsewhere.job_on(each.cluster)))) for name, each in found]


def _taken(job: Job, there: Job | None) -> Job:
    """The job with the counts that its framework takes of it where it is read elsewhere, of each choice of degrees."""
    if there is None:
        return replace(job, planning=replace(job.planning, accepted={}, followed=(), not_read=0, sizes_not_read=0))
    return replace(job, choices=there.choices, planning=replace(job.planning, accepted=there.planning.accepted, tied=there.planning.tied, followed=there.planning.followed, not_read=there.planning.not_read, sizes_not_read=there.planning.sizes_not_read, by_size=there.planning.by_size))  # fmt: skip


def _not_known(text: str) -> Finding:
    message = f"`{text[:80]}`: which counts its framework takes on more nodes is read from a file, and this job is none"
    return error("PW609", "", message, help="name the file")


def _refuse(findings: Sequence[Finding]) -> None:
    if findings:
        raise UnusableInput(findings)


def near(problem: Problem, before: Plan | None, lost: Sequence[str] = ()) -> Problem:
    """The question without the nodes of these names or ranks, to be answered near the plan that runs now, if one does.

    Raises UnusableInput for nodes that are none, or that hold what is given.
    """
    if lost:
        left = without_named(problem, lost)
        if isinstance(left, tuple):
            raise UnusableInput(left)
        problem = left
    return problem if before is None else after(problem, before)
