"""Degrees of parallelism of a role, and what its strategy demands of the number of its workers and GPUs."""

from __future__ import annotations

from dataclasses import replace
from math import lcm
from typing import Callable

from ...component import Component, Parallel
from ...configuration.settings import Amount
from ...findings.fix import Fix
from ...findings.span import Edit
from ...findings.wording import do, with_noun
from ...record import dataclass
from ...releases.release import Range
from ...text.tree import Mapping
from ..checks import AtLeast, Check, Equals, Facts, Number, divisors, run_checks
from .job import CONFIG, Role, RoleFacts, Setup, whole_of
from .misspelt import misspelt
from .notices import IN_WORKERS

# The degrees of parallelism of a role, as its strategy reads them.
#
# Source: ROLL, roll/utils/config_utils.py (Megatron), roll/configs/worker_config.py (vLLM), roll/distributed/strategy/sglang_strategy.py,
# fsdp2_strategy.py; mcore_adapter, initialize.py (expert groups).

RULE = "PW208"
MEGATRON, FSDP2, VLLM, SGLANG = ("megatron_train", "megatron_infer"), ("fsdp2_train", "fsdp2_infer"), "vllm", "sglang"
DEEPSPEED = ("deepspeed_train", "deepspeed_infer")
BY_ULYSSES = (*FSDP2, *DEEPSPEED)
"""Strategies whose ranks share a sequence by `ulysses_size` alone."""


@dataclass(frozen=True, slots=True)
class Degrees:
    """tp, pp and cp of one role, and for Megatron the expert parallel sizes; `etp` is None where nothing is written."""

    tp: Amount
    pp: Amount
    cp: Amount
    ep: Amount | None = None
    etp: Amount | None = None

    @property
    def parallel(self) -> Parallel:
        """The same as a component has them."""
        return Parallel(self.tp.value, self.pp.value, self.cp.value, self.ep.value if self.ep else 1)

    @property
    def experts(self) -> tuple[int, ...]:
        """What etp x ep x pp may be: where no etp is written it is 1 or tp, as the version of Megatron has it."""
        sizes = {self.etp.value} if self.etp else {1, self.tp.value}
        return tuple(size * self.ep.value * self.pp.value for size in sorted(sizes)) if self.ep else (1,)


def degrees(setup: Setup, role: Role) -> Degrees | None:
    """Those of a role; None where one is not known, or the strategy has none."""
    if role.strategy in MEGATRON:
        return _megatron(setup, role)
    if role.strategy == VLLM:
        return _of(_size(setup, role, "tensor_parallel_size"), _size(setup, role, "pipeline_parallel_size"), _one("context_parallel_size"))
    if role.strategy == SGLANG:
        tp = setup.settings.whole(role.config("tensor_parallel_size"), RULE, role.num_gpus_per_worker or 1, exact=True)
        return _of(tp, _size(setup, role, "pipeline_parallel_size"), _one("context_parallel_size"))
    if role.strategy in BY_ULYSSES:
        ulysses = setup.settings.whole(role.path("model_args.ulysses_size"), RULE, 1, exact=True)
        return _of(_one("tensor_parallel_size"), _one("pipeline_parallel_size"), ulysses)
    return None


def data_parallel(setup: Setup, role: Role) -> int | None:
    """How many ranks of a training role get samples of their own; None where that is not known or does not come out even."""
    its = degrees(setup, role)
    if role.ids is None or its is None or not role.ids.count or role.ids.count % its.parallel.replica:
        return None
    return role.ids.count // its.parallel.replica


def searched(its: Degrees, strategy: str | None, each: int) -> Parallel | None:
    """What whole replicas of a role that is left to solve are, so that what is found passes all checks; None if they do not fill its workers."""
    parallel = its.parallel
    if strategy == SGLANG and parallel.replica != each:
        return None
    if strategy in MEGATRON:
        whole = lcm(parallel.replica, its.experts[0])
        return Parallel(parallel.tp, parallel.pp, parallel.cp, parallel.ep, whole // parallel.replica)
    return parallel


def _megatron(setup: Setup, role: Role) -> Degrees | None:
    tp, pp, cp, ep = (_size(setup, role, f"{name}_parallel_size") for name in ("tensor_model", "pipeline_model", "context", "expert_model"))
    written = setup.settings.has(role.config("expert_tensor_parallel_size"))
    etp = _size(setup, role, "expert_tensor_parallel_size") if written else None
    return Degrees(tp, pp, cp, ep, etp) if tp and pp and cp and ep and (etp or not written) else None


def _size(setup: Setup, role: Role, name: str) -> Amount | None:
    return setup.settings.whole(role.config(name), RULE, 1, exact=True)


def _one(name: str) -> Amount:
    return Amount(1, name)


def _of(tp: Amount | None, pp: Amount | None, cp: Amount | None) -> Degrees | None:
    return Degrees(tp, pp, cp) if tp and pp and cp else None


# What FSDP2 demands of the number of its ranks: meshes of fsdp_size, Ulysses groups, expert groups.
#
# Source: ROLL, roll/distributed/strategy/fsdp2_strategy.py (FSDP2StrategyBase.setup_fsdp2_configuration, create_device_mesh_with_ep).

DIVIDES, MATCHES = "PW208", "PW403"


def fsdp2(setup: Setup, role: Role, its: Degrees) -> None:
    """The sizes go together, and the ranks divide into each of them."""
    ranks = role.ids.count if role.ids else 0
    fsdp, experts = _sizes(setup, role)
    whole = fsdp is not None and _holds_ulysses(setup, role, its, fsdp, ranks)
    if fsdp and 1 < fsdp.value < ranks and ranks % fsdp.value and (whole or ranks % its.cp.value):
        _divides(setup, role, ranks, fsdp.value, fsdp, f"groups of {fsdp.said}")
    if experts and ranks % (size := experts[0].value * experts[1].value):
        ep, each = experts
        _divides(setup, role, ranks, size, ep, f"expert groups of {ep.said} x efsdp_size {each.value} = {size}")


def searched_ranks(setup: Setup, role: Role, its: Degrees, component: Component) -> Component:
    """A role that is left to solve, with what its ranks divide into; an error where the sizes do not go together, however many they are.

    One mesh holds all ranks where there are no more than fsdp_size; of more, these are whole meshes.
    """
    fsdp, experts = _sizes(setup, role)
    size = lcm(its.cp.value, experts[0].value * experts[1].value) if experts else its.cp.value
    found = replace(component, parallel=Parallel(cp=its.cp.value, dp=size // its.cp.value))
    if fsdp is None:
        return found
    _holds_ulysses(setup, role, its, fsdp, 0)
    most = min(component.most, setup.cluster.total()) if setup.cluster.counted else component.most
    if not 1 < fsdp.value < most:
        return found
    spans = {**component.spans, "shards": fsdp.span} if fsdp.span else component.spans
    return replace(found, shards=fsdp.value, spans=spans)


def in_meshes(component: Component) -> Component:
    """The same with whole meshes as its replicas, where it has more ranks than one holds."""
    if not 0 < component.shards < component.least:
        return component
    parallel = component.parallel
    size = lcm(parallel.replica, component.shards)
    return replace(component, parallel=replace(parallel, dp=parallel.dp * size // parallel.replica))


def _sizes(setup: Setup, role: Role) -> tuple[Amount | None, tuple[Amount, Amount] | None]:
    """`fsdp_size`; and where there are experts, `ep_size` and `efsdp_size`."""
    fsdp = setup.settings.whole(role.config("fsdp_size"), DIVIDES, 1, least=0, exact=True)
    ep, each = (setup.settings.whole(role.config(name), DIVIDES, 1, exact=True) for name in ("ep_size", "efsdp_size"))
    return fsdp, (ep, each) if ep and each and ep.value > 1 else None


def _holds_ulysses(setup: Setup, role: Role, its: Degrees, fsdp: Amount, ranks: int) -> bool:
    """Is fsdp_size no less than the ulysses size? Where it is, an error."""
    if fsdp.value >= its.cp.value:
        return True
    written = "" if fsdp.scalar else ", its default"
    message = f"{its.cp.said} is more than `{fsdp.name}`, which is {fsdp.value}{written}"
    whole = ranks % its.cp.value == 0
    help = f"set `{fsdp.name}: {its.cp.value}`, or `{its.cp.name}: 1`" if whole else f"set `{its.cp.name}: 1`"
    at = (fsdp.span if whole else None) or its.cp.span or role.place
    edit = fsdp.becomes(its.cp.value) if whole else its.cp.becomes(1)
    setup.notes.error(MATCHES, role.key, message, at, "", help, edit, IN_WORKERS)
    return False


def _divides(setup: Setup, role: Role, ranks: int, size: int, at: Amount, what: str) -> None:
    message = f"the {with_noun(ranks, 'rank')} of {role.key} {do(ranks)} not divide into {what}: {ranks % size} would be left"
    help, edit = f"give {role.key} a multiple of {size} GPUs", None
    if at.value == size:
        better = next(each for each in range(min(size, ranks), 0, -1) if ranks % each == 0)
        help, edit = f"{help}, or set `{at.name}: {better}`", at.becomes(better)
    setup.notes.error(DIVIDES, role.key, message, at.span or role.place, f"no divisor of {ranks}", help, edit, IN_WORKERS)


# Roles that are left to solve: their strategy fixes the degrees, whatever the hints say.

HINTS, IGNORED = "PW121", "PW124"
_BY = "the strategy of the role makes it"


def hinted(setup: Setup, role: Role, component: Component, its: Degrees) -> Component:
    """The component with whole replicas of its strategy; hints that say otherwise contradict it."""
    each = role.num_gpus_per_worker or component.per_process
    _workers(setup, role, component, each)
    ranks = searched_ranks(setup, role, its, component) if role.strategy in FSDP2 else component
    parallel = ranks.parallel if role.strategy in FSDP2 else searched(its, role.strategy, each)
    if role.strategy == SGLANG and its.parallel.replica != each:
        _parts(setup, role, its, each)
        return component
    if parallel is None:
        return component
    choices = setup.choices.pop(role.key, (component.parallel,))
    demanded = its.parallel
    if component.timed and "parallel" in component.spans:
        setup.choices[role.key] = choices  # they are chosen, and written into the strategy
    elif "parallel" in component.spans and not any(
        (hint.tp, hint.pp, hint.cp) == (demanded.tp, demanded.pp, demanded.cp) for hint in choices
    ):
        said = " or ".join(str(hint) for hint in choices)
        message = f"`parallel` of `{role.key}` is {said}, but {_BY} {demanded}"
        help = "drop `parallel`, or change the strategy"
        setup.notes.error(HINTS, role.key, message, component.spans["parallel"], "", help)
    found = replace(ranks, parallel=parallel)
    whole(setup, role, in_meshes(found), "its strategy needs")
    return _engines(setup, role, found) if role.strategy == VLLM else found


def passed_over(setup: Setup, role: Role, component: Component, its: Degrees) -> None:
    """A warning where the hints of a role with a place, which no times choose, say other degrees than its strategy: that holds."""
    demanded, choices = its.parallel, setup.choices.get(role.key, (component.parallel,))
    same = any((hint.tp, hint.pp, hint.cp) == (demanded.tp, demanded.pp, demanded.cp) for hint in choices)
    if component.timed or "parallel" not in component.spans or same:
        return
    said = " or ".join(str(hint) for hint in choices)
    message = f"`parallel` of `{role.key}` is {said}, but the role has its place and {_BY} {demanded}: the hint is ignored"
    help = "drop `parallel`, or give the role `seconds`, by which its degrees are chosen"
    setup.notes.warn(IGNORED, role.key, message, component.spans["parallel"], "ignored", help)


def _parts(setup: Setup, role: Role, its: Degrees, each: int) -> None:
    """An engine of sglang on one node is as many parts as its worker has devices, and what is searched is on one node."""
    size, key = its.parallel.replica, role.path("num_gpus_per_worker")
    message = f"the engine of {role.key} has tp {its.tp.value} x pp {its.pp.value} = {with_noun(size, 'part')}, but a worker gets {with_noun(each, 'GPU')}"
    edit = setup.settings.becomes(key, str(size))
    setup.notes.error(
        MATCHES, role.key, message, its.tp.span or role.span, with_noun(size, "part"), f"set `{key}: {size}`", edit, IN_WORKERS
    )


def _engines(setup: Setup, role: Role, component: Component) -> Component:
    """Data parallel ranks of vLLM are the workers, so that their number is given."""
    dp = setup.settings.whole(role.config("data_parallel_size"), MATCHES, 1, exact=True)
    if dp is None or dp.value <= 1:
        return component
    amount = dp.value * component.per_process
    if component.may_have(amount):
        return replace(component, least=amount, most=amount)
    message = f"{dp.said} makes `{role.key}` {with_noun(amount, 'accelerator')}, which its hints do not allow"
    setup.notes.error(MATCHES, role.key, message, component.span("amount") or role.span, "", f"ask for {with_noun(amount, 'accelerator')}")
    return component


def in_groups_of(setup: Setup, role: Role, each: int, other: str) -> None:
    """A role that is left to solve, and trains on GPUs of another one: an exact number of its ranks is whole groups for the workers of that one.

    Of other numbers the search takes those that are: both are in step (`Job.in_step`).
    """
    component = in_meshes(setup.components[role.key])
    step, replica = lcm(component.step, each), component.parallel.replica
    if step > component.step and replica:
        parallel = replace(component.parallel, dp=component.parallel.dp * step // component.step)
        whole(setup, role, replace(component, parallel=parallel), f"to share GPUs with the workers of {other} it needs")


def whole(setup: Setup, role: Role, component: Component, why: str) -> None:
    """An exact amount is whole replicas."""
    least, step = component.least, component.step
    if least == component.most and least % step:
        lower = least // step * step
        fit = f"{lower} or {lower + step}" if lower else str(step)
        message = f"`{role.key}` asks for {with_noun(least, 'accelerator')}, but {why} a multiple of {step}"
        at = component.span("amount") or role.span
        setup.notes.error(DIVIDES, role.key, message, at, f"no multiple of {step}", f"ask for {fit}")


def _workers(setup: Setup, role: Role, component: Component, each: int) -> None:
    spans = component.spans
    key = next((key for key in ("accelerators_per_process", "processes") if key in spans), "")
    if key and component.per_process != each and (key != "processes" or "accelerators" in spans):
        message = f"the hints give a worker of `{role.key}` {with_noun(component.per_process, 'accelerator')}, but {_BY} {each}"
        setup.notes.error(HINTS, role.key, message, spans[key], "", f"drop `{key}`, or change the strategy")


# What sglang demands of the GPUs of one worker.
#
# An engine is cut into tp x pp parts; the worker sees its GPUs on the node of its first id alone. Parts that do not fit there are
# started on nodes that are counted from the worker's rank, if the worker holds the first GPU of each of them.
# Source: ROLL, roll/distributed/strategy/sglang_strategy.py (SgLangStrategy.initialize); roll/distributed/executor/cluster.py.

CODE = "PW403"
MOST_WORKERS = 4096
"""Of so many workers that lie on several nodes each is looked at; an own limit, no job is near it."""


def sglang(setup: Setup, role: Role, its: Degrees) -> None:
    """tp x pp is a multiple of what a worker sees, and where it is more the worker holds whole nodes at the right place."""
    ids, each, size = role.ids, role.num_gpus_per_worker, its.parallel.replica
    if ids is None or not each or ids.count % each:
        return
    if size == each and each <= setup.per_node and all(_whole_on_nodes(part, each, setup.per_node) for part in ids.parts):
        return
    for rank in range(min(ids.count // each, MOST_WORKERS)):
        held = ids.listed[rank * each : (rank + 1) * each]
        why = _fault(held, rank, size, setup.per_node)
        if why:
            message = f"the engine of {role.key} has tp {its.tp.value} x pp {its.pp.value} = {size} parts, but worker {rank} {why}"
            key = role.path("num_gpus_per_worker")
            help, edit = "put all GPUs of a worker on one node, or on whole nodes", None
            if size != each and ids.count % size == 0:
                help, edit = f"set `{key}: {size}`, with all GPUs of a worker on one node", setup.settings.becomes(key, str(size))
            at = its.tp.span or role.per_worker_span or role.place
            setup.notes.error(CODE, role.key, message, at, f"{size} parts", help, edit, IN_WORKERS)
            return


def _whole_on_nodes(piece: range, each: int, per_node: int) -> bool:
    """Do its ids fill workers that lie on one node each?"""
    return piece.step == 1 and len(piece) % each == 0 and piece.start % each == 0 and per_node % each == 0


def _fault(held: list[int], rank: int, size: int, per_node: int) -> str:
    """Why an engine cannot start; "" if it can."""
    node = held[0] // per_node
    sees = len({each for each in held if each // per_node == node})
    if size % sees:
        return f"sees {with_noun(sees, 'GPU')} on node {node}, which do not divide them"
    nodes = size // sees
    first = {each // per_node for each in held if each % per_node == 0}
    if nodes > 1 and len(first & set(range(rank * nodes, (rank + 1) * nodes))) < nodes:
        wanted = f"nodes {rank * nodes}-{(rank + 1) * nodes - 1}"
        return f"sees {with_noun(sees, 'GPU')} on node {node} and has not GPU 0 of {wanted} for the rest"
    return ""


# What the strategy of a role demands of the number of its workers and GPUs.
#
# Source: ROLL, roll/distributed/strategy/fsdp2_strategy.py (FSDP2StrategyBase.setup_fsdp2_configuration, create_device_mesh_with_ep),
# vllm_strategy.py and sglang_strategy.py (initialize); Megatron-LM, core/parallel_state.py.


def divided(setup: Setup, verifies: Callable[[Edit | None], bool]) -> None:
    """Say which tensor parallel size lets the ranks of a role be whole replicas, where one verifies."""
    for role in setup.roles:
        its = degrees(setup, role) if role.created and role.key in setup.components and role.strategy in MEGATRON else None
        if its is None or role.ids is None or not role.ids.count or role.ids.count % its.parallel.replica == 0:
            continue
        sizes = [size for size in divisors(role.ids.count) if role.ids.count % (size * its.parallel.replica // its.tp.value) == 0]
        sizes = [size for size in sizes if size <= max(its.tp.value, setup.per_node)]
        for size in sorted(sizes, key=lambda size: (abs(size - its.tp.value), size))[:4]:
            edit = its.tp.becomes(size)
            if edit is not None and verifies(edit):
                component = setup.components[role.key]
                fix = Fix(f"set `{its.tp.name}: {size}`", edit)
                setup.components[role.key] = replace(component, fixes={**component.fixes, DIVIDES: fix})
                break


def backends(setup: Setup) -> None:
    """Give every component its degrees, and say what its strategy refuses."""
    for role in setup.roles:
        if not role.created or role.key not in setup.components:
            continue
        its = degrees(setup, role)
        _misspelt_degrees(setup, role)
        _shape(setup, role, its)
        if not role.on_devices:
            continue
        _demands(setup, role)
        if its is not None and role.strategy in MEGATRON:
            _experts(setup, role, its)
        elif its is not None and role.strategy in FSDP2:
            fsdp2(setup, role, its)
        elif its is not None and role.strategy == SGLANG and setup.since("0.2.0"):
            sglang(setup, role, its)


def _shape(setup: Setup, role: Role, its: Degrees | None) -> None:
    """Whole replicas; GPUs that one engine of sglang does not fill are judged apart."""
    component = setup.components[role.key]
    if its is None:
        return
    if component.runs is None and "placement" not in component.spans:
        setup.components[role.key] = hinted(setup, role, component, its)
        return
    passed_over(setup, role, component, its)
    if role.strategy != SGLANG or its.parallel.replica == role.num_gpus_per_worker:
        setup.components[role.key] = replace(component, parallel=its.parallel)


_OF_MEGATRON = ("tensor_model", "pipeline_model", "virtual_pipeline_model", "context", "expert_model", "expert_tensor")
_OF_VLLM = ("tensor", "pipeline", "data")
_DEGREE_KEYS = {
    **dict.fromkeys(MEGATRON, tuple(f"{name}_parallel_size" for name in _OF_MEGATRON)),
    VLLM: tuple(f"{name}_parallel_size" for name in _OF_VLLM),
}
_FOREIGN = {
    **{key: {f"{name}_parallel_size": f"{name}_model_parallel_size" for name in ("tensor", "pipeline", "expert")} for key in MEGATRON},
    VLLM: {f"{name}_model_parallel_size": f"{name}_parallel_size" for name in ("tensor", "pipeline")},
}
"""Strategy -> keys of degrees that another strategy has -> its own.

Source: ROLL, megatron_strategy.py (`TrainingArguments(**config_dict)`), vllm_strategy.py (`create_async_llm(**vllm_config)`).
"""


def _misspelt_degrees(setup: Setup, role: Role) -> None:
    """Add an error for each key that resembles a degree and is no argument of what the strategy starts."""
    config = setup.settings.at(role.path("strategy_args.strategy_config"))
    keys = _DEGREE_KEYS.get(role.strategy or "", ())
    for entry in config if isinstance(config, Mapping) and keys else ():
        name = entry.key.text
        close = _FOREIGN[role.strategy or ""].get(name) or misspelt(name, keys)
        if close is None or name in keys:
            continue
        message = f"`strategy_config` of `{role.key}` has no key `{name}`: a TypeError when its workers start"
        edit: Edit | None = setup.notes.renamed(entry, close)
        help = f"write `{close}`"
        if isinstance(config, Mapping) and config.get(close) is not None:
            help, edit = f"remove it: `{close}` is set too", setup.notes.removed(config, entry)
        setup.notes.error("PW104", role.key, message, entry.key.span, "not a key", help, edit, IN_WORKERS)


def _experts(setup: Setup, role: Role, its: Degrees) -> None:
    """The ranks divide into expert parallel groups too; only failure with every version of Megatron is told."""
    count = role.ids.count if role.ids else 0
    if its.ep is None or (its.ep.value == 1 and its.etp is None) or not all(count % size for size in its.experts):
        return
    size = its.experts[0]
    etp = f" x etp {its.etp.value}" if its.etp and its.etp.value > 1 else ""
    message = f"the {with_noun(count, 'rank')} of {role.key} {do(count)} not divide into expert parallel groups: ep {its.ep.value}{etp} x pp {its.pp.value} is {size}"
    lower = count // size * size
    fit = f"{lower} or {lower + size}" if lower else str(size)
    at = its.ep.span or role.place
    setup.notes.error(DIVIDES, role.key, message, at, f"no divisor of {count}", f"give {role.key} {fit} GPUs", None, IN_WORKERS)


_RANKS = whole_of("data_parallel_size", MATCHES, 1, CONFIG)


def _world(facts: Facts) -> Number | None:
    world = facts.role.world_size if isinstance(facts, RoleFacts) else None
    return None if world is None else Number(world, f"{facts.subject} has {with_noun(world, 'worker')}, each one data parallel rank")


def _has_ranks(facts: Facts) -> bool:
    ranks = _RANKS(facts)
    return ranks is not None and ranks.value > 1


_STAGE, _DEEPSPEED_SOURCE = whole_of("zero_optimization.stage", MATCHES, 0, CONFIG), "ROLL, roll/distributed/strategy/deepspeed_strategy.py"
_VLLM_SOURCE = "ROLL, roll/distributed/strategy/vllm_strategy.py"
CHECKS: dict[str, tuple[Check, ...]] = {
    DEEPSPEED[0]: (AtLeast(code=MATCHES, source=_DEEPSPEED_SOURCE, when=IN_WORKERS, left=_STAGE, right=1),),
    DEEPSPEED[1]: (Equals(code=MATCHES, source=_DEEPSPEED_SOURCE, when=IN_WORKERS, left=_STAGE, right=3),),
    VLLM: (
        Equals(
            code=MATCHES, source=_VLLM_SOURCE, when=IN_WORKERS, releases=Range(since="0.2.0"), only_if=_has_ranks,
            left=_RANKS, right=_world, message="{left}, but {right}",
        ),
    ),
}  # fmt: skip
"""Strategy -> what it demands of its own settings."""


def _demands(setup: Setup, role: Role) -> None:
    """Run the checks of a strategy."""
    stage = role.config("zero_optimization.stage")
    if role.strategy in DEEPSPEED and not setup.settings.is_open(stage, MATCHES) and setup.settings.at(stage) is None:
        setup.notes.unsure(MATCHES, role.key, f"`{stage}` is not set, and which stage DeepSpeed then takes is not known here")
    run_checks(CHECKS.get(role.strategy or "", ()), RoleFacts(setup, role))
