"""Rendering of a problem as the `cluster` section of a new RLinf file."""

from __future__ import annotations

from dataclasses import replace
from math import gcd
from typing import Sequence

from ...component import Component
from ...conversion import Data, counts_to_data, hint_block, lost_demands, map_names, note_loss, other_hints_to_data, refusal, warn_of_loss
from ...findings.finding import Finding, UnusableInput
from ...machines.cluster import Cluster
from ...machines.cluster_file import software_to_data
from ...machines.node_group import ACCELERATOR, CLUSTER_LABEL, NODE, NodeGroup
from ...placements.run import Run
from ...placements.run_checks import why_not
from ...placements.runs_text import best_text
from ...problem import Problem
from ...releases.choice import ReleaseChoice
from ...roles import ACTOR, CRITIC, ENVIRONMENT, INFERENCE, REFERENCE, REWARD, ROLES, ROLLOUT, role_of
from ...text.edit import number_or_text, ranks_to_data, to_yaml
from ...training_job import TrainingJob
from ..dialect import JobBatch, Rendering
from ..written import add_title, merge_keys, put
from .known import FSDP, MEGATRON, RESERVED_LABELS, facts


def _group(cluster: Cluster, group: NodeGroup, reasons: list[Finding]) -> Data:
    """Return a declared group; `reasons` gets what RLinf cannot express (PW606)."""
    label, kind, default = group.label, group.kind, cluster.default_kind(group.node_ranks)
    data: Data = {"label": label, "node_ranks": ranks_to_data(group.node_ranks)}
    if "," in label or label != label.strip() or not label or label in RESERVED_LABELS:
        reasons.append(refusal(label, f"`{label}` cannot be the label of a node group of RLinf", "rename the node group"))
    if kind == NODE and default != NODE:
        data["ignore_hardware"] = True
    elif kind == ACCELERATOR and default != ACCELERATOR:
        data["hardware_type"] = ACCELERATOR
    elif kind not in (NODE, ACCELERATOR):
        if kind not in facts("hardware"):
            names = ", ".join(facts("hardware"))
            reasons.append(refusal(label, f"group `{label}` counts {kind}, a hardware that RLinf does not know", f"RLinf knows {names}"))
        hardware = [(rank, device) for rank in group.node_ranks for device in cluster.nodes[rank].hardware if device.type == kind]
        devices = [{"node_rank": rank, **{key: _value(text) for key, text in device.config}} for rank, device in hardware]
        data["hardware"] = {"type": kind, "configs": devices}
    variables = (
        {"env_vars": [{name: value} for name, value in config.env_vars]} if config.env_vars else {} for config in group.env_configs
    )
    environments = [software_to_data(config) | entry for config, entry in zip(group.env_configs, variables)]
    return {**data, "env_configs": environments} if environments else data


def _value(text: str) -> object:
    """Return a setting as written: numbers, booleans and lists as such, "" as null."""
    from ...text.source import read_yaml
    from ...text.tree import plain

    return plain(read_yaml("", text)) if text else None


NAMES = {role: role for role in (ACTOR, ROLLOUT, INFERENCE, CRITIC, REWARD, ENVIRONMENT)}
"""Role -> name of its component in RLinf's programs.

Source: RLinf, examples/*/main_*.py and rlinf/utils/placement.py.
"""


def render(problem: Problem, release: ReleaseChoice | None = None, batch: JobBatch | None = None) -> Rendering:
    """Return the file, without the hardware of its nodes.

    RLinf asks the nodes, and placewright needs `--cluster`. Raises UnusableInput (PW606) with every
    reason if RLinf cannot express the problem.
    """
    reasons: list[Finding] = []
    names = map_names(problem.components, NAMES)
    losses = [*lost_demands(problem)]
    groups = [_group(problem.cluster, group, reasons) for group in problem.cluster.declared]
    placements, hints, open_ = Data(), Data(), Data()
    for component in problem.components:
        name = names[component.name]
        if not name or "," in name or name != name.strip():
            reasons.append(refusal(component.name, f"`{name}` cannot be the name of a component of RLinf", "rename it"))
        other_hints = other_hints_to_data(problem, component, names, losses)
        if component.runs is None:
            open_[name] = counts_to_data(problem, component) | other_hints
            continue
        placements[name] = _render_placement(problem, component, node_by_node(problem, component, component.runs, losses), reasons)
        if "role" in other_hints and name in ROLES:
            losses.append(note_loss(component.name, f"`{component.name}` is `{component.role}`, and RLinf runs `{name}` as `{name}`"))
            del other_hints["role"]
        if other_hints:
            hints[name] = other_hints
    if reasons:
        raise UnusableInput(reasons)
    hints |= open_
    section: Data = {"num_nodes": len(problem.cluster.nodes)}
    if groups:
        section["node_groups"] = groups
    section["component_placement"] = placements
    data: Data = {"cluster": section, **hint_block(problem, names, hints)}
    return Rendering(to_yaml(data), tuple(losses), names)


def node_by_node(problem: Problem, component: Component, runs: Sequence[Run], losses: list[Finding]) -> Sequence[Run]:
    """Return processes on nodes, which are interchangeable, numbered node by node for RLinf."""
    if problem.kind(component) != NODE or why_not(runs, in_order=True) != "PW210":
        return runs
    losses.append(
        warn_of_loss(component.name, f"the processes of `{component.name}` are as many on each node, but numbered node by node now")
    )
    runs_by_node: list[Run] = []
    for run in sorted(runs, key=lambda run: run.node):
        start = runs_by_node[-1].ranks.stop if runs_by_node else 0
        runs_by_node.append(replace(run, ranks=range(start, start + len(run.ranks))))
    return runs_by_node


def _render_placement(problem: Problem, component: Component, runs: Sequence[Run], reasons: list[Finding]) -> object:
    name = component.name
    why = _REASONS.get(why_not(runs, in_order=True))
    if why:
        reasons.append(refusal(name, f"`{name}` has {why}", "give it another place, or launch from a plan", AT_LAUNCH))
        return None
    try:
        labels, text = best_text(name, runs, problem.cluster, component.node_groups)
    except UnusableInput as refused:
        reasons += [refusal(name, finding.message, finding.help) for finding in refused.findings]
        return None
    ranks = number_or_text(text)
    return ranks if labels == (CLUSTER_LABEL,) else {"node_group": ",".join(labels), "placement": ranks}


AT_LAUNCH = "RLinf refuses that at launch"
_REASONS = {
    "PW203": "a process on several nodes",
    "PW210": "a process on a node of lower rank than the process before it",
    "PW302": "a process with two kinds of hardware",
}
"""Placements that RLinf refuses at launch (flexible.py, node.py), by code of the finding."""


def training_file(problem: Problem, job: TrainingJob, title: str) -> str:
    """Return the file: what is on the reference's accelerators is `inference`, `reward` is with the actor.

    Raises UnusableInput (PW606) if RLinf cannot express the problem.
    """
    by_role = {role_of(component): component for component in problem.components}
    rollout, training_facts = by_role[ROLLOUT], facts("training")
    if (estimator := training_facts["estimators"].get(job.algorithm)) is None:
        raise UnusableInput([refusal("", f"RLinf has no estimator of advantages for {job.algorithm}", "use `--algorithm grpo`")])
    values = {
        "estimator": estimator, "kl_beta": 0.001 if REFERENCE in by_role else 0.0, "updates": job.prompts // job.mini_batch,
        "answers": job.mini_batch * job.samples, "sequence": job.prompt + job.response, "share": job.utilization / 100,
        "tp": rollout.parallel.tp, "pp": rollout.parallel.pp,
    }  # fmt: skip
    sections = ["all", *(["dapo"] if job.algorithm == "dapo" else []), *(["critic"] if CRITIC in by_role else [])]
    keys = job.keys(training_facts, sections, values)
    for role, section in ((ACTOR, "actor"), (CRITIC, "critic")):
        if component := by_role.get(role):
            backend = MEGATRON if component.backend == MEGATRON else FSDP
            own_keys = training_facts[f"trained {backend}"] | (_sizes(component) if backend == MEGATRON else {})
            keys |= {f"{section}.{key}": value for key, value in own_keys.items()}
    tree = merge_keys(render(problem).text, keys, without=("placewright",))
    placement = tree["cluster"]["component_placement"]
    reference = by_role.get(REFERENCE)
    if reference is not None and (ranks := placement.pop(reference.name)) != placement["actor"]:
        placement["inference"] = ranks
        own = reference.parallel
        put(tree, {f"inference.model.{name}_parallel_size": size for name, size in (("tensor_model", own.tp), ("pipeline_model", own.pp))})
        put(tree, {"inference.load_from_actor": True})
    placement["reward"] = _share_of(str(placement["actor"]), job)
    return add_title(f"{title}. Add what `defaults` gave your other jobs: data, optimizer, reward.", tree)


def _sizes(component: Component) -> dict[str, object]:
    """Return the parallel sizes of what Megatron trains."""
    parallel = component.parallel
    sizes = {"tensor_model": parallel.tp, "pipeline_model": parallel.pp, "context": parallel.cp, "expert_model": parallel.ep}
    sizes |= {"expert_tensor": (component.estimate.expert_tp if component.estimate else 0) or parallel.tp} if parallel.ep > 1 else {}
    entries = {name: size for name, size in sizes.items() if size > 1 or name in ("tensor_model", "expert_tensor")}
    return {**{f"model.{name}_parallel_size": size for name, size in entries.items()}, "model.sequence_parallel": parallel.tp > 1}


def _share_of(ranks: str, job: TrainingJob) -> str:
    """Return the actor's first range, or its first ranks that divide the prompts."""
    ranks = ranks.partition(",")[0]
    first, _, last = ("0", "", "") if ranks == "all" else ranks.partition("-")
    count = sum(job.ranks.values()) if ranks == "all" else int(last or first) - int(first) + 1
    share = gcd(job.prompts, count)
    return ranks if share == count else f"{first}-{int(first) + share - 1}"
