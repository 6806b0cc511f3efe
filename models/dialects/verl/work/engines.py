"""What inference engines refuse or never get, the accelerators of their servers, and what mends degrees that do not divide the ranks.

Source: verl, verl/workers/config/rollout.py (RolloutConfig.__post_init__), verl/workers/rollout/replica.py (RolloutReplica),
verl/workers/rollout/{vllm,sglang,trtllm}_rollout/*_async_server.py, experimental/reward_loop/reward_model.py,
verl/utils/config.py (validate_config), verl/workers/engine_workers.py (ActorRolloutRefWorker.init_model).
"""

from __future__ import annotations

from dataclasses import replace
from math import gcd, prod
from typing import Callable, Mapping

from ....component import Component, Parallel
from ....configuration.settings import Amount
from ....findings.finding import Severity
from ....findings.fix import Fix
from ....findings.wording import with_noun
from ....pools.pool import Pool
from ....releases.release import Range
from ...checks import AtLeast, Divides, Equals, Number, OneOf
from ..components.parallel import OWNERS, trained
from ..entries import Kind
from ..pools.served import APART, PARTED, ROLLOUT, Engine, engine_key, engine_of, is_teacher, parted_size
from ..releases import reward_key, since, until
from .notices import AFTER_WEIGHTS, AT_START, IN_SERVER, IN_WORKERS, NEVER, UNCHECKED_AT_START, WITH_REWARD
from .work import ACCELERATORS, DEGREES, MODE, Work, divisors, given, next_to

SERVED = (Kind.HYBRID, Kind.SEPARATE, Kind.SPLIT, Kind.SERVER)
"""What starts servers for rollout."""
TRIED = ("tp", "pp", "cp", "dp")
TORN = "PW214"
SOURCE = "verl, verl/workers/config/rollout.py (RolloutConfig.__post_init__)"
WITHOUT_STAGES = {"vllm": Range("0.6.0"), "sglang": Range("0.6.0"), "trtllm": Range("b178a3cd")}
"""Engine -> releases that refuse pipeline stages of it."""
REPLICAS = {"vllm": Range("0.6.0"), "sglang": Range("0.6.0"), "trtllm": Range("b178a3cd")}
"""Engine -> releases that have servers of it. Source: verl, verl/workers/rollout/replica.py (RolloutReplicaRegistry)."""
GONE = ("hf", "naive", "vllm_async", "sglang_async")
"""Engines that older releases had."""


def judge_engines(work: Work) -> None:
    """Engine of rollout, of a reward model and of teachers. With simulators rollout is part of the actor, and no server is started."""
    settings, entry = work.settings, work.setup.entry
    if entry.kind is Kind.SIMULATION:
        work.setup.components = tuple(replace(each, server=1) for each in work.setup.components)
        if (known := engine_of(settings, entry, "rollout")) is not None:
            _alone(work, known[1]["tp"])
    # How many accelerators rollout has need not be known for what its engine refuses.
    names = [component.name for component in work.setup.components if work.is_engine(component.name)]
    if entry.kind in SERVED or ("rollout" in names and entry.kind is Kind.DECLARED):
        _mode(work)
        names = ["rollout", *(name for name in names if name != "rollout")]
    elif entry.kind is not Kind.DECLARED:
        names = []
    for name in names:
        if (known := engine_of(settings, entry, name)) is None:
            continue
        if name != APART:
            _refused(work, name, known)
        _servers(work, name, *known, _per_node(work, name))
        if name == "reward_model":
            _split(work, *known)
    if "rollout" in names and settings.at(f"{PARTED}.enabled") is not None:
        _parted(work)


def _per_node(work: Work, name: str) -> str:
    """Key of the accelerators that verl takes for those of a node."""
    settings = work.settings
    if is_teacher(name):
        return "distillation.n_gpus_per_node"
    if name == "reward_model":
        own = settings.flag(reward_key(settings, "enable_resource_pool"), DEGREES)
        return reward_key(settings, "n_gpus_per_node") if own else ACCELERATORS
    own_key = f"{ROLLOUT}.n_gpus_per_node"
    if work.setup.entry.kind is Kind.SEPARATE:
        return "rollout.n_gpus_per_node" if since(settings, "0.7.1") else ACCELERATORS
    return own_key if since(settings, "0.7.1") and settings.at(own_key) is not None else ACCELERATORS


def _alone(work: Work, tensor: Amount) -> None:
    """Every rank of rollout generates by itself; its mesh of ranks x tp holds no more than the ranks."""
    message = "{left}: beside simulators every rank generates by itself, and torch refuses a mesh of more than all ranks"
    source = "verl, verl/experimental/vla"
    work.check("rollout", Equals(code=DEGREES, source=source, left=given(work.of(tensor)), right=1, message=message, when=IN_WORKERS))


def _mode(work: Work) -> None:
    """Servers alone generate since 0.7.0."""
    message = "{left} is `{right}`, which verl has removed: it raises a ValueError"
    work.check(
        "rollout",
        OneOf(code=MODE, source=SOURCE, key=f"{ROLLOUT}.mode", values=("async",), renamed=(("sync", "async"),), releases=Range("0.7.0"),
              only_if=lambda facts: facts.settings.word(f"{ROLLOUT}.mode", MODE) == "sync", message=message, when=IN_WORKERS),
        OneOf(code=MODE, source="verl, verl/workers/rollout/replica.py (RolloutReplicaRegistry)", key=f"{ROLLOUT}.name",
              values=tuple(name for name, releases in REPLICAS.items()), releases=Range("0.7.0"),
              only_if=lambda facts: facts.settings.word(f"{ROLLOUT}.name", MODE) in GONE,
              message="{left} is `{right}`, which has no server in verl: it raises a ValueError", when=AFTER_WEIGHTS),
    )  # fmt: skip


def _refused(work: Work, name: str, known: Engine) -> None:
    """Degrees that an engine refuses, or never gets."""
    settings, amounts = work.settings, known[1]
    key = engine_key(settings, work.setup.entry, name)
    program = settings.word(key("name"), MODE) or ""
    when = when_served(work, name, IN_WORKERS)
    degrees = Parallel(**{degree: amount.value for degree, amount in amounts.items()})
    tensor, data, experts, stages = (work.of(amounts[degree]) for degree in ("tp", "dp", "ep", "pp"))
    if program in WITHOUT_STAGES:
        message = f"{program} has no pipeline stages in verl, but {{left}}"
        work.check(
            name,
            Equals(code=MODE, source=SOURCE, left=given(stages), right=1, releases=WITHOUT_STAGES[program], message=message, when=when),
        )
    wanted = degrees.tp * degrees.dp
    message = f"{{left}} must be tp x dp = {degrees.tp} x {degrees.dp} = {wanted}, or 1"
    excepted = program == "trtllm" and since(settings, "0.7.1")
    if not excepted:
        whole = Number(wanted, str(wanted))
        work.check(name, Equals(code=MODE, source=SOURCE, left=given(experts), right=given(whole), also=(1,), releases=Range("0.6.0"),
                                message=message, when=when))  # fmt: skip
    _of_trtllm(work, name, program, key, known, when)
    if program == "vllm" and name != APART:
        _of_vllm(work, name, degrees, tensor, data)


def _of_vllm(work: Work, name: str, degrees: Parallel, tensor: Number, data: Number) -> None:
    """vLLM gets its data parallel size only beside expert parallel ranks until 0.8.0 (vllm_async_server.py, launch_server).

    The workers of a replica each wait for a worker of vLLM (vllm_rollout.py, s.recv()), of which there are tp: verl#5607, PR 5609.
    """
    asynchronous = work.settings.word(f"{ROLLOUT}.mode", MODE) != "sync"
    if degrees.dp > 1 and degrees.ep == 1 and asynchronous:
        hybrid = name == "rollout" and work.setup.entry.kind in (Kind.HYBRID, Kind.SEPARATE, Kind.SPLIT)
        size = degrees.tp * degrees.dp
        message = f"vLLM gets {data.text} only with `expert_parallel_size` above 1: "
        message += f"it starts {degrees.tp} of the {size} workers of a replica"
        message += ", and the others wait for ever" if hybrid else ", and the other accelerators idle"
        help_ = (
            f"set `expert_parallel_size` to {size} for a model with experts, or {work.assigned(data.amount.name, 1) if data.amount else ''}"
        )
        edit = data.amount.becomes(1) if data.amount else None
        when = "verl notices this never: the first transfer of weights hangs (verl#5607, mended in 0.8.0)" if hybrid else NEVER
        work.tell(MODE, name, message, data.span, help_, edit, "not given to vLLM", when, proved=hybrid, releases=Range("0.6.1", "0.8.0"))
    per_node = work.amount(_per_node(work, name), DEGREES)
    grouped = degrees.dp > 1 if since(work.settings, "0.8.0") else degrees.ep > 1
    if per_node is None or not grouped or name != "rollout":
        return
    each = min(per_node.value, degrees.replica)
    message = "with data parallel ranks" if since(work.settings, "0.8.0") else "with expert parallel ranks"
    message += f" the {with_noun(each, 'accelerator')} of a server must be a multiple of {{right}}"
    server = Number(each, f"the {with_noun(each, 'accelerator')} of a server")
    work.check(name, Divides(code=DEGREES, source="verl, vllm_async_server.py (launch_server)", left=given(server), right=given(tensor),
                             change="right", releases=Range("0.6.0"), message=message, when=IN_SERVER))  # fmt: skip


def _of_trtllm(work: Work, name: str, program: str, key: Callable[[str], str], known: Engine, when: str) -> None:
    """TensorRT-LLM: no data parallel ranks, one node for a replica until 0.8.0, experts x tensor parallel experts = tp."""
    settings, (parallel, amounts) = work.settings, known
    moe = work.amount(key("moe_tensor_parallel_size"), MODE)
    if program != "trtllm":
        if moe and moe.value > 1 and program:
            message = f"{{left}} is for trtllm alone, but the engine is {program}"
            work.check(
                name,
                Equals(code=MODE, source=SOURCE, left=given(work.of(moe)), right=1, releases=Range("0.7.1"), message=message, when=when),
            )
        return
    if is_teacher(name):
        message = "TensorRT-LLM cannot serve a teacher: verl raises a NotImplementedError"
        work.tell(MODE, name, message, settings.place(key("name")), f"set {settings.assigned(key('name'), 'vllm')}", None, "", when)
    message = "{left} is never given to TensorRT-LLM: its server gets the tensor parallel size alone"
    source = "verl, trtllm_async_server.py (launch_server)"
    never = Equals(
        code=MODE, source=source, left=given(work.of(amounts["dp"])), right=1, message=message, severity=Severity.WARNING, when=NEVER
    )
    work.check(name, never)
    if moe and moe.value > 1 and amounts["ep"].value > 1:
        product = Number(
            moe.value * amounts["ep"].value,
            f"expert x tensor parallel experts = {amounts['ep'].value} x {moe.value} = {moe.value * amounts['ep'].value}",
        )
        tensor = given(work.of(amounts["tp"]))
        message = "{left} must be {right}"
        work.check(
            name, Equals(code=MODE, source=SOURCE, left=given(product), right=tensor, releases=Range("0.7.1"), message=message, when=when)
        )
    per_node = work.amount(_per_node(work, name), DEGREES)
    if per_node is not None and parallel.replica > per_node.value:
        nodes = Number(
            -(-parallel.replica // per_node.value),
            f"a replica of {with_noun(parallel.replica, 'accelerator')} on nodes of {per_node.value}",
            amounts["tp"],
        )
        message = "TensorRT-LLM runs a replica on one node alone, but there is {left}: verl asserts it"
        work.tell(MODE, name, message.format(left=nodes.text), amounts["tp"].span or per_node.span, work.set(amounts["tp"], per_node.value), None,
                  f"{nodes.value} nodes", IN_SERVER, releases=Range("b178a3cd", "0.8.0"))  # fmt: skip


def _parted(work: Work) -> None:
    """Prefill and decode apart. Source: verl, sglang_pd_replica.py and vllm_pd_replica.py (__init__), since 0.8.0 and 0.9.0."""
    settings = work.settings
    if not settings.flag(f"{PARTED}.enabled", MODE) or until(settings, "0.8.0"):
        return
    program, engines = settings.word(f"{ROLLOUT}.name", MODE), ("sglang", "vllm") if since(settings, "0.9.0") else ("sglang",)
    if program and program not in engines:
        message = f"prefill and decode are apart with {' or '.join(engines)} alone, but the engine is {program}: verl raises a ValueError"
        work.tell(MODE, "rollout", message, settings.place(f"{PARTED}.enabled"), f"set {settings.assigned(f'{PARTED}.enabled', False)}",
                  settings.becomes(f"{PARTED}.enabled", "False"), "", IN_WORKERS)  # fmt: skip
    source, refused = "verl, sglang_pd_replica.py, vllm_pd_replica.py", "{left}, but prefill and decode apart allow 1 alone"
    work.check(
        "rollout",
        *(Equals(code=MODE, source=source, left=key, right=1, message=refused, when=AFTER_WEIGHTS)
          for key in (f"{PARTED}.prefill_replicas", f"{ROLLOUT}.data_parallel_size")),
        AtLeast(code=MODE, source=source, left=f"{PARTED}.decode_replicas", right=1, when=IN_WORKERS),
    )  # fmt: skip
    tensor = work.amount(f"{ROLLOUT}.tensor_model_parallel_size", DEGREES)
    per_node = work.amount(_per_node(work, "rollout"), DEGREES)
    size = parted_size(settings, tensor.value) if tensor else 0
    if tensor and per_node and size > per_node.value:
        node = Number(per_node.value, f"the {per_node.value} accelerators of a node", per_node)
        replica = Number(size, f"the {size} of a replica whose prefill and decode are apart")
        work.check("rollout", AtLeast(code=MODE, source=source, left=given(node), right=given(replica), when=AFTER_WEIGHTS))


def _servers(work: Work, name: str, parallel: Parallel, amounts: dict[str, Amount], key: str) -> None:
    """One server for every `min(accelerators of a node, replica)` ranks, whose accelerators must be of one node."""
    pool, per_node, size = work.setup.pool(name), work.amount(key, DEGREES), parallel.replica
    component = work.setup.component(name)
    if (
        pool is None
        or component is None
        or component.runs is None
        or per_node is None
        or not pool.even
        or not pool.size
        or pool.size % size
    ):
        return
    part, each = pool.parts[0].size, min(per_node.value, size)
    at = next((amount.span for amount in amounts.values() if amount.value > 1 and amount.span), per_node.span)
    fitting = [value for value in divisors(pool.size) if _server_fits(pool, part, per_node.value, value * (size // parallel.tp))]
    help_, edit = f"make {work.settings.assigned(key, part)}", None
    if better := next_to(parallel.tp, fitting):
        close = min(better, key=lambda value: abs(value - parallel.tp))
        help_, edit = work.set(amounts["tp"], *better), amounts["tp"].becomes(close)
    said = f"{work.said(per_node)}, which verl takes for the size of a node"
    fixes = dict(component.fixes)
    if size % each:
        message = f"a replica of {name} ({with_noun(size, 'accelerator')}) is no multiple of {said} of `{pool.name}` ({pool.sizes})"
        work.tell(TORN, name, message, at, help_, edit, with_noun(size, "accelerator"), when_served(work, name))
        each = 1  # no server is started
    elif part % each:
        fixes[TORN] = Fix(help_, edit, () if per_node.value == part else (f"a server takes {with_noun(each, 'accelerator')} by {said}",))
    server = replace(component, server=each, fixes=fixes)
    work.setup.components = tuple(server if other is component else other for other in work.setup.components)


def _server_fits(pool: Pool, part: int, per_node: int, size: int) -> bool:
    each = min(per_node, size)
    return pool.size % size == 0 and (part % size == 0 or size % part == 0) and size % each == 0 and part % each == 0


def _split(work: Work, parallel: Parallel, amounts: dict[str, Amount]) -> None:
    """The pool of the reward model is cut by tensor parallel groups alone until 0.7.1."""
    piece = Number(parallel.tp, f"tp {parallel.tp}", amounts["tp"])
    replica = Number(parallel.replica, f"{parallel.replica} ({parallel})", amounts["dp"] if parallel.dp > 1 else amounts["pp"])
    message = "the pool of the reward model is cut into pieces of {right}, but a replica needs {left}"
    if parallel.replica > parallel.tp and replica.amount:
        work.tell(DEGREES, "reward_model", message.format(left=replica.text, right=piece.text), replica.span, work.set(replica.amount, 1),
                  replica.amount.becomes(1), "not counted", when_served(work, "reward_model", IN_SERVER), releases=Range(until="0.7.1"))  # fmt: skip


def mend_degrees(work: Work) -> None:
    """Gives every component that does not divide what would mend it."""
    work.setup.components = tuple(_with_advice(work, _with_fix(work, component)) for component in work.setup.components)


def _with_fix(work: Work, component: Component) -> Component:
    pool, amounts = work.setup.pool(component.name), _amounts(work, component)
    if pool is None or component.parallel.replica == 1 or not amounts:
        return component
    whole = work.is_engine(component.name)
    if _fits(pool, whole, component.parallel.replica):
        return component
    degrees = {name: amount.value for name, amount in amounts.items() if name in TRIED}
    help_, edit = f"give {component.name} a number of accelerators that {component.parallel.replica} divides", None
    for name in (name for name in TRIED if name in degrees and degrees[name] > 1):
        rest = prod(value for other, value in degrees.items() if other != name)
        fitting = [value for value in range(1, pool.size + 1) if _fits(pool, whole, value * rest)]
        if fitting:
            best = min(fitting, key=lambda value: (abs(value - degrees[name]), value))
            help_, edit = work.set(amounts[name], best), amounts[name].becomes(best)
            break
    silent = _defaults(amounts)
    fixes = {DEGREES: Fix(help_, edit, (*silent, _when(work, component.name))), TORN: Fix(help_, edit, silent)}
    return replace(component, fixes={**component.fixes, **fixes})


def _with_advice(work: Work, component: Component) -> Component:
    """What keeps tensor parallel groups inside a node: their size divides every part of the pool."""
    pool, amounts = work.setup.pool(component.name), _amounts(work, component)
    if pool is None or "tp" not in amounts or not pool.size:
        return component
    best = gcd(amounts["tp"].value, *(parts.size for parts in pool.parts))
    if best == amounts["tp"].value:
        return component
    fix = Fix(f"{work.set(amounts['tp'], best)} if the model fits into that", None, _defaults(amounts))
    return replace(component, fixes={**component.fixes, "PW202": fix})


def when_served(work: Work, name: str, otherwise: str = AFTER_WEIGHTS) -> str:
    """When verl starts the servers of a component: those of a reward model in the pool of the trainer come first until 0.7.1."""
    own = work.settings.flag(reward_key(work.settings, "enable_resource_pool"), DEGREES)
    return WITH_REWARD if name == "reward_model" and own is False and until(work.settings, "0.7.1") else otherwise


def _amounts(work: Work, component: Component) -> Mapping[str, Amount]:
    """The degrees of a component, by the names that a Parallel has for them."""
    if work.is_engine(component.name):
        found = engine_of(work.settings, work.setup.entry, component.name)
    else:
        known = component.name in OWNERS
        found = trained(work.settings, OWNERS[component.name], work.setup.section(component.name)) if known else None
    return found[1] if found else {}


def _fits(pool: Pool, whole: bool, size: int) -> bool:
    """True if a replica of this size divides a pool, and lies inside one of its parts or on whole ones where it must."""
    return pool.size % size == 0 and not (whole and any(parts.size % size and size % parts.size for parts in pool.parts))


def _defaults(amounts: Mapping[str, Amount]) -> tuple[str, ...]:
    """Which of the numbers nobody wrote."""
    silent = [amount for amount in amounts.values() if amount.span is None and amount.value > 1 and amount.default]
    return tuple(f"nobody wrote `{amount.name}`; {amount.value} is the default ({amount.default})" for amount in silent)


def _when(work: Work, name: str) -> str:
    if work.is_engine(name):
        return when_served(work, name)
    if name != "actor" or not work.is_checked_at_start:
        return IN_WORKERS
    dynamic = work.settings.flag("actor_rollout_ref.actor.use_dynamic_bsz", DEGREES)
    return UNCHECKED_AT_START if dynamic else AT_START
