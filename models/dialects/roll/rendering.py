"""Renderer of a problem as a new ROLL configuration, with a block per role.

A block has the role's devices, or hints with its demands.
"""

from __future__ import annotations

from typing import Sequence

from ...component import Component, Parallel
from ...conversion import Data, counts_to_data, dropped, hint_block, lost_demands, moved, other_hints_to_data, refusal, renaming_notes
from ...findings.finding import Finding, UnusableInput
from ...findings.wording import are, with_noun
from ...machines.node_group import ACCELERATOR, CLUSTER_LABEL, NODE, NODE_LABEL
from ...placements.assignment import seats
from ...placements.run import Run
from ...placements.sound import in_turn
from ...problem import Problem
from ...roles import ACTOR, CRITIC, ENVIRONMENT, REFERENCE, REWARD, ROLLOUT, STUDENT, TEACHER, role_of
from ...text.edit import to_yaml
from ..dialect import Rendering
from . import names
from .ids import Ids, text_of
from .names import ACTOR_INFER, ACTOR_TRAIN, AGENTIC_REWARD, CRITICS, REFERENCES, REWARDS, STUDENTS, TEACHERS, TRAIN_ENV, VAL_ENV
from .profile import Pipeline, pipelines

_PART_OF = {
    ACTOR: ACTOR_TRAIN, ROLLOUT: ACTOR_INFER, REFERENCE: REFERENCES, CRITIC: CRITICS, STUDENT: STUDENTS, TEACHER: TEACHERS,
    ENVIRONMENT: TRAIN_ENV, REWARD: REWARDS,
}  # fmt: skip
_ALWAYS = (ACTOR_TRAIN, ACTOR_INFER, names.SFT_TRAIN, STUDENTS, TEACHERS)
"""Parts that a pipeline requires; the others have defaults or are optional."""
_TRAINS = (ACTOR_TRAIN, CRITICS, names.SFT_TRAIN, STUDENTS)
DEFAULT_BATCH = 128
"""Default of `rollout_batch_size`. Source: ROLL, roll/configs/base_config.py."""


def render(problem: Problem) -> Rendering:
    """Render the file for the pipeline whose roles cover the components.

    Raises UnusableInput (PW606) with every reason if there is no such pipeline.
    """
    writer = _RollWriter(problem)
    data = writer.data() if not writer.reasons else {}
    if writer.reasons:
        raise UnusableInput(writer.reasons)
    losses = (*renaming_notes(writer.keys), *writer.losses, *lost_demands(problem))
    return Rendering(to_yaml(data), losses, writer.keys)


class _RollWriter:
    """Writer of a file.

    `parts` and `keys` map each component to its part and to the path of its block. ROLL numbers
    accelerators node by node: id g is accelerator g % per_node of node g // per_node. `ranks` is
    the number of data parallel ranks of Megatron's actor. `reasons` (PW606) collects what ROLL
    cannot express, `losses` what it expresses otherwise.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem, self.reasons, self.losses = problem, list[Finding](), list[Finding]()
        self.ids: dict[str, Ids] = {}
        self.ranks = 1
        self.pipeline, self.parts = self._parts()
        self.keys = self._keys()
        self.per_node, self.nodes = self._numbering()

    def refuse(self, name: str, message: str, help: str) -> None:
        """Add a reason why the file cannot be rendered."""
        self.reasons.append(refusal(name, message, help))

    def data(self) -> Data:
        """Return all keys of the file."""
        blocks: Data = {}
        hints: Data = {}
        for component in self.problem.components:
            key = self.keys[component.name]
            group, _, inner = key.partition(".")
            owner = blocks.setdefault(group, {}) if inner else blocks
            if isinstance(owner, dict):
                owner[inner or group] = self._block(component, self.parts[component.name])
            if component_hints := self._hints(component):
                hints[key] = component_hints
        for part in (TRAIN_ENV, VAL_ENV):
            if part in self.pipeline.creates and part not in blocks:
                blocks[part] = _environments(1)
                self.losses.append(moved(part, f"ROLL starts `{part}` too, here with one worker on the CPUs of node 0"))
        return self._job() | blocks | hint_block(self.problem, self.keys, hints)

    # -- block of each component, and the pipeline that starts all of them

    def _parts(self) -> tuple[Pipeline, dict[str, str]]:
        parts = {component.name: _part(component) for component in self.problem.components}
        for name, part in parts.items():
            if not part:
                role = role_of(self.problem[name])
                why = f"ROLL has no role `{role}`, which `{name}` is" if role else f"nothing says which role `{name}` has"
                self.refuse(name, why, "leave it out, or give it a `role` that ROLL has")
        if set(parts.values()) == {ACTOR_TRAIN}:
            parts = dict.fromkeys(parts, names.SFT_TRAIN)
        pipeline = pipelines()[_pipeline(set(parts.values()))]
        rewards = (REWARDS, names.REWARD_MODEL)
        parts = {name: AGENTIC_REWARD if pipeline.agentic and part in rewards else part for name, part in parts.items()}
        for name, part in parts.items():
            if part and part not in pipeline.creates:
                self.refuse(name, f"`{pipeline.launcher}`, which starts the other roles, does not start `{part}`", "leave it out")
        for part in pipeline.creates:
            if part in _ALWAYS and part not in parts.values():
                self.refuse("", f"`{pipeline.launcher}` always starts `{part}`, and no component is that", "add it, with its place")
        return pipeline, parts

    def _keys(self) -> dict[str, str]:
        keys: dict[str, str] = {}
        for name, part in self.parts.items():
            key = part
            if part == REWARDS:
                key = name if name.startswith(f"{REWARDS}.") else f"{REWARDS}.{name.replace('.', '_')}"
            elif part == TEACHERS and name.startswith(f"{TEACHERS}."):
                key = name
            elif part == TRAIN_ENV and TRAIN_ENV in keys.values() and VAL_ENV not in self.parts.values():
                key = VAL_ENV
            if part and key in keys.values():
                self.refuse(name, f"ROLL has one `{key}`, and several components are that", "leave one of them out")
            keys[name] = key
        return keys

    def _numbering(self) -> tuple[int, int]:
        """Return (accelerators per node, nodes) of ROLL's numbering; refuse uneven nodes."""
        components, nodes = self.problem.components, self.problem.cluster.nodes
        used = [run.node for component in components for run in component.runs or () if run.kind == ACCELERATOR]
        is_open = any(component.runs is None for component in components)
        counts = [len(node.accelerators) for node in nodes[: len(nodes) if is_open else max(used, default=0) + 1]]
        while counts and not counts[-1] and is_open:
            counts.pop()
        per_node = max(counts, default=0)
        rank = next((rank for rank, count in enumerate(counts) if count != per_node), None)
        if rank is not None:
            message = f"ROLL numbers nodes of {with_noun(per_node, 'accelerator')} each, but node {rank} has {counts[rank]}"
            self.refuse("", message, "use nodes that are alike, before all others")
        return per_node, max(len(counts), 1)

    # -- one block

    def _block(self, component: Component, part: str) -> Data:
        name, kind = component.name, self.problem.kind(component)
        if component.node_groups not in ((CLUSTER_LABEL,), (NODE_LABEL,)):
            labels = ", ".join(f"`{label}`" for label in component.node_groups)
            tell = dropped if component.runs is not None else moved
            self.losses.append(tell(name, f"that `{name}` is in node group {labels} is not said any more"))
        if kind == NODE:
            return self._on_cpus(component, part)
        if part in (TRAIN_ENV, VAL_ENV):
            self.refuse(name, f"ROLL runs environments on CPUs, but `{name}` is on accelerators or hardware", "place it on nodes")
            return {}
        if component.runs is None:
            if self.problem.job.choices.get(name):
                self.losses.append(moved(name, f"the degrees of `{name}` are left open; in ROLL they are {component.parallel}"))
            if part in (ACTOR_TRAIN, ACTOR_INFER) and self.pipeline.updates_models and not component.contiguous:
                message = f"`{name}` is on one solid range of accelerators in ROLL, whose weights go from one to another"
                self.losses.append(moved(name, message))
            return self._strategy(component, part, component.per_process)[0]
        ids, per_process = self._device_ids(component, component.runs)
        block, size = self._strategy(component, part, per_process)
        if ids.count % size:
            message = f"the {with_noun(ids.count, 'accelerator')} of `{name}` {are(ids.count)} no whole workers of {size}"
            self.refuse(name, message, "give it a multiple")
        self.ids[part] = ids
        # DPO's reference must not take more pairs at once than a step has.
        batch: Data = {"infer_batch_size": 1} if self.pipeline.name == "dpo" and part == REFERENCES else {}
        return block | batch | {names.DEVICES: text_of(ids)}

    def _device_ids(self, component: Component, runs: Sequence[Run]) -> tuple[Ids, int]:
        """Return (ids in rank order, accelerators per process)."""
        name, kinds = component.name, {run.kind for run in runs}
        if kinds != {ACCELERATOR}:
            self.refuse(name, f"`{name}` is on hardware; ROLL places on accelerators and CPUs only", "leave it out")
            return Ids(), 1
        process_ids = [[node * self.per_node + index for (node, index), _, _ in process_seats] for _, process_seats in seats(runs)]
        sizes = sorted({len(ids) for ids in process_ids})
        if len(sizes) > 1:
            message = f"the processes of `{name}` hold {' or '.join(map(str, sizes))} accelerators; in ROLL all hold as many"
            self.refuse(name, message, "give all the same number")
        return Ids.of(range(id_, id_ + 1) for ids in process_ids for id_ in ids), sizes[0]

    def _strategy(self, component: Component, part: str, per_process: int) -> tuple[Data, int]:
        """Return (strategy and devices per worker, accelerators of a worker).

        The processes of the component hold `per_process` accelerators.
        """
        original, backend, is_trained = component.parallel, component.backend, part in _TRAINS
        kind, config, parallel, size = "train" if is_trained else "infer", dict[str, object](), Parallel(), 1
        if part == ACTOR_INFER or not (is_trained or per_process == 1 or original == Parallel()):
            tp, pp = (original.tp, original.pp) if original.tp * original.pp > 1 else (per_process, 1)
            strategy, parallel, size = "vllm", Parallel(tp, pp), tp * pp
            config |= {"tensor_parallel_size": tp} | ({"pipeline_parallel_size": pp} if pp > 1 else {})
        elif not is_trained and per_process > 1:
            strategy, size = "hf_infer", per_process
        elif original.tp * original.pp * original.cp * original.ep == 1 and backend != "megatron":
            strategy = "fsdp2_train" if is_trained else "hf_infer"
        else:
            strategy, parallel = f"megatron_{kind}", Parallel(original.tp, original.pp, original.cp, original.ep)
            degrees = {"tensor_model": original.tp, "pipeline_model": original.pp, "context": original.cp, "expert_model": original.ep}
            config |= {f"{name}_parallel_size": degree for name, degree in degrees.items() if degree != 1}
            if part == ACTOR_TRAIN and component.runs is not None:
                self.ranks = max(component.least // parallel.replica, 1)
        name = component.name
        if backend and strategy.startswith(("megatron", "fsdp")) and not strategy.startswith(backend):
            self.losses.append(dropped(name, f"`{name}` is trained by {backend}, in ROLL by `{strategy}`"))
        if parallel != original:
            message = f"`{name}` has {original}; with strategy `{strategy}` ROLL gives it {parallel}"
            self.losses.append(moved(name, message) if component.runs is None else dropped(name, message))
        if size != per_process:
            message = (
                f"the processes of `{name}` hold {with_noun(per_process, 'accelerator')} each, the workers that ROLL makes of them {size}"
            )
            self.losses.append(moved(name, message))
        args: Data = {"strategy_name": strategy} | ({"strategy_config": config} if config else {})
        return {names.STRATEGY: args} | ({names.PER_WORKER: size} if strategy == "hf_infer" and size > 1 else {}), size

    def _on_cpus(self, component: Component, part: str) -> Data:
        """Return the keys of workers without devices.

        ROLL distributes them over its nodes round-robin.
        """
        name, count = component.name, component.least
        if part not in (REWARDS, TRAIN_ENV, VAL_ENV):
            message = f"ROLL needs accelerators for `{self.keys[name]}`, but `{name}` is on nodes"
            self.refuse(name, message, "place it on accelerators")
            return {}
        if component.runs is None:
            message = f"ROLL gives `{name}` {with_noun(count, 'worker')}, one node after the other: nothing is left to solve"
            self.losses.append(moved(name, message))
        else:
            worker_nodes = [[node for (node, _), _, _ in process_seats] for _, process_seats in seats(component.runs)]
            count = len(worker_nodes)
            if worker_nodes != [[node for (node, _), _, _ in process_seats] for _, process_seats in seats(in_turn(count, self.nodes))]:
                shown = f"its {self.nodes} nodes" if self.nodes > 1 else "its node"
                self.losses.append(moved(name, f"ROLL deals the {with_noun(count, 'worker')} of `{name}` out to {shown} in turn"))
        return {names.WORLD_SIZE: count} if part == REWARDS else _environments(count)

    def _hints(self, component: Component) -> Data:
        """Return the hints that ROLL's own keys do not express."""
        hints = other_hints_to_data(self.problem, component, dict(self.keys), self.losses)
        hints = {key: value for key, value in hints.items() if key not in ("parallel", "role")}
        kind = self.problem.kind(component)
        if hints and kind == NODE:
            listed = ", ".join(f"`{key}`" for key in hints)
            self.losses.append(dropped(component.name, f"what {listed} says of `{component.name}` is not said any more"))
            return {}
        if component.runs is None and kind == ACCELERATOR:
            hints = {key: value for key, value in counts_to_data(self.problem, component).items() if key != "node_group"} | hints
        return hints

    # -- the job as a whole

    def _job(self) -> Data:
        """Return the keys that decide which roles start, and that make batches even."""
        pipeline, parts = self.pipeline, set(self.parts.values())
        data: Data = {"num_nodes": self.nodes, "num_gpus_per_node": max(self.per_node, 1)}
        if pipeline.ppo and pipeline.updates_models:
            data |= {"adv_estimator": "gae" if CRITICS in parts else "grpo", "init_kl_coef": 0.2 if REFERENCES in parts else 0.0}
        if DEFAULT_BATCH % self.ranks:
            data["rollout_batch_size"] = -(-DEFAULT_BATCH // self.ranks) * self.ranks
        if pipeline.agentic:  # a batch of whole rounds of environments
            rounds = next((component.least for component in self.problem.components if self.keys[component.name] == VAL_ENV), 1)
            if DEFAULT_BATCH % rounds:
                data["val_batch_size"] = -(-DEFAULT_BATCH // rounds) * rounds
            if pipeline.updates_models and not self._is_plain():
                data["partial_gpu_mode"] = False
        return data

    def _is_plain(self) -> bool:
        """Return True if `partial_gpu_mode` accepts the placement.

        Training and inference are disjoint, or share all devices without a reward; the reference is
        on the devices of training.
        """
        train, infer, reference = (self.ids.get(part, Ids()) for part in (ACTOR_TRAIN, ACTOR_INFER, REFERENCES))
        together = train.ranges == infer.ranges and AGENTIC_REWARD not in self.ids
        return (together or not set(train) & set(infer)) and (not reference.count or reference.ranges == train.ranges)


def _part(component: Component) -> str:
    """Return the part of a component; "" without a role in ROLL."""
    base, role = component.name.partition(".")[0], role_of(component)
    if base in names.ROLE_OF and base != AGENTIC_REWARD and role in ("", names.ROLE_OF[base]):
        return base
    return REWARDS if base == AGENTIC_REWARD else _PART_OF.get(role, "")


def _pipeline(parts: set[str]) -> str:
    """Return the pipeline that starts all parts, or else the closest."""
    if names.SFT_TRAIN in parts or STUDENTS in parts:
        return "sft" if names.SFT_TRAIN in parts else "distill"
    is_rollout = ACTOR_INFER in parts and ACTOR_TRAIN not in parts
    if parts & {TRAIN_ENV, VAL_ENV}:
        return "agentic_rollout" if is_rollout else "agentic"
    if parts == {ACTOR_TRAIN, REFERENCES}:
        return "dpo"
    return "rlvr_rollout" if is_rollout else "rlvr"


def _environments(groups: int) -> Data:
    """Return keys of environments, a single environment per worker."""
    return {"num_env_groups": groups, "group_size": 1, "max_env_num_per_worker": 1, "tags": ["env"], "num_groups_partition": [groups]}
