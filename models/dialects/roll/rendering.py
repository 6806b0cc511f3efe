"""A problem as a new ROLL configuration: a block for every role, with its devices or, through hints, what it asks for."""

from __future__ import annotations

from typing import Sequence

from ...component import Component, Parallel
from ...conversion.hints import Data, asked, hint_block, said_of_names, shape
from ...conversion.losses import dropped, moved, refusal, unsaid_demands
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
"""Parts that a pipeline fails without; environments and the rest have defaults, or are left out."""
_TRAINS = (ACTOR_TRAIN, CRITICS, names.SFT_TRAIN, STUDENTS)
DEFAULT_BATCH = 128
"""`rollout_batch_size` where nobody says it. Source: ROLL, roll/configs/base_config.py."""


def render(problem: Problem) -> Rendering:
    """The file, for the pipeline whose roles cover the components. Raises UnusableInput (PW606) with every reason if there is none."""
    writer = _Writer(problem)
    data = writer.data() if not writer.reasons else {}
    if writer.reasons:
        raise UnusableInput(writer.reasons)
    losses = (*said_of_names(writer.keys), *writer.losses, *unsaid_demands(problem))
    return Rendering(to_yaml(data), losses, writer.keys)


class _Writer:
    """One file; `parts` and `keys` say what each component is used as, and the path of its block.

    ROLL numbers accelerators node by node: id g is accelerator g % per_node of node g // per_node. `ranks` are the data
    parallel ranks of Megatron's actor. `reasons` (PW606) gets what ROLL cannot say, `losses` what it says otherwise.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem, self.reasons, self.losses = problem, list[Finding](), list[Finding]()
        self.ids: dict[str, Ids] = {}
        self.ranks = 1
        self.pipeline, self.parts = self._parts()
        self.keys = self._keys()
        self.per_node, self.nodes = self._numbering()

    def refuse(self, name: str, message: str, help: str) -> None:
        """Add a reason why there is no such file."""
        self.reasons.append(refusal(name, message, help))

    def data(self) -> Data:
        """All keys of the file."""
        blocks: Data = {}
        hints: Data = {}
        for component in self.problem.components:
            key = self.keys[component.name]
            group, _, inner = key.partition(".")
            owner = blocks.setdefault(group, {}) if inner else blocks
            if isinstance(owner, dict):
                owner[inner or group] = self._block(component, self.parts[component.name])
            if said := self._hints(component):
                hints[key] = said
        for part in (TRAIN_ENV, VAL_ENV):
            if part in self.pipeline.creates and part not in blocks:
                blocks[part] = _environments(1)
                self.losses.append(moved(part, f"ROLL starts `{part}` too, here with one worker on the CPUs of node 0"))
        return self._job() | blocks | hint_block(self.problem, self.keys, hints)

    # -- which block each component becomes, and which of ROLL's pipelines starts them all

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
        """(accelerators of a node, nodes) that are numbered; a reason for each node in between that is otherwise."""
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
        ids, each = self._device_ids(component, component.runs)
        block, size = self._strategy(component, part, each)
        if ids.count % size:
            message = f"the {with_noun(ids.count, 'accelerator')} of `{name}` {are(ids.count)} no whole workers of {size}"
            self.refuse(name, message, "give it a multiple")
        self.ids[part] = ids
        # DPO's reference must not take more pairs at once than a step has.
        batch: Data = {"infer_batch_size": 1} if self.pipeline.name == "dpo" and part == REFERENCES else {}
        return block | batch | {names.DEVICES: text_of(ids)}

    def _device_ids(self, component: Component, runs: Sequence[Run]) -> tuple[Ids, int]:
        """(the ids in rank order, how many each process holds)."""
        name, kinds = component.name, {run.kind for run in runs}
        if kinds != {ACCELERATOR}:
            self.refuse(name, f"`{name}` is on hardware; ROLL places on accelerators and CPUs only", "leave it out")
            return Ids(), 1
        held = [[node * self.per_node + index for (node, index), _, _ in its] for _, its in seats(runs)]
        sizes = sorted({len(its) for its in held})
        if len(sizes) > 1:
            message = f"the processes of `{name}` hold {' or '.join(map(str, sizes))} accelerators; in ROLL all hold as many"
            self.refuse(name, message, "give all the same number")
        return Ids.of(range(each, each + 1) for its in held for each in its), sizes[0]

    def _strategy(self, component: Component, part: str, each: int) -> tuple[Data, int]:
        """(strategy and devices per worker of a component whose processes hold `each` accelerators, accelerators of a worker)."""
        its, backend, is_trained = component.parallel, component.backend, part in _TRAINS
        kind, config, parallel, size = "train" if is_trained else "infer", dict[str, object](), Parallel(), 1
        if part == ACTOR_INFER or not (is_trained or each == 1 or its == Parallel()):
            tp, pp = (its.tp, its.pp) if its.tp * its.pp > 1 else (each, 1)
            strategy, parallel, size = "vllm", Parallel(tp, pp), tp * pp
            config |= {"tensor_parallel_size": tp} | ({"pipeline_parallel_size": pp} if pp > 1 else {})
        elif not is_trained and each > 1:
            strategy, size = "hf_infer", each
        elif its.tp * its.pp * its.cp * its.ep == 1 and backend != "megatron":
            strategy = "fsdp2_train" if is_trained else "hf_infer"
        else:
            strategy, parallel = f"megatron_{kind}", Parallel(its.tp, its.pp, its.cp, its.ep)
            degrees = {"tensor_model": its.tp, "pipeline_model": its.pp, "context": its.cp, "expert_model": its.ep}
            config |= {f"{name}_parallel_size": degree for name, degree in degrees.items() if degree != 1}
            if part == ACTOR_TRAIN and component.runs is not None:
                self.ranks = max(component.least // parallel.replica, 1)
        name = component.name
        if backend and strategy.startswith(("megatron", "fsdp")) and not strategy.startswith(backend):
            self.losses.append(dropped(name, f"`{name}` is trained by {backend}, in ROLL by `{strategy}`"))
        if parallel != its:
            message = f"`{name}` has {its}; with strategy `{strategy}` ROLL gives it {parallel}"
            self.losses.append(moved(name, message) if component.runs is None else dropped(name, message))
        if size != each:
            message = f"the processes of `{name}` hold {with_noun(each, 'accelerator')} each, the workers that ROLL makes of them {size}"
            self.losses.append(moved(name, message))
        args: Data = {"strategy_name": strategy} | ({"strategy_config": config} if config else {})
        return {names.STRATEGY: args} | ({names.PER_WORKER: size} if strategy == "hf_infer" and size > 1 else {}), size

    def _on_cpus(self, component: Component, part: str) -> Data:
        """Workers without devices; ROLL deals them out to its nodes in turn."""
        name, count = component.name, component.least
        if part not in (REWARDS, TRAIN_ENV, VAL_ENV):
            message = f"ROLL needs accelerators for `{self.keys[name]}`, but `{name}` is on nodes"
            self.refuse(name, message, "place it on accelerators")
            return {}
        if component.runs is None:
            message = f"ROLL gives `{name}` {with_noun(count, 'worker')}, one node after the other: nothing is left to solve"
            self.losses.append(moved(name, message))
        else:
            mine = [[node for (node, _), _, _ in its] for _, its in seats(component.runs)]
            count = len(mine)
            if mine != [[node for (node, _), _, _ in its] for _, its in seats(in_turn(count, self.nodes))]:
                shown = f"its {self.nodes} nodes" if self.nodes > 1 else "its node"
                self.losses.append(moved(name, f"ROLL deals the {with_noun(count, 'worker')} of `{name}` out to {shown} in turn"))
        return {names.WORLD_SIZE: count} if part == REWARDS else _environments(count)

    def _hints(self, component: Component) -> Data:
        """What ROLL's own keys do not say."""
        said = shape(self.problem, component, dict(self.keys), self.losses)
        said = {key: value for key, value in said.items() if key not in ("parallel", "role")}
        kind = self.problem.kind(component)
        if said and kind == NODE:
            listed = ", ".join(f"`{key}`" for key in said)
            self.losses.append(dropped(component.name, f"what {listed} says of `{component.name}` is not said any more"))
            return {}
        if component.runs is None and kind == ACCELERATOR:
            said = {key: value for key, value in asked(self.problem, component).items() if key != "node_group"} | said
        return said

    # -- the job as a whole

    def _job(self) -> Data:
        """Keys that decide which roles are started, and that make the devices come out even."""
        pipeline, parts = self.pipeline, set(self.parts.values())
        data: Data = {"num_nodes": self.nodes, "num_gpus_per_node": max(self.per_node, 1)}
        if pipeline.ppo and pipeline.updates_models:
            data |= {"adv_estimator": "gae" if CRITICS in parts else "grpo", "init_kl_coef": 0.2 if REFERENCES in parts else 0.0}
        if DEFAULT_BATCH % self.ranks:
            data["rollout_batch_size"] = -(-DEFAULT_BATCH // self.ranks) * self.ranks
        if pipeline.agentic:  # a batch of whole rounds of environments
            rounds = next((each.least for each in self.problem.components if self.keys[each.name] == VAL_ENV), 1)
            if DEFAULT_BATCH % rounds:
                data["val_batch_size"] = -(-DEFAULT_BATCH // rounds) * rounds
            if pipeline.updates_models and not self._is_plain():
                data["partial_gpu_mode"] = False
        return data

    def _is_plain(self) -> bool:
        """True if training and inference are apart or share all without a reward, and the reference is beside training."""
        train, infer, reference = (self.ids.get(part, Ids()) for part in (ACTOR_TRAIN, ACTOR_INFER, REFERENCES))
        together = train.ranges == infer.ranges and AGENTIC_REWARD not in self.ids
        return (together or not set(train) & set(infer)) and (not reference.count or reference.ranges == train.ranges)


def _part(component: Component) -> str:
    """What ROLL uses the component as; "" if there is no such role."""
    base, role = component.name.partition(".")[0], role_of(component)
    if base in names.ROLE_OF and base != AGENTIC_REWARD and role in ("", names.ROLE_OF[base]):
        return base
    return REWARDS if base == AGENTIC_REWARD else _PART_OF.get(role, "")


def _pipeline(parts: set[str]) -> str:
    """The pipeline that starts these parts; the one nearest to it where none starts all."""
    if names.SFT_TRAIN in parts or STUDENTS in parts:
        return "sft" if names.SFT_TRAIN in parts else "distill"
    is_rollout = ACTOR_INFER in parts and ACTOR_TRAIN not in parts
    if parts & {TRAIN_ENV, VAL_ENV}:
        return "agentic_rollout" if is_rollout else "agentic"
    if parts == {ACTOR_TRAIN, REFERENCES}:
        return "dpo"
    return "rlvr_rollout" if is_rollout else "rlvr"


def _environments(groups: int) -> Data:
    """One environment a worker."""
    return {"num_env_groups": groups, "group_size": 1, "max_env_num_per_worker": 1, "tags": ["env"], "num_groups_partition": [groups]}
