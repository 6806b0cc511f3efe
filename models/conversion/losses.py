"""Losses of a conversion, found by comparing processes and hints."""

from __future__ import annotations

import re
from typing import Iterator, Mapping, Sequence

from ..component import IN_ORDER, KEYS, NOT_FEWER, SUBSET, Component, Parallel, Relation
from ..findings.finding import Finding, Severity, error, warning
from ..findings.wording import are, with_noun
from ..machines.node_group import NODE
from ..memory.work import are_whole
from ..placements.assignment import seats
from ..placements.run import Run
from ..problem import Problem
from ..record import dataclass
from ..text.tree import MapNode, Scalar, Value

LOSS, REFUSAL = "PW605", "PW606"
ENGINES = frozenset({"vllm", "sglang", "trtllm", "hf", "huggingface"})
"""Names of inference engines in the frameworks."""
_DEGREE = re.compile(r"(ulysses\w*|\w*expert\w*|ep|fsdp|moe_tensor\w*|virtual_pipeline\w*)_size")
"""Keys of sequence, expert and shard sizes and of virtual stages.

Not every framework has them.
"""


@dataclass(frozen=True, slots=True)
class LostSetting:
    """Difference between two problems.

    `moves` is True if it may move a process.
    """

    component: str
    loss: str
    moves: bool


def differences(before: Problem, after: Problem, names: Mapping[str, str]) -> Iterator[LostSetting]:
    """Yield all differences; `names` maps component names of `before` to those of `after`."""
    components = {component.name: component for component in after.components}
    for component in before.components:
        name = names.get(component.name, component.name)
        if name not in components:
            yield LostSetting(component.name, "is missing", True)
        else:
            yield from _of(before, component, after, components[name])
    called = {names.get(component.name, component.name) for component in before.components}
    for name in components.keys() - called:
        yield LostSetting(name, "is new", True)
    hinted = {component.name for component in before.hinted}
    demanded = {(relation.kind, relation.components, relation.level) for relation in after.job.relations}
    for relation in before.job.relations:
        same = relation.kind, tuple(names.get(name, name) for name in relation.components), relation.level
        if hinted.intersection(relation.components) and same not in demanded:
            yield LostSetting("+".join(relation.components), f"are not demanded to be {relation.kind}", True)
    yield from _between(before, after, names)
    dealt = {(share.component, share.amount, share.multiple) for share in after.shares}
    for share in before.shares:
        if share.component in hinted and (names.get(share.component, share.component), share.amount, share.multiple) not in dealt:
            yield LostSetting(share.component, f"does not get an equal share of {share.said}", True)


def _between(before: Problem, after: Problem, names: Mapping[str, str]) -> Iterator[LostSetting]:
    """Compare links and objective; estimated links are skipped, as they are estimated again."""
    sent = {(link.source, link.target): link for link in after.job.links}
    for link in before.job.links:
        same = sent.get((names.get(link.source, link.source), names.get(link.target, link.target)))
        amounts = (same.weights, same.stream, same.ratio) if same else ()
        if not link.estimate and amounts != (link.weights, link.stream, link.ratio):
            yield LostSetting(f"{link.source}+{link.target}", "are not linked as they were", bool(before.hinted))
    if before.job.preference != after.job.preference:
        yield LostSetting("", "the objective is another", bool(before.hinted))


def _of(before: Problem, component: Component, after: Problem, target: Component) -> Iterator[LostSetting]:
    name = component.name
    if component.runs is not None and target.runs is not None:
        if component.runs != target.runs:
            if rank := _moved(component.runs, target.runs):
                yield LostSetting(name, rank, True)
            elif _labels(component.runs) != _labels(target.runs):
                yield LostSetting(name, "is in other node groups", False)
    elif component.runs is not None or target.runs is not None:
        yield LostSetting(name, "has ranks that are given in one of the two only", True)
    else:
        yield from _hints(before, component, after, target)
    yield from _where(before, component, after, target)
    if component.backend and target.backend and component.backend != target.backend:
        yield LostSetting(name, f"is trained by {target.backend}, not {component.backend}", False)
    on_nodes = before.kind(component) == NODE
    fields = ["phases"] if on_nodes else ["phases", "memory"]
    if not on_nodes and (component.runs is not None or target.runs is not None):  # else `_hints` compares it
        fields.append("accelerator_model")
    for field in fields:
        if getattr(component, field) != getattr(target, field):
            yield LostSetting(name, f"has another {field.replace('_', ' ').removesuffix('s')}", False)
    if not on_nodes and _choices(before, component) != _choices(after, target):
        yield LostSetting(name, "has other parallel degrees", component.runs is None)


def _where(before: Problem, component: Component, after: Problem, target: Component) -> Iterator[LostSetting]:
    """Compare the demands on the topology and on host memory."""
    for field in ("keep", "spread", "pins", "excluded", "offloaded", "host_memory", "estimate"):
        if getattr(component, field) != getattr(target, field):
            yield LostSetting(component.name, f"has another {field.replace('_', ' ')}", component.runs is None)
    if component.runs is None and component.divided_among != target.divided_among and not are_whole(component):
        yield LostSetting(component.name, "need not have whole groups of shards", True)
    estimated = component.name in before.job.estimated or target.name in after.job.estimated
    if component.traffic != target.traffic and not estimated:
        yield LostSetting(component.name, "has other traffic", component.runs is None)


def _hints(before: Problem, component: Component, after: Problem, target: Component) -> Iterator[LostSetting]:
    """Compare the inputs of a search."""
    if _members(before, component) != _members(after, target):
        yield LostSetting(component.name, "may use other nodes", True)
    if component.counts != target.counts:
        yield LostSetting(component.name, "has other counts to choose from", True)
    for field in ("least", "most", "per_process", "contiguous", "stride", "accelerator_model"):
        if getattr(component, field) != getattr(target, field):
            yield LostSetting(component.name, f"has another {field.replace('_', ' ')}", True)


def _members(problem: Problem, component: Component) -> tuple[frozenset[int], str]:
    return problem.cluster.members(component.node_groups), problem.kind(component)


def _choices(problem: Problem, component: Component) -> tuple[Parallel, ...]:
    return tuple(problem.job.choices.get(component.name, (component.parallel,)))


def _moved(before: Sequence[Run], after: Sequence[Run]) -> str:
    """Describe the first process with another place; "" if no process moves."""
    old_seats, new_seats = (
        [(rank, [(seat, kind) for seat, kind, _ in places]) for rank, places in seats(runs)] for runs in (before, after)
    )
    for (rank, kept_seats), (_, moved_seats) in zip(old_seats, new_seats):
        if kept_seats != moved_seats:
            return f"has process {rank} elsewhere"
    return f"has {with_noun(len(new_seats), 'process')}, not {len(old_seats)}" if len(old_seats) != len(new_seats) else ""


def _labels(runs: Sequence[Run]) -> list[list[str]]:
    return [list(dict.fromkeys(label for _, _, label in places)) for _, places in seats(runs)]


def moved(subject: str, message: str, help: str = "") -> Finding:
    """Build the warning for a loss with effect on the placement.

    Something may be placed elsewhere than before, or not at all.
    """
    return warning(LOSS, subject, message, help=help)


def dropped(subject: str, message: str, help: str = "") -> Finding:
    """Build the note for a loss without effect on the placement."""
    return Finding(LOSS, Severity.NOTE, subject, message, help=help)


def refusal(subject: str, message: str, help: str = "", *notes: str) -> Finding:
    """Build the error for an impossible conversion."""
    return error(REFUSAL, subject, message, help=help, notes=notes)


def lost_demands(problem: Problem) -> Iterator[Finding]:
    """Yield the demands of the old framework on hinted components that the new file lacks.

    Explicit ranks satisfy them already.
    """
    hinted = {component.name for component in problem.hinted}
    for relation in problem.job.relations:
        if relation.kind not in KEYS and relation.reason and hinted.intersection(relation.components):
            message = f"that {_relation_text(relation)}, as {relation.reason} demands, is not said any more"
            yield moved("+".join(relation.components), message)
    for share in problem.shares:
        if share.component in hinted:
            message = f"that the {share.said} of `{share.amount_name}` {are(share.amount)} dealt out evenly to `{share.component}`"
            yield moved(share.component, f"{message}, is not said any more")


def lost_times(problem: Problem) -> Iterator[Finding]:
    """Yield the loss of measured times, which decide counts and degrees in `plan`.

    No conversion carries them over.
    """
    timed = [component for component in problem.components if component.timed is not None]
    if timed:
        names = " and ".join(filter(None, (", ".join(f"`{component.name}`" for component in timed[:-1]), f"`{timed[-1].name}`")))
        message = f"the times of {names}, and what `plan` says of these, are not carried over"
        loss = moved if any(component.runs is None for component in timed) else dropped
        yield loss("", message, "add them to the new file, where counts and degrees are to be chosen by them")


def lost_settings(root: MapNode, problem: Problem, text: str) -> Iterator[Finding]:
    """Yield the lost engines, and the lost sizes beside tp, pp and dp."""
    words, degrees = (
        set(re.findall(r"\w+", text)),
        {size for component in problem.components for size in (component.parallel.cp, component.parallel.ep)},
    )
    for path, value in _settings(root):
        is_degree = _DEGREE.fullmatch(path.rpartition(".")[2]) and type(value) is int and value > 1 and value not in degrees
        if is_degree or (value in ENGINES and value not in words and words & ENGINES):
            yield dropped("", f"`{path}` of {value} is not carried over", "set it in the new file, where the job needs it")


def _settings(value: Value, path: str = "") -> Iterator[tuple[str, object]]:
    """Yield path and value of every setting."""
    for entry in value if isinstance(value, MapNode) else ():
        yield from _settings(entry.value, f"{path}.{entry.key.text}".lstrip("."))
    if isinstance(value, Scalar):
        yield path, value.value


def _relation_text(relation: Relation) -> str:
    names = [f"`{name}`" for name in relation.components]
    if relation.kind == NOT_FEWER:
        return f"{names[0]} has at least as many processes as {names[1]}"
    if relation.kind == SUBSET:
        return f"{names[0]} lies within {names[1]}"
    kind = "one after the other on the whole cluster" if relation.kind == IN_ORDER else relation.kind
    return f"{' and '.join(names)} are {kind}"
