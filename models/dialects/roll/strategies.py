"""Degrees of parallelism of a role, and a strategy's demands on workers and GPUs."""

from __future__ import annotations

from dataclasses import replace
from math import lcm
from typing import Callable

from ...component import Component, Parallel
from ...configuration.settings import Amount, plain_value
from ...findings.finding import Finding, Fix
from ...findings.span import Edit
from ...findings.wording import with_noun
from ...model_cards.stages import FIRST, LAST
from ...record import dataclass
from ...releases.release import Range
from ...text.tree import MapNode
from ..checks import AtLeast, Check, Divides, Equals, Facts, Number, divisors, run_checks
from .job import Role, RoleFacts, RollSetup, amount_of, whole_of
from .misspelt import misspelt
from .names import CONFIG, IN_WORKERS
from .roles import REWRITTEN

DIVIDES, MATCHES, HINTS = "PW208", "PW403", "PW121"
MEGATRON, FSDP2, VLLM, SGLANG = ("megatron_train", "megatron_infer"), ("fsdp2_train", "fsdp2_infer"), "vllm", "sglang"
DEEPSPEED = ("deepspeed_train", "deepspeed_infer")
BY_ULYSSES = (*FSDP2, *DEEPSPEED)
"""Strategies whose ranks split a sequence by `ulysses_size` alone."""

# Degrees of parallelism of a role, as its strategy reads them.
#
# Source: ROLL, roll/utils/config_utils.py (Megatron), roll/configs/worker_config.py (vLLM),
# roll/distributed/strategy/sglang_strategy.py, fsdp2_strategy.py; mcore_adapter, initialize.py (expert groups).


@dataclass(frozen=True, slots=True)
class StrategyDegrees:
    """Degrees of a role; Megatron alone has expert parallel sizes.

    `etp` is None if unset.
    """

    tp: Amount
    pp: Amount
    cp: Amount
    ep: Amount | None = None
    etp: Amount | None = None

    @property
    def parallel(self) -> Parallel:
        """Degrees as the value of a component."""
        return Parallel(self.tp.value, self.pp.value, self.cp.value, self.ep.value if self.ep else 1)

    @property
    def experts(self) -> tuple[int, ...]:
        """Possible values of etp x ep x pp.

        An unset etp is 1 or tp, by the version of Megatron.
        """
        sizes = {self.etp.value} if self.etp else {1, self.tp.value}
        return tuple(size * self.ep.value * self.pp.value for size in sorted(sizes)) if self.ep else (1,)


def degrees(setup: RollSetup, role: Role) -> StrategyDegrees | None:
    """Return the degrees of a role; None if any is unknown or unsupported."""

    def size(name: str, default: int = 1) -> Amount | None:
        return setup.settings.whole(role.config(f"{name}_parallel_size"), DIVIDES, default, exact=True)

    tp: Amount | None = Amount(1, "tensor_parallel_size")
    pp: Amount | None = Amount(1, "pipeline_parallel_size")
    cp: Amount | None = Amount(1, "context_parallel_size")
    if role.strategy in MEGATRON:
        tp, pp, cp, ep = (size(name) for name in ("tensor_model", "pipeline_model", "context", "expert_model"))
        is_written = setup.settings.has(role.config("expert_tensor_parallel_size"))
        etp = size("expert_tensor") if is_written else None
        return StrategyDegrees(tp, pp, cp, ep, etp) if tp and pp and cp and ep and (etp or not is_written) else None
    if role.strategy in (VLLM, SGLANG):
        tp, pp = size("tensor", role.num_gpus_per_worker or 1 if role.strategy == SGLANG else 1), size("pipeline")
    elif role.strategy in BY_ULYSSES:
        cp = setup.settings.whole(role.path("model_args.ulysses_size"), DIVIDES, 1, exact=True)
    else:
        return None
    return StrategyDegrees(tp, pp, cp) if tp and pp and cp else None


def data_parallel(setup: RollSetup, role: Role) -> int | None:
    """Return a trained role's number of data parallel ranks; None if unknown or uneven."""
    role_degrees = degrees(setup, role)
    if role.ids is None or role_degrees is None or not role.ids.count or role.ids.count % role_degrees.parallel.replica:
        return None
    return role.ids.count // role_degrees.parallel.replica


def check_strategies(setup: RollSetup) -> None:
    """Give every component its degrees, and add what its strategy refuses."""
    for role in setup.roles:
        component = setup.components.get(role.key) if role.created else None
        if component is None:
            continue
        role_degrees = degrees(setup, role)
        _misspelt_degrees(setup, role)
        _stages_without_field(setup, role)
        if role.strategy == SGLANG and role_degrees is not None:
            _sglang_names(setup, role, role_degrees)
        if role_degrees is not None:
            is_open = component.runs is None and "placement" not in component.spans
            _compare_hints(setup, role, component, role_degrees, is_open)
            if is_open:
                setup.components[role.key] = _hinted(setup, role, component, role_degrees)
            elif role.strategy != SGLANG or role_degrees.parallel.replica == role.num_gpus_per_worker:
                setup.components[role.key] = replace(component, parallel=role_degrees.parallel)
        if role.on_devices:
            _demands(setup, role, role_degrees)


def offer_whole_replicas(setup: RollSetup, verifies: Callable[[Edit | None], bool]) -> None:
    """Offer a verified tensor parallel size to roles whose ranks form no whole replicas."""
    for role in setup.roles:
        role_degrees = degrees(setup, role) if role.created and role.key in setup.components and role.strategy in MEGATRON else None
        if role_degrees is None or role.ids is None or not role.ids.count or role.ids.count % role_degrees.parallel.replica == 0:
            continue
        rest = role_degrees.parallel.replica // role_degrees.tp.value
        sizes = [size for size in divisors(role.ids.count) if role.ids.count % (size * rest) == 0]
        sizes = [size for size in sizes if size <= max(role_degrees.tp.value, setup.per_node)]
        for size in sorted(sizes, key=lambda size: (abs(size - role_degrees.tp.value), size))[:4]:
            edit = role_degrees.tp.becomes(size)
            if edit is not None and verifies(edit):
                component = setup.components[role.key]
                fix = Fix(f"set `{role_degrees.tp.name}: {size}`", edit)
                setup.components[role.key] = replace(component, fixes={**component.fixes, DIVIDES: fix})
                break
    for place, finding in enumerate(setup.notes.findings):
        edit = finding.edit if finding.code == "PW111" else None
        if edit is not None and edit.span.file == setup.notes.document.source.name and not verifies(edit):
            setup.notes.findings[place] = _by_degree(setup, finding, verifies)


def _by_degree(setup: RollSetup, finding: Finding, verifies: Callable[[Edit | None], bool]) -> Finding:
    """Replace the help of a finding about incomplete workers by a lower, verified vLLM tp."""
    role = next(candidate for candidate in setup.roles if candidate.key == finding.subject)
    tp = setup.settings.whole(role.config("tensor_parallel_size"), DIVIDES, 1) if role.strategy == VLLM else None
    for size in reversed(divisors(role.ids.count)) if tp and role.ids else ():
        edit = tp.becomes(size) if tp and size < tp.value else None
        if edit is not None and verifies(edit):
            return replace(finding, help=f"set `{role.config('tensor_parallel_size')}: {size}`", edit=edit)
    return replace(finding, help=finding.help.partition(":")[0], edit=None)


# Demands of a strategy on its own settings, and on the number of its ranks.
#
# Source: ROLL, roll/distributed/strategy/fsdp2_strategy.py (FSDP2StrategyBase.setup_fsdp2_configuration,
# create_device_mesh_with_ep), deepspeed_strategy.py, vllm_strategy.py, sglang_strategy.py (initialize);
# Megatron-LM, core/parallel_state.py.

_SOURCE = "ROLL, roll/distributed/strategy/"
_STAGE, _RANKS = whole_of("zero_optimization.stage", MATCHES, 0, CONFIG), whole_of("data_parallel_size", MATCHES, 1, CONFIG)


def _world(facts: Facts) -> Number | None:
    world = facts.role.world_size if isinstance(facts, RoleFacts) else None
    return None if world is None else Number(world, f"{facts.subject} has {with_noun(world, 'worker')}, each one data parallel rank")


def _has_ranks(facts: Facts) -> bool:
    ranks = _RANKS(facts)
    return ranks is not None and ranks.value > 1


CHECKS: dict[str, tuple[Check, ...]] = {
    DEEPSPEED[0]: (AtLeast(code=MATCHES, source=f"{_SOURCE}deepspeed_strategy.py", when=IN_WORKERS, left=_STAGE, right=1),),
    DEEPSPEED[1]: (Equals(code=MATCHES, source=f"{_SOURCE}deepspeed_strategy.py", when=IN_WORKERS, left=_STAGE, right=3),),
    VLLM: (
        Equals(
            code=MATCHES, source=f"{_SOURCE}vllm_strategy.py", when=IN_WORKERS, releases=Range(since="0.2.0"), only_if=_has_ranks,
            left=_RANKS, right=_world, message="{left}, but {right}",
        ),
    ),
}  # fmt: skip
"""Strategy -> checks of strategy settings."""


def _demands(setup: RollSetup, role: Role, role_degrees: StrategyDegrees | None) -> None:
    facts, stage = RoleFacts(setup, role), role.config("zero_optimization.stage")
    if role.strategy in DEEPSPEED and not setup.settings.is_open(stage, MATCHES) and setup.settings.at(stage) is None:
        setup.notes.unsure(MATCHES, role.key, f"`{stage}` is not set, and which stage DeepSpeed then takes is not known here")
    run_checks(CHECKS.get(role.strategy or "", ()), facts)
    ranks = facts.ranks
    if role_degrees is None or ranks is None:
        return
    if (
        role.strategy in MEGATRON
        and role_degrees.ep
        and (role_degrees.ep.value > 1 or role_degrees.etp)
        and all(ranks.value % size for size in role_degrees.experts)
    ):
        size = role_degrees.experts[0]  # an error only if every version of Megatron fails
        etp = f" x etp {role_degrees.etp.value}" if role_degrees.etp and role_degrees.etp.value > 1 else ""
        groups = Number(size, f"expert groups of ep {role_degrees.ep.value}{etp} x pp {role_degrees.pp.value} = {size}", role_degrees.ep)
        _divide(facts, ranks, groups)
    elif role.strategy in FSDP2:
        _fsdp2(facts, ranks, role_degrees)
    elif role.strategy == SGLANG and setup.since("0.2.0"):
        _sglang(setup, role, role_degrees)


def _divide(facts: RoleFacts, ranks: Number, groups: Number) -> None:
    """Check that the ranks form whole groups.

    The fix changes the group size if a single key states it.
    """
    lower = [size for size in divisors(ranks.value) if size < groups.value][-1:]
    is_plain = groups.amount is not None and groups.value == groups.amount.value
    Divides(
        code=DIVIDES, source=f"{_SOURCE}fsdp2_strategy.py", when=IN_WORKERS, left=ranks, right=groups, change="right", suggest=lower,
        help="" if is_plain else f"give {facts.subject} a multiple of {groups.value} GPUs", edits=is_plain,
        message="{left} do not divide into {right}: {rest} left over",
    ).run(facts)  # fmt: skip


def _fsdp2(facts: RoleFacts, ranks: Number, role_degrees: StrategyDegrees) -> None:
    """Check the mesh sizes, and the ranks against meshes and expert groups."""
    fsdp, experts = _mesh_sizes(facts.setup, facts.role)
    whole = fsdp is not None and _holds_ulysses(facts, role_degrees, fsdp)
    if fsdp and 1 < fsdp.value < ranks.value and (whole or ranks.value % role_degrees.cp.value):
        _divide(facts, ranks, amount_of(facts, fsdp))
    if experts:
        ep, efsdp = experts
        size = ep.value * efsdp.value
        _divide(facts, ranks, Number(size, f"expert groups of {ep.said} x efsdp_size {efsdp.value} = {size}", ep))


def _mesh_sizes(setup: RollSetup, role: Role) -> tuple[Amount | None, tuple[Amount, Amount] | None]:
    """Return `fsdp_size`, and (`ep_size`, `efsdp_size`) if there are experts."""
    fsdp = setup.settings.whole(role.config("fsdp_size"), DIVIDES, 1, least=0, exact=True)
    ep, efsdp = (setup.settings.whole(role.config(name), DIVIDES, 1, exact=True) for name in ("ep_size", "efsdp_size"))
    return fsdp, (ep, efsdp) if ep and efsdp and ep.value > 1 else None


def _holds_ulysses(facts: RoleFacts, role_degrees: StrategyDegrees, fsdp: Amount) -> bool:
    """Return True if `fsdp_size` is at least the ulysses size; else add an error."""
    left, help = amount_of(facts, fsdp), ""
    # The ulysses size is wrong anyway.
    if facts.ranks and facts.ranks.value % role_degrees.cp.value:
        left, help = replace(left, amount=None), f"set `{role_degrees.cp.name}: 1`"
    right, source = amount_of(facts, role_degrees.cp), f"{_SOURCE}fsdp2_strategy.py"
    AtLeast(code=MATCHES, source=source, when=IN_WORKERS, left=left, right=right, help=help).run(facts)
    return fsdp.value >= role_degrees.cp.value


MOST_WORKERS = 4096
"""Limit on checked sglang workers across nodes; our own."""


def _sglang(setup: RollSetup, role: Role, role_degrees: StrategyDegrees) -> None:
    """Check that an engine's tp x pp parts fit the GPUs that a worker sees.

    The parts must be a multiple of the GPUs on the node of the worker's first id. ROLL starts the
    remaining parts on nodes counted from the worker's rank, if the worker holds GPU 0 of each of
    them.
    """
    ids, per_worker, size = role.ids, role.num_gpus_per_worker, role_degrees.parallel.replica
    if ids is None or not per_worker or ids.count % per_worker:
        return
    on_one_node = all(
        part.step == 1 and not (len(part) % per_worker or part.start % per_worker or setup.per_node % per_worker) for part in ids.parts
    )
    if size == per_worker and per_worker <= setup.per_node and on_one_node:
        return
    for rank in range(min(ids.count // per_worker, MOST_WORKERS)):
        why = _fault(ids.listed[rank * per_worker : (rank + 1) * per_worker], rank, size, setup.per_node)
        if why:
            message = f"the engine of {role.key} has tp {role_degrees.tp.value} x pp {role_degrees.pp.value} = {size} parts, but worker {rank} {why}"
            key = role.path("num_gpus_per_worker")
            help, edit = "put all GPUs of a worker on one node, or on whole nodes", None
            if size != per_worker and ids.count % size == 0:
                help, edit = f"set `{key}: {size}`, with all GPUs of a worker on one node", setup.settings.becomes(key, str(size))
            at = role_degrees.tp.span or role.per_worker_span or role.place
            setup.notes.error(MATCHES, role.key, message, at, f"{size} parts", help, edit, IN_WORKERS)
            return


def _fault(worker_ids: list[int], rank: int, size: int, per_node: int) -> str:
    """Return the reason why an engine cannot start; "" if none."""
    node = worker_ids[0] // per_node
    sees = len({id_ for id_ in worker_ids if id_ // per_node == node})
    if size % sees:
        return f"sees {with_noun(sees, 'GPU')} on node {node}, which do not divide them"
    nodes = size // sees
    first = {id_ // per_node for id_ in worker_ids if id_ % per_node == 0}
    if nodes > 1 and len(first & set(range(rank * nodes, (rank + 1) * nodes))) < nodes:
        return f"sees {with_noun(sees, 'GPU')} on node {node} and has not GPU 0 of nodes {rank * nodes}-{(rank + 1) * nodes - 1}"
    return ""


_OF_MEGATRON = ("tensor_model", "pipeline_model", "virtual_pipeline_model", "context", "expert_model", "expert_tensor")
_DEGREE_KEYS = {
    **dict.fromkeys(MEGATRON, tuple(f"{name}_parallel_size" for name in _OF_MEGATRON)),
    VLLM: tuple(f"{name}_parallel_size" for name in ("tensor", "pipeline", "data")),
}


def _misspelt_degrees(setup: RollSetup, role: Role) -> None:
    """Add an error per misspelt degree that the strategy's engine would refuse.

    Source: ROLL, megatron_strategy.py (`TrainingArguments(**config_dict)`), vllm_strategy.py
    (`create_async_llm(**vllm_config)`).
    """
    config = setup.settings.at(role.path("strategy_args.strategy_config"))
    keys = _DEGREE_KEYS.get(role.strategy or "", ())
    for entry in config if isinstance(config, MapNode) and keys else ():
        name = entry.key.text
        variant = name.replace("_model_", "_") if role.strategy == VLLM else name.replace("_parallel", "_model_parallel")
        close = variant if variant in keys and variant != name else misspelt(name, keys)
        if close is None or name in keys or not isinstance(config, MapNode):
            continue
        message = f"`strategy_config` of `{role.key}` has no key `{name}`: a TypeError when its workers start"
        help, edit = setup.notes.to_rename(config, entry, close)
        setup.notes.error("PW104", role.key, message, entry.key.span, "not a key", help, edit, IN_WORKERS)


def _stages_without_field(setup: RollSetup, role: Role) -> None:
    """Refuse layers of single stages: ROLL's adapter takes them only among its additional settings.

    Source: ROLL, megatron_strategy.py (`TrainingArguments(**config_dict)`); mcore_adapter,
    training_args.py (DistributingParallelArguments).
    """
    config = setup.settings.at(role.path("strategy_args.strategy_config"))
    for entry in config if isinstance(config, MapNode) and role.strategy in MEGATRON else ():
        if (name := entry.key.text) in (FIRST, LAST):
            message = f"`strategy_config` of `{role.key}` has no key `{name}`: a TypeError when its workers start"
            help_ = f"write `additional_configs: {{{name}: ...}}`"
            setup.notes.error("PW104", role.key, message, entry.key.span, "not a key", help_, None, IN_WORKERS)


def _sglang_names(setup: RollSetup, role: Role, role_degrees: StrategyDegrees) -> None:
    """Report degrees under SGLang's own names.

    ROLL overwrites one and forwards the others.

    Source: ROLL, sglang_strategy.py (initialize).
    """
    for name in ("tp_size", "pp_size", "dp_size"):
        size = setup.settings.whole(role.config(name), MATCHES, role_degrees.tp.value if name == "tp_size" else 1)
        if name == "tp_size" and size is not None and size.value != role_degrees.tp.value:
            message = f"`tp_size` is {size.value}, but ROLL overwrites it with {role_degrees.tp.value}: it reads `tensor_parallel_size`"
            help = f"remove it, or write `tensor_parallel_size: {size.value}`"
            setup.notes.warn(REWRITTEN, role.key, message, size.span or role.place, f"becomes {role_degrees.tp.value}", help)
        is_within = name == "dp_size" and size and plain_value(setup.settings, role.config("enable_dp_attention")) is True
        if name != "tp_size" and size is not None and size.value > 1 and not (is_within and role_degrees.tp.value % size.value == 0):
            why = f"ROLL hands `{name}: {size.value}` to SGLang uncounted, and whether the GPUs of a worker suffice for it is unknown"
            setup.notes.unsure(DIVIDES, role.key, why, True, "Write `pipeline_parallel_size`, which ROLL counts, or more workers")


# Roles left to solve: the strategy fixes the degrees, whatever the hints say.

_BY = "the strategy of the role makes it"


def _compare_hints(setup: RollSetup, role: Role, component: Component, role_degrees: StrategyDegrees, is_open: bool) -> None:
    """Report hinted degrees that differ from the strategy's.

    An error for an open role, a warning for a placed one. Degrees of roles with times are chosen
    later, and written into the strategy.
    """
    demanded, choices = role_degrees.parallel, setup.choices.get(role.key, (component.parallel,))
    same = any((hint.tp, hint.pp, hint.cp) == (demanded.tp, demanded.pp, demanded.cp) for hint in choices)
    unfit = is_open and role.strategy == SGLANG and demanded.replica != (role.num_gpus_per_worker or component.per_process)
    if component.timed or "parallel" not in component.spans or same or unfit:
        return
    message = f"`parallel` of `{role.key}` is {' or '.join(map(str, choices))}, but"
    at, help = component.spans["parallel"], "drop `parallel`, or change the strategy"
    if is_open:
        setup.notes.error(HINTS, role.key, f"{message} {_BY} {demanded}", at, "", help)
    else:
        message += f" the role has its place and {_BY} {demanded}: the hint is ignored"
        setup.notes.warn("PW124", role.key, message, at, "ignored", "drop `parallel`, or give the role `seconds`")


def _hinted(setup: RollSetup, role: Role, component: Component, role_degrees: StrategyDegrees) -> Component:
    """Round the component to whole replicas of the strategy; refuse hints that contradict it."""
    per_worker, spans, parallel = role.num_gpus_per_worker or component.per_process, component.spans, role_degrees.parallel
    key = next((key for key in ("accelerators_per_process", "processes") if key in spans), "")
    if key and component.per_process != per_worker and (key != "processes" or "accelerators" in spans):
        message = f"the hints give a worker of `{role.key}` {with_noun(component.per_process, 'accelerator')}, but {_BY} {per_worker}"
        setup.notes.error(HINTS, role.key, message, spans[key], "", f"drop `{key}`, or change the strategy")
    result = _searched_ranks(setup, role, role_degrees, component) if role.strategy in FSDP2 else component
    # The search places a worker on one node.
    if role.strategy == SGLANG and parallel.replica != per_worker:
        path = role.path("num_gpus_per_worker")
        message = f"the engine of {role.key} has {with_noun(parallel.replica, 'part')}, but a worker gets {with_noun(per_worker, 'GPU')}"
        help, edit = f"set `{path}: {parallel.replica}`", setup.settings.becomes(path, str(parallel.replica))
        setup.notes.error(MATCHES, role.key, message, role_degrees.tp.span or role.span, "", help, edit, IN_WORKERS)
        return component
    # Degrees are chosen later, and written into the strategy.
    if component.timed and "parallel" in spans:
        setup.choices.setdefault(role.key, (component.parallel,))
    else:
        setup.choices.pop(role.key, None)
    if role.strategy in MEGATRON:
        parallel = replace(parallel, dp=lcm(parallel.replica, role_degrees.experts[0]) // parallel.replica)
    result = replace(result, parallel=result.parallel if role.strategy in FSDP2 else parallel)
    check_whole(setup, role, in_meshes(result), "its strategy needs")
    ranks = setup.settings.whole(role.config("data_parallel_size"), MATCHES, 1, exact=True) if role.strategy == VLLM else None
    # Workers are ranks.
    amount = ranks.value * result.per_process if ranks is not None and ranks.value > 1 else 0
    if amount and not result.may_have(amount):
        message = f"the strategy makes `{role.key}` {with_noun(amount, 'accelerator')}, which its hints do not allow"
        help = f"ask for {with_noun(amount, 'accelerator')}"
        setup.notes.error(MATCHES, role.key, message, result.span("amount") or role.span, "", help)
        return result
    return replace(result, least=amount, most=amount) if amount else result


def _searched_ranks(setup: RollSetup, role: Role, role_degrees: StrategyDegrees, component: Component) -> Component:
    """Give an open FSDP2 role the group sizes that divide its ranks.

    Up to `fsdp_size` ranks form one mesh; more ranks form whole meshes.
    """
    fsdp, experts = _mesh_sizes(setup, role)
    size = lcm(role_degrees.cp.value, experts[0].value * experts[1].value) if experts else role_degrees.cp.value
    result = replace(component, parallel=Parallel(cp=role_degrees.cp.value, dp=size // role_degrees.cp.value))
    if fsdp is None:
        return result
    _holds_ulysses(RoleFacts(setup, role), role_degrees, fsdp)
    most = min(component.most, setup.cluster.total()) if setup.cluster.counted else component.most
    if not 1 < fsdp.value < most:
        return result
    spans = {**component.spans, "shards": fsdp.span} if fsdp.span else component.spans
    return replace(result, shards=fsdp.value, spans=spans)


def in_meshes(component: Component) -> Component:
    """Make whole meshes the replicas of a component with several meshes."""
    if not 0 < component.shards < component.least:
        return component
    parallel = component.parallel
    size = lcm(parallel.replica, component.shards)
    return replace(component, parallel=replace(parallel, dp=parallel.dp * size // parallel.replica))


def in_groups_of(setup: RollSetup, role: Role, each: int, other: str) -> None:
    """Give an open training role whole groups of ranks for the workers of another role.

    `each`: GPUs of a worker. For other counts the search keeps both in step (`Job.in_step`).
    """
    component = in_meshes(setup.components[role.key])
    step = lcm(component.step, each)
    if step > component.step and component.parallel.replica:
        parallel = replace(component.parallel, dp=component.parallel.dp * step // component.step)
        check_whole(setup, role, replace(component, parallel=parallel), f"to share GPUs with the workers of {other} it needs")


def check_whole(setup: RollSetup, role: Role, component: Component, why: str) -> None:
    """Add an error if an exact amount is no whole number of replicas."""
    least, step = component.least, component.step
    if least == component.most and least % step:
        lower = least // step * step
        fit = f"{lower} or {lower + step}" if lower else str(step)
        message = f"`{role.key}` asks for {with_noun(least, 'accelerator')}, but {why} a multiple of {step}"
        setup.notes.error(DIVIDES, role.key, message, component.span("amount") or role.span, f"no multiple of {step}", f"ask for {fit}")
