"""Inference engines and modes: refused settings, accelerators of servers, strategies of the program.

Source: verl, verl/workers/config/{rollout,actor,critic}.py (__post_init__),
verl/workers/rollout/replica.py (RolloutReplica),
verl/workers/rollout/{vllm,sglang,trtllm}_rollout/*_async_server.py,
experimental/reward_loop/reward_model.py, verl/utils/config.py (validate_config),
verl/workers/engine_workers.py (ActorRolloutRefWorker.init_model), verl/trainer/main_ppo.py (TaskRunner),
verl/trainer/ppo/ray_trainer.py (RayPPOTrainer.__init__, init_workers), verl/trainer/ppo/v1/trainer_*.py,
verl/experimental/*/ (create_role_worker_mapping).
"""

from __future__ import annotations

from dataclasses import replace
from math import gcd, prod
from typing import Mapping

from ....component import Parallel
from ....configuration.settings import Amount
from ....findings.finding import Fix, Severity
from ....findings.wording import with_noun
from ....pools import Pool
from ....releases.release import ALWAYS, Range
from ....text.tree import MANDATORY, Scalar
from ...checks import MULTIPLE, AtLeast, Number, Requires, divisors, find_near, set_to
from ..degrees import APART, PARTED, Degrees, engine_key, engine_of, is_engine, is_teacher
from ..programs import FULLY_ASYNC, MOMENTS, TRAINERS, ProgramKind, configurations
from .work import ACCELERATORS, ACTOR, DEGREES, MODE, NUMBERS, REFERENCE, ROLLOUT, TORN, VerlWork

ACTORS, CRITICS, REFERENCES = f"{ACTOR}.strategy", "critic.strategy", f"{REFERENCE}.strategy"
FSDP, KNOWN = ("fsdp", "fsdp2"), ("fsdp", "fsdp2", "megatron")
PIPELINE = "pipeline_model_parallel_size"
STEPS = "trainer.v1.separate_async.parameter_sync_step"


def judge_engines(work: VerlWork) -> None:
    """Check the engines of rollout, reward model and teachers."""
    settings, entry, setup = work.settings, work.entry, work.setup
    if entry.kind is ProgramKind.SIMULATION:  # rollout is part of the actor, and no server is started
        setup.components = tuple(replace(component, server=1) for component in setup.components)
    # An engine's refusals do not depend on the number of accelerators.
    for name in work.served if entry.kind in (*TRAINERS, ProgramKind.SERVER) else ():
        if (degrees := engine_of(settings, name)) is not None:
            if name != APART:
                _check_refused(work, name, degrees)
                _context(work, name)
            _servers(work, name, *degrees)
    if work.parts:
        _check_parted(work)


def _check_parted(work: VerlWork) -> None:
    """Check that prefill and decode of a replica fit on a node. Source: verl, sglang_pd_replica.py, vllm_pd_replica.py."""
    (tensor, width, replicas), per_node, pool = work.parts, _per_node(work, "rollout"), work.setup.pool("rollout")
    size = tensor.value + replicas.value * width.value if tensor and width and replicas else 0
    if replicas and width and tensor and per_node and size > per_node.value:
        most = (per_node.value - tensor.value) // width.value
        help_, edit = (work.set(replicas, most), replicas.becomes(most)) if most > 0 else ("", None)
        message = f"prefill and decode of a replica take {with_noun(size, 'accelerator')}, but {work.text(per_node)} must hold them"
        note = f"{size}: prefill {tensor.value} + {replicas.value} x decode {width.value}"
        work.report(DEGREES, "rollout", message, replicas.span, help_, edit, "", note, "IN_WORKERS", releases=Range("0.8.0"))
    elif not (size and per_node and pool and pool.parts[0].size % size == 0 and work.settings.plain(f"{ROLLOUT}.{PIPELINE}", 1) == 1):
        why = "prefill and decode are apart: the accelerators of a replica are not checked"
        work.settings.say(PARTED, DEGREES, why, True, "Count its accelerators yourself")


def _per_node(work: VerlWork, name: str) -> Amount | None:
    """Return the number that verl takes for the accelerators of a node."""
    settings, own_key = work.settings, f"{ROLLOUT}.n_gpus_per_node"
    key = own_key if settings.since("0.7.1") and settings.at(own_key) is not None else ACCELERATORS
    if is_teacher(name):
        key = "distillation.n_gpus_per_node"
    elif name == "reward_model":
        has_own_pool = settings.flag(settings.reward_key("enable_resource_pool"), DEGREES)
        key = settings.reward_key("n_gpus_per_node") if has_own_pool else ACCELERATORS
    elif work.entry.kind is ProgramKind.SEPARATE:
        key = "rollout.n_gpus_per_node" if settings.since("0.7.1") else ACCELERATORS
    return work.amount(key, DEGREES)


def _check_refused(work: VerlWork, name: str, degrees: Degrees) -> None:
    """Report degrees that an engine refuses or never gets; see facts/demands.json too."""
    (parallel, amounts), key = degrees, engine_key(work.settings, name)
    program = work.settings.word(key("name"), MODE)
    if program == "trtllm":
        _check_trtllm(work, name, degrees)
    elif program == "vllm":
        _check_vllm(work, name, amounts)
    # Until 0.7.1 only tp divides its pool.
    if name == "reward_model" and parallel.replica > parallel.tp:
        message = f"the pool of the reward model is cut into pieces of tp {parallel.tp}, but a replica needs {parallel.replica}"
        excess = amounts["dp" if parallel.dp > 1 else "pp"]
        work.report(DEGREES, name, message, excess.span, work.set(excess, 1), excess.becomes(1), "not counted",
                  when_served(work, name, "IN_SERVER"), releases=Range(until="0.7.1"))  # fmt: skip


def _context(work: VerlWork, name: str) -> None:
    """Check that an engine takes prompt and response, and a teacher a token more.

    Source: verl, until 0.7.0 verl/workers/rollout/vllm_rollout/vllm_rollout_spmd.py (__init__) and
    sglang_rollout/sglang_rollout.py (_verify_config), in the processes of the workers;
    verl/workers/config/distillation.py (validate_and_prepare_for_distillation). The servers of vLLM
    never get `enable_chunked_prefill=False`, and chunk (vllm_async_server.py, build_cli_args_from_config).
    """
    key, settings = engine_key(work.settings, name), work.settings
    prompt, response = (work.amount(key(f"{part}_length"), NUMBERS) for part in ("prompt", "response"))
    in_workers = name == "rollout" and settings.is_older_than("0.7.0") and settings.word(key("mode"), MODE) in ("sync", "")
    if not prompt or not response or not (is_teacher(name) or (in_workers and work.entry.kind in TRAINERS)):
        return
    program, max_length = settings.word(key("name"), MODE), work.amount(key("max_model_len"), NUMBERS)
    tokens = prompt.value + response.value + is_teacher(name)
    note = f"{tokens} tokens: {work.text(prompt)} + {work.text(response)}" + " + 1" * is_teacher(name)
    demand, when = Number(tokens, f"the {tokens} tokens of a sample", note=note), "WITH_TEACHERS" if is_teacher(name) else "IN_WORKERS"
    is_chunked, severity, why = settings.flag(key("enable_chunked_prefill"), MODE), Severity.ERROR, ""
    if program == "vllm" and in_workers and (is_chunked or (is_chunked is False and settings.has(key("enable_chunked_prefill")))):
        limit, demand = work.number(key("max_num_batched_tokens"), NUMBERS), work.of(max_length) or demand
        if not is_chunked:
            severity, when, why = Severity.WARNING, "", "vLLM refuses that without chunked prefill, unless its V1 engine runs, which chunks"
    else:
        limit = work.of(max_length) if is_teacher(name) or (program == "sglang" and settings.since("0.4.0")) else None
    work.check(name, AtLeast(code=NUMBERS, source="verl, verl/workers/rollout/", left=limit, right=demand, when=when,
                             severity=severity, why=why, message="{left} is less than {right}"))  # fmt: skip


def _check_vllm(work: VerlWork, name: str, amounts: Mapping[str, Amount]) -> None:
    """Report data parallel ranks that vLLM never gets: until 0.8.0 without expert parallel ranks.

    The workers of a replica each wait for a worker of vLLM, of which there are tp. Source: verl,
    vllm_async_server.py (launch_server), vllm_rollout.py (s.recv()), verl#5607, PR 5609.
    """
    tp, dp, ep = (amounts[degree] for degree in ("tp", "dp", "ep"))
    if dp.value > 1 and ep.value == 1 and work.settings.word(f"{ROLLOUT}.mode", MODE) != "sync":
        hybrid, size = name == "rollout" and work.entry.kind in TRAINERS, tp.value * dp.value
        message = f"vLLM gets {work.text(dp)} only with `expert_parallel_size` above 1"
        why = f"vLLM starts {tp.value} of {size} workers, the others {'wait for ever' if hybrid else 'idle'}"
        help_ = f"set {work.spell(dp.name, 1)}, or {work.spell(ep.name, size)} for a model with experts"
        when = "verl notices this never: the first transfer of weights hangs (verl#5607, fixed in 0.8.0)" if hybrid else "NEVER"
        work.report(MODE, name, message, dp.span, help_, dp.becomes(1), "not given to vLLM", why, when, is_proved=hybrid,
                  releases=Range("0.6.1", "0.8.0"))  # fmt: skip
    per_node, newer = _per_node(work, name), work.settings.since("0.8.0")
    if per_node is not None and name == "rollout" and (dp if newer else ep).value > 1:
        size = min(per_node.value, tp.value * dp.value * amounts["pp"].value)
        why = f"with {'data' if newer else 'expert'} parallel ranks verl demands whole groups on a server"
        server = Number(size, f"the {with_noun(size, 'accelerator')} of a server", note=why)
        work.divides(name, DEGREES, server, tp, "IN_SERVER", (), MULTIPLE, change="right", releases=Range("0.6.0"),
                     source="verl, vllm_async_server.py (launch_server)")  # fmt: skip


def _check_trtllm(work: VerlWork, name: str, degrees: Degrees) -> None:
    """Check the single node of TensorRT-LLM until 0.8.0."""
    per_node, size, tensor = _per_node(work, name), degrees[0].replica, degrees[1]["tp"]
    if per_node is not None and size > per_node.value:
        message = f"TensorRT-LLM runs a replica on one node alone, but it has {with_noun(size, 'accelerator')}, a node {per_node.value}"
        work.report(MODE, name, message, tensor.span or per_node.span, work.set(tensor, per_node.value), None,
                  f"{-(-size // per_node.value)} nodes", "IN_SERVER", releases=Range("b178a3cd", "0.8.0"))  # fmt: skip


def _servers(work: VerlWork, name: str, parallel: Parallel, amounts: Mapping[str, Amount]) -> None:
    """Check that each server of `min(accelerators of a node, replica)` ranks is on one node."""
    pool, per_node, size = work.setup.pool(name), _per_node(work, name), parallel.replica
    component = work.setup.component(name)
    if pool is None or component is None or component.runs is None or per_node is None:
        return
    if pool.size % size:
        return
    part_size, server_size = pool.parts[0].size, min(per_node.value, size)

    def fits(replica: int) -> bool:
        server = min(per_node.value, replica)
        whole = pool.size % replica == 0 and (part_size % replica == 0 or replica % part_size == 0)
        return whole and replica % server == 0 and part_size % server == 0

    help_, edit = f"make {work.spell(per_node.name, part_size)}", None
    tensor, tp = amounts["tp"], parallel.tp
    fitting = [value for value in divisors(pool.size) if fits(value * (size // tp))]
    # Heads that divide by a power of 2 rarely divide by other numbers.
    if better := find_near(tp, [value for value in fitting if tp & (tp - 1) or not value & (value - 1)]):
        help_, edit = set_to(work, tensor, better)
    fixes = dict(component.fixes)
    if size % server_size:
        at = next((amount.span for amount in amounts.values() if amount.value > 1 and amount.span), per_node.span)
        message = f"a replica of {name} ({with_noun(size, 'accelerator')}) is not a multiple of {work.text(per_node)}"
        why = f"verl takes `{per_node.name}` for the size of a node of `{pool.name}` ({pool.sizes})"
        work.report(TORN, name, message, at, help_, edit, with_noun(size, "accelerator"), why, when_served(work, name))
        server_size = 1  # no server starts
    elif part_size % server_size:
        by = f"{work.text(per_node)}, which verl takes for the size of a node"
        note = f"a server takes {with_noun(server_size, 'accelerator')} by {by}"
        fixes[TORN] = Fix(help_, edit, () if per_node.value == part_size else (note,))
    work.setup.change(component, replace(component, server=server_size, fixes=fixes))


def fix_degrees(work: VerlWork) -> None:
    """Give components the fixes of degrees for replicas that do not divide the pool."""
    for component in work.setup.components:
        pool, setup_degrees = work.setup.pool(component.name), work.setup.degrees(component.name)
        if pool is None or setup_degrees is None or not setup_degrees[1]:
            continue
        amounts, fixes, size = setup_degrees[1], dict(component.fixes), component.parallel.replica
        part_size, is_served = pool.parts[0].size, is_engine(work.settings, component.name)
        unset = [amount for amount in amounts.values() if amount.span is None and amount.value > 1 and amount.default]
        silent = tuple(f"`{amount.name}` is unset, {amount.value} is the default ({amount.default})" for amount in unset)

        def fits(size: int, pool: Pool = pool, part_size: int = part_size, is_served: bool = is_served) -> bool:
            return pool.size % size == 0 and not (is_served and part_size % size and size % part_size)

        if not fits(size):
            degrees = {name: amounts[name].value for name in ("tp", "pp", "cp", "dp") if name in amounts}
            help_, edit = f"give {component.name} a number of accelerators that {size} divides", None
            for name in (name for name in degrees if degrees[name] > 1):
                rest = prod(value for degree, value in degrees.items() if degree != name)
                if fitting := [value for value in range(1, pool.size + 1) if fits(value * rest)]:
                    best = min(fitting, key=lambda value: (abs(value - degrees[name]), value))
                    help_, edit = work.set(amounts[name], best), amounts[name].becomes(best)
                    break
            when = when_served(work, component.name) if is_served else work.when_divided(component.name)
            fixes |= {DEGREES: Fix(help_, edit, (*silent, MOMENTS[when])), TORN: Fix(help_, edit, silent)}
        # Tensor parallel groups stay inside a node if their size divides the parts of the pool.
        tensor = amounts.get("tp")
        if tensor and pool.size and (best := gcd(tensor.value, part_size)) != tensor.value:
            fixes["PW202"] = Fix(f"{work.set(tensor, best)} if the model fits into that", None, silent)
        work.setup.change(component, replace(component, fixes=fixes))


def when_served(work: VerlWork, name: str, otherwise: str = "AFTER_WEIGHTS") -> str:
    """Return the moment when verl starts servers; a pooled reward model is first until 0.7.1."""
    has_own_pool = work.settings.flag(work.settings.reward_key("enable_resource_pool"), DEGREES)
    return "WITH_REWARD" if name == "reward_model" and has_own_pool is False and work.settings.is_older_than("0.7.1") else otherwise


# -- modes and strategies


def judge_modes(work: VerlWork) -> None:
    """Check the modes of programs with roles."""
    if work.entry.kind in (*TRAINERS, ProgramKind.SERVER):
        _engines(work)
    if work.entry.kind in (*TRAINERS, ProgramKind.SIMULATION):
        _strategies(work)
        _configuration(work)
    if work.entry.kind is ProgramKind.SEPARATE and not work.entry.own_trainer and work.settings.since("0.7.1"):
        _check_separate(work)


def _engines(work: VerlWork) -> None:
    """Check that inference engines have a name: there is no default."""
    settings = work.settings
    for name in work.served:
        key, when = engine_key(settings, name)("name"), when_served(work, name, "IN_WORKERS")
        when = "BEFORE_WORKERS" if work.entry.kind is ProgramKind.SERVER else when
        node = settings.at(key) if settings.notes.document.settings and not work.entry.own_trainer else None
        is_left_out = isinstance(node, Scalar) and node.text == MANDATORY  # a command line has all that is given
        is_open = not is_left_out and settings.is_open(key, MODE)
        if work.is_whole and not is_open and (is_left_out or settings.word(key, MODE) in ("", MANDATORY)):
            work.report(MODE, name, f"`{key}` is not set, and has no default", None, f"set {work.spell(key, 'vllm')}", None, "", when)


def _strategies(work: VerlWork) -> None:
    """Check that strategies of actor and critic agree, in some releases."""
    settings, kind = work.settings, work.entry.kind
    # Agreement: main_ppo until 0.6.0, trainers with two pools until 0.7.1, split placement always.
    agreement = {ProgramKind.HYBRID: Range(until="0.6.0"), ProgramKind.SEPARATE: Range(until="0.7.1")}.get(kind, ALWAYS)
    actor, critic = settings.word(ACTORS, MODE), settings.word(CRITICS, MODE)
    compatible = FSDP if kind in (ProgramKind.SPLIT, ProgramKind.HYBRID) and actor in FSDP else (actor,)
    is_known = actor in settings.words("strategies") and (work.is_said(CRITICS) or work.is_said(ACTORS))
    if actor and is_known and critic and critic not in compatible:
        suffix = "" if settings.at(CRITICS) is not None else " (its default)"
        message = f"`{CRITICS}` is {critic}{suffix} and `{ACTORS}` is {actor}: they must be the same"
        at = settings.place(CRITICS if settings.at(CRITICS) else ACTORS)
        work.demand(MODE, "critic", message, CRITICS, actor, "BEFORE_WORKERS", "differs", at=at, releases=agreement)


def _configuration(work: VerlWork) -> None:
    """Check the strategy against the configuration: with sections of FSDP or of Megatron."""
    settings, table = work.settings, work.settings.table
    if table is None or not work.is_whole:
        return
    # Since 0.8.0 the reference's engine has a strategy of its own, but the configuration of FSDP.
    has_own_strategy = settings.since("0.8.0") and settings.word(REFERENCES, MODE) == "megatron" != settings.word(ACTORS, MODE)
    for name, key in (("actor", ACTORS), ("critic", CRITICS), *([("ref", REFERENCES)] if has_own_strategy else [])):
        word, default = settings.word(key, MODE), table.defaults.get(ACTORS if name == "ref" else key)
        owner, megatron = key.removesuffix(".strategy"), word == "megatron"
        if default is None or work.setup.component(name) is None:
            continue
        message = f"`{key}` is {word}, but the configuration `{table.name}` is for {default.value}"
        if choice := work.missing_group(owner):
            help_ = f"set `{choice}`, which makes `{owner}.{word}` too"
            work.report(MODE, name, message, settings.place(key), help_, None, "", "IN_WORKERS")
        section = f"{owner}.megatron" if megatron else settings.fsdp_section(owner)
        if word in KNOWN and megatron is not (default.value == "megatron") and settings.at(section) is None:
            first = megatron and name == "actor" and work.is_checked_at_start and settings.flag(f"{ACTOR}.use_dynamic_bsz", MODE) is False
            options = configurations().options(table.name, settings.choice.release.index)
            choice = f"`model_engine={word}`" if f"model_engine={word}" in options else f"a configuration for {word}"
            help_ = f"start with {choice}, or set {work.spell(key, default.value)}"
            edit = settings.becomes(key, str(default.value))
            work.report(MODE, name, message, settings.place(key), help_, edit, "", "AT_START" if first else "IN_WORKERS")


def _check_separate(work: VerlWork) -> None:
    """Check what trainers with servers apart lack: critics, and reward models beside them.

    Source: verl, experimental/separation/ray_trainer.py (_create_critic_class) and utils.py
    (create_role_worker_mapping), one_step_off_policy/ray_trainer.py and fully_async_trainer.py
    (_init_models), fully_async_rollouter.py (__init__; trainer as rollout since `ActorRollout`).
    """
    settings, degrees = work.settings, engine_of(work.settings, "rollout")
    enable_key, pool_key = map(settings.reward_key, ("enable", "enable_resource_pool"))
    key = "critic.enable" if settings.has("critic.enable") else "algorithm.adv_estimator"
    if work.setup.component("critic") and not work.is_said(key):
        work.notes.unsure(MODE, "critic", f"`{key}` is not in this file; the command line may set it")
    elif work.setup.component("critic"):
        message = "this program has no workers that train a critic"
        help_ = f"choose an estimator without one, such as {work.spell('algorithm.adv_estimator', 'grpo')}"
        work.report(MODE, "critic", message, settings.place(key), help_, None, "a critic", "WITH_CRITIC")
    if work.setup.component("reward_model"):
        if work.entry.program == FULLY_ASYNC and settings.since("0.8.0"):
            message = "servers apart never pause, so a reward model needs a pool of its own: verl asserts it"
            source = "verl, fully_async_policy/fully_async_rollouter.py (__init__)"
            work.check("reward_model", Requires(code=MODE, source=source, key=pool_key, value=True, message=message, when="IN_ROLLOUTER"))
        else:
            message = "this program places no reward model in this release: verl raises a KeyError"
            work.demand(MODE, "reward_model", message, enable_key, False, "WITH_TRAINER")
    keys = ("async_training.use_trainer_do_validate", "async_training.use_dynamic_resource_scheduling")
    ranks = work.setup.world_size("actor") if any(settings.has(key) and settings.flag(key, DEGREES) for key in keys) else None
    if ranks and degrees is not None:
        (parallel, amounts), message = degrees, "{left} cannot be divided into {right}"
        trainer = Number(ranks, f"the {ranks} ranks of the trainer, which generates too,")
        replica = Number(parallel.replica, f"replicas of {parallel.replica}", amounts["tp"] if parallel.replica == parallel.tp else None)
        work.divides("rollout", DEGREES, trainer, replica, "AFTER_WEIGHTS", (), message, change="right",
                     source="verl, verl/workers/engine_workers.py")  # fmt: skip
