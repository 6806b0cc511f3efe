"""Problem as the `cluster` section of a new RLinf file."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator, Sequence

from ...component import Component
from ...conversion.hints import Data, asked, hint_block, ranks_to_data, renamed, said_of_names, shape
from ...conversion.losses import dropped, moved, refusal, unsaid_demands
from ...findings.finding import Finding, UnusableInput
from ...machines.cluster import Cluster
from ...machines.node_group import ACCELERATOR, CLUSTER_LABEL, NODE, EnvConfig, NodeGroup
from ...notation.launchable import why_not
from ...notation.runs_text import best_text
from ...placements.run import Run
from ...problem import Problem
from ...roles import ACTOR, CRITIC, ENVIRONMENT, INFERENCE, REWARD, ROLES, ROLLOUT, role_of
from ...text.edit import number_or_text, to_yaml
from ..dialect import Rendering
from .hardware import hardware_types
from .known import RESERVED_LABELS

GroupData = dict[str, object]


def declared_groups(cluster: Cluster, reasons: list[Finding]) -> list[GroupData]:
    """Every declared group. `reasons` gets what RLinf cannot say (PW606)."""
    return [_group(cluster, group, reasons) for group in cluster.declared]


def _group(cluster: Cluster, group: NodeGroup, reasons: list[Finding]) -> GroupData:
    label, kind, default = group.label, group.kind, cluster.default_kind(group.node_ranks)
    data: GroupData = {"label": label, "node_ranks": ranks_to_data(group.node_ranks)}
    if "," in label or label != label.strip() or not label or label in RESERVED_LABELS:
        reasons.append(refusal(label, f"`{label}` cannot be the label of a node group of RLinf", "rename the node group"))
    if kind == NODE and default != NODE:
        data["ignore_hardware"] = True
    elif kind == ACCELERATOR and default != ACCELERATOR:
        data["hardware_type"] = ACCELERATOR
    elif kind not in (NODE, ACCELERATOR):
        if kind not in hardware_types():
            known = ", ".join(hardware_types())
            reasons.append(refusal(label, f"group `{label}` counts {kind}, a hardware that RLinf does not know", f"RLinf knows {known}"))
        data["hardware"] = {"type": kind, "configs": list(_devices(cluster, group))}
    if group.env_configs:
        data["env_configs"] = [_software(config) for config in group.env_configs]
    return data


def _devices(cluster: Cluster, group: NodeGroup) -> Iterator[GroupData]:
    for rank in group.node_ranks:
        for device in cluster.nodes[rank].hardware:
            if device.type == group.kind:
                yield {"node_rank": rank, **{key: _value(text) for key, text in device.config}}


def _value(text: str) -> object:
    """A setting as it was written: numbers, truth values and lists as such, nothing as null."""
    from ...text.source import read_yaml
    from ...text.tree import plain

    return plain(read_yaml("", text)) if text else None


def _software(config: EnvConfig) -> GroupData:
    data: GroupData = {"node_ranks": ranks_to_data(config.node_ranks)}
    if config.env_vars:
        data["env_vars"] = [{name: value} for name, value in config.env_vars]
    if config.python_interpreter_path is not None:
        data["python_interpreter_path"] = config.python_interpreter_path
    return data


NAMES = {role: role for role in (ACTOR, ROLLOUT, INFERENCE, CRITIC, REWARD, ENVIRONMENT)}
"""What RLinf's programs call the components of these roles. Source: RLinf, examples/*/main_*.py and rlinf/utils/placement.py."""


def render(problem: Problem) -> Rendering:
    """The file. It says nothing of what its nodes have: RLinf asks them, and placewright is told by `--cluster`.

    Raises UnusableInput (PW606) with every reason where RLinf cannot say it.
    """
    reasons: list[Finding] = []
    names = _names(problem.components)
    losses = [*said_of_names(names), *unsaid_demands(problem)]
    groups = declared_groups(problem.cluster, reasons)
    placed: Data = {}
    hints: Data = {}
    open_: Data = {}
    for component in problem.components:
        name = names[component.name]
        if not name or "," in name or name != name.strip():
            reasons.append(refusal(component.name, f"`{name}` cannot be the name of a component of RLinf", "rename it"))
        said = shape(problem, component, names, losses)
        if component.runs is None:
            open_[name] = asked(problem, component) | said
            continue
        placed[name] = _placed(problem, component, node_by_node(problem, component, component.runs, losses), reasons)
        if "role" in said and name in ROLES:
            losses.append(dropped(component.name, f"`{component.name}` is `{component.role}`, and RLinf runs `{name}` as `{name}`"))
            del said["role"]
        if said:
            hints[name] = said
    if reasons:
        raise UnusableInput(reasons)
    hints |= open_
    section: Data = {"num_nodes": len(problem.cluster.nodes)}
    if groups:
        section["node_groups"] = groups
    section["component_placement"] = placed
    data: Data = {"cluster": section, **hint_block(problem, names, hints)}
    return Rendering(to_yaml(data), tuple(losses), names)


def _names(components: Sequence[Component]) -> dict[str, str]:
    """What the components are called, once they are what RLinf runs under these names: placed as `actor` one is no other's role."""
    names = renamed(components, NAMES)
    for _ in components:
        as_run = [_as_run(component, names[component.name]) for component in components]
        found = renamed(as_run, NAMES)
        again = {name: found[its] for name, its in names.items()}
        if again == names:
            break
        names = again
    return names


def _as_run(component: Component, name: str) -> Component:
    """A component under another name: with ranks it does there what RLinf runs under that."""
    return replace(component, name=name, role="" if component.runs is not None and name in ROLES else role_of(component))


def node_by_node(problem: Problem, component: Component, runs: Sequence[Run], losses: list[Finding]) -> Sequence[Run]:
    """The processes of a component on nodes, numbered node by node: on CPUs one is like another, and RLinf wants them so."""
    if problem.kind(component) != NODE or why_not(runs, in_order=True) != "PW210":
        return runs
    losses.append(moved(component.name, f"the processes of `{component.name}` are as many on each node, but numbered node by node now"))
    found: list[Run] = []
    for run in sorted(runs, key=lambda run: run.node):
        start = found[-1].ranks.stop if found else 0
        found.append(replace(run, ranks=range(start, start + len(run.ranks))))
    return found


def _placed(problem: Problem, component: Component, runs: Sequence[Run], reasons: list[Finding]) -> object:
    name = component.name
    why = _REASONS.get(why_not(runs, in_order=True))
    if why:
        reasons.append(refusal(name, f"`{name}` has {why}, which RLinf refuses at launch", "give it another place, or launch from a plan"))
        return None
    try:
        labels, text = best_text(name, runs, problem.cluster, component.node_groups)
    except UnusableInput as refused:
        reasons += [refusal(name, finding.message, finding.help) for finding in refused.findings]
        return None
    ranks = number_or_text(text)
    return ranks if labels == (CLUSTER_LABEL,) else {"node_group": ",".join(labels), "placement": ranks}


_REASONS = {
    "PW203": "a process on several nodes",
    "PW210": "a process on a node of lower rank than the process before it",
    "PW302": "a process with two kinds of hardware",
}
"""What RLinf refuses at launch (flexible.py, node.py), by the code that says the same of an RLinf file."""
