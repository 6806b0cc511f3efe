"""Degrees of parallelism of a role, and a strategy's demands on workers and GPUs."""

from __future__ import annotations

from dataclasses import replace
from math import lcm
from typing import Collection, Sequence

from ...component import Component, Parallel
from ...configuration.settings import Amount, plain_value
from ...findings.finding import Fix
from ...findings.wording import with_noun
from ...model_cards.stages import FIRST, LAST
from ...record import dataclass
from ...releases.release import spans_of
from ...text.nearest import SLIP, closest
from ...text.tree import MapNode, Scalar
from ..checks import AtLeast, Divides, Number, divisors, near_text
from .findings import report
from .job import Role, RoleFacts, RollChecks, RollSetup
from .names import ACTOR_INFER, CONFIG, DEEPSPEED, DEGREE_KEYS, FSDP2, IN_WORKERS, MEGATRON, PER_WORKER, SGLANG, STRATEGY, VLLM
from .profile import fact_file, releases_with_key

DIVIDES, MATCHES = "PW208", "PW403"

# Degrees of parallelism of a role, as its strategy reads them.
#
# Source: ROLL, roll/utils/config_utils.py (Megatron), roll/configs/worker_config.py (vLLM),
# roll/distributed/strategy/sglang_strategy.py, fsdp2_strategy.py; mcore_adapter, initialize.py (expert groups).


@dataclass(frozen=True, slots=True)
class StrategyDegrees:
    """Degrees of a role. Megatron alone has expert parallel sizes, `etp` only if it is set."""

    tp: Amount = Amount(1, "tensor_parallel_size")
    pp: Amount = Amount(1, "pipeline_parallel_size")
    cp: Amount = Amount(1, "context_parallel_size")
    ep: Amount | None = None
    etp: Amount | None = None

    @property
    def parallel(self) -> Parallel:
        """Degrees as the value of a component."""
        return Parallel(self.tp.value, self.pp.value, self.cp.value, self.ep.value if self.ep else 1)

    @property
    def experts(self) -> tuple[int, ...]:
        """Possible values of etp x ep x pp. An unset etp is 1 or tp, by the version of Megatron."""
        sizes = {self.etp.value} if self.etp else {1, self.tp.value}
        return tuple(size * self.ep.value * self.pp.value for size in sorted(sizes)) if self.ep else (1,)


def degrees(setup: RollSetup, role: Role) -> StrategyDegrees | None:
    """Return the degrees of a role; None if any is unknown or unsupported."""
    keys = DEGREE_KEYS.get(role.strategy or "")
    if keys is None:
        return None
    sizes: dict[str, Amount | None] = {}
    for degree, key in keys.items():
        usual = role.num_gpus_per_worker or 1 if (role.strategy, degree) == (SGLANG, "tp") else 1
        sizes[degree] = setup.settings.whole(role.path(key), DIVIDES, usual, exact=True)
    etp = role.config("expert_tensor_parallel_size")
    if role.by_megatron and setup.settings.has(etp):
        sizes["etp"] = setup.settings.whole(etp, DIVIDES, exact=True)
    amounts = {degree: size for degree, size in sizes.items() if size is not None}
    return StrategyDegrees(**amounts) if len(amounts) == len(sizes) else None


def data_parallel(setup: RollSetup, role: Role) -> int | None:
    """Return a trained role's number of data parallel ranks; None if unknown or uneven."""
    role_degrees, ranks = degrees(setup, role), len(role.devices)
    if role_degrees is None or not ranks or ranks % role_degrees.parallel.replica:
        return None
    return ranks // role_degrees.parallel.replica


_SOURCE = "ROLL, roll/distributed/strategy/"


def _divide(facts: RoleFacts, groups: Number) -> None:
    """Check that the ranks form whole groups. The fix changes the size if a single key states it."""
    lower = [size for size in divisors(len(facts.role.devices)) if size < groups.value][-1:]
    is_plain = groups.amount is not None and groups.value == groups.amount.value
    Divides(
        code=DIVIDES, source=f"{_SOURCE}fsdp2_strategy.py", when=IN_WORKERS, left=facts.ranks, right=groups, change="right", suggest=lower,
        help="" if is_plain else f"give {facts.subject} a multiple of {groups.value} GPUs", edits=is_plain,
        message="{left} do not divide into {right}",
    ).run(facts)  # fmt: skip


def _check_meshes(facts: RoleFacts, role_degrees: StrategyDegrees) -> None:
    fsdp, experts = _mesh_sizes(facts.setup, facts.role)
    ranks, ulysses = len(facts.role.devices), role_degrees.cp.value
    whole = fsdp is not None and _holds_ulysses(facts, role_degrees, fsdp)
    if fsdp and 1 < fsdp.value < ranks and (whole or ranks % ulysses):
        _divide(facts, Number(fsdp.value, facts.text(fsdp).replace(f"{facts.role.key}.", ""), fsdp))
    if experts:
        ep, efsdp = experts
        size = ep.value * efsdp.value
        note = f"an expert group: {ep.text} x efsdp_size {efsdp.value} = {size}"
        _divide(facts, Number(size, f"expert groups of {size}", ep, note))


def _mesh_sizes(setup: RollSetup, role: Role) -> tuple[Amount | None, tuple[Amount, Amount] | None]:
    fsdp = setup.settings.whole(role.config("fsdp_size"), DIVIDES, 1, minimum=0, exact=True)
    ep, efsdp = (setup.settings.whole(role.config(name), DIVIDES, 1, exact=True) for name in ("ep_size", "efsdp_size"))
    return fsdp, (ep, efsdp) if ep and efsdp and ep.value > 1 else None


def _holds_ulysses(facts: RoleFacts, role_degrees: StrategyDegrees, fsdp: Amount) -> bool:
    """Return True if `fsdp_size` is at least the ulysses size; else add an error."""
    key, cp, help = facts.role.key, role_degrees.cp, ""
    left = Number(fsdp.value, facts.text(fsdp).replace(f"{key}.{CONFIG}", ""), fsdp)
    right = Number(cp.value, f"{facts.text(cp).replace(f'{key}.', '')} of {key}", cp)
    if len(facts.role.devices) % right.value:  # the ulysses size is wrong anyway
        left, help = replace(left, amount=None), f"set `{cp.name}: 1`"
    AtLeast(code=MATCHES, source=f"{_SOURCE}fsdp2_strategy.py", when=IN_WORKERS, left=left, right=right, help=help).run(facts)
    return left.value >= right.value


MOST_WORKERS = 4096
"""Limit on checked sglang workers across nodes; our own."""


def _engine_fault(worker_ids: Sequence[int], rank: int, size: int, per_node: int) -> str:
    """Return the reason why an engine cannot start; "" if none."""
    node = worker_ids[0] // per_node
    sees = len({id_ for id_ in worker_ids if id_ // per_node == node})
    prefix = f"sees {with_noun(sees, 'GPU')} on node {node}"
    if size % sees:
        return f"{prefix}, which do not divide them"
    nodes = range(rank * (size // sees), (rank + 1) * (size // sees))
    if len(nodes) > 1 and not {node * per_node for node in nodes} <= set(worker_ids):
        return f"{prefix} and not GPU 0 of nodes {nodes[0]}-{nodes[-1]}"
    return ""


_REFUSES = (*MEGATRON, VLLM, SGLANG)
"""Strategies that hand their settings on as arguments: an unknown one is a TypeError."""


def _correct_argument(role: Role, name: str, candidates: Collection[str]) -> str | None:
    """Return the argument that an unknown one probably means: by abbreviation or spelling."""
    degree = DEGREE_KEYS[role.strategy or ""].get(name.removesuffix("_size"), "") if role.strategy in _REFUSES else ""
    return degree.rpartition(".")[2] or closest(
        name if role.by_megatron else name.replace("_model_", "_"), candidates, min(SLIP, len(name) // 3)
    )


class StrategyChecks(RollChecks):
    """Degrees of all components, and what their strategies refuse."""

    def check(self) -> None:
        """Give every component its degrees, and add what its strategy refuses."""
        for role in self.setup.roles:
            component = self.setup.components.get(role.key) if role.created else None
            if component is None:
                continue
            role_degrees = degrees(self.setup, role)
            self._check_names(role)
            if role_degrees is not None:
                if role.strategy == SGLANG:
                    self._check_sglang_names(role, role_degrees.tp.value)
                is_open = component.runs is None and "placement" not in component.spans
                self._compare_hints(role, component, role_degrees, is_open)
                if is_open:
                    self.setup.components[role.key] = self._apply_hints(role, component, role_degrees)
                elif role.strategy != SGLANG or role_degrees.parallel.replica == role.num_gpus_per_worker:
                    self.setup.components[role.key] = replace(component, parallel=role_degrees.parallel)
            if role.devices:
                self._check_demands(role, role_degrees)
                if role_degrees is not None and role.by_megatron:
                    self._offer_whole_replicas(role, role_degrees)

    def _offer_whole_replicas(self, role: Role, role_degrees: StrategyDegrees) -> None:
        """Offer the nearest size of a degree with which the ranks form whole replicas."""
        ranks, replica = len(role.devices), role_degrees.parallel.replica
        more, component = -(-ranks // replica) * replica, self.setup.components[role.key]
        alternative = f", or give {role.key} {more} accelerators" if self.setup.may_hold(more) else ""
        for degree in (role_degrees.tp, role_degrees.cp, role_degrees.pp) if ranks % replica else ():
            most, rest = max(degree.value, self.setup.per_node), replica // degree.value
            sizes = [size for size in divisors(ranks) if ranks % (size * rest) == 0 and size <= most]
            size = min(sizes, key=lambda size: (abs(size - degree.value), size), default=degree.value)
            if size != degree.value and (edit := degree.becomes(size)) is not None:
                fixes = {**component.fixes, DIVIDES: Fix(f"set `{degree.name}: {size}`{alternative}", edit)}
                self.setup.components[role.key] = replace(component, fixes=fixes)
                return

    # Demands of a strategy on its own settings, and on the number of its ranks.
    #
    # Source: ROLL, roll/distributed/strategy/fsdp2_strategy.py (FSDP2StrategyBase.setup_fsdp2_configuration,
    # create_device_mesh_with_ep), deepspeed_strategy.py, vllm_strategy.py, sglang_strategy.py (initialize);
    # Megatron-LM, core/parallel_state.py.

    def _check_demands(self, role: Role, role_degrees: StrategyDegrees | None) -> None:
        facts, stage = RoleFacts(self.setup, role), role.config("zero_optimization.stage")
        if role.strategy in DEEPSPEED and not self.settings.is_open(stage, MATCHES) and self.settings.at(stage) is None:
            self.notes.unsure(MATCHES, role.key, f"`{stage}` is not set, and which stage DeepSpeed then takes is not known here")
        if role_degrees is None or facts.ranks is None:
            return
        ep, etp = role_degrees.ep, role_degrees.etp
        if ep and (ep.value > 1 or etp):
            if all(len(role.devices) % size for size in role_degrees.experts):  # else some version of Megatron takes it
                size, by_etp = role_degrees.experts[0], f" x etp {etp.value}" if etp and etp.value > 1 else ""
                _divide(facts, Number(size, f"expert groups of ep {ep.value}{by_etp} x pp {role_degrees.pp.value} = {size}", ep))
        elif role.strategy in FSDP2:
            _check_meshes(facts, role_degrees)
        elif role.strategy == SGLANG and self.settings.since("0.2.0"):
            self._check_engines(role, role_degrees)

    def _check_engines(self, role: Role, role_degrees: StrategyDegrees) -> None:
        """Check that an sglang engine's parts fit the GPUs of a worker.

        The parts must be a multiple of the GPUs on the node of the worker's first id. ROLL starts the
        remaining parts on nodes counted from the worker's rank, if the worker holds GPU 0 of each of
        them.
        """
        ids, per_worker, size, per_node = role.devices, role.num_gpus_per_worker, role_degrees.parallel.replica, self.setup.per_node
        if not per_worker or len(ids) % per_worker:
            return
        on_one_node = per_node % per_worker == 0 and all(
            part.step == 1 and len(part) % per_worker == part.start % per_worker == 0 for part in ids.parts
        )
        if size == per_worker and on_one_node:
            return
        for rank in range(min(len(ids) // per_worker, MOST_WORKERS)):
            why = _engine_fault(ids[rank * per_worker : (rank + 1) * per_worker], rank, size, per_node)
            if why:
                parts, key, at = with_noun(size, "part"), role.path(PER_WORKER), role_degrees.tp.span or role.per_worker_span or role.place
                values = {"parts": parts, "size": size, "rank": rank, "why": why, "degrees": role_degrees}
                help, edit = "put all GPUs of a worker on one node, or on whole nodes", None
                if size != per_worker and len(ids) % size == 0:
                    help, edit = f"set `{key}: {size}`, with all GPUs of a worker on one node", self.settings.becomes(key, str(size))
                report(self.notes, "engine_in_parts", role.key, at, edit, role=role, help=help, **values)
                return

    def _check_names(self, role: Role) -> None:
        """Add a finding per key that the strategy refuses or ignores.

        Except for Megatron, whose arguments are all known, of misspelt keys alone.
        Source: ROLL, megatron_strategy.py (`TrainingArguments(**config_dict)`), vllm_strategy.py
        (`create_async_llm(**vllm_config)`), sglang_strategy.py (`ServerArgs(**sglang_config)`),
        fsdp2_strategy.py; mcore_adapter, training_args.py (additional_configs). For the names
        facts/strategies.json: those that ROLL's examples set and its strategies read.
        """
        config, profile = self.settings.at(role.path(CONFIG.rstrip("."))), self.setup.profile
        strategy_name = self.settings.at(role.path(f"{STRATEGY}.strategy_name"))
        is_replaced = isinstance(strategy_name, Scalar) and strategy_name.value != role.strategy
        if not isinstance(config, MapNode) or is_replaced or (role.part == ACTOR_INFER and self.pipeline.ppo and not role.is_engine):
            return  # the keys may be those of a strategy that is refused
        candidates: Collection[str] = profile.megatron_keys if role.by_megatron else fact_file("strategies").get(role.strategy, ())
        for entry in config:
            name = entry.key.text
            close = None if name in candidates else _correct_argument(role, name, candidates)
            if name in candidates or not (close or role.by_megatron):
                continue
            had, scope = releases_with_key(name) if role.by_megatron else (), ""
            if had and self.notes.choice:
                close, scope = None, f" in {self.notes.choice.release.name}, only in {spans_of(had)}"
            help, edit = f"move it below `additional_configs` if Megatron's TransformerConfig has `{name}`", None
            if name in (FIRST, LAST):
                help = f"write `additional_configs: {{{name}: ...}}`"
            elif close:
                help, edit = self.notes.to_rename(config, entry, close)
            elif had:
                help, edit = "remove it", self.notes.remove(config, entry)
            fate = "refused_argument" if role.strategy in _REFUSES else "ignored_argument"
            report(self.notes, fate, role.key, entry.key.span, edit, role=role, name=name, scope=scope, help=help)

    def _check_sglang_names(self, role: Role, tp: int) -> None:
        """Report degrees under SGLang's own names: ROLL overwrites one and forwards the others.

        Source: ROLL, sglang_strategy.py (initialize).
        """
        tp_size = self.settings.whole(role.config("tp_size"), MATCHES, tp)
        if tp_size is not None and tp_size.value != tp:
            report(self.notes, "tp_size_replaced", role.key, tp_size.span or role.place, value=tp_size.value, tp=tp)
        for name in ("pp_size", "dp_size"):
            size = self.settings.whole(role.config(name), MATCHES, 1)
            is_within = name == "dp_size" and plain_value(self.settings, role.config("enable_dp_attention")) is True
            if size is not None and size.value > 1 and not (is_within and tp % size.value == 0):
                why = f"ROLL hands `{name}: {size.value}` to SGLang uncounted, and whether the GPUs of a worker suffice for it is unknown"
                self.notes.unsure(DIVIDES, role.key, why, True, "Write `pipeline_parallel_size`, which ROLL counts, or more workers")

    # Roles left to solve: the strategy fixes the degrees, whatever the hints say.

    def _compare_hints(self, role: Role, component: Component, role_degrees: StrategyDegrees, is_open: bool) -> None:
        """Report hinted degrees that differ from the strategy's: an error for an open role without times."""
        parallel, choices = role_degrees.parallel, self.setup.choices.get(role.key, (component.parallel,))
        same = any((hint.tp, hint.pp, hint.cp) == (parallel.tp, parallel.pp, parallel.cp) for hint in choices)
        unfit = is_open and role.strategy == SGLANG and parallel.replica != (role.num_gpus_per_worker or component.per_process)
        if component.timed or "parallel" not in component.spans or same or unfit:
            return
        name, hints = "hinted_degrees" if is_open else "ignored_degrees", " or ".join(map(str, choices))
        report(self.notes, name, role.key, component.spans["parallel"], role=role, hinted=hints, parallel=parallel)

    def _apply_hints(self, role: Role, component: Component, role_degrees: StrategyDegrees) -> Component:
        """Round the component to whole replicas of the strategy; refuse hints that contradict it."""
        per_worker, spans, parallel = role.num_gpus_per_worker or component.per_process, component.spans, role_degrees.parallel
        key = next((key for key in ("accelerators_per_process", "processes") if key in spans), "")
        if key and component.per_process != per_worker and (key != "processes" or "accelerators" in spans):
            size = with_noun(component.per_process, "accelerator")
            report(self.notes, "hinted_worker", role.key, spans[key], role=role, size=size, each=per_worker, key=key)
        result = self._searched_ranks(role, role_degrees, component) if role.strategy in FSDP2 else component
        # The search places a worker on one node.
        if role.strategy == SGLANG and parallel.replica != per_worker:
            path = role.path(PER_WORKER)
            at, edit = role_degrees.tp.span or role.span, self.settings.becomes(path, str(parallel.replica))
            values = {"parts": with_noun(parallel.replica, "part"), "gpus": with_noun(per_worker, "GPU"), "size": parallel.replica}
            report(self.notes, "engine_beyond_worker", role.key, at, edit, role=role, path=path, **values)
            return component
        # Degrees are chosen later, and written into the strategy.
        if component.timed and "parallel" in spans:
            self.setup.choices.setdefault(role.key, (component.parallel,))
        else:
            self.setup.choices.pop(role.key, None)
        if role.by_megatron:
            parallel = replace(parallel, dp=lcm(parallel.replica, role_degrees.experts[0]) // parallel.replica)
        result = replace(result, parallel=result.parallel if role.strategy in FSDP2 else parallel)
        check_whole(self.setup, role, group_meshes(result), "its strategy needs")
        ranks = self.settings.whole(role.config("data_parallel_size"), MATCHES, 1, exact=True) if role.strategy == VLLM else None
        if ranks is None or ranks.value == 1:
            return result
        amount = ranks.value * result.per_process  # workers are ranks
        if result.may_have(amount):
            return replace(result, least=amount, most=amount)
        at = result.span("amount") or role.span
        report(self.notes, "hints_against_ranks", role.key, at, role=role, amount=with_noun(amount, "accelerator"))
        return result

    def _searched_ranks(self, role: Role, role_degrees: StrategyDegrees, component: Component) -> Component:
        """Give an open FSDP2 role the group sizes that divide its ranks: one mesh, or whole meshes."""
        (fsdp, experts), ulysses = _mesh_sizes(self.setup, role), role_degrees.cp.value
        size = lcm(ulysses, experts[0].value * experts[1].value) if experts else ulysses
        result = replace(component, parallel=Parallel(cp=ulysses, dp=size // ulysses))
        if fsdp is None:
            return result
        _holds_ulysses(RoleFacts(self.setup, role), role_degrees, fsdp)
        most = min(component.most, self.setup.cluster.total()) if self.setup.cluster.counted else component.most
        if not 1 < fsdp.value < most:
            return result
        spans = {**component.spans, "shards": fsdp.span} if fsdp.span else component.spans
        return replace(result, shards=fsdp.value, spans=spans)


def group_meshes(component: Component) -> Component:
    """Make whole meshes the replicas of a component with several meshes."""
    if not 0 < component.shards < component.least:
        return component
    return _multiply_ranks(component, component.parallel.replica, component.shards)


def _multiply_ranks(component: Component, step: int, size: int) -> Component:
    """Add data parallel ranks until amounts, now multiples of `step`, are multiples of `size` too."""
    parallel = component.parallel
    return replace(component, parallel=replace(parallel, dp=parallel.dp * lcm(step, size) // step))


def group_ranks(setup: RollSetup, role: Role, size: int, workers: str) -> None:
    """Give an open training role whole groups of ranks for the workers of another role.

    `size`: GPUs of a worker. For other counts the search keeps both in step (`Job.in_step`).
    """
    component = group_meshes(setup.components[role.key])
    if component.step % size and component.parallel.replica:
        check_whole(setup, role, _multiply_ranks(component, component.step, size), f"to share GPUs with the workers of {workers} it needs")


def check_whole(setup: RollSetup, role: Role, component: Component, why: str) -> None:
    """Add an error if an exact amount is not a whole number of replicas."""
    minimum, step = component.least, component.step
    if minimum == component.most and minimum % step:
        values = {"asked": with_noun(minimum, "accelerator"), "why": why, "step": step, "fit": near_text(minimum, step)}
        report(setup.notes, "no_whole_replicas", role.key, component.span("amount") or role.span, role=role, **values)
