"""A problem as a new verl configuration: pools by their sizes, for the program whose pools these are.

One pool for all is `main_ppo`; actor and rollout apart are `one_step_off_policy`; simulators beside them are `vla`. Any other pools
can be said only in the block `topology:`, which is proposed for verl and read by no release.
"""

from __future__ import annotations

from dataclasses import field
from math import gcd
from typing import Mapping, Sequence

from ....component import Component, Parallel
from ....conversion.hints import asked, shape
from ....conversion.losses import dropped, moved, refusal, unsaid_demands
from ....conversion.names import renamed, said_of_names
from ....conversion.where import hint_block
from ....findings.finding import Finding, UnusableInput
from ....machines.node_group import ACCELERATOR, CLUSTER_LABEL, NODE
from ....placements.assignment import Run, seats
from ....pools.layout import cut, lay_out, rooms_of
from ....pools.pool import Parts, Pool
from ....problem import Problem
from ....record import dataclass
from ....roles import ACTOR, CRITIC, ENVIRONMENT, REFERENCE, REWARD, ROLLOUT
from ....text.dump import to_yaml
from ...dialect import Rendering
from ..entries.entry import SLOTS, Entry
from ..entries.programs import DECLARED, MAIN_PPO, ONE_STEP_OFF, VLA

Data = dict[str, object]


def engine(component: Component, losses: list[Finding]) -> Data:
    """Those of an inference engine; tp is written always, as verl's default is 2."""
    its = component.parallel
    data: Data = {"tensor_model_parallel_size": its.tp}
    data |= {
        key: degree
        for key, degree in (("pipeline_model_parallel_size", its.pp), ("data_parallel_size", its.dp), ("expert_parallel_size", its.ep))
        if degree > 1
    }
    _tell(component, Parallel(its.tp, its.pp, 1, its.ep, its.dp), losses)
    return data


def trained(component: Component, losses: list[Finding]) -> Data:
    """Those of something that is trained, or computes as what is trained does: Megatron's, or FSDP without any."""
    its = component.parallel
    degrees = {"tensor_model": its.tp, "pipeline_model": its.pp, "context": its.cp, "expert_model": its.ep}
    kept = Parallel(its.tp, its.pp, its.cp, its.ep)
    _tell(component, kept, losses)
    backend = "fsdp" if kept == Parallel() and component.backend != "megatron" else "megatron"
    if component.backend not in ("", backend):
        losses.append(dropped(component.name, f"`{component.name}` is trained by {component.backend}, in verl by {backend}"))
    if backend == "fsdp":
        return {"strategy": "fsdp"}
    megatron: Data = {f"{name}_parallel_size": degree for name, degree in degrees.items()}
    if its.ep > 1:
        megatron["expert_tensor_parallel_size"] = 1  # verl's default is tp, which fewer numbers of ranks divide by
    return {"strategy": "megatron", "megatron": megatron}


def _tell(component: Component, kept: Parallel, losses: list[Finding]) -> None:
    if kept != component.parallel:
        message = f"`{component.name}` has {component.parallel}; verl gives it {kept}"
        losses.append(moved(component.name, message) if component.runs is None else dropped(component.name, message))


Seats = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Pooled:
    """Components on one pool: all of them, and of those that are on a part of it the first and the last rank.

    `parts` are the accelerators that the pool has on each of its nodes; None where that is left to solve.
    """

    components: tuple[Component, ...]
    parts: Parts | None
    ranges: dict[str, tuple[int, int]] = field(default_factory=dict)
    on_nodes: tuple[tuple[int, int], ...] = ()
    """(node, how many of its accelerators the pool has)."""

    @property
    def uneven(self) -> str:
        """What it has on its nodes, if that differs: then only smaller parts, several on a node, can be said."""
        if len({count for _, count in self.on_nodes}) < 2:
            return ""
        return ", ".join(f"{count} on node {node}" for node, count in self.on_nodes[:4])

    def named(self, name: str, names: dict[str, str]) -> Pool:
        """The same as a pool of this name; with no parts where they are left to solve."""
        return Pool(name, (self.parts,) if self.parts else (), SLOTS, tuple(names[each.name] for each in self.components))


def pooled(problem: Problem, components: tuple[Component, ...], reasons: list[Finding]) -> list[Pooled]:
    """The pools of these components. `reasons` (PW606) gets what no pools can say."""
    held = {each.name: _seats(each) for each in components}
    groups: list[list[Component]] = []
    for each in components:
        near = [group for group in groups if any(_together(problem, each, other, held) for other in group)]
        groups = [group for group in groups if group not in near] + [[*(one for group in near for one in group), each]]
    order = {each.name: position for position, each in enumerate(components)}
    return [_pool(sorted(group, key=lambda each: order[each.name]), held, reasons) for group in groups]


def _seats(component: Component) -> Seats:
    """Its accelerators in the order of its ranks."""
    return tuple(seat for _, its in seats(component.runs or ()) for seat, _, _ in its)


def _together(problem: Problem, one: Component, other: Component, held: dict[str, Seats]) -> bool:
    if one.runs is not None and other.runs is not None:
        return bool(set(held[one.name]) & set(held[other.name]))
    return any(one in members and other in members for members in problem.colocated_sets)


def _pool(group: list[Component], held: dict[str, Seats], reasons: list[Finding]) -> Pooled:
    given = [each for each in group if each.runs is not None]
    if len(given) < len(group):
        if given:
            names = ", ".join(f"`{each.name}`" for each in group)
            reasons.append(
                refusal(group[0].name, f"of {names}, which share a pool, some are given and some left to solve", "give all or none")
            )
        return Pooled(tuple(group), None)
    all_of_them = sorted({seat for each in group for seat in held[each.name]})
    counts = {node: sum(its == node for its, _ in all_of_them) for node, _ in all_of_them}
    names = ", ".join(f"`{each.name}`" for each in group)
    position = {seat: rank for rank, seat in enumerate(all_of_them)}
    ranges = {}
    for each in group:
        ranks = sorted({position[seat] for seat in held[each.name]})
        if len(set(held[each.name])) < len(held[each.name]):
            message = f"processes of `{each.name}` share accelerators; in verl each has one of its own"
            reasons.append(refusal(each.name, message, "give every process its own"))
        if len(ranks) < len(all_of_them):
            if ranks[-1] - ranks[0] + 1 != len(ranks):
                message = f"`{each.name}` is on a part of the pool of {names} that is not one solid range of its ranks"
                reasons.append(refusal(each.name, message, "give it all of the pool, or none"))
            ranges[each.name] = ranks[0], ranks[-1]
    size = gcd(*counts.values())
    return Pooled(tuple(group), Parts(size, len(all_of_them) // size), ranges, tuple(counts.items()))


def sections(by_name: Mapping[str, Component], pools: Sequence[Pooled], losses: list[Finding]) -> Data:
    """What stands in the file besides the sizes of its pools, of components by verl's names; `losses` gets what it says less."""
    actor = trained(by_name["actor"], losses) | {"use_kl_loss": "ref" in by_name}
    section: Data = {"actor": actor, "rollout": engine(by_name["rollout"], losses)}
    if "ref" in by_name:
        section["ref"] = trained(by_name["ref"], losses)
    data: Data = {
        "algorithm": {"adv_estimator": "gae" if "critic" in by_name else "grpo"},
        "actor_rollout_ref": section,
    }
    if "critic" in by_name:
        data["critic"] = trained(by_name["critic"], losses)
    if "reward_model" in by_name:
        own = next(pool for pool in pools if by_name["reward_model"] in pool.components)
        data["reward_model"] = _reward(by_name["reward_model"], by_name["actor"] not in own.components, losses)
    return data


def _reward(component: Component, apart: bool, losses: list[Finding]) -> Data:
    """A reward model that is served by an engine where it has its degrees and shares the pool of the actor, else a worker."""
    served = not apart and component.parallel.tp * component.parallel.dp > 1
    data: Data = {"enable": True, "enable_resource_pool": apart, "use_reward_loop": served}
    return data | ({"rollout": engine(component, losses)} if served else trained(component, losses))


NAMES = {ACTOR: "actor", ROLLOUT: "rollout", REFERENCE: "ref", CRITIC: "critic", REWARD: "reward_model", ENVIRONMENT: "env"}
"""What verl calls the components of these roles. Source: verl, verl/trainer/ppo/utils.py, Role."""


def render(problem: Problem) -> Rendering:
    """The file. Raises UnusableInput (PW606) with every reason where no pools of verl say it."""
    writer = _Writer(problem)
    data = writer.data()
    if writer.reasons:
        raise UnusableInput(writer.reasons)
    losses = (*said_of_names({each.name: writer.names[each.name] for each in writer.components}), *writer.losses, *unsaid_demands(problem))
    return Rendering(to_yaml(data), losses, writer.names)


class _Writer:
    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        on_cpus = [each for each in problem.components if problem.kind(each) == NODE]
        self.names = renamed([each for each in problem.components if each not in on_cpus], NAMES) | {
            each.name: each.name for each in on_cpus
        }
        self.reasons: list[Finding] = []
        self.losses: list[Finding] = []
        self.components = tuple(each for each in problem.components if self._has_a_place(each))
        found = pooled(problem, self.components, self.reasons)
        self.pools = sorted(found, key=lambda pool: min(_ORDER.index(self.names[each.name]) for each in pool.components))
        self.by_name = {self.names[each.name]: each for each in self.components}

    def data(self) -> Data:
        """All keys of the file."""
        for name in ("actor", "rollout"):
            if name not in self.by_name:
                self.reasons.append(
                    refusal("", f"verl always trains an `actor` and generates with `rollout`; there is no `{name}`", "add it")
                )
        if self.reasons:
            return {}
        entry, sizes = self._program()
        self._layout(entry)
        data = sections(self.by_name, self.pools, self.losses)
        for key, value in sizes.items():
            _put(data, key, value)
        hints = {self.names[each.name]: said for each in self.components if (said := self._hints(each))}
        return data | hint_block(self.problem, self.names, hints)

    # -- what can be placed at all

    def _has_a_place(self, component: Component) -> bool:
        """Has verl a role for it, on accelerators? What it runs on CPUs is not placed by it."""
        name, called, kind = component.name, self.names[component.name], self.problem.kind(component)
        if kind == NODE:
            count = len(list(seats(component.runs))) if component.runs is not None else component.least
            self.losses.append(moved(name, f"verl places no processes on CPUs: the {count} of `{name}` are left out"))
            return False
        if called not in NAMES.values():
            self.reasons.append(refusal(name, f"verl has no role for `{name}`", f"leave it out; its roles are {', '.join(NAMES.values())}"))
            return False
        if kind != ACCELERATOR:
            self.reasons.append(refusal(name, f"`{name}` is on {kind}s; verl places on accelerators only", "leave it out"))
            return False
        if component.node_groups != (CLUSTER_LABEL,):
            labels = ", ".join(f"`{label}`" for label in component.node_groups)
            tell = dropped if component.runs is not None else moved
            self.losses.append(tell(name, f"that `{name}` is in node group {labels} is not said any more"))
        self._one_each(component)
        return True

    def _one_each(self, component: Component) -> None:
        """In verl every accelerator has a process of its own."""
        sizes = {len(its) for _, its in seats(component.runs)} if component.runs is not None else {component.per_process}
        if sizes != {1}:
            each = " or ".join(map(str, sorted(sizes)))
            message = f"the processes of `{component.name}` hold {each} accelerators each; in verl every accelerator has a process"
            self.losses.append(moved(component.name, message))

    # -- pools

    def _program(self) -> tuple[Entry, Data]:
        """The program whose pools these are, and the keys that say their sizes."""
        by = {self.names[each.name]: pool for pool in self.pools for each in pool.components}
        whole = not any(pool.ranges for pool in self.pools)
        actor, rollout, reward, env = by["actor"], by["rollout"], by.get("reward_model"), by.get("env")
        rest = {name for name, pool in by.items() if pool is not actor}
        if whole and env is None and rest <= {"reward_model"} and (reward in (None, actor) or len(reward.components) == 1):
            own: Data = {} if reward in (None, actor) else _sized("reward_model.nnodes", "reward_model.n_gpus_per_node", reward)
            return MAIN_PPO, _sized("trainer.nnodes", "trainer.n_gpus_per_node", actor) | own
        if whole and env is None and rest == {"rollout"} and len(rollout.components) == 1:
            if actor.parts is None or rollout.parts is None:
                message = "`rollout` has accelerators of its own, and how many is left open; a file of verl without them is one of "
                message += f"`{MAIN_PPO.program}`, where `actor` and `rollout` share theirs"
                self.reasons.append(refusal("rollout", message, "solve the file first, or demand that they are colocated"))
                return ONE_STEP_OFF, {}
            sizes = _sized("trainer.nnodes", "trainer.n_gpus_per_node", actor) | _sized(
                "rollout.nnodes", "rollout.n_gpus_per_node", rollout
            )
            return ONE_STEP_OFF, sizes
        simulated = whole and rest == {"env"} and set(by) == {"actor", "rollout", "env"}
        if simulated and env and actor.parts and env.parts and actor.parts.count == env.parts.count:
            return VLA, {
                "trainer.nnodes": actor.parts.count,
                "trainer.n_rollout_gpus_per_node": actor.parts.size,
                "trainer.n_env_gpus_per_node": env.parts.size,
            }
        return DECLARED, self._topology()

    def _topology(self) -> Data:
        """The block `topology:`: pools with names, and on which of them each model runs."""
        for pool in self.pools:
            beside = [each.name for each in pool.components if self.names[each.name] != "env"]
            if beside and len(beside) < len(pool.components):
                message = f"`env` shares accelerators with `{beside[0]}`; verl's simulators have a pool of their own"
                self.reasons.append(refusal("env", message, "give `env` accelerators of its own"))
                return {}
        if "env" in self.by_name or any(pool.parts is None for pool in self.pools):
            names = "; ".join(", ".join(f"`{each.name}`" for each in pool.components) for pool in self.pools)
            self.reasons.append(refusal("", f"no program of verl has the pools of {names}", "place them as one of verl's programs does"))
            return {}
        self.losses.append(
            dropped("", "no program of verl has these pools: they are said in `topology:`, a draft that no release of verl reads")
        )
        counts = [len(node.accelerators) for node in self.problem.cluster.nodes]
        machines = [{"name": "cluster", "nnodes": len(counts), "n_gpus_per_node": max(counts)}]
        pools, models = [], []
        for number, pool in enumerate(self.pools):
            name = f"pool_{number}"
            if pool.parts:
                pools.append({"name": name, "cluster": "cluster", "nnodes": pool.parts.count, "n_gpus_per_node": pool.parts.size})
            for each in pool.components:
                model: Data = {"name": self.names[each.name], "worker": self.names[each.name], "resource_pool": name}
                if each.name in pool.ranges:
                    model["device_range"] = list(pool.ranges[each.name])
                models.append(model)
        return {"topology": {"clusters": machines, "device_pools": pools, "models": models}}

    def _layout(self, entry: Entry) -> None:
        """verl names no node: where its parts would go otherwise than they are, that is said."""
        if self.reasons or any(pool.parts is None for pool in self.pools):
            return
        named = {f"pool_{number}": pool for number, pool in enumerate(self.pools)}
        layout = lay_out([pool.named(name, self.names) for name, pool in named.items()], rooms_of(self.problem.cluster), entry.reserves)
        if layout.short is not None:
            return  # the file, read again, is refused for that
        for name, pool in named.items():
            for each in pool.components:
                runs = layout.runs(name)
                runs = cut(runs, *pool.ranges[each.name]) if each.name in pool.ranges else runs
                if _held(runs) != _held(each.runs or ()) and pool.uneven:
                    message = f"the parts of a pool are even; the accelerators of `{each.name}` are {pool.uneven}"
                    self.reasons.append(refusal(each.name, message, "use as many on each node"))
                elif _held(runs) != _held(each.runs or ()):
                    message = (
                        f"verl names no node and no accelerator: it places the ranks of `{each.name}` on others, from {_first(runs)} on"
                    )
                    self.losses.append(moved(each.name, message))

    # -- hints

    def _hints(self, component: Component) -> Data:
        """What verl's own keys do not say."""
        said = shape(self.problem, component, self.names, self.losses)
        for key in ("parallel", "role", "cpus"):
            said.pop(key, None)
        if component.runs is None:
            if self.problem.job.choices.get(component.name):
                message = f"the degrees of `{component.name}` are left open; in verl they are {component.parallel}"
                self.losses.append(moved(component.name, message))
            own = asked(self.problem, component)
            return {key: own[key] for key in ("accelerators",) if key in own} | said
        return said


_ORDER = ("actor", "ref", "critic", "rollout", "reward_model", "env")
"""The order in which verl makes the pools of these."""


def _sized(nodes: str, accelerators: str, pool: Pooled) -> Data:
    return {nodes: pool.parts.count, accelerators: pool.parts.size} if pool.parts else {}


def _put(data: Data, path: str, value: object) -> None:
    *owners, last = path.split(".")
    inner = data
    for name in owners:
        found = inner.setdefault(name, {})
        if isinstance(found, dict):
            inner = found
    inner[last] = value


def _held(runs: Sequence[Run]) -> list[tuple[int, int]]:
    return [seat for _, its in seats(runs) for seat, _, _ in its]


def _first(runs: Sequence[Run]) -> str:
    node, index = _held(runs)[0]
    return f"accelerator {index} of node {node}"
