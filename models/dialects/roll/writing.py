"""New ROLL files for a problem, and answers written into a file."""

from __future__ import annotations

from dataclasses import replace
from math import lcm
from typing import Collection, Mapping, Sequence

from ...component import Component, Parallel
from ...conversion import Data, counts_to_data, hint_block, lost_demands, note_loss, other_hints_to_data, refusal, warn_of_loss
from ...findings.finding import Finding, UnusableInput
from ...findings.span import Edit
from ...findings.wording import are, with_noun
from ...machines.node_group import ACCELERATOR, CLUSTER_LABEL, NODE, NODE_LABEL
from ...placements.assignment import Assignment, seats
from ...placements.run import Run
from ...placements.run_checks import deal_round_robin
from ...problem import Problem
from ...reading import Reading
from ...releases.choice import ReleaseChoice
from ...roles import ACTOR, CRITIC, role_of
from ...text.edit import to_yaml
from ...text.tree import find, plain
from ...training_job import TrainingJob
from ..dialect import UNCHANGED, Degrees, JobBatch, Rendering
from ..written import add_title, check_places, edits_of, merge_keys, put, read_again, refuse_writing
from . import names
from .ids import Ids, text_of
from .names import ACTOR_INFER, ACTOR_TRAIN, AGENTIC_REWARD, CRITICS, REFERENCES, REWARDS, STUDENTS, TEACHERS, TRAIN_ENV, VAL_ENV
from .planning import degree_numbers
from .profile import Pipeline, pipelines
from .reader import read_with

# New file: a block per role, with the role's devices, or hints with its demands.

_PART_OF = {role: part for part, role in reversed(names.ROLE_OF.items())}
_ALWAYS = (ACTOR_TRAIN, ACTOR_INFER, names.SFT_TRAIN, STUDENTS, TEACHERS)
"""Parts that a pipeline requires; the others have defaults or are optional."""
_TRAINS = (ACTOR_TRAIN, CRITICS, names.SFT_TRAIN, STUDENTS)
DEFAULT_BATCH = 128
"""Default of `rollout_batch_size`. Source: ROLL, roll/configs/base_config.py."""
DEFAULT_SHARE = 8
"""Samples of a rank in an update by default: those of `per_device_train_batch_size`."""


def render(problem: Problem, release: ReleaseChoice | None = None, batch: JobBatch | None = None) -> Rendering:
    """Render the file for the pipeline whose roles cover the components.

    Raises UnusableInput (PW606) with every reason if there is no such pipeline.
    """
    writer = _RollWriter(problem)
    data = writer.data() if not writer.reasons else {}
    if batch and writer.ranks and writer.pipeline.name == "rlvr" and not any(batch.update % count for count in writer.ranks.values()):
        put(data, _batch_keys(batch, 1, writer.ranks))
    if writer.reasons:
        raise UnusableInput(writer.reasons)
    return Rendering(to_yaml(data), (*writer.losses, *lost_demands(problem)), writer.keys)


class _RollWriter:
    """Writer of a file.

    `parts` and `keys` map each component to its part and to the path of its block. ROLL numbers accelerators node by node: id g is
    accelerator g % per_node of node g // per_node. `ranks` is the number of data parallel ranks of each trained part. `reasons` (PW606)
    collects what ROLL cannot express, `losses` what it expresses otherwise.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem, self.reasons, self.losses = problem, list[Finding](), list[Finding]()
        self.ranks = dict[str, int]()
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
                self.losses.append(warn_of_loss(part, f"ROLL starts `{part}` too, here with one worker on the CPUs of node 0"))
        return self._job() | blocks | hint_block(self.problem, self.keys, hints)

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
            if part == REWARDS and not name.startswith(f"{REWARDS}."):
                key = f"{REWARDS}.{name.replace('.', '_')}"
            elif part in (REWARDS, TEACHERS) and name.startswith(f"{part}."):
                key = name
            elif part == TRAIN_ENV and TRAIN_ENV in keys.values() and VAL_ENV not in self.parts.values():
                key = VAL_ENV
            if part and key in keys.values():
                self.refuse(name, f"ROLL has one `{key}`, and several components are that", "leave one of them out")
            keys[name] = key
        return keys

    def _numbering(self) -> tuple[int, int]:
        components, nodes = self.problem.components, self.problem.cluster.nodes
        used_nodes = [run.node for component in components for run in component.runs or () if run.kind == ACCELERATOR]
        is_open = any(component.runs is None for component in components)
        counts = [len(node.accelerators) for node in nodes[: len(nodes) if is_open else max(used_nodes, default=0) + 1]]
        while counts and not counts[-1] and is_open:
            counts.pop()
        per_node = max(counts, default=0)
        rank = next((rank for rank, count in enumerate(counts) if count != per_node), None)
        if rank is not None:
            message = f"ROLL numbers nodes of {with_noun(per_node, 'accelerator')} each, but node {rank} has {counts[rank]}"
            self.refuse("", message, "use nodes that are alike, before all others")
        return per_node, max(len(counts), 1)

    def _block(self, component: Component, part: str) -> Data:
        name, kind = component.name, self.problem.kind(component)
        if component.node_groups not in ((CLUSTER_LABEL,), (NODE_LABEL,)):
            labels = ", ".join(f"`{label}`" for label in component.node_groups)
            report = note_loss if component.runs is not None else warn_of_loss
            self.losses.append(report(name, f"that `{name}` is in node group {labels} is lost"))
        if kind == NODE:
            return self._on_cpus(component, part)
        if part in (TRAIN_ENV, VAL_ENV):
            self.refuse(name, f"ROLL runs environments on CPUs, but `{name}` is on accelerators or hardware", "place it on nodes")
            return {}
        if component.runs is None:
            if self.problem.job.choices.get(name):
                self.losses.append(warn_of_loss(name, f"the degrees of `{name}` are left open, but in ROLL they are {component.parallel}"))
            if part in (ACTOR_TRAIN, ACTOR_INFER) and self.pipeline.updates_models and not component.contiguous:
                message = f"`{name}` is on one solid range of accelerators in ROLL, whose weights go from one to another"
                self.losses.append(warn_of_loss(name, message))
            return self._strategy(component, part, component.per_process)[0]
        ids, per_process = self._device_ids(component, component.runs)
        block, size = self._strategy(component, part, per_process)
        if len(ids) % size:
            message = f"the {with_noun(len(ids), 'accelerator')} of `{name}` {are(len(ids))} not whole workers of {size}"
            self.refuse(name, message, "give it a multiple")
        # DPO's reference must not take more pairs at once than a step has.
        batch: Data = {"infer_batch_size": 1} if self.pipeline.name == "dpo" and part == REFERENCES else {}
        return block | batch | {names.DEVICES: text_of(ids)}

    def _device_ids(self, component: Component, runs: Sequence[Run]) -> tuple[Ids, int]:
        name = component.name
        if {run.kind for run in runs} != {ACCELERATOR}:
            self.refuse(name, f"`{name}` is on hardware, but ROLL places on accelerators and CPUs only", "leave it out")
            return Ids(), 1
        process_ids = [[node * self.per_node + index for (node, index), _, _ in process_seats] for _, process_seats in seats(runs)]
        sizes = sorted({len(ids) for ids in process_ids})
        if len(sizes) > 1:
            message = f"the processes of `{name}` hold {' or '.join(map(str, sizes))} accelerators, but in ROLL all hold as many"
            self.refuse(name, message, "give all the same number")
        return Ids.join(*process_ids), sizes[0]

    def _strategy(self, component: Component, part: str, per_process: int) -> tuple[Data, int]:
        name, original, backend, is_trained = component.name, component.parallel, component.backend, part in _TRAINS
        cp_keys = dict[str, object]()
        config, parallel, size = dict[str, object](), Parallel(), 1
        if part == ACTOR_INFER or not (is_trained or per_process == 1 or original == Parallel()):
            tp, pp = (original.tp, original.pp) if original.tp * original.pp > 1 else (per_process, 1)
            strategy, parallel, size = names.VLLM, Parallel(tp, pp), tp * pp
            config |= {"tensor_parallel_size": tp} | ({"pipeline_parallel_size": pp} if pp > 1 else {})
        elif not is_trained and per_process > 1:
            strategy, size = names.HF_INFER, per_process
        elif original == Parallel() and backend != "megatron":
            strategy = "fsdp2_train" if is_trained else names.HF_INFER
        elif backend == "fsdp" and original == Parallel(cp=original.cp):
            strategy, parallel = names.FSDP2[0 if is_trained else 1], original
            cp_keys = {names.DEGREE_KEYS[strategy]["cp"]: original.cp}
        else:
            strategy, parallel = names.MEGATRON[0 if is_trained else 1], replace(original, dp=1)
            degrees = {key.removeprefix(names.CONFIG): getattr(original, degree) for degree, key in names.DEGREE_KEYS[strategy].items()}
            config |= {key: degree for key, degree in degrees.items() if degree != 1}
        if part in (ACTOR_TRAIN, CRITICS) and component.runs is not None:
            self.ranks[part] = max(component.least // parallel.replica, 1)
        if backend and strategy.startswith(("megatron", "fsdp")) and not strategy.startswith(backend):
            self.losses.append(note_loss(name, f"`{name}` is trained by {backend}, in ROLL by `{strategy}`"))
        if parallel != original:
            message = f"`{name}` has {original}, but with strategy `{strategy}` ROLL gives it {parallel}"
            self.losses.append(warn_of_loss(name, message) if component.runs is None else note_loss(name, message))
        if size != per_process:
            holding = f"the processes of `{name}` hold {with_noun(per_process, 'accelerator')} each"
            self.losses.append(warn_of_loss(name, f"{holding}, the workers that ROLL makes of them {size}"))
        args: Data = {"strategy_name": strategy} | ({"strategy_config": config} if config else {})
        return put({names.STRATEGY: args}, cp_keys) | ({names.PER_WORKER: size} if strategy == names.HF_INFER and size > 1 else {}), size

    def _on_cpus(self, component: Component, part: str) -> Data:
        """Return the keys of workers without devices, which ROLL distributes over its nodes round-robin."""
        name, count = component.name, component.least
        if part not in (REWARDS, TRAIN_ENV, VAL_ENV):
            message = f"ROLL needs accelerators for `{self.keys[name]}`, but `{name}` is on nodes"
            self.refuse(name, message, "place it on accelerators")
            return {}
        if component.runs is None:
            message = f"ROLL gives `{name}` {with_noun(count, 'worker')}, one node after the other: nothing is left to solve"
            self.losses.append(warn_of_loss(name, message))
        else:
            nodes = _nodes_of_workers(component.runs)
            count = len(nodes)
            if nodes != _nodes_of_workers(deal_round_robin(count, self.nodes)):
                places = f"its {self.nodes} nodes" if self.nodes > 1 else "its node"
                self.losses.append(warn_of_loss(name, f"ROLL deals the {with_noun(count, 'worker')} of `{name}` out to {places} in turn"))
        return {names.WORLD_SIZE: count} if part == REWARDS else _environments(count)

    def _hints(self, component: Component) -> Data:
        hints = other_hints_to_data(self.problem, component, dict(self.keys), self.losses)
        hints = {key: value for key, value in hints.items() if key not in ("parallel", "role")}
        kind = self.problem.kind(component)
        if hints and kind == NODE:
            keys_text = ", ".join(f"`{key}`" for key in hints)
            self.losses.append(note_loss(component.name, f"what {keys_text} says of `{component.name}` is lost"))
            return {}
        if component.runs is None and kind == ACCELERATOR:
            hints = {key: value for key, value in counts_to_data(self.problem, component).items() if key != "node_group"} | hints
        return hints

    def _job(self) -> Data:
        pipeline, parts = self.pipeline, set(self.parts.values())
        data: Data = {"num_nodes": self.nodes, "num_gpus_per_node": max(self.per_node, 1)}
        if pipeline.ppo and pipeline.updates_models:
            data |= {"adv_estimator": "gae" if CRITICS in parts else "grpo", "init_kl_coef": 0.2 if REFERENCES in parts else 0.0}
        update = DEFAULT_SHARE * lcm(*self.ranks.values())
        if DEFAULT_BATCH % update:
            data["rollout_batch_size"] = -(-DEFAULT_BATCH // update) * update
        if pipeline.agentic:  # a batch of whole rounds of environments
            rounds = next((component.least for component in self.problem.components if self.keys[component.name] == VAL_ENV), 1)
            if DEFAULT_BATCH % rounds:
                data["val_batch_size"] = -(-DEFAULT_BATCH // rounds) * rounds
            if pipeline.updates_models:
                data["partial_gpu_mode"] = False  # the placement is given, in turn or apart
        return data


def _nodes_of_workers(runs: Sequence[Run]) -> list[list[int]]:
    return [[node for (node, _), _, _ in process_seats] for _, process_seats in seats(runs)]


def _part(component: Component) -> str:
    base, role = component.name.partition(".")[0], role_of(component)
    if base in names.ROLE_OF and base != AGENTIC_REWARD and role in ("", names.ROLE_OF[base]):
        return base
    return REWARDS if base == AGENTIC_REWARD else _PART_OF.get(role, "")


def _pipeline(parts: set[str]) -> str:
    if names.SFT_TRAIN in parts or STUDENTS in parts:
        return "sft" if names.SFT_TRAIN in parts else "distill"
    is_rollout = ACTOR_INFER in parts and ACTOR_TRAIN not in parts
    if parts & {TRAIN_ENV, VAL_ENV}:
        return "agentic_rollout" if is_rollout else "agentic"
    if parts == {ACTOR_TRAIN, REFERENCES}:
        return "dpo"
    return "rlvr_rollout" if is_rollout else "rlvr"


def _environments(groups: int) -> Data:
    return {"num_env_groups": groups, "group_size": 1, "max_env_num_per_worker": 1, "tags": ["env"], "num_groups_partition": [groups]}


# Configuration of a whole job (RLVR): the placement and the batches.

ESTIMATORS = {"grpo": "grpo", "dapo": "grpo", "ppo": "gae", "rloo": "reinforce", "reinforce++": "reinforce"}
"""Algorithm -> `adv_estimator`. Source: ROLL, roll/configs/base_config.py and roll/utils/functionals.py."""

_RECOMPUTED = {"recompute_granularity": "full", "recompute_method": "uniform", "recompute_num_layers": 1}
"""Activations computed again, as the estimate of memory has it."""


def training_file(problem: Problem, job: TrainingJob, title: str) -> str:
    """Return the file. Raises UnusableInput (PW606) if ROLL cannot express the problem."""
    ranks = {section: job.ranks[role] for role, section in ((ACTOR, ACTOR_TRAIN), (CRITIC, CRITICS)) if role in job.ranks}
    batch = JobBatch(job.prompts, job.samples, job.mini_batch * job.samples)
    keys: dict[str, object] = {
        **_batch_keys(batch, job.micro_batch, ranks),
        "prompt_length": job.prompt,
        "response_length": job.response,
        "adv_estimator": ESTIMATORS[job.algorithm],
        "pretrain": job.model,
        "actor_infer.strategy_args.strategy_config.gpu_memory_utilization": job.utilization / 100,
    }
    rendering = render(problem)
    for component in problem.components:
        section, parallel = rendering.names[component.name], component.parallel
        path, size = f"{section}.{names.CONFIG}", component.estimate.expert_tp if component.estimate else 0
        if component.backend == "megatron" and section in _TRAINS:
            keys |= {f"{path}{name}": value for name, value in _RECOMPUTED.items()}
        if parallel.ep > 1 and size and parallel.tp > 1:
            keys[f"{path}expert_tensor_parallel_size"] = size
        if component.backend == "fsdp" and parallel.cp > 1:  # a group of shards is at least one of a sequence
            keys[f"{path}fsdp_size"] = Assignment({section: component.runs or ()}).count_held(section, ACCELERATOR)
    return add_title(f"{title}. Add your `rewards` and the data of `actor_train`.", merge_keys(rendering.text, keys))


def _batch_keys(batch: JobBatch, micro_batch: int, ranks: Mapping[str, int]) -> dict[str, object]:
    """Return the keys of a batch, by the data parallel ranks of trained roles."""
    keys: dict[str, object] = {"rollout_batch_size": batch.prompts, "num_return_sequences_in_group": batch.samples}
    for section, count in ranks.items():
        steps = batch.update // (micro_batch * count)
        keys[f"{section}.training_args"] = {"per_device_train_batch_size": micro_batch, "gradient_accumulation_steps": steps}
    return keys


# Answers: a `device_mapping` per role left to hints; all else in the file stays.


def write(reading: Reading, assignment: Assignment, degrees: Degrees = UNCHANGED) -> list[Edit]:
    """Return the edits that give open roles their devices or workers; raises UnusableInput (PW603)."""
    problem, source, values = reading.problem, reading.source, dict[str, object]()
    if problem is None:
        raise refuse_writing("", "the file states no problem")
    open_ = {component.name: component for component in problem.hinted}
    for name, component in open_.items():
        values |= {f"{name}.{key}": value for key, value in _keys(reading, problem, component, assignment).items()}
    for name, parallel in degrees.items():
        numbers = degree_numbers(source.root, name, parallel) if name not in problem.job.planning.tied else {}
        if numbers is None:
            raise refuse_writing(name, f"the strategy of `{name}` has no keys for {parallel}")
        values |= {f"{name}.{key}": value for key, value in numbers.items()}
    edits = edits_of(source, source.root, put({}, values))
    _check(reading, problem, assignment, degrees, edits, open_)
    return edits


def _keys(reading: Reading, problem: Problem, component: Component, assignment: Assignment) -> Data:
    name, runs, root = component.name, assignment.of(component.name), reading.document.root
    if problem.kind(component) != ACCELERATOR:
        return {names.WORLD_SIZE: max((run.ranks.stop for run in runs), default=0)}
    first = problem.cluster.numbering(component.node_groups).first
    ids, baseline_ids = (
        [first[node] + index for _, process_seats in seats(role_runs) for (node, index), _, _ in process_seats]
        for role_runs in (runs, problem.job.planning.own.get(name, ()))
    )
    is_kept = ids == baseline_ids and find(reading.source.root, f"{name}.{names.DEVICES}") is not None
    keys: Data = {} if is_kept else {names.DEVICES: text_of(Ids.join(ids))}
    # With shapes, the degrees imply the size of a worker.
    if component.per_process > 1 and name not in problem.job.planning.shapes:
        strategy = find(root, f"{name}.{names.STRATEGY}.strategy_name")
        if find(root, f"{name}.{names.PER_WORKER}") is None and (strategy is None or plain(strategy) != names.VLLM):
            keys[names.PER_WORKER] = component.per_process
    return keys


def _check(reading: Reading, problem: Problem, assignment: Assignment, degrees: Degrees, edits: list[Edit], open_: Collection[str]) -> None:
    """Refuse edits that change anything but the open roles, or misstate the Assignment or degrees."""
    changed_keys = {f"{name}.{key}" for name in open_ for key in (names.DEVICES, names.PER_WORKER, names.WORLD_SIZE)}
    of_degrees = {names.PER_WORKER, *(key for keys in names.DEGREE_KEYS.values() for key in keys.values())}
    changed_keys |= {f"{name}.{key}" for name in degrees for key in of_degrees}
    new_problem = read_again(reading, edits, changed_keys, lambda document: read_with(document, problem.cluster, "placement", hints=False))
    components = {component.name: component for component in new_problem.components} if new_problem else {}
    for name, parallel in degrees.items():
        component, shape = components.get(name), problem.job.planning.shapes.get(name, {}).get(parallel)
        target = shape.parallel if shape is not None else parallel if name in problem.job.planning.tied else None
        # No key states data parallel ranks; they follow from the devices.
        if target is not None and component and replace(component.parallel, dp=1) != replace(target, dp=1):
            raise refuse_writing(name, f"with it, `{name}` would have {component.parallel}")
    # The nodes of workers without devices follow from the other roles.
    on_cpus = {name for name in assignment.runs if name not in open_ and problem.kind(problem[name]) != ACCELERATOR}
    check_places(assignment, components, on_cpus)
