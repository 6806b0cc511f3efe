"""A problem as a new verl configuration: pools by their sizes, for the program whose pools these are.

One pool for all is `main_ppo`; actor and rollout apart are `one_step_off_policy`; simulators beside them are `vla`. Any other
pools are listed for a trainer of one's own, as `resource_pool_spec` and `mapping`.
"""

from __future__ import annotations

from math import gcd
from typing import Mapping, Sequence

from ...component import Component, Parallel
from ...conversion.hints import asked, hint_block, renamed, said_of_names, shape
from ...conversion.losses import dropped, moved, refusal, unsaid_demands
from ...findings.finding import Finding, UnusableInput
from ...machines.node_group import ACCELERATOR, CLUSTER_LABEL, NODE
from ...placements.assignment import seats
from ...placements.run import Run
from ...pools.layout import lay_out, rooms_of
from ...pools.pool import Parts, Pool
from ...problem import Problem
from ...record import dataclass
from ...roles import ACTOR, CRITIC, ENVIRONMENT, REFERENCE, REWARD, ROLLOUT
from ...text.edit import to_yaml
from ..dialect import Rendering
from .listed import MAPPING, ROLES
from .programs import DECLARED, MAIN_PPO, ONE_STEP_OFF, SLOTS, SPEC, VLA, entry_in

Data = dict[str, object]
Seats = tuple[tuple[int, int], ...]
"""(node, accelerator) of each rank."""
NAMES = {ACTOR: "actor", ROLLOUT: "rollout", REFERENCE: "ref", CRITIC: "critic", REWARD: "reward_model", ENVIRONMENT: "env"}
"""What verl calls the components of these roles. Source: verl, verl/trainer/ppo/utils.py, Role."""
_ORDER = ("actor", "ref", "critic", "rollout", "reward_model", "env")
"""Order in which verl makes the pools of these."""


@dataclass(frozen=True)
class Pooled:
    """Components on one pool.

    `parts` are its accelerators in equal parts of its nodes, None where they are left to solve; `counts` those on each node.
    """

    components: tuple[Component, ...]
    parts: Parts | None
    counts: Mapping[int, int]

    def sized(self, nodes: str, accelerators: str) -> Data:
        """The two keys of its size."""
        return {nodes: self.parts.count, accelerators: self.parts.size} if self.parts else {}


def render(problem: Problem) -> Rendering:
    """The file. Raises UnusableInput (PW606) with every reason where no pools of verl say it."""
    writer = _Writer(problem)
    data = writer.data()
    if writer.reasons:
        raise UnusableInput(writer.reasons)
    names = {each.name: writer.names[each.name] for each in writer.components}
    return Rendering(to_yaml(data), (*said_of_names(names), *writer.losses, *unsaid_demands(problem)), writer.names)


class _Writer:
    """A file while it is written: what it loses, and the reasons why verl cannot say the problem."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        on_cpus = [each for each in problem.components if problem.kind(each) == NODE]
        self.names = renamed([each for each in problem.components if each not in on_cpus], NAMES)
        self.names |= {each.name: each.name for each in on_cpus}
        self.reasons: list[Finding] = []
        self.losses: list[Finding] = []
        self.components = tuple(each for each in problem.components if self._has_a_place(each))
        self.pools = sorted(self._pooled(), key=lambda pool: min(_ORDER.index(self.names[each.name]) for each in pool.components))
        self.by_name = {self.names[each.name]: each for each in self.components}

    def refuse(self, subject: str, message: str, help: str) -> None:
        """Add a reason why verl cannot say the problem."""
        self.reasons.append(refusal(subject, message, help))

    def data(self) -> Data:
        """All keys of the file."""
        for name in ("actor", "rollout"):
            if name not in self.by_name:
                self.refuse("", f"verl always trains an `actor` and generates with `rollout`; there is no `{name}`", "add it")
        if self.reasons:
            return {}
        program, sizes = self._program()
        self._layout(program)
        data = self._sections()
        for key, value in sizes.items():
            owner: Data = data
            *path, last = key.split(".")
            for part in path:
                inner = owner.setdefault(part, {})
                owner = inner if isinstance(inner, dict) else owner
            owner[last] = value
        hints = {self.names[each.name]: said for each in self.components if (said := self._hints(each))}
        return data | hint_block(self.problem, self.names, hints)

    # -- what can be placed at all

    def _has_a_place(self, component: Component) -> bool:
        """True if verl has a role for it, on accelerators. What runs on CPUs is not placed by verl."""
        name, kind = component.name, self.problem.kind(component)
        if kind == NODE:
            count = len(list(seats(component.runs))) if component.runs is not None else component.least
            self.losses.append(moved(name, f"verl places no processes on CPUs: the {count} of `{name}` are left out"))
            return False
        if self.names[name] not in NAMES.values():
            self.refuse(name, f"verl has no role for `{name}`", f"leave it out; its roles are {', '.join(NAMES.values())}")
            return False
        if kind != ACCELERATOR:
            self.refuse(name, f"`{name}` is on {kind}s; verl places on accelerators only", "leave it out")
            return False
        if component.node_groups != (CLUSTER_LABEL,):
            labels = ", ".join(f"`{label}`" for label in component.node_groups)
            lose = dropped if component.runs is not None else moved
            self.losses.append(lose(name, f"that `{name}` is in node group {labels} is not said any more"))
        sizes = {len(each) for _, each in seats(component.runs)} if component.runs is not None else {component.per_process}
        if sizes != {1}:
            each = " or ".join(map(str, sorted(sizes)))
            message = f"the processes of `{name}` hold {each} accelerators each; in verl every accelerator has a process"
            self.losses.append(moved(name, message))
        return True

    # -- pools

    def _pooled(self) -> list[Pooled]:
        """Components that share accelerators, or are to share them, in one pool."""
        held = {each.name: _seats(each.runs or ()) for each in self.components}

        def are_together(one: Component, other: Component) -> bool:
            if one.runs is not None and other.runs is not None:
                return bool(set(held[one.name]) & set(held[other.name]))
            return any(one in members and other in members for members in self.problem.colocated_sets)

        groups: list[list[Component]] = []
        for each in self.components:
            near = [group for group in groups if any(are_together(each, other) for other in group)]
            groups = [group for group in groups if group not in near] + [[*(one for group in near for one in group), each]]
        return [self._pool(sorted(group, key=self.components.index), held) for group in groups]

    def _pool(self, group: Sequence[Component], held: Mapping[str, Seats]) -> Pooled:
        given, names = [each for each in group if each.runs is not None], ", ".join(f"`{each.name}`" for each in group)
        if len(given) < len(group):
            if given:
                message = f"of {names}, which share a pool, some are given and some left to solve"
                self.refuse(group[0].name, message, "give all or none")
            return Pooled(tuple(group), None, {})
        every = sorted({seat for each in group for seat in held[each.name]})
        for each in group:
            own = held[each.name]
            if len(set(own)) < len(own):
                message = f"processes of `{each.name}` share accelerators; in verl each has one of its own"
                self.refuse(each.name, message, "give every process its own")
            elif len(own) < len(every):
                message = f"`{each.name}` is on a part of the pool of {names}; in verl it runs on all of it"
                self.refuse(each.name, message, "give it all of the pool, or none")
        counts = {node: sum(other == node for other, _ in every) for node, _ in every}
        size = gcd(*counts.values())
        return Pooled(tuple(group), Parts(size, len(every) // size), counts)

    def _program(self) -> tuple[str, Data]:
        """The program whose pools these are, and the keys that say their sizes."""
        by = {self.names[each.name]: pool for pool in self.pools for each in pool.components}
        actor, rollout, reward, env = by["actor"], by["rollout"], by.get("reward_model"), by.get("env")
        rest = {name for name, pool in by.items() if pool is not actor}
        trainer = actor.sized("trainer.nnodes", "trainer.n_gpus_per_node")
        if not rest and env is None:
            return MAIN_PPO, trainer
        if rest == {"reward_model"} and reward is not None and env is None:
            return MAIN_PPO, trainer | reward.sized("reward_model.nnodes", "reward_model.n_gpus_per_node")
        if rest == {"rollout"} and env is None:
            if actor.parts is None or rollout.parts is None:
                message = "`rollout` has accelerators of its own, and how many is left open; a file of verl without them is one of "
                message += f"`{MAIN_PPO}`, where `actor` and `rollout` share theirs"
                self.refuse("rollout", message, "solve the file first, or demand that they are colocated")
            return ONE_STEP_OFF, trainer | rollout.sized("rollout.nnodes", "rollout.n_gpus_per_node")
        simulated = rest == {"env"} and set(by) == {"actor", "rollout", "env"}
        if simulated and env and actor.parts and env.parts and actor.parts.count == env.parts.count:
            return VLA, actor.sized("trainer.nnodes", "trainer.n_rollout_gpus_per_node") | {"trainer.n_env_gpus_per_node": env.parts.size}
        return DECLARED, self._listed(env)

    def _listed(self, env: Pooled | None) -> Data:
        """Lists of pools, and the pool of each role."""
        beside = [each.name for each in env.components if self.names[each.name] != "env"] if env else []
        if beside:
            message = f"`env` shares accelerators with `{beside[0]}`; verl's simulators have a pool of their own"
            self.refuse("env", message, "give `env` accelerators of its own")
        elif env or any(pool.parts is None for pool in self.pools):
            names = "; ".join(", ".join(f"`{each.name}`" for each in pool.components) for pool in self.pools)
            self.refuse("", f"no program of verl has the pools of {names}", "place them as one of verl's programs does")
        message = f"no program of verl has these pools: `{SPEC}` and `{MAPPING}` list them for a trainer of your own"
        self.losses.append(dropped("", message))
        role_of = {components[0]: f"Role.{role}" for role, components in ROLES.items() if len(components) == 1}
        pools = {f"pool_{number}": pool for number, pool in enumerate(self.pools)}
        spec = {name: [pool.parts.size] * pool.parts.count for name, pool in pools.items() if pool.parts}
        mapping = {role_of[self.names[each.name]]: name for name, pool in pools.items() for each in pool.components}
        return {SPEC: spec, MAPPING: mapping}

    def _layout(self, program: str) -> None:
        """verl names no node: where its parts would go otherwise than they are, that is said."""
        if self.reasons or any(pool.parts is None for pool in self.pools):
            return
        pools = [Pool(f"pool_{number}", (pool.parts,) if pool.parts else (), SLOTS) for number, pool in enumerate(self.pools)]
        layout = lay_out(pools, rooms_of(self.problem.cluster), entry_in(program).reserves)
        if layout.short is not None:
            return  # the file, read again, is refused for that
        for made, pool in zip(pools, self.pools):
            there = _seats(layout.runs(made.name))
            for each in pool.components:
                if there == _seats(each.runs or ()):
                    continue
                if len(set(pool.counts.values())) > 1:
                    counts = ", ".join(f"{count} on node {node}" for node, count in list(pool.counts.items())[:4])
                    message = f"the parts of a pool are even; the accelerators of `{each.name}` are {counts}"
                    self.refuse(each.name, message, "use as many on each node")
                else:
                    first = f"accelerator {there[0][1]} of node {there[0][0]}"
                    message = f"verl names no node and no accelerator: it places the ranks of `{each.name}` on others, from {first} on"
                    self.losses.append(moved(each.name, message))

    # -- settings of components

    def _sections(self) -> Data:
        """What stands in the file besides the sizes of its pools."""
        by = self.by_name
        section: Data = {"actor": self._trained(by["actor"]) | {"use_kl_loss": "ref" in by}, "rollout": self._engine(by["rollout"])}
        if "ref" in by:
            section["ref"] = self._trained(by["ref"])
        data: Data = {"algorithm": {"adv_estimator": "gae" if "critic" in by else "grpo"}, "actor_rollout_ref": section}
        if "critic" in by:
            data["critic"] = self._trained(by["critic"])
        if reward := by.get("reward_model"):
            # It is served where it has degrees and shares the pool of the actor, else a worker.
            apart = not any(by["actor"] in pool.components and reward in pool.components for pool in self.pools)
            served = not apart and reward.parallel.tp * reward.parallel.dp > 1
            inner = {"rollout": self._engine(reward)} if served else self._trained(reward)
            data["reward_model"] = {"enable": True, "enable_resource_pool": apart, "use_reward_loop": served} | inner
        return data

    def _engine(self, component: Component) -> Data:
        """Degrees of an inference engine; tp is written always, as verl's default is 2."""
        own = component.parallel
        self._keep(component, Parallel(own.tp, own.pp, 1, own.ep, own.dp))
        more = (("pipeline_model_parallel_size", own.pp), ("data_parallel_size", own.dp), ("expert_parallel_size", own.ep))
        return {"tensor_model_parallel_size": own.tp, **{key: degree for key, degree in more if degree > 1}}

    def _trained(self, component: Component) -> Data:
        """Degrees of something that is trained, or computes as what is trained does: Megatron's, or FSDP without any."""
        own = component.parallel
        kept = Parallel(own.tp, own.pp, own.cp, own.ep)
        self._keep(component, kept)
        backend = "fsdp" if kept == Parallel() and component.backend != "megatron" else "megatron"
        if component.backend not in ("", backend):
            message = f"`{component.name}` is trained by {component.backend}, in verl by {backend}"
            self.losses.append(dropped(component.name, message))
        if backend == "fsdp":
            return {"strategy": "fsdp"}
        degrees = {"tensor_model": own.tp, "pipeline_model": own.pp, "context": own.cp, "expert_model": own.ep}
        # verl's default of the expert tensor parallel size is tp, which fewer numbers of ranks divide by
        degrees |= {"expert_tensor": 1} if own.ep > 1 else {}
        return {"strategy": "megatron", "megatron": {f"{name}_parallel_size": degree for name, degree in degrees.items()}}

    def _keep(self, component: Component, kept: Parallel) -> None:
        if kept != component.parallel:
            message = f"`{component.name}` has {component.parallel}; verl gives it {kept}"
            self.losses.append((moved if component.runs is None else dropped)(component.name, message))

    def _hints(self, component: Component) -> Data:
        """What verl's own keys do not say."""
        said = shape(self.problem, component, self.names, self.losses)
        for key in ("parallel", "role", "cpus"):
            said.pop(key, None)
        if component.runs is not None:
            return said
        if self.problem.job.choices.get(component.name):
            message = f"the degrees of `{component.name}` are left open; in verl they are {component.parallel}"
            self.losses.append(moved(component.name, message))
        own = asked(self.problem, component)
        return {key: own[key] for key in ("accelerators",) if key in own} | said


def _seats(runs: Sequence[Run]) -> Seats:
    """Accelerators in the order of the ranks."""
    return tuple(seat for _, each in seats(runs) for seat, _, _ in each)
