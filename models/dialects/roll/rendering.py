"""A problem as a new ROLL configuration: a block for every role, with its devices or, through hints, what it asks for."""

from __future__ import annotations

from dataclasses import field
from typing import Sequence

from ...component import Component, Parallel
from ...conversion.hints import asked, shape
from ...conversion.losses import dropped, moved, refusal, unsaid_demands
from ...conversion.names import said_of_names
from ...conversion.where import hint_block
from ...findings.finding import Finding, UnusableInput
from ...findings.wording import are, with_noun
from ...machines.node_group import ACCELERATOR, CLUSTER_LABEL, NODE, NODE_LABEL
from ...placements.assignment import Run, seats
from ...placements.in_turn import in_turn
from ...problem import Problem
from ...record import dataclass
from ...roles import ACTOR, CRITIC, ENVIRONMENT, REFERENCE, REWARD, ROLLOUT, STUDENT, TEACHER, role_of
from ...text.dump import to_yaml
from ..dialect import Rendering
from .ids import Ids, text_of
from .names import (
    ACTOR_INFER,
    ACTOR_TRAIN,
    AGENTIC_REWARD,
    ALL_BLOCKS,
    CRITICS,
    REFERENCES,
    REWARD_MODEL,
    REWARDS,
    ROLE_OF,
    SFT_TRAIN,
    STUDENTS,
    TEACHERS,
    TRAIN_ENV,
    VAL_ENV,
)  # fmt: skip
from .profile import Pipeline, pipelines

# Where a component is, as ROLL says it: device ids in the order of the ranks, so many for each worker.


@dataclass(frozen=True, slots=True)
class Numbering:
    """Nodes from rank 0 on with so many accelerators each: id g is accelerator g % per_node of node g // per_node."""

    per_node: int
    nodes: int


def numbering(problem: Problem, reasons: list[Finding]) -> Numbering:
    """How ROLL numbers what is used. `reasons` (PW606) gets every node in between that has not as many accelerators as the others."""
    cluster = problem.cluster
    used = [run.node for component in problem.components for run in component.runs or () if run.kind == ACCELERATOR]
    open_ = any(component.runs is None for component in problem.components)
    counts = [len(node.accelerators) for node in cluster.nodes[: len(cluster.nodes) if open_ else max(used, default=0) + 1]]
    while counts and not counts[-1] and open_:
        counts.pop()
    per_node = max(counts, default=0)
    for rank, count in enumerate(counts):
        if count != per_node:
            message = f"ROLL numbers nodes of {with_noun(per_node, 'accelerator')} each, but node {rank} has {count}"
            reasons.append(refusal("", message, "use nodes that are alike, before all others"))
            break
    return Numbering(per_node, max(len(counts), 1))


def device_ids(component: Component, runs: Sequence[Run], numbered: Numbering, reasons: list[Finding]) -> tuple[Ids, int]:
    """(the ids in rank order, how many each process holds). `reasons` (PW606) gets what ROLL cannot say."""
    held = [[node * numbered.per_node + index for (node, index), _, _ in its] for _, its in seats(runs)]
    if {run.kind for run in runs} != {ACCELERATOR}:
        kinds = " and ".join(sorted({run.kind for run in runs} - {ACCELERATOR}))
        reasons.append(
            refusal(component.name, f"`{component.name}` is on {kinds}s; ROLL places on accelerators and CPUs only", "leave it out")
        )
        return Ids(), 1
    sizes = sorted({len(its) for its in held})
    if len(sizes) > 1:
        message = f"the processes of `{component.name}` hold {' or '.join(map(str, sizes))} accelerators; in ROLL all hold as many"
        reasons.append(refusal(component.name, message, "give all the same number"))
    return Ids.of(range(each, each + 1) for its in held for each in its), sizes[0]


# Which block of a ROLL configuration each component becomes, and which of ROLL's pipelines starts them all.

_PART_OF = {ACTOR: ACTOR_TRAIN, ROLLOUT: ACTOR_INFER, REFERENCE: REFERENCES, CRITIC: CRITICS, STUDENT: STUDENTS, TEACHER: TEACHERS}
_ALWAYS = (ACTOR_TRAIN, ACTOR_INFER, SFT_TRAIN, STUDENTS, TEACHERS)
"""Parts that a pipeline fails without; environments and the rest have defaults, or are left out."""


@dataclass(frozen=True)
class Named:
    """The pipeline, and for each component by its name: its part, and the path of its block such as ``rewards.math``."""

    pipeline: Pipeline
    parts: dict[str, str]
    keys: dict[str, str]


def named(problem: Problem, reasons: list[Finding]) -> Named | None:
    """The blocks; None, and `reasons` (PW606), where ROLL has no role for a component or no pipeline for all of them."""
    parts = {component.name: _part(component) for component in problem.components}
    for name, part in parts.items():
        if not part:
            role = role_of(problem[name])
            what = (
                f"ROLL has no role `{role}`, which `{name}` is" if role else f"nothing says what `{name}` does, so ROLL has no role for it"
            )
            reasons.append(refusal(name, what, "leave it out, or give it a `role` that ROLL has"))
    if set(parts.values()) == {ACTOR_TRAIN}:
        parts = dict.fromkeys(parts, SFT_TRAIN)
    pipeline = _pipeline(set(parts.values()))
    if pipeline.agentic:
        parts = {name: AGENTIC_REWARD if part in (REWARDS, REWARD_MODEL) else part for name, part in parts.items()}
    keys = _keys(parts)
    seen: dict[str, str] = {}
    for name, part in parts.items():
        if part and part not in pipeline.creates:
            reasons.append(refusal(name, f"`{pipeline.launcher}`, which starts the other roles, does not start `{part}`", "leave it out"))
        other = seen.setdefault(keys[name], name)
        if part and other != name:
            reasons.append(refusal(name, f"ROLL has one `{keys[name]}`, but `{other}` and `{name}` are both that", "leave one of them out"))
    for part in pipeline.creates:
        if part in _ALWAYS and part not in parts.values():
            message = f"`{pipeline.launcher}` always starts `{part}`, and there is no component of that role"
            reasons.append(refusal("", message, "add it, with its place"))
    return None if reasons else Named(pipeline, parts, keys)


def _part(component: Component) -> str:
    """What ROLL uses the component as; "" if there is no such role."""
    base, role = component.name.partition(".")[0], role_of(component)
    if base in ALL_BLOCKS and base in ROLE_OF and base != AGENTIC_REWARD and role in ("", ROLE_OF[base]):
        return base
    if role == REWARD or base == AGENTIC_REWARD:
        return REWARDS
    return TRAIN_ENV if role == ENVIRONMENT else _PART_OF.get(role, "")


def _pipeline(parts: set[str]) -> Pipeline:
    """The pipeline that starts these parts; the one nearest to it where none starts all."""
    if SFT_TRAIN in parts:
        return pipelines()["sft"]
    if STUDENTS in parts:
        return pipelines()["distill"]
    if parts & {TRAIN_ENV, VAL_ENV}:
        return pipelines()["agentic" if ACTOR_TRAIN in parts or ACTOR_INFER not in parts else "agentic_rollout"]
    if parts == {ACTOR_TRAIN, REFERENCES}:
        return pipelines()["dpo"]
    return pipelines()["rlvr_rollout" if ACTOR_INFER in parts and ACTOR_TRAIN not in parts else "rlvr"]


def _keys(parts: dict[str, str]) -> dict[str, str]:
    keys = {}
    for name, part in parts.items():
        if part == REWARDS:
            keys[name] = name if name.startswith(f"{REWARDS}.") else f"{REWARDS}.{name.replace('.', '_')}"
        elif part == TEACHERS and name.startswith(f"{TEACHERS}."):
            keys[name] = name
        elif part == TRAIN_ENV and TRAIN_ENV in keys.values() and VAL_ENV not in parts.values():
            keys[name] = VAL_ENV
        else:
            keys[name] = part
    return keys


# The strategy of a role: the one that has its degrees of parallelism, and workers of its size.

Data = dict[str, object]
_TRAINS = (ACTOR_TRAIN, CRITICS, SFT_TRAIN, STUDENTS)


@dataclass
class Strategy:
    """`strategy_args` and `num_gpus_per_worker` of a block, and what the component is then: its degrees, accelerators of one process."""

    name: str
    config: Data = field(default_factory=dict)
    parallel: Parallel = field(default_factory=Parallel)
    each: int = 1
    written: int = 1

    @property
    def block(self) -> Data:
        """As keys of the block of a role."""
        args: Data = {"strategy_name": self.name} | ({"strategy_config": self.config} if self.config else {})
        return {"strategy_args": args} | ({"num_gpus_per_worker": self.written} if self.written > 1 else {})


def strategy_of(component: Component, part: str, each: int, losses: list[Finding]) -> Strategy:
    """The strategy of a component whose processes hold `each` accelerators; `losses` gets what is otherwise in ROLL."""
    if part == ACTOR_INFER:
        found = _vllm(component, each)
    elif part in _TRAINS or each == 1:
        found = _ranks(component, part in _TRAINS)
    else:
        found = Strategy("hf_infer", {}, Parallel(), each, each) if component.parallel == Parallel() else _vllm(component, each)
    backend = next((name for name in ("megatron", "fsdp") if found.name.startswith(name)), "")
    if backend and component.backend not in ("", backend):
        losses.append(dropped(component.name, f"`{component.name}` is trained by {component.backend}, in ROLL by `{found.name}`"))
    if found.parallel != component.parallel:
        message = f"`{component.name}` has {component.parallel}; with strategy `{found.name}` ROLL gives it {found.parallel}"
        losses.append(moved(component.name, message) if component.runs is None else dropped(component.name, message))
    if found.each != each:
        message = f"the processes of `{component.name}` hold {with_noun(each, 'accelerator')} each, the workers that ROLL makes of them {found.each}"
        losses.append(moved(component.name, message))
    return found


def _vllm(component: Component, each: int) -> Strategy:
    """An engine of tp x pp accelerators in one worker; of as many as a process holds where no degrees are said."""
    its = component.parallel
    tp, pp = (its.tp, its.pp) if its.tp * its.pp > 1 else (each, 1)
    config: Data = {"tensor_parallel_size": tp}
    if pp > 1:
        config["pipeline_parallel_size"] = pp
    return Strategy("vllm", config, Parallel(tp, pp), tp * pp)


def _ranks(component: Component, trains: bool) -> Strategy:
    """One accelerator for each worker; Megatron where anything is parallel, or it was Megatron."""
    its, kind = component.parallel, "train" if trains else "infer"
    if its.tp * its.pp * its.cp * its.ep == 1 and component.backend != "megatron":
        return Strategy(f"fsdp2_{kind}" if trains else "hf_infer")
    names: Data = {"tensor_model": its.tp, "pipeline_model": its.pp, "context": its.cp, "expert_model": its.ep}
    config: Data = {f"{name}_parallel_size": degree for name, degree in names.items() if degree != 1}
    return Strategy(f"megatron_{kind}", config, Parallel(its.tp, its.pp, its.cp, its.ep))


# A problem as a new ROLL configuration: a block for every role, with its devices or, through hints, what it asks for.

DEFAULT_BATCH = 128
"""`rollout_batch_size` where nobody says it. Source: ROLL, roll/configs/base_config.py."""


def render(problem: Problem) -> Rendering:
    """The file, for the pipeline whose roles cover the components. Raises UnusableInput (PW606) with every reason if there is none."""
    reasons: list[Finding] = []
    names = named(problem, reasons)
    numbered = numbering(problem, reasons)
    if names is None:
        raise UnusableInput(reasons)
    writer = _Writer(problem, names, numbered, reasons)
    data = writer.data()
    if reasons:
        raise UnusableInput(reasons)
    losses = (*said_of_names(names.keys), *writer.losses, *unsaid_demands(problem))
    return Rendering(to_yaml(data), losses, names.keys)


class _Writer:
    def __init__(self, problem: Problem, names: Named, numbered: Numbering, reasons: list[Finding]) -> None:
        self.problem, self.names, self.numbered, self.reasons = problem, names, numbered, reasons
        self.losses: list[Finding] = []
        self.ids: dict[str, Ids] = {}
        self.ranks = 1

    def data(self) -> Data:
        """All keys of the file."""
        blocks: Data = {}
        hints: Data = {}
        for component in self.problem.components:
            group, _, inner = self.names.keys[component.name].partition(".")
            block = self._block(component, self.names.parts[component.name])
            if inner:
                of_group = blocks.setdefault(group, {})
                if isinstance(of_group, dict):
                    of_group[inner] = block
            else:
                blocks[group] = block
            if said := self._hints(component):
                hints[self.names.keys[component.name]] = said
        self._environments(blocks)
        return self._job() | blocks | hint_block(self.problem, self.names.keys, hints)

    def _block(self, component: Component, part: str) -> Data:
        if component.node_groups not in ((CLUSTER_LABEL,), (NODE_LABEL,)):
            labels = ", ".join(f"`{label}`" for label in component.node_groups)
            tell = dropped if component.runs is not None else moved
            self.losses.append(tell(component.name, f"that `{component.name}` is in node group {labels} is not said any more"))
        if self.problem.kind(component) == NODE:
            return self._on_cpus(component, part)
        if part in (TRAIN_ENV, VAL_ENV):
            kind = self.problem.kind(component)
            where = "accelerators" if kind == ACCELERATOR else f"{kind}s"
            message = f"ROLL runs environments on CPUs, but `{component.name}` is on {where}"
            self.reasons.append(refusal(component.name, message, "place it on nodes"))
            return {}
        if component.runs is None:
            if self.problem.job.choices.get(component.name):
                message = f"the degrees of `{component.name}` are left open; in ROLL they are {component.parallel}"
                self.losses.append(moved(component.name, message))
            if part in (ACTOR_TRAIN, ACTOR_INFER) and self.names.pipeline.updates_models and not component.contiguous:
                message = f"`{component.name}` is on one solid range of accelerators in ROLL, whose weights go from one to another"
                self.losses.append(moved(component.name, message))
            return strategy_of(component, part, component.per_process, self.losses).block
        ids, each = device_ids(component, component.runs, self.numbered, self.reasons)
        its = strategy_of(component, part, each, self.losses)
        if ids.count % its.each:
            message = f"the {with_noun(ids.count, 'accelerator')} of `{component.name}` {are(ids.count)} no whole workers of {its.each}"
            self.reasons.append(refusal(component.name, message, "give it a multiple"))
        self.ids[part] = ids
        if part == ACTOR_TRAIN and its.name.startswith("megatron"):
            self.ranks = max(ids.count // its.parallel.replica, 1)
        # DPO's reference must not take more pairs at once than a step has.
        batch: Data = {"infer_batch_size": 1} if self.names.pipeline.name == "dpo" and part == REFERENCES else {}
        return its.block | batch | {"device_mapping": text_of(ids)}

    def _on_cpus(self, component: Component, part: str) -> Data:
        """Workers without devices; ROLL deals them out to its nodes in turn."""
        name, count = component.name, component.least
        if part not in (REWARDS, TRAIN_ENV, VAL_ENV):
            message = f"ROLL needs accelerators for `{self.names.keys[name]}`, but `{name}` is on nodes"
            self.reasons.append(refusal(name, message, "place it on accelerators"))
            return {}
        if component.runs is None:
            self.losses.append(
                moved(name, f"ROLL gives `{name}` {with_noun(count, 'worker')}, one node after the other: nothing is left to solve")
            )
        else:
            mine = _nodes(component.runs)
            count = len(mine)
            theirs = _nodes(in_turn(count, self.numbered.nodes))
            if mine != theirs:
                shown = f"its {self.numbered.nodes} nodes" if self.numbered.nodes > 1 else "its node"
                self.losses.append(moved(name, f"ROLL deals the {with_noun(count, 'worker')} of `{name}` out to {shown} in turn"))
        if part == REWARDS:
            return {"world_size": count}
        return {"num_env_groups": count, "group_size": 1, "max_env_num_per_worker": 1, "tags": ["env"], "num_groups_partition": [count]}

    def _environments(self, blocks: Data) -> None:
        """Those that the pipeline starts whether they are written or not."""
        for part in (TRAIN_ENV, VAL_ENV):
            if part in self.names.pipeline.creates and part not in blocks:
                blocks[part] = self._one_environment()
                self.losses.append(moved(part, f"ROLL starts `{part}` too, here with one worker on the CPUs of node 0"))

    def _one_environment(self) -> Data:
        return {"num_env_groups": 1, "group_size": 1, "max_env_num_per_worker": 1, "tags": ["env"], "num_groups_partition": [1]}

    def _hints(self, component: Component) -> Data:
        """What ROLL's own keys do not say."""
        said = shape(self.problem, component, dict(self.names.keys), self.losses)
        said.pop("parallel", None)
        said.pop("role", None)
        if said and self.problem.kind(component) == NODE:
            listed = ", ".join(f"`{key}`" for key in said)
            self.losses.append(dropped(component.name, f"what {listed} says of `{component.name}` is not said any more"))
            return {}
        if component.runs is None and self.problem.kind(component) == ACCELERATOR:
            said = {key: value for key, value in asked(self.problem, component).items() if key != "node_group"} | said
        return said

    def _job(self) -> Data:
        """The keys of the job: those that decide which roles are started, and those that make the devices come out even."""
        pipeline, parts = self.names.pipeline, set(self.names.parts.values())
        data: Data = {"num_nodes": self.numbered.nodes, "num_gpus_per_node": max(self.numbered.per_node, 1)}
        if pipeline.ppo and pipeline.updates_models:
            data["adv_estimator"] = "gae" if CRITICS in parts else "grpo"
            data["init_kl_coef"] = 0.2 if REFERENCES in parts else 0.0
        if DEFAULT_BATCH % self.ranks:
            data["rollout_batch_size"] = -(-DEFAULT_BATCH // self.ranks) * self.ranks
        if pipeline.agentic:
            data |= self._agentic()
        return data

    def _agentic(self) -> Data:
        """A batch of whole rounds of environments; all modes of sharing devices are let be but those that ROLL knows by itself."""
        data: Data = {}
        counts = [component.least for component in self.problem.components if self.names.keys[component.name] == VAL_ENV]
        if counts and DEFAULT_BATCH % counts[0]:
            data["val_batch_size"] = -(-DEFAULT_BATCH // counts[0]) * counts[0]
        if self.names.pipeline.updates_models and not self._ordinary():
            data["partial_gpu_mode"] = False
        return data

    def _ordinary(self) -> bool:
        """Are training and inference apart, or on the same devices without a reward, with the reference beside training?"""
        train, infer, reference = (self.ids.get(part, Ids()) for part in (ACTOR_TRAIN, ACTOR_INFER, REFERENCES))
        apart = not set(train) & set(infer)
        together = train.ranges == infer.ranges and AGENTIC_REWARD not in self.ids
        return (apart or together) and (not reference.count or reference.ranges == train.ranges)


def _nodes(runs: Sequence[Run]) -> list[list[int]]:
    """The nodes of every process."""
    return [[node for (node, _), _, _ in its] for _, its in seats(runs)]
