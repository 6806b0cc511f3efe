"""A problem as a new ROLL configuration: a block for every role, with its devices or, through hints, what it asks for."""

from __future__ import annotations

from typing import Sequence

from ....component import Component
from ....conversion.hints import asked, shape
from ....conversion.losses import dropped, moved, refusal, unsaid_demands
from ....conversion.names import said_of_names
from ....conversion.where import hint_block
from ....findings.finding import Finding, UnusableInput
from ....findings.wording import are, with_noun
from ....machines.node_group import ACCELERATOR, CLUSTER_LABEL, NODE, NODE_LABEL
from ....placements.assignment import Run, seats
from ....placements.in_turn import in_turn
from ....problem import Problem
from ....text.dump import to_yaml
from ...dialect import Rendering
from ..mapping.ids import Ids
from ..mapping.written import text_of
from ..roles.parts import ACTOR_INFER, ACTOR_TRAIN, AGENTIC_REWARD, CRITICS, REFERENCES, REWARDS, TRAIN_ENV, VAL_ENV
from .devices import Numbering, device_ids, numbering
from .names import Named, named
from .strategy import Data, strategy_of

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
