"""Pools of each program of verl, from its settings and the release at hand.

Source: verl, verl/trainer/main_ppo.py (init_resource_pool_mgr), trainer/ppo/v1/trainer_base.py (_init_resource_pool_mgr),
experimental/{one_step_off_policy,fully_async_policy,separation,vla}, examples/split_placement, trainer/main_generation_server.py;
verl-recipe, gkd/main_gkd.py.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Callable, Mapping

from ....configuration.settings import Amount
from ....findings.finding import Severity
from ....findings.span import Span
from ....findings.wording import are, with_noun
from ....machines.shorthand import MAX_ACCELERATORS_PER_NODE, MAX_NODES
from ....pools.pool import Parts, Pool
from ....releases.release import Range
from ....text.tree import Mapping as Section
from ..components.parallel import place_of
from ..components.roles import has_critic, has_reference, has_reward_model
from ..configuration import Configuration
from ..entries import Entry, Kind
from ..entries.programs import FULLY_ASYNC, MAIN_PPO
from ..releases import is_apart, reward_key, since, until
from .declared import FIT, MAX_PROCESSES, Declared, measured, number, pool_of, sized
from .listed import listed
from .served import APART, SINGLE_TEACHER, TEACHER, TEACHERS, Engine, engine_of

ROLES, MODE, DEGREES, LEFT, TORN = "PW122", "PW123", "PW208", "PW804", "PW214"
NODES, ACCELERATORS = "trainer.nnodes", "trainer.n_gpus_per_node"
OWN_NODES, OWN_ACCELERATORS = "rollout.nnodes", "rollout.n_gpus_per_node"
GKD = "on_policy_distill_trainer"
OLD_REWARD = ("enable", "enable_resource_pool", "nnodes", "n_gpus_per_node")
OPTIONS = (("--nnodes", "nnodes"), ("--nproc_per_node", "--nproc-per-node"))


def pools_of(settings: Configuration, entry: Entry) -> Declared:
    """Pools of a program; those whose size is unknown are left out."""
    return _MAKERS[entry.kind](settings, entry)


def trained_roles(settings: Configuration, rollout: bool = True) -> tuple[str, ...]:
    """Components that are trained or frozen beside each other."""
    found = ["actor", *(["rollout"] if rollout else [])]
    if has_reference(settings):
        found.append("ref")
    if has_critic(settings):
        found.append("critic")
    return tuple(found)


def one_pool(settings: Configuration, entry: Entry) -> Declared:
    """`global_pool`; pools of the reward model, of teachers and of servers apart where they are wanted."""
    size = sized(settings, NODES, ACCELERATORS)
    own = settings.flag(reward_key(settings, "enable_resource_pool"), ROLES)
    roles = trained_roles(settings)
    _old_reward_model(settings, entry)
    if has_reward_model(settings) and own is False:
        roles = (*roles, "reward_model")
    pools = [pool_of("global_pool", *size, roles, entry.slots) if size else None]
    if own:
        pools.append(_reward_pool(settings, entry))
    taught, ranges = _teachers(settings, entry)
    pools.append(taught)
    if is_apart(settings, entry):
        pools.append(_servers_apart(settings, entry, "actor_rollout_ref.rollout.nnodes", _own_accelerators(settings), APART))
    return Declared(tuple(pool for pool in pools if pool is not None), ranges=ranges)


def _old_reward_model(settings: Configuration, entry: Entry) -> None:
    """Since 0.9.0 main_ppo has a section `reward_model` that nothing reads (45632b5fa)."""
    written = [key for key in OLD_REWARD if settings.at(f"reward_model.{key}") is not None and settings.has(f"reward_model.{key}")]
    if entry.program != MAIN_PPO.program or not written:
        return
    key = f"reward_model.{written[0]}"
    message = f"nothing reads `{key}` since verl 0.9.0: there is no reward model by it, and no word about it"
    settings.notes.judge(
        Range("0.9.0"), Severity.WARNING, MODE, "reward_model", message, settings.place(key), "not read",
        f"write `reward.{key}`", None, "until 0.9.0 verl copied `reward_model.*` to `reward.reward_model.*`",
    )  # fmt: skip


def _own_accelerators(settings: Configuration) -> str:
    """`actor_rollout_ref.rollout.n_gpus_per_node`, which takes the number of the trainer where it is not written (since 0.7.1)."""
    key = "actor_rollout_ref.rollout.n_gpus_per_node"
    return key if settings.at(key) is not None else ACCELERATORS


def _reward_pool(settings: Configuration, entry: Entry) -> Pool | None:
    """`reward_pool`, where its size is known."""
    _reward_pool_has_workers(settings, entry)
    own = reward_key(settings, "enable_resource_pool")
    found = _own_size(settings, reward_key(settings, "nnodes"), reward_key(settings, "n_gpus_per_node"), own, "reward_model")
    if found is None:
        return None
    return pool_of("reward_pool", *found, ("reward_model",) if has_reward_model(settings) else (), entry.slots)


def _own_size(settings: Configuration, nodes: str, accelerators: str, switch: str, subject: str) -> tuple[Amount, Amount] | None:
    """Size of a pool that a switch asks for; an error where one of its numbers is below 1."""
    count, size = number(settings, nodes, MAX_NODES, -(10**9)), number(settings, accelerators, MAX_ACCELERATORS_PER_NODE, -(10**9))
    for amount in (count, size):
        if amount is not None and amount.value < 1:
            default = " (its default)" if amount.span is None else ""
            message = f"`{switch}` is set, but `{amount.name}` is {amount.value}{default}; verl demands more than 0"
            at = amount.span or settings.place(switch)
            settings.notes.error(MODE, subject, message, at, "", f"set `{amount.name}=1` or more", amount.becomes(1))
    if count is None or size is None or count.value < 1 or size.value < 1:
        return None
    return count, size


def _reward_pool_has_workers(settings: Configuration, entry: Entry) -> None:
    """A pool without workers fails until 0.7.1: the reward loop (0.7.0) starts servers of its own and no worker."""
    enabled = has_reward_model(settings)
    loop = settings.flag("reward_model.use_reward_loop", ROLES) if since(settings, "0.7.0") else False
    if since(settings, "0.7.1") or entry.own_trainer or loop is None or enabled is None or (enabled and not loop):
        return
    own = "reward_model.enable_resource_pool"
    why = "the reward loop starts servers, no workers (`reward_model.use_reward_loop`)" if enabled else "`reward_model.enable` is not set"
    message = f"`reward_pool` gets no worker, as {why}; verl raises an IndexError when it makes the worker group of a pool without workers"
    note = "verl notices this after the workers of `global_pool` were created"
    edit = settings.becomes(own, "False")
    settings.notes.error(MODE, "reward_model", message, settings.place(own), "an empty pool", f"set `{own}=False`", edit, note)


def _teachers(settings: Configuration, entry: Entry) -> tuple[Pool | None, dict[str, tuple[int, int]]]:
    """`teacher_pool` of a distillation, and the ranks of each teacher where there are several. Since 0.8.0.

    Source: verl, verl/workers/config/distillation.py (DistillationConfig.__post_init__, _resolve_teacher_models).
    """
    if entry.program not in (MAIN_PPO.program, FULLY_ASYNC.program) or until(settings, "0.8.0"):
        return None, {}
    if not settings.flag("distillation.enabled", ROLES):
        return None, {}
    found = _own_size(settings, "distillation.nnodes", "distillation.n_gpus_per_node", "distillation.enabled", TEACHER)
    if found is None:
        return None, {}
    total = found[0].value * found[1].value
    section = settings.at(TEACHERS)
    names = [line.key.text for line in section if line.key.text != SINGLE_TEACHER] if isinstance(section, Section) else []
    if not names:
        known = engine_of(settings, entry, TEACHER)
        if known is not None:
            _judge_teacher(settings, known, total, found)
        return pool_of("teacher_pool", *found, (TEACHER,), entry.slots), {}
    ranges, needed = _several(settings, entry, names, total, found)
    pool = pool_of("teacher_pool", *found, tuple(ranges), entry.slots)
    return (pool, ranges) if needed == total else (pool_of("teacher_pool", *found, (), entry.slots), {})


def _judge_teacher(settings: Configuration, known: Engine, total: int, found: tuple[Amount, Amount]) -> None:
    """A single teacher takes the whole pool."""
    size, at = known[0].replica, place_of(known[1]) or found[1].span or found[0].span or settings.top
    if total % size:
        message = (
            f"a replica of the teacher ({with_noun(size, 'accelerator')}) must divide `teacher_pool` ({found[0].value} x {found[1].value})"
        )
        help_ = f"set `{known[1]['tp'].name}` to a divisor of {total}"
        settings.notes.error(DEGREES, TEACHER, message, at, f"{total} % {size} = {total % size}", help_, None, _TEACHER_AT)


_TEACHER_AT = "verl notices this when it reads the configuration of the distillation, after the pools were made"


def _several(
    settings: Configuration, entry: Entry, names: list[str], total: int, found: tuple[Amount, Amount]
) -> tuple[dict[str, tuple[int, int]], int]:
    """Ranks of each of several teachers, which together fill the pool; and how many they are."""
    ranges, needed, parts = dict[str, tuple[int, int]](), 0, []
    for name in names:
        path, component = f"{TEACHERS}.{name}", f"{TEACHER}_{name}"
        known, replicas = engine_of(settings, entry, component), settings.whole(f"{path}.num_replicas", DEGREES, 0, least=0)
        if known is None or replicas is None:
            return {}, 0
        for key in ("key", "model_path"):
            if not settings.is_open(f"{path}.{key}", ROLES) and not settings.has(f"{path}.{key}"):
                message = f"teacher `{name}` has no `{key}`, which verl demands of each of several teachers"
                settings.notes.error(MODE, component, message, settings.place(path), "", f"set `+{path}.{key}=`", None, _TEACHER_AT)
        count = replicas.value * known[0].replica
        parts.append(f"{name} {replicas.value} x {known[0].replica}")
        if count:
            ranges[component] = (needed, needed + count - 1)
        needed += count
    if needed != total:
        message = (
            f"the teachers need {with_noun(needed, 'accelerator')} ({', '.join(parts)}), `teacher_pool` has {total}: they must be equal"
        )
        at = settings.place(f"{TEACHERS}.{names[0]}")
        help_ = f"set `num_replicas` of each teacher so that they fill the {total}, or `{found[1].name}`"
        settings.notes.error(DEGREES, TEACHER, message, at, f"{needed} of {total}", help_, None, _TEACHER_AT)
    return ranges, needed


def separate(settings: Configuration, entry: Entry) -> Declared:
    """Pool of the trainer, then that of rollout; since 0.7.1 servers of rollout have pools of their own."""
    trains: tuple[str, ...] = ("actor",) if entry.configuration == GKD else trained_roles(settings, rollout=False)
    scored = has_reward_model(settings) and entry.configuration != GKD
    apart = since(settings, "0.7.1") and entry.configuration != GKD
    trains = (*trains, "reward_model") if scored and not apart else trains
    pools = [measured(settings, entry.trained, NODES, ACCELERATORS, trains, entry.slots)]
    if apart:
        pools.append(_servers_apart(settings, entry, OWN_NODES, OWN_ACCELERATORS, "rollout"))
        if scored:
            keys = (reward_key(settings, "nnodes"), reward_key(settings, "n_gpus_per_node"))
            found = _own_size(settings, *keys, reward_key(settings, "enable"), "reward_model")
            pools.append(_apart(settings, entry, "reward_model", found) if found else None)
        pools.append(_teachers(settings, entry)[0])
    else:
        pools.append(measured(settings, entry.rolled, OWN_NODES, OWN_ACCELERATORS, ("rollout",), entry.slots))
    return Declared(tuple(pool for pool in pools if pool is not None))


def _servers_apart(settings: Configuration, entry: Entry, nodes: str, accelerators: str, component: str) -> Pool | None:
    """Pools of servers, one for each replica."""
    count = number(settings, nodes, MAX_NODES, least=-(10**9))
    if count is not None and count.value < 1:
        message = f"`{nodes}` is {count.value}, but servers with accelerators of their own need at least 1"
        at = count.span or settings.top
        settings.notes.error(MODE, component, message, at, "too few", f"set {settings.assigned(nodes, 1)} or more", count.becomes(1))
        return None
    found = sized(settings, nodes, accelerators)
    return _apart(settings, entry, component, found) if found else None


def _apart(settings: Configuration, entry: Entry, component: str, found: tuple[Amount, Amount]) -> Pool | None:
    known = engine_of(settings, entry, component)
    if known is None:
        return None
    pool = _replicas(settings, entry, component, found, known, known[0].replica)
    if pool is None:
        return None
    pool = replace(pool, name="reward_pool" if component == "reward_model" else entry.rolled)  # one name whatever the sizes are
    return replace(pool, parts=(Parts(found[1].value, found[0].value),)) if found[1].value % known[0].replica == 0 else pool


def in_pieces(settings: Configuration, entry: Entry, declared: Declared) -> Declared:
    """The pools with servers apart one by one: what has no room as whole nodes may have room as replicas, which Ray places each alone."""
    pools = []
    for pool in declared.pools:
        names = [name for name in pool.components if name == APART or (entry.kind is Kind.SEPARATE and name in ("rollout", "reward_model"))]
        known = engine_of(settings, entry, names[0]) if names and since(settings, "0.7.1") else None
        apart = known is not None and pool.name != entry.trained and pool.parts[0].size % known[0].replica == 0
        pools.append(replace(pool, parts=(Parts(known[0].replica, pool.size // known[0].replica),)) if known and apart else pool)
    return declared if tuple(pools) == declared.pools else replace(declared, pools=tuple(pools))


def servers(settings: Configuration, entry: Entry) -> Declared:
    """As many servers as tensor parallel groups have room, each with tp x pp x dp accelerators (main_generation_server)."""
    found, known = sized(settings, NODES, ACCELERATORS), engine_of(settings, entry, "rollout")
    if found is None or known is None:
        return Declared(())
    count, size = found
    machines, total = (Parts(size.value, count.value),), size.value * count.value
    pool = _replicas(settings, entry, "rollout", found, known, known[0].tp)
    if pool is None:
        return Declared((), machines)
    return Declared((pool,), machines if pool.size <= total else ())


def _replicas(
    settings: Configuration, entry: Entry, component: str, found: tuple[Amount, Amount], known: Engine, counted: int
) -> Pool | None:
    """One pool for each server: `counted` accelerators are what verl divides all by, a replica takes tp x dp x pp."""
    (count, size), (parallel, amounts) = found, known
    total, whole = size.value * count.value, parallel.replica
    started, on_node = total // counted, min(size.value, whole)
    at = place_of(amounts) or size.span or count.span or settings.top
    tensor = amounts["tp"]
    if not started:
        message = f"{with_noun(total, 'accelerator')} hold{'s' * (total == 1)} no server of {'tp ' * (counted == parallel.tp)}{counted}"
        help_ = f"set `{tensor.name}` to {total} or less"
        edit = tensor.becomes(total) if counted == tensor.value else None
        settings.notes.error(DEGREES, component, f"{message}: nothing would be generated", at, "", help_, edit)
        return None
    if started * whole > total:
        message = f"verl starts {with_noun(started, 'server')} ({with_noun(total, 'accelerator')} // tp {parallel.tp}), each on {with_noun(whole, 'accelerator')} ({parallel}):"
        message += f" {started * whole} of {total}"
        help_ = f"set `{amounts['dp'].name}` and `{amounts['pp'].name}` to 1"
        settings.notes.warn(LEFT, component, message, at, "only tp is counted", help_)
    elif total % counted:
        left = total - started * whole
        message = f"{with_noun(total, 'accelerator')} // {'tp ' * (counted == parallel.tp)}{counted} {are(started)} {with_noun(started, 'server')}; "
        message += f"{with_noun(left, 'accelerator')} {are(left)} left over"
        settings.notes.warn(LEFT, component, message, at, "rounded down", f"set `{tensor.name}` to a divisor of {total}")
    if whole % on_node:
        message = f"a server of {with_noun(whole, 'accelerator')} ({parallel}) is no multiple of {settings.says(size)}, and verl asserts that it is"
        fitting = max(tp for tp in range(1, size.value + 1) if size.value % tp == 0 and tp <= parallel.tp)
        help_ = f"set `{tensor.name}` so that tp x dp x pp divides {size.value}, or is a multiple of it"
        edit = tensor.becomes(fitting) if parallel.replica == parallel.tp else None
        settings.notes.error(TORN, component, message, at, "", help_, edit)
    if whole % on_node or started * whole > MAX_PROCESSES:
        return None  # the second is said already
    spans = {key: amount.span for key, amount in (("count", count), ("size", size)) if amount.span}
    spans["name"] = at
    name = "rollout_pool_0" if started == 1 else f"rollout_pool_0 to rollout_pool_{started - 1}"
    parts = (Parts(on_node, started * (whole // on_node)),)
    return Pool(name, parts, entry.server_slots, (component,), size.name, count.name, spans)


def halves(settings: Configuration, entry: Entry) -> Declared:
    """Half of each node where there is one node, half of the nodes where there are several; the critic has the second half.

    Source: verl, examples/split_placement/main_ppo_split.py (main_task).
    """
    found = sized(settings, NODES, ACCELERATORS)
    if found is None:
        return Declared(())
    count, size = found
    within = count.value // 2 == 0 and size.value // 2 > 0
    part = Parts(size.value // 2, count.value) if within else Parts(size.value, count.value // 2)
    machines = (Parts(size.value, count.value),)
    halved = size if within else count
    at = halved.span or settings.top
    if not part.count:
        message = f"one accelerator ({settings.says(count)}, {settings.says(size)}) cannot be split: both pools would be empty, and verl raises an IndexError"
        settings.notes.error(MODE, entry.trained, message, at, "", f"set `{ACCELERATORS}=2`", size.becomes(2))
        return Declared((), machines)
    if halved.value % 2:
        each = (
            f"{with_noun(size.value, 'accelerator')} of a node"
            if halved is count
            else f"an accelerator of each of {with_noun(count.value, 'node')}"
        )
        message = f"{settings.says(halved)} is halved and rounded down: {each} belong to no pool"
        settings.notes.warn(LEFT, entry.trained, message, at, "odd", f"set `{halved.name}` to an even number")
    spans: dict[str, Span] = {key: amount.span for key, amount in (("count", count), ("size", size)) if amount.span}
    if spans:
        spans["name"] = next(iter(spans.values()))
    first = ("actor", "rollout", *(("ref",) if has_reference(settings) else ()))
    second = (*(("critic",) if has_critic(settings) is not False else ()), *(("reward_model",) if has_reward_model(settings) else ()))
    _critic_pool_has_workers(settings, entry)
    pools = tuple(
        Pool(name, (part,), entry.slots, roles, size.name, count.name, spans)
        for name, roles in ((entry.trained, first), (entry.rolled, second))
    )
    return Declared(pools, machines)


def _critic_pool_has_workers(settings: Configuration, entry: Entry) -> None:
    """The second half is the critic's; a pool without a worker fails."""
    loop = settings.flag("reward_model.use_reward_loop", ROLES)
    if has_critic(settings) is not False or loop is None or (has_reward_model(settings) is not False and not loop):
        return
    key, value = ("critic.enable", "True") if settings.at("critic.enable") else ("algorithm.adv_estimator", "gae")
    message = (
        f"there is no critic, so `{entry.rolled}` gets no worker: verl raises an IndexError when it makes the worker group of the pool"
    )
    help_ = f"set {settings.assigned(key, value)}, or run `{MAIN_PPO.program}`, which has one pool"
    note = f"verl notices this after the workers of `{entry.trained}` were created"
    settings.notes.error(MODE, "critic", message, settings.place(key), "no critic", help_, settings.becomes(key, value), note)


def simulation(settings: Configuration, entry: Entry) -> Declared:
    """`train_rollout_pool` and `env_gpu_pool`; simulators on the same nodes unless they are to be apart."""
    apart = settings.flag("env.disagg_sim.enable", ROLES)
    for key in ("trainer.n_rollout_gpus_per_node", "trainer.n_env_gpus_per_node"):
        if settings.at(key) is None and settings.notes.document.program is not None:
            settings.notes.missing("trainer", key.removeprefix("trainer."), settings.top, f"add `+{key}=` with a number")
    slots = entry.slots
    trained = measured(settings, entry.trained, NODES, "trainer.n_rollout_gpus_per_node", ("actor", "rollout"), slots)
    if apart is None:
        return Declared((trained,) if trained else ())
    nodes = "env.disagg_sim.nnodes" if apart else NODES
    simulated = measured(settings, entry.rolled, nodes, "trainer.n_env_gpus_per_node", ("env",), slots)
    if apart:
        why = "each pool wants nodes with a resource of its own (`train_rollout` and `sim`), which a cluster file does not tell"
        settings.notes.unsure(FIT, entry.rolled, why)
    pools = tuple(pool for pool in (trained, simulated) if pool is not None)
    shared = len(pools) == 2 and not apart
    return Declared(pools, (Parts(sum(pool.parts[0].size for pool in pools), pools[0].count),) if shared else ())


def single(settings: Configuration, entry: Entry) -> Declared:
    """The one pool of a program that generates, or that fine-tunes."""
    component = "rollout" if entry.kind is Kind.GENERATION else "actor"
    pool = measured(settings, "the pool", NODES, ACCELERATORS, (component,), entry.slots)
    return Declared((pool,) if pool else ())


def processes(settings: Configuration, entry: Entry) -> Declared:
    """Processes that torchrun starts: no pools of Ray, but as many processes on each of as many nodes."""
    program = settings.notes.document.program
    if program is None:
        pool = measured(settings, "torchrun", NODES, ACCELERATORS, ("actor",), 0)
        why = "torchrun is told apart from the configuration how many processes there are"
        settings.notes.unsure(FIT, "actor", why, True, "Verify the script that starts it")
        return Declared((pool,) if pool else ())
    options = dict(program.options)
    found = []
    for names, most in zip(OPTIONS, (MAX_NODES, MAX_ACCELERATORS_PER_NODE)):
        name = next((name for name in names if name in options), names[0])
        text = options.get(name, "1")
        if not (text.isascii() and text.isdecimal() and len(text) < 8 and 0 < int(text) <= most):
            why = f"`{name}` is {f'`{text[:40]}`, which is no such number' if text else 'not known here'}"
            settings.notes.unsure(FIT, "actor", why, True, f"Write a number for `{name}`")
            return Declared(())
        found.append(Amount(int(text), name, None, "" if name in options else "torchrun"))
    count, size = found
    pool = Pool("torchrun", (Parts(size.value, count.value),), 0, ("actor",), size.name, count.name, {"name": program.span})
    return Declared((pool,))


_MAKERS: Mapping[Kind, Callable[[Configuration, Entry], Declared]] = {
    Kind.HYBRID: one_pool,
    Kind.SEPARATE: separate,
    Kind.SPLIT: halves,
    Kind.SIMULATION: simulation,
    Kind.SERVER: servers,
    Kind.GENERATION: single,
    Kind.TUNING: single,
    Kind.PROCESSES: processes,
    Kind.DECLARED: listed,
    Kind.NOTHING: lambda settings, entry: Declared(()),
}
