"""Writer of verl files: answers in a file, new configurations of a problem, and scripts of a whole job.

An answer sets sizes of pools, with missing keys added. verl names no node, so an answer can be written
if the pools, laid out again, lie where the answer says. There may be many ways to write it.

A new configuration is for the program with the pools of a problem: one pool for all is `main_ppo`; separate actor and rollout are
`one_step_off_policy`; simulators beside them are `vla`. Other pools are refused.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice, product
from math import gcd
from typing import Mapping, Sequence

from ...component import Component, Parallel
from ...conversion import (
    counts_to_data,
    group_sharing,
    hint_block,
    lost_demands,
    map_names,
    note_loss,
    other_hints_to_data,
    refusal,
    seats_of,
    warn_of_loss,
)  # fmt: skip
from ...findings.finding import Finding, Severity, UnusableInput
from ...findings.span import Edit
from ...level import TRAINING
from ...machines.node_group import ACCELERATOR, CLUSTER_LABEL, NODE
from ...placements.assignment import Assignment, seats
from ...pools import Pool, PoolParts
from ...problem import Problem
from ...reading import Reading
from ...record import dataclass
from ...releases.choice import ReleaseChoice, newest
from ...releases.release import Range, read_releases
from ...roles import CRITIC, REFERENCE, ROLLOUT, role_of
from ...text.document import Document
from ...text.edit import to_yaml
from ...text.source import Source
from ...text.tree import Scalar
from ...training_job import TrainingJob
from ..dialect import UNCHANGED, Degrees, JobBatch, Rendering
from ..pool_sizes import find_changes
from ..skeleton import HINTS
from ..written import Data, append_settings, edits_of, flat, merge_keys, put, refuse_writing
from . import RELEASES
from .configuration import SEQUENCE, Configuration
from .degrees import OWNERS
from .job import NAMES, find_hint, is_open
from .pools import TORN
from .programs import MAIN_PPO, ONE_STEP_OFF, VLA, facts, program_mask, table
from .reader import VerlReader, read

Numbers = Mapping[str, int]
_PLAIN = str.maketrans("", "", "/-_.")
MOST_TRIED = 256
"""Limit on combinations of sizes for a new layout."""
_ORDER = ("actor", "ref", "critic", "rollout", "reward_model", "env")
"""Components in verl's order of pool creation."""


def write(reading: Reading, assignment: Assignment, degrees: Degrees = UNCHANGED) -> list[Edit]:
    """Return the edits of the sizes of open pools and of the chosen degrees.

    Raises UnusableInput (PW603) if verl cannot express the answer: in parts of one size it would take other nodes.
    """
    job = reading.problem.job if reading.problem is not None else None
    is_planned = job is not None and job.planning.workload is not None and job.planning.laying is not None
    reader = VerlReader(reading.document, None, TRAINING, open_=is_planned)
    settings = reader.settings
    changes, through = dict[str, int](), dict[str, int]()
    for name, parallel in degrees.items():
        # Degrees that are not open follow from other numbers, and stay as written.
        if (job is None or name not in job.planning.tied) and find_hint(settings.tree(HINTS), name) is not None:
            amounts = reader.own(name)
            changes |= {amounts[degree].name: value for degree, value in find_changes(amounts, parallel).items()}
            references = {degree: amount for degree, amount in amounts.items() if amount.scalar and amount.scalar.origin is not None}
            through |= {amount.name: int(getattr(parallel, degree)) for degree, amount in references.items()}
    direct = {key: value for key, value in changes.items() if key not in through}
    open_ = [pool for pool in reader.declared.pools if is_open(settings, pool)]
    # An interpolation of a degree stays if its value is right; else a number replaces it.
    instead_of: tuple[dict[str, int], ...] = ({}, through) if through else ({},)
    best, refusals = list[tuple[int, list[Edit]]](), list[UnusableInput]()
    for instead, *sizes in islice(product(instead_of, *(_sizes(pool, assignment) for pool in open_)), MOST_TRIED):
        numbers = {key: value for size in sizes for key, value in size.items()}
        try:
            edits = _edits(reading, settings, numbers | direct, instead, is_planned)
            best.append((_doubts(reading, assignment, degrees, edits), edits))
        except UnusableInput as refusal:
            refusals.append(refusal)
        if best and not best[-1][0]:
            break
    if best:
        return min(best, key=lambda written: written[0])[1]
    for pool in open_:
        if len(set(counts := _counts(pool, assignment))) > 1:
            raise refuse_writing(pool.components[0], f"the parts of `{pool.name}` would differ: {', '.join(map(str, counts[:8]))}")
    raise refusals[0]


def _edits(reading: Reading, settings: Configuration, numbers: Numbers, literals: Numbers, is_planned: bool) -> list[Edit]:
    """Return the edits of numbers; `literals` replace interpolations."""
    edits, missing = list[Edit](), dict[str, int]()
    for key, value in {**numbers, **literals}.items():
        node = settings.at(key)
        if not isinstance(node, Scalar) or node.span.file != reading.source.name:
            if not (is_planned and isinstance(node, Scalar) and node.value == value):
                missing[key] = value
        elif key in literals or node.value != value:
            if key not in literals and node.origin is not None:
                raise refuse_writing(key, f"`{key}` is written through an interpolation")
            edits.append(Edit(node.span, str(value)))
    if reading.document.program is not None:
        return edits + append_settings(reading, [f"{key}={value}" for key, value in missing.items()])
    return edits + edits_of(reading.source, reading.source.root, put({}, missing))


def _sizes(pool: Pool, assignment: Assignment) -> list[dict[str, int]]:
    """Return the size keys of a pool with their possible values, largest parts first."""
    counts = _counts(pool, assignment)
    if not counts:
        raise refuse_writing(pool.components[0], f"the answer has no place for `{pool.name}`")
    whole = gcd(*counts)
    sizes = [size for size in range(whole, 0, -1) if whole % size == 0]
    return [{pool.nodes_key: sum(counts) // size, pool.accelerators_key: size} for size in sizes]


def _counts(pool: Pool, assignment: Assignment) -> list[int]:
    return [mask.bit_count() for (_, kind), mask in assignment.masks(pool.components[0]).items() if kind == ACCELERATOR]


def _doubts(reading: Reading, assignment: Assignment, degrees: Degrees, edits: list[Edit]) -> int:
    """Read the edited text; count its errors, and the servers that take accelerators of others.

    Raises UnusableInput for any other Assignment or degrees.
    """
    problem = reading.problem
    document = replace(reading.document.compose(reading.source.edit(edits)), release=reading.document.release)
    new_reading = read(document, problem.cluster if problem else None, TRAINING)
    components = new_reading.problem.components if new_reading.problem else ()
    runs_by_name = {component.name: component.runs or () for component in components}
    for name, runs in assignment.runs.items():
        if list(seats(runs_by_name.get(name, ()))) != list(seats(runs)):
            raise refuse_writing(name, f"verl names no nodes, and would place `{name}` elsewhere")
    before = {component.name: component.parallel for component in problem.components} if problem else {}
    for component in components:
        if component.parallel != {**before, **degrees}.get(component.name, component.parallel):
            raise refuse_writing(component.name, f"with it, `{component.name}` would have {component.parallel}")
    errors = sum(finding.severity is Severity.ERROR for finding in new_reading.findings)
    return errors + sum(TORN in component.fixes for component in components)


# -- new configurations


@dataclass(frozen=True)
class PoolGroup:
    """Components of a pool: accelerators in equal parts (None if left to solve) and by node."""

    components: tuple[Component, ...]
    parts: PoolParts | None
    counts: Mapping[int, int]

    def write_size(self, nodes: str, accelerators: str) -> Data:
        """Return the two keys of the size; empty if left to solve."""
        return {nodes: self.parts.count, accelerators: self.parts.size} if self.parts else {}


def render(problem: Problem, release: ReleaseChoice | None = None, batch: JobBatch | None = None) -> Rendering:
    """Render the file for a release, the newest by default.

    Raises UnusableInput (PW606) with every reason if no pools of verl express the problem.
    """
    writer = _VerlWriter(problem, release or newest(read_releases(RELEASES)))
    data = writer.data()
    if writer.reasons:
        raise UnusableInput(writer.reasons)
    names = {component.name: writer.names[component.name] for component in writer.components}
    return Rendering(to_yaml(data), (*writer.losses, *lost_demands(problem)), names)


class _VerlWriter:
    """Writer of a file, with losses, and reasons why verl cannot express the problem."""

    def __init__(self, problem: Problem, release: ReleaseChoice) -> None:
        self.problem, self.release = problem, release
        self.reward = "reward.reward_model" if release.since("0.7.1") else "reward_model"
        on_cpus = [component for component in problem.components if problem.kind(component) == NODE]
        self.names = map_names([component for component in problem.components if component not in on_cpus], NAMES)
        self.names |= {component.name: component.name for component in on_cpus}
        self.reasons: list[Finding] = []
        self.losses: list[Finding] = []
        self.components = tuple(component for component in problem.components if self._has_a_place(component))
        pools = map(self._pool, group_sharing(problem, self.components))
        self.pools = sorted(pools, key=lambda pool: min(_ORDER.index(self.names[component.name]) for component in pool.components))
        self.by_name = {self.names[component.name]: component for component in self.components}

    def refuse(self, subject: str, message: str, help: str, *notes: str) -> None:
        """Add a reason why verl cannot express the problem."""
        self.reasons.append(refusal(subject, message, help, *notes))

    def data(self) -> Data:
        """Return all keys of the file."""
        reference, also = (["ref"], ", and until 0.4.0 starts a `ref`") if self.release.is_older_than("0.4.0") else ([], "")
        for name in ("actor", "rollout", *reference):
            if name not in self.by_name:
                self.refuse("", f"verl always trains an `actor` and generates with `rollout`{also}, but there is no `{name}`", "add it")
        if self.reasons:
            return {}
        program, sizes = self._program()
        if not (mask := program_mask(program)) >> self.release.release.index & 1:
            message = f"{self.release.release} has no `{program}`, the program with these pools"
            self.refuse("", message, table().name_release(mask))
        data = put(self._sections(), sizes)
        self._check_layout(data)
        hints = {self.names[component.name]: self._hints(component) for component in self.components}
        return data | hint_block(self.problem, self.names, {name: data for name, data in hints.items() if data})

    # -- components that verl can place

    def _has_a_place(self, component: Component) -> bool:
        """Return True if verl has a role for the component, on accelerators."""
        name, kind = component.name, self.problem.kind(component)
        if kind == NODE:
            count = len(list(seats(component.runs))) if component.runs is not None else component.least
            self.losses.append(warn_of_loss(name, f"verl places no processes on CPUs: the {count} of `{name}` are left out"))
            return False
        if self.names[name] not in NAMES.values():
            self.refuse(name, f"verl has no role for `{name}`", f"leave it out; its roles are {', '.join(NAMES.values())}")
            return False
        if kind != ACCELERATOR:
            self.refuse(name, f"`{name}` is on {kind}s, but verl places on accelerators only", "leave it out")
            return False
        if component.node_groups != (CLUSTER_LABEL,):
            labels = ", ".join(f"`{label}`" for label in component.node_groups)
            lose = note_loss if component.runs is not None else warn_of_loss
            self.losses.append(lose(name, f"that `{name}` is in node group {labels} is lost"))
        sizes = {component.per_process} if component.runs is None else {len(accelerators) for _, accelerators in seats(component.runs)}
        if sizes != {1}:
            held_text = " or ".join(map(str, sorted(sizes)))
            message = f"the processes of `{name}` hold {held_text} accelerators each, but in verl every accelerator has a process"
            self.losses.append(warn_of_loss(name, message))
        return True

    # -- pools

    def _pool(self, group: Sequence[Component]) -> PoolGroup:
        names = ", ".join(f"`{component.name}`" for component in group)
        if any(component.runs is None for component in group):
            if any(component.runs is not None for component in group):
                message = f"of {names}, which share a pool, some are given and some left to solve"
                self.refuse(group[0].name, message, "give all or none")
            return PoolGroup(tuple(group), None, {})
        pool_seats = sorted({seat for component in group for seat in seats_of(component.runs or ())})
        for component in group:
            own_seats = seats_of(component.runs or ())
            if len(set(own_seats)) < len(own_seats):
                message = f"processes of `{component.name}` share accelerators, but in verl each has one of its own"
                self.refuse(component.name, message, "give every process its own")
            elif len(own_seats) < len(pool_seats):
                message = f"`{component.name}` is on a part of the pool of {names}, but in verl it runs on all of it"
                self.refuse(component.name, message, "give it all of the pool, or none")
        counts = {node: sum(seat_node == node for seat_node, _ in pool_seats) for node, _ in pool_seats}
        size = gcd(*counts.values())
        return PoolGroup(tuple(group), PoolParts(size, len(pool_seats) // size), counts)

    def _program(self) -> tuple[str, Data]:
        """Return the program with the same pools, and the keys of the sizes."""
        by = {self.names[component.name]: pool for pool in self.pools for component in pool.components}
        actor, rollout, reward, env = by["actor"], by["rollout"], by.get("reward_model"), by.get("env")
        rest = {name for name, pool in by.items() if pool is not actor}
        trainer = actor.write_size("trainer.nnodes", "trainer.n_gpus_per_node")
        if not rest and env is None:
            return MAIN_PPO, trainer
        name = next(iter(rest), "")
        if rest in ({"rollout"}, {"reward_model"}) and (by[name].parts is None or (name == "rollout" and actor.parts is None)):
            why = f"without the number, `{MAIN_PPO}` gives `actor` and `{name}` the same accelerators"
            message = f"`{name}` has accelerators of its own, but their number is left open"
            self.refuse(name, message, "solve the file first, or demand that they are colocated", why)
        if rest == {"reward_model"} and reward is not None and env is None:
            return MAIN_PPO, trainer | reward.write_size(f"{self.reward}.nnodes", f"{self.reward}.n_gpus_per_node")
        if rest == {"rollout"} and env is None:
            return ONE_STEP_OFF, trainer | rollout.write_size("rollout.nnodes", "rollout.n_gpus_per_node")
        is_simulation = rest == {"env"} and set(by) == {"actor", "rollout", "env"}
        if is_simulation and env and actor.parts and env.parts and actor.parts.count == env.parts.count:
            sizes = actor.write_size("trainer.nnodes", "trainer.n_rollout_gpus_per_node")
            return VLA, sizes | {"trainer.n_env_gpus_per_node": env.parts.size}
        names = "; ".join(", ".join(f"`{component.name}`" for component in pool.components) for pool in self.pools)
        self.refuse("", f"no program of verl has the pools of {names}", "place them as one of verl's programs does")
        return MAIN_PPO, {}

    def _check_layout(self, data: Data) -> None:
        """Report ranks that verl, without node names, places elsewhere."""
        if self.reasons or any(pool.parts is None for pool in self.pools):
            return
        document = replace(Document.of(Source("verl.yaml", to_yaml(data))), release=self.release)
        setup, _, cluster = VerlReader(document, self.problem.cluster, TRAINING, with_hints=False).setup()
        if cluster is not self.problem.cluster:
            return  # reading the file reports the missing capacity
        new_runs = {component.name: component.runs or () for component in setup.components}
        for pool in self.pools:
            for component in pool.components:
                new_seats = seats_of(new_runs.get(self.names[component.name], ()))
                if new_seats in ((), seats_of(component.runs or ())):
                    continue
                if len(set(pool.counts.values())) > 1:
                    counts = ", ".join(f"{count} on node {node}" for node, count in list(pool.counts.items())[:4])
                    message = f"the parts of a pool are even, but the accelerators of `{component.name}` are {counts}"
                    self.refuse(component.name, message, "use as many on each node")
                else:
                    first = f"accelerator {new_seats[0][1]} of node {new_seats[0][0]}"
                    message = f"verl names no node and no accelerator: it places the ranks of `{component.name}` on others, from {first} on"
                    self.losses.append(warn_of_loss(component.name, message))

    # -- settings of components

    def _sections(self) -> Data:
        by = self.by_name
        section: Data = {"actor": self._write_trained(by["actor"]) | {"use_kl_loss": "ref" in by}, "rollout": self._engine(by["rollout"])}
        if "ref" in by:
            section["ref"] = self._write_trained(by["ref"])
        data: Data = {"algorithm": {"adv_estimator": "gae" if "critic" in by else "grpo"}, "actor_rollout_ref": section}
        if "critic" in by:
            data["critic"] = self._write_trained(by["critic"])
        if reward := by.get("reward_model"):
            # Since 0.7.1 a reward model is served; before, only with degrees in the pool of the actor, else it is a worker.
            is_separate = not any(by["actor"] in pool.components and reward in pool.components for pool in self.pools)
            has_loop = self.release.has(Range("0.7.0", "0.7.1"))
            is_served = self.release.since("0.7.1") or (has_loop and not is_separate and reward.parallel.tp * reward.parallel.dp > 1)
            inner = {"rollout": self._engine(reward)} if is_served else self._write_trained(reward)
            keys = {"enable": True, "enable_resource_pool": is_separate} | ({"use_reward_loop": is_served} if has_loop else {})
            put(data, {self.reward: keys | inner})
        return data

    def _engine(self, component: Component) -> Data:
        """Return the degrees of an inference engine, always with tp, as verl's default is 2."""
        parallel = component.parallel
        self._keep(component, Parallel(parallel.tp, parallel.pp, 1, parallel.ep, parallel.dp))
        more = (("pipeline_model_parallel_size", parallel.pp), ("data_parallel_size", parallel.dp), ("expert_parallel_size", parallel.ep))
        return {"tensor_model_parallel_size": parallel.tp, **{key: degree for key, degree in more if degree > 1}}

    def _write_trained(self, component: Component) -> Data:
        """Return the degrees of a component that trains, or computes like training."""
        parallel = component.parallel
        verl_degrees = Parallel(parallel.tp, parallel.pp, parallel.cp, parallel.ep)
        self._keep(component, verl_degrees)
        divides_none = verl_degrees == Parallel() and component.backend != "megatron"
        backend = "fsdp" if divides_none or (component.backend == "fsdp" and verl_degrees == Parallel(cp=parallel.cp)) else "megatron"
        if component.backend not in ("", backend):
            self.losses.append(note_loss(component.name, f"`{component.name}` is trained by {component.backend}, in verl by {backend}"))
        if backend == "fsdp":
            key = f"fsdp.{SEQUENCE}" if self.names[component.name] == "critic" and self.release.since("0.8.0") else SEQUENCE
            return put({"strategy": "fsdp"}, {key: parallel.cp} if parallel.cp > 1 else {})
        degrees = {"tensor_model": parallel.tp, "pipeline_model": parallel.pp, "context": parallel.cp, "expert_model": parallel.ep}
        degrees |= {"expert_tensor": 1} if parallel.ep > 1 else {}  # the default, tp, divides fewer numbers of ranks
        return {"strategy": "megatron", "megatron": {f"{name}_parallel_size": degree for name, degree in degrees.items()}}

    def _keep(self, component: Component, verl_degrees: Parallel) -> None:
        if verl_degrees != component.parallel:
            message = f"`{component.name}` has {component.parallel}, but verl gives it {verl_degrees}"
            self.losses.append((warn_of_loss if component.runs is None else note_loss)(component.name, message))

    def _hints(self, component: Component) -> Data:
        """Return the hints that verl's own keys do not express."""
        hints = other_hints_to_data(self.problem, component, self.names, self.losses)
        for key in ("parallel", "role", "cpus"):
            hints.pop(key, None)
        if component.runs is not None:
            return hints
        if self.problem.job.choices.get(component.name):
            message = f"the degrees of `{component.name}` are left open, but in verl they are {component.parallel}"
            self.losses.append(warn_of_loss(component.name, message))
        counts = counts_to_data(self.problem, component)
        return ({"accelerators": counts["accelerators"]} if "accelerators" in counts else {}) | hints


# -- scripts


def training_file(problem: Problem, job: TrainingJob, title: str) -> str:
    """Return the script. Raises UnusableInput (PW606) if verl's pools cannot express the problem."""
    base = merge_keys(render(problem).text, {}, without=("placewright",))
    strategy = str(base.get("actor_rollout_ref", {}).get("actor", {}).get("strategy", "fsdp"))
    training_facts, roles = facts("training"), {role_of(component) for component in problem.components}
    names = ["all", *(["dapo"] if job.algorithm == "dapo" else []), strategy]
    names += [name for role in (REFERENCE, CRITIC) if role in roles for name in (role, f"{role} {strategy}")]
    keys = job.keys(training_facts, names, {"estimator": training_facts["estimators"][job.algorithm], "share": job.utilization / 100})
    for component in problem.components:
        parallel = component.parallel
        if role_of(component) == ROLLOUT and parallel.dp > 1:  # what vLLM calls data parallel ranks share the experts
            keys["actor_rollout_ref.rollout.expert_parallel_size"] = parallel.tp * parallel.dp
        elif parallel.ep > 1 and component.estimate is not None:
            owner = OWNERS[NAMES[role_of(component)]]
            keys[f"{owner}.megatron.expert_tensor_parallel_size"] = component.estimate.expert_tp or parallel.tp
        elif strategy == "fsdp" and parallel.cp > 1:  # sequences of one rank are packed before they are divided
            keys["actor_rollout_ref.model.use_remove_padding"] = True
    flat_keys = flat(put(base, keys))
    quotes = {key: "'" * (isinstance(value, str) and not value.translate(_PLAIN).isalnum()) for key, value in flat_keys.items()}
    settings = [f"    {key}={quotes[key]}{value}{quotes[key]} \\" for key, value in flat_keys.items()]
    lines = [
        "#!/usr/bin/env bash",
        f"# {title}",
        "# Set TRAIN_FILES and VAL_FILES, and a reward where the data names none; then run it where `ray start` was.",
        "set -euo pipefail",
        "",
        f"python3 -m verl.trainer.main_ppo{' --config-name=ppo_megatron_trainer' if strategy == 'megatron' else ''} \\",
        *settings,
        '    data.train_files="${TRAIN_FILES:?parquet files to train on}" \\',
        '    data.val_files="${VAL_FILES:?parquet files to validate on}" \\',
        '    "$@"',
        "",
    ]
    return "\n".join(lines)
