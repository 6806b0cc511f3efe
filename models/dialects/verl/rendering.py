"""Renderer of a problem as a new verl configuration, for the program with its pools.

One pool for all is `main_ppo`; separate actor and rollout are `one_step_off_policy`; simulators
beside them are `vla`. Other pools are refused.
"""

from __future__ import annotations

from math import gcd
from typing import Mapping, Sequence

from ...component import Component, Parallel
from ...conversion import counts_to_data, hint_block, lost_demands, map_names, note_loss, other_hints_to_data, refusal, warn_of_loss
from ...findings.finding import Finding, UnusableInput
from ...machines.node_group import ACCELERATOR, CLUSTER_LABEL, NODE
from ...placements.assignment import seats
from ...placements.run import Run
from ...pools import Pool, PoolParts, lay_out, rooms_of
from ...problem import Problem
from ...record import dataclass
from ...text.edit import to_yaml
from ..dialect import Rendering
from ..written import Data, put
from .configuration import SEQUENCE
from .job import NAMES
from .programs import MAIN_PPO, ONE_STEP_OFF, SLOTS, VLA, entry_in

Seats = tuple[tuple[int, int], ...]
"""(node, accelerator) by rank."""
_ORDER = ("actor", "ref", "critic", "rollout", "reward_model", "env")
"""Components in verl's order of pool creation."""


@dataclass(frozen=True)
class PoolGroup:
    """Components of a pool.

    `parts`: accelerators in equal parts of nodes, None if left to solve; `counts`: accelerators by
    node.
    """

    components: tuple[Component, ...]
    parts: PoolParts | None
    counts: Mapping[int, int]

    def write_size(self, nodes: str, accelerators: str) -> Data:
        """Return the two keys of the size; empty if left to solve."""
        return {nodes: self.parts.count, accelerators: self.parts.size} if self.parts else {}


def render(problem: Problem) -> Rendering:
    """Render the file.

    Raises UnusableInput (PW606) with every reason if no pools of verl express the problem.
    """
    writer = _VerlWriter(problem)
    data = writer.data()
    if writer.reasons:
        raise UnusableInput(writer.reasons)
    names = {component.name: writer.names[component.name] for component in writer.components}
    return Rendering(to_yaml(data), (*writer.losses, *lost_demands(problem)), names)


class _VerlWriter:
    """Writer of a file, with losses, and reasons why verl cannot express the problem."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        on_cpus = [component for component in problem.components if problem.kind(component) == NODE]
        self.names = map_names([component for component in problem.components if component not in on_cpus], NAMES)
        self.names |= {component.name: component.name for component in on_cpus}
        self.reasons: list[Finding] = []
        self.losses: list[Finding] = []
        self.components = tuple(component for component in problem.components if self._has_a_place(component))
        self.pools = sorted(
            self._group_pools(), key=lambda pool: min(_ORDER.index(self.names[component.name]) for component in pool.components)
        )
        self.by_name = {self.names[component.name]: component for component in self.components}

    def refuse(self, subject: str, message: str, help: str, *notes: str) -> None:
        """Add a reason why verl cannot express the problem."""
        self.reasons.append(refusal(subject, message, help, *notes))

    def data(self) -> Data:
        """Return all keys of the file."""
        for name in ("actor", "rollout"):
            if name not in self.by_name:
                self.refuse("", f"verl always trains an `actor` and generates with `rollout`, but there is no `{name}`", "add it")
        if self.reasons:
            return {}
        program, sizes = self._program()
        self._layout(program)
        data = put(self._sections(), sizes)
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

    def _group_pools(self) -> list[PoolGroup]:
        """Return pools of components that share accelerators, or must share them."""
        seats_by_name = {component.name: _seats(component.runs or ()) for component in self.components}

        def are_together(first: Component, second: Component) -> bool:
            if first.runs is not None and second.runs is not None:
                return bool(set(seats_by_name[first.name]) & set(seats_by_name[second.name]))
            return any(first in members and second in members for members in self.problem.colocated_sets)

        groups: list[list[Component]] = []
        for component in self.components:
            near = [group for group in groups if any(are_together(component, member) for member in group)]
            groups = [group for group in groups if group not in near] + [[*(member for group in near for member in group), component]]
        return [self._pool(sorted(group, key=self.components.index), seats_by_name) for group in groups]

    def _pool(self, group: Sequence[Component], seats_by_name: Mapping[str, Seats]) -> PoolGroup:
        names = ", ".join(f"`{component.name}`" for component in group)
        if any(component.runs is None for component in group):
            if any(component.runs is not None for component in group):
                message = f"of {names}, which share a pool, some are given and some left to solve"
                self.refuse(group[0].name, message, "give all or none")
            return PoolGroup(tuple(group), None, {})
        pool_seats = sorted({seat for component in group for seat in seats_by_name[component.name]})
        for component in group:
            own_seats = seats_by_name[component.name]
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
        if rest == {"reward_model"} and reward is not None and env is None:
            return MAIN_PPO, trainer | reward.write_size("reward_model.nnodes", "reward_model.n_gpus_per_node")
        if rest == {"rollout"} and env is None:
            if actor.parts is None or rollout.parts is None:
                message = "`rollout` has accelerators of its own, but their number is left open"
                why = f"without the number it would be a file of `{MAIN_PPO}`, where `actor` and `rollout` share accelerators"
                self.refuse("rollout", message, "solve the file first, or demand that they are colocated", why)
            return ONE_STEP_OFF, trainer | rollout.write_size("rollout.nnodes", "rollout.n_gpus_per_node")
        is_simulation = rest == {"env"} and set(by) == {"actor", "rollout", "env"}
        if is_simulation and env and actor.parts and env.parts and actor.parts.count == env.parts.count:
            return VLA, actor.write_size("trainer.nnodes", "trainer.n_rollout_gpus_per_node") | {
                "trainer.n_env_gpus_per_node": env.parts.size
            }
        names = "; ".join(", ".join(f"`{component.name}`" for component in pool.components) for pool in self.pools)
        self.refuse("", f"no program of verl has the pools of {names}", "place them as one of verl's programs does")
        return MAIN_PPO, {}

    def _layout(self, program: str) -> None:
        """Report ranks that verl, without node names, places elsewhere."""
        if self.reasons or any(pool.parts is None for pool in self.pools):
            return
        pools = [Pool(f"pool_{number}", (pool.parts,) if pool.parts else (), SLOTS) for number, pool in enumerate(self.pools)]
        layout = lay_out(pools, rooms_of(self.problem.cluster), entry_in(program).reserves)
        if layout.short is not None:
            return  # reading the file reports the missing capacity
        for new_pool, pool in zip(pools, self.pools):
            new_seats = _seats(layout.runs(new_pool.name))
            for component in pool.components:
                if new_seats == _seats(component.runs or ()):
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
            # A reward model with degrees in the pool of the actor is served; else it is a worker.
            is_separate = not any(by["actor"] in pool.components and reward in pool.components for pool in self.pools)
            is_served = not is_separate and reward.parallel.tp * reward.parallel.dp > 1
            inner = {"rollout": self._engine(reward)} if is_served else self._write_trained(reward)
            data["reward_model"] = {"enable": True, "enable_resource_pool": is_separate, "use_reward_loop": is_served} | inner
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
            message = f"`{component.name}` is trained by {component.backend}, in verl by {backend}"
            self.losses.append(note_loss(component.name, message))
        if backend == "fsdp":
            return {"strategy": "fsdp"} | ({SEQUENCE: parallel.cp} if parallel.cp > 1 else {})
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


def _seats(runs: Sequence[Run]) -> Seats:
    return tuple(seat for _, process_seats in seats(runs) for seat, _, _ in process_seats)
