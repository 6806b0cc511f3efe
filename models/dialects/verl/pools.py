"""Pools of verl's programs, from their settings and the selected release.

Source: verl, verl/trainer/main_ppo.py (init_resource_pool_mgr), trainer/ppo/v1/trainer_base.py
(_init_resource_pool_mgr), experimental/{one_step_off_policy,fully_async_policy,separation,vla},
examples/split_placement, trainer/main_generation_server.py; verl-recipe, gkd/main_gkd.py.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Callable, Mapping, Sequence

from ...configuration.settings import Amount
from ...findings.finding import error
from ...findings.span import Span
from ...findings.wording import are, with_noun
from ...machines.shorthand import MAX_ACCELERATORS_PER_NODE, MAX_NODES
from ...pools import DeclaredPools, Pool, PoolParts, Ranges
from ...text.tree import MapNode
from ..pool_capacity import why_torn
from .configuration import Configuration
from .degrees import APART, SINGLE_TEACHER, TEACHER, TEACHERS, Degrees, engine_of, place_of
from .programs import DRAFT, FULLY_ASYNC, MAIN_PPO, MOMENTS, SPEC, ProgramKind, module_of

MAX_PROCESSES = 1 << 20
"""Limit on the accelerators of a pool; our own, far above any job."""
FIT, ROLES, MODE, DEGREES, LEFT, TORN = "PW215", "PW122", "PW123", "PW208", "PW804", "PW214"
NODES, ACCELERATORS = "trainer.nnodes", "trainer.n_gpus_per_node"
OWN_NODES, OWN_ACCELERATORS = "rollout.nnodes", "rollout.n_gpus_per_node"
_WITH_TEACHERS = MOMENTS["WITH_TEACHERS"]
Size = tuple[Amount, Amount]
"""(nodes, accelerators per node)."""


# -- sizes


def number(settings: Configuration, key: str, most: int, minimum: int = 1) -> Amount | None:
    """Return a number of nodes or accelerators; None, with a finding, if wrong."""
    amount = settings.whole(key, FIT, minimum=minimum, exact=True)
    if amount is None or amount.value <= most:
        return amount
    _report_too_many(settings, key, f"`{key}` is {amount.value:,}; more than {most:,} are not read", amount)
    return None


def _report_too_many(settings: Configuration, key: str, message: str, amount: Amount) -> None:
    at = amount.span or settings.top
    settings.notes.findings.append(error("PW002", key, message, at, label="too many", help="write a smaller number"))


def read_size(settings: Configuration, nodes: str = NODES, accelerators: str = ACCELERATORS) -> Size | None:
    """Return the size of a pool; None if unknown or too large."""
    count, size = number(settings, nodes, MAX_NODES), number(settings, accelerators, MAX_ACCELERATORS_PER_NODE)
    if count is None or size is None or _may_be_set_elsewhere(settings, (count, size)):
        return None
    if count.value * size.value > MAX_PROCESSES:
        message = f"{settings.says(count)} and {settings.says(size)} are more than {MAX_PROCESSES:,} accelerators"
        _report_too_many(settings, nodes, message, count if count.span else size)
        return None
    return count, size


def _may_be_set_elsewhere(settings: Configuration, amounts: Sequence[Amount]) -> bool:
    """Return True, with a note, if an unknown argument may replace a default size."""
    program = settings.notes.document.program
    unwritten = [amount.name for amount in amounts if amount.span is None]
    is_open = any(item.rule == "PW122" and item.decides for item in settings.notes.document.unchecked)
    if program is None or not program.name or not is_open or not unwritten:
        return False
    why = f"`{unwritten[0]}` is not among the known settings, and an argument that is not known may set it"
    settings.notes.unsure(FIT, unwritten[0], why, True, f"Pass `--set {unwritten[0]}=VALUE`")
    return True


def _own_size(settings: Configuration, nodes: str, accelerators: str, switch: str, subject: str) -> Size | None:
    """Return the size of an optional pool; add an error for numbers below 1."""
    count, size = number(settings, nodes, MAX_NODES, -(10**9)), number(settings, accelerators, MAX_ACCELERATORS_PER_NODE, -(10**9))
    for amount in (count, size):
        if amount is not None and amount.value < 1:
            default = " (its default)" if amount.span is None else ""
            message = f"`{switch}` is set, but `{amount.name}` is {amount.value}{default}"
            at, help_ = amount.span or settings.place(switch), f"set `{amount.name}=1` or more"
            settings.notes.error(MODE, subject, message, at, "", help_, amount.becomes(1), "verl demands more than 0")
    return (count, size) if count and size and count.value > 0 and size.value > 0 else None


def pool_of(name: str, pool_size: Size, components: Sequence[str], slots: int, at: Span | None = None) -> Pool:
    """Build a pool at a place, by default at its number of accelerators."""
    count, size = pool_size
    spans = {key: amount.span for key, amount in (("count", count), ("size", size)) if amount.span}
    if place := at or size.span or count.span:
        spans["name"] = place
    return Pool(name, (PoolParts(size.value, count.value),), slots, tuple(components), size.name, count.name, spans)


def _pools(settings: Configuration, *pools: tuple[str, Size | None, Sequence[str]]) -> tuple[Pool, ...]:
    """Build the pools of a known size, of (name, size, components)."""
    return tuple(pool_of(name, size, components, settings.entry.slots) for name, size, components in pools if size)


# -- pools that train


def _roles(settings: Configuration, *first: str) -> list[str]:
    """Return the components trained or frozen in a single pool."""
    reference, critic = settings.has_reference, settings.has_critic
    return [*first, *(["ref"] if reference else []), *(["critic"] if critic else [])]


def shared_pool(settings: Configuration) -> DeclaredPools:
    """Return `global_pool`, and separate pools of reward model, teachers and servers."""
    size, has_own_pool = read_size(settings), settings.flag(settings.reward_key("enable_resource_pool"), ROLES)
    roles = _roles(settings, "actor", "rollout")
    if settings.has_reward_model and has_own_pool is False:
        roles.append("reward_model")
    pools = (*_pools(settings, ("global_pool", size, roles)), *(_reward_pool(settings) if has_own_pool else ()))
    teachers, ranges = _teachers(settings)
    servers: tuple[Pool, ...] = ()
    if settings.is_apart:
        # Unset, the key takes the trainer's number (since 0.7.1).
        key = "actor_rollout_ref.rollout.n_gpus_per_node"
        key = key if settings.at(key) is not None else ACCELERATORS
        servers = _servers_apart(settings, "actor_rollout_ref.rollout.nnodes", key, APART)
    return DeclaredPools((*pools, *teachers, *servers), ranges=ranges)


def _reward_pool(settings: Configuration) -> tuple[Pool, ...]:
    """Return `reward_pool`; until 0.7.1 it fails without workers, as with the reward loop."""
    pool_key, is_enabled = settings.reward_key("enable_resource_pool"), settings.has_reward_model
    loop = settings.flag("reward_model.use_reward_loop", ROLES) if settings.since("0.7.0") and settings.is_older_than("0.7.1") else False
    works = settings.since("0.7.1") or settings.entry.own_trainer or loop is None or is_enabled is None or (is_enabled and not loop)
    if not works:
        why = "the reward loop starts servers, no workers" if is_enabled else "`reward_model.enable` is not set"
        message = f"`reward_pool` gets no worker, as {why}: verl raises an IndexError"
        note = "verl notices this after the workers of `global_pool` were created"
        settings.notes.error(MODE, "reward_model", message, settings.place(pool_key), "an empty pool", f"set `{pool_key}=False`",
                             settings.becomes(pool_key, "False"), note)  # fmt: skip
    size = _own_size(settings, settings.reward_key("nnodes"), settings.reward_key("n_gpus_per_node"), pool_key, "reward_model")
    return _pools(settings, ("reward_pool", size, ["reward_model"] if is_enabled else []))


def separate_pools(settings: Configuration) -> DeclaredPools:
    """Return the pools of trainer and rollout; since 0.7.1 rollout servers have their own pools."""
    entry, distils = settings.entry, settings.entry.configuration == "on_policy_distill_trainer"
    trains = ["actor"] if distils else _roles(settings, "actor")
    has_reward = settings.has_reward_model and not distils
    has_server_pools = settings.since("0.7.1") and not distils
    trainer = (entry.trained, read_size(settings), [*trains, *(["reward_model"] if has_reward and not has_server_pools else [])])
    if not has_server_pools:
        return DeclaredPools(_pools(settings, trainer, (entry.rolled, read_size(settings, OWN_NODES, OWN_ACCELERATORS), ["rollout"])))
    pools = (*_pools(settings, trainer), *_servers_apart(settings, OWN_NODES, OWN_ACCELERATORS, "rollout"))
    if has_reward:
        nodes, accelerators, enable = map(settings.reward_key, ("nnodes", "n_gpus_per_node", "enable"))
        pools += _list_separate(settings, "reward_model", _own_size(settings, nodes, accelerators, enable, "reward_model"))
    return DeclaredPools((*pools, *_teachers(settings)[0]))


def halved_pools(settings: Configuration) -> DeclaredPools:
    """Return halves of the only node or of the nodes; the critic has the second.

    Source: verl, examples/split_placement/main_ppo_split.py (main_task).
    """
    pool_size, entry = read_size(settings), settings.entry
    if pool_size is None:
        return DeclaredPools(())
    count, size = pool_size
    is_single_node = count.value == 1 and size.value > 1
    half = PoolParts(size.value // 2, count.value) if is_single_node else PoolParts(size.value, count.value // 2)
    machines = (PoolParts(size.value, count.value),)
    dividend = size if is_single_node else count
    at = dividend.span or settings.top
    if not half.count:
        message = f"one accelerator ({settings.says(count)}, {settings.says(size)}) cannot be split"
        settings.notes.error(MODE, entry.trained, message, at, "", f"set `{ACCELERATORS}=2`", size.becomes(2), "verl raises an IndexError")
        return DeclaredPools((), machines)
    if dividend.value % 2:
        rest = f"{size.value} of a node" if dividend is count else f"one of each of {with_noun(count.value, 'node')}"
        message = f"{settings.says(dividend)} is halved and rounded down: of the accelerators {rest} belong to no pool"
        settings.notes.warn(LEFT, entry.trained, message, at, "odd", f"set `{dividend.name}` to an even number")
    critic, has_reward = settings.has_critic, settings.has_reward_model
    first = ("actor", "rollout", *(("ref",) if settings.has_reference else ()))
    second = (*(("critic",) if critic is not False else ()), *(("reward_model",) if has_reward else ()))
    loop = settings.flag("reward_model.use_reward_loop", ROLES)
    if critic is False and loop is not None and (has_reward is False or loop):
        key, value = ("critic.enable", "True") if settings.at("critic.enable") else ("algorithm.adv_estimator", "gae")
        message = f"there is no critic, so `{entry.rolled}` gets no worker: verl raises an IndexError"
        help_ = f"set {settings.spell(key, value)}, or run `{MAIN_PPO}`, which has one pool"
        note = f"verl notices this after the workers of `{entry.trained}` were created"
        settings.notes.error(MODE, "critic", message, settings.place(key), "no critic", help_, settings.becomes(key, value), note)
    halves = ((entry.trained, first), (entry.rolled, second))
    pools = tuple(replace(pool_of(name, pool_size, roles, entry.slots, count.span), parts=(half,)) for name, roles in halves)
    return DeclaredPools(pools, machines)


def simulation_pools(settings: Configuration) -> DeclaredPools:
    """Return `train_rollout_pool` and `env_gpu_pool`, on the same nodes unless disaggregated."""
    is_separate, entry = settings.flag("env.disagg_sim.enable", ROLES), settings.entry
    keys = ("trainer.n_rollout_gpus_per_node", "trainer.n_env_gpus_per_node")
    for key in keys:
        if settings.at(key) is None and settings.notes.document.program is not None:
            settings.notes.missing("trainer", key.removeprefix("trainer."), settings.top, f"add `+{key}=` with a number")
    pools = _pools(settings, (entry.trained, read_size(settings, NODES, keys[0]), ["actor", "rollout"]))
    if is_separate is None:
        return DeclaredPools(pools)
    pools += _pools(settings, (entry.rolled, read_size(settings, "env.disagg_sim.nnodes" if is_separate else NODES, keys[1]), ["env"]))
    if is_separate:
        why = "each pool wants nodes with a resource of its own (`train_rollout` and `sim`), which a cluster file does not tell"
        settings.notes.unsure(FIT, entry.rolled, why)
    has_shared_nodes = len(pools) == 2 and not is_separate
    return DeclaredPools(pools, (PoolParts(sum(pool.parts[0].size for pool in pools), pools[0].count),) if has_shared_nodes else ())


def single_pool(settings: Configuration) -> DeclaredPools:
    """Return the only pool of a program that generates or fine-tunes."""
    component = "rollout" if settings.entry.kind is ProgramKind.GENERATION else "actor"
    return DeclaredPools(_pools(settings, ("the pool", read_size(settings), [component])))


def torchrun_pool(settings: Configuration) -> DeclaredPools:
    """Return the processes of torchrun as a pool; Ray has none here."""
    program = settings.notes.document.program
    if program is None or not program.name:
        size = read_size(settings)
        why = "the number of processes is an option of torchrun, not of the configuration"
        settings.notes.unsure(FIT, "actor", why, True, "Verify the script that starts it")
        return DeclaredPools((pool_of("torchrun", size, ("actor",), 0),) if size else ())
    from ...script.machine import add_processes, find_processes

    if not program.launcher and "LOCAL_RANK" not in settings.notes.document.source.text:
        message = f"`{settings.entry.name}` reads `RANK` and `LOCAL_RANK`, which nothing sets before it: torchrun does"
        help_ = f"start it with `torchrun --nproc_per_node=N -m {module_of(program.name)}`"
        settings.notes.warn(MODE, "actor", message, program.span, "without a launcher", help_, None, MOMENTS["BEFORE_PROCESSES"])
    amounts = []
    for name, most in (("--nnodes", MAX_NODES), ("--nproc_per_node", MAX_ACCELERATORS_PER_NODE)):
        option, value, why = find_processes(program, name, most)
        if why:
            settings.notes.unsure(FIT, "actor", why, True, add_processes(settings.notes.document, option or name))
            return DeclaredPools(())
        amounts.append(Amount(value, option or name, None, "" if option else "torchrun"))
    return DeclaredPools((pool_of("torchrun", (amounts[0], amounts[1]), ("actor",), 0, program.span),))


# -- pools of servers


def _servers_apart(settings: Configuration, nodes: str, accelerators: str, component: str) -> tuple[Pool, ...]:
    """Return the pools of servers, a pool per replica."""
    count = number(settings, nodes, MAX_NODES, minimum=-(10**9))
    if count is not None and count.value < 1:
        message = f"`{nodes}` is {count.value}, but servers with accelerators of their own need at least 1"
        help_ = f"set {settings.spell(nodes, 1)} or more"
        settings.notes.error(MODE, component, message, count.span or settings.top, "too few", help_, count.becomes(1))
        return ()
    return _list_separate(settings, component, read_size(settings, nodes, accelerators))


def _list_separate(settings: Configuration, component: str, pool_size: Size | None) -> tuple[Pool, ...]:
    degrees = engine_of(settings, component) if pool_size else None
    pool = _replicas(settings, component, pool_size, degrees, degrees[0].replica) if degrees and pool_size else None
    if pool is None or degrees is None or pool_size is None:
        return ()
    (count, size), name = pool_size, "reward_pool" if component == "reward_model" else settings.entry.rolled
    # The name does not depend on the size.
    parts = (PoolParts(size.value, count.value),) if size.value % degrees[0].replica == 0 else pool.parts
    return (replace(pool, name=name, parts=parts),)


def split_servers(settings: Configuration, declaration: DeclaredPools) -> DeclaredPools:
    """Split separate servers into a pool part per replica.

    Ray places every replica alone, so replicas may fit where whole nodes do not.
    """
    pools, entry = [], settings.entry
    server_names = (APART, "rollout", "reward_model") if entry.kind is ProgramKind.SEPARATE else (APART,)
    for pool in declaration.pools:
        names = [name for name in pool.components if name in server_names]
        degrees = engine_of(settings, names[0]) if names and settings.since("0.7.1") else None
        fits = degrees is not None and pool.name != entry.trained and pool.parts[0].size % degrees[0].replica == 0
        pools.append(replace(pool, parts=(PoolParts(degrees[0].replica, pool.size // degrees[0].replica),)) if degrees and fits else pool)
    return declaration if tuple(pools) == declaration.pools else replace(declaration, pools=tuple(pools))


def server_pools(settings: Configuration) -> DeclaredPools:
    """Return the pools of main_generation_server, with tp x pp x dp accelerators per server.

    It starts as many servers as there are tensor parallel groups.
    """
    pool_size, degrees = read_size(settings), engine_of(settings, "rollout")
    if pool_size is None or degrees is None:
        return DeclaredPools(())
    count, size = pool_size
    pool = _replicas(settings, "rollout", pool_size, degrees, degrees[0].tp)
    fits = pool is None or pool.size <= size.value * count.value
    return DeclaredPools(() if pool is None else (pool,), (PoolParts(size.value, count.value),) if fits else ())


def _replicas(settings: Configuration, component: str, pool_size: Size, degrees: Degrees, divisor: int) -> Pool | None:
    """Return a single pool for all servers, as many as verl counts accelerators // `divisor`."""
    (count, size), (parallel, amounts) = pool_size, degrees
    total, replica, tensor = size.value * count.value, parallel.replica, amounts["tp"]
    servers, on_node = total // divisor, min(size.value, replica)
    at = place_of(amounts) or size.span or count.span or settings.top
    division = f"{with_noun(total, 'accelerator')} // {'tp ' * (divisor == parallel.tp)}{divisor}"
    if not servers:
        message = f"{division} are no server: nothing would be generated"
        edit = tensor.becomes(total) if divisor == tensor.value else None
        settings.notes.error(DEGREES, component, message, at, "", f"set `{tensor.name}` to {total} or less", edit)
        return None
    if servers * replica > total:
        message = f"verl starts {with_noun(servers, 'server')} ({division}), each on {with_noun(replica, 'accelerator')} ({parallel}):"
        help_ = f"set `{amounts['dp'].name}` and `{amounts['pp'].name}` to 1"
        settings.notes.warn(LEFT, component, f"{message} {servers * replica} of {total}", at, "only tp is counted", help_)
    elif total % divisor:
        remaining = total - servers * replica
        message = f"{division} {are(servers)} {with_noun(servers, 'server')}, with {with_noun(remaining, 'accelerator')} left over"
        settings.notes.warn(LEFT, component, message, at, "rounded down", f"set `{tensor.name}` to a divisor of {total}")
    if replica % on_node:
        message = f"a server of {with_noun(replica, 'accelerator')} ({parallel}) is not a multiple of {settings.says(size)}"
        fitting = max(tp for tp in range(1, size.value + 1) if size.value % tp == 0 and tp <= parallel.tp)
        help_ = f"set `{tensor.name}` so that tp x dp x pp divides {size.value}, or is a multiple of it"
        edit = tensor.becomes(fitting) if replica == parallel.tp else None
        settings.notes.error(TORN, component, message, at, "", help_, edit, "verl asserts that it is one")
    if replica % on_node or servers * replica > MAX_PROCESSES:
        return None  # `sized` has reported the second
    name = "rollout_pool_0" if servers == 1 else f"rollout_pool_0 to rollout_pool_{servers - 1}"
    parts = (PoolParts(on_node, servers * (replica // on_node)),)
    return replace(pool_of(name, pool_size, (component,), settings.entry.server_slots, at), parts=parts)


# -- teachers of a distillation


def _teachers(settings: Configuration) -> tuple[tuple[Pool, ...], Ranges]:
    """Return `teacher_pool` of a distillation (since 0.8.0), and the ranks of several teachers.

    Source: verl, verl/workers/config/distillation.py (DistillationConfig.__post_init__,
    _resolve_teacher_models).
    """
    keys, enable_key = ("distillation.nnodes", "distillation.n_gpus_per_node"), "distillation.enabled"
    teaches = settings.entry.program in (MAIN_PPO, FULLY_ASYNC) and settings.since("0.8.0") and settings.flag(enable_key, ROLES)
    pool_size = _own_size(settings, *keys, enable_key, TEACHER) if teaches else None
    if pool_size is None:
        return (), {}
    count, size = pool_size
    total, section = count.value * size.value, settings.at(TEACHERS)
    names = [line.key.text for line in section if line.key.text != SINGLE_TEACHER] if isinstance(section, MapNode) else []
    if names:
        single_pool = f"{TEACHERS}.{SINGLE_TEACHER}"
        single_teacher = next((setting for setting in settings.notes.document.settings if setting.key.startswith(single_pool)), None)
        if single_teacher is not None:
            message, help_ = f"verl drops `{SINGLE_TEACHER}` where there are other teachers", f"rename it: `+{TEACHERS}.NAME.key=`"
            settings.notes.warn("PW124", TEACHER, message, single_teacher.key_span, "dropped", help_)
        ranges = _several(settings, names, total, size)
        return _pools(settings, ("teacher_pool", pool_size, tuple(ranges))), ranges
    degrees = engine_of(settings, TEACHER)
    if degrees and total % (replica := degrees[0].replica):
        of_pool = f"`teacher_pool` ({count.value} x {size.value})"
        message = f"a replica of the teacher ({with_noun(replica, 'accelerator')}) must divide {of_pool}"
        at = place_of(degrees[1]) or size.span or count.span or settings.top
        help_ = f"set `{degrees[1]['tp'].name}` to a divisor of {total}"
        settings.notes.error(DEGREES, TEACHER, message, at, f"{total} % {replica} = {total % replica}", help_, None, _WITH_TEACHERS)
    return _pools(settings, ("teacher_pool", pool_size, (TEACHER,))), {}


def _several(settings: Configuration, names: list[str], total: int, accelerators: Amount) -> Ranges:
    """Return the ranks of several teachers; empty if unknown or unequal to the pool."""
    ranges, demand, demands, notes = dict[str, tuple[int, int]](), 0, list[str](), settings.notes
    keys, refusals = dict[str, str](), dict[str, str]()
    for name in names:
        path, component = f"{TEACHERS}.{name}", f"{TEACHER}_{name}"
        degrees, replicas = engine_of(settings, component), settings.whole(f"{path}.num_replicas", DEGREES, 0, minimum=0)
        if degrees is None or replicas is None:
            return {}
        keys_of_teacher = [f"{path}.{key}" for key in ("key", "model_path", "inference.name")]
        missing = [key for key in keys_of_teacher if not (settings.has(key) or settings.is_open(key, ROLES))]
        if missing:
            lacks = " or ".join(f"`{key.removeprefix(f'{path}.')}`" for key in missing)
            message = f"teacher `{name}` has no {lacks}, which verl demands of each of several teachers"
            help_ = f"set {' and '.join(f'`+{key}=`' for key in missing)}"
            help_ = f"write `{TEACHERS}.{SINGLE_TEACHER}`: there is one teacher" if len(names) == 1 else help_
            notes.error(MODE, component, message, settings.place(path), "", help_, None, _WITH_TEACHERS)
            return {}
        word = settings.word(f"{path}.key", ROLES)
        if word and keys.setdefault(word, name) != name:
            message = f"teachers `{keys[word]}` and `{name}` have the same key `{word}`, so verl raises a ValueError"
            at, help_ = settings.place(f"{path}.key"), "give each teacher a key of its own"
            notes.error(MODE, component, message, at, "", help_, None, _WITH_TEACHERS)
        count, replica = replicas.value, degrees[0].replica
        demands.append(f"{name} {count} x {replica}")
        reasons = (why_torn(demand + start * replica, replica, accelerators.value) for start in range(count))
        if reason := next(filter(None, reasons), ""):
            refusals[name] = reason
        if count:
            ranges[component] = (demand, demand + count * replica - 1)
        demand += count * replica
    if demand != total:
        message = f"the teachers need {with_noun(demand, 'accelerator')} ({', '.join(demands)}), but `teacher_pool` has {total}"
        help_ = f"set `num_replicas` of the teachers, or `{accelerators.name}`, so that they are equal"
        at = settings.place(f"{TEACHERS}.{names[0]}")
        notes.error(DEGREES, TEACHER, message, at, f"{demand} of {total}", help_, None, _WITH_TEACHERS)
        return {}
    for name, why in refusals.items():
        help_ = f"reorder the teachers, or change `{TEACHERS}.{name}.inference.tensor_model_parallel_size`"
        at = settings.place(f"{TEACHERS}.{name}")
        note = "verl notices this when it starts the servers of the teachers"
        notes.error(TORN, f"{TEACHER}_{name}", f"a replica of teacher `{name}` {why}", at, "", help_, None, note)
    return ranges


def declared_pools(settings: Configuration) -> DeclaredPools:
    """Note pools of a file that no program reads; return none."""
    key = SPEC if settings.at(SPEC) is not None else DRAFT
    kind = "an argument of verl's own code" if key == SPEC else "a draft"
    why = f"`{key}` is {kind} that no release of verl reads from a file: its pools were not checked"
    settings.notes.unsure(FIT, key, why, True, "Verify the settings of the program that has the pools")
    return DeclaredPools(())


POOLS: Mapping[ProgramKind, Callable[[Configuration], DeclaredPools]] = {
    ProgramKind.HYBRID: shared_pool,
    ProgramKind.SEPARATE: separate_pools,
    ProgramKind.SPLIT: halved_pools,
    ProgramKind.SIMULATION: simulation_pools,
    ProgramKind.SERVER: server_pools,
    ProgramKind.GENERATION: single_pool,
    ProgramKind.TUNING: single_pool,
    ProgramKind.PROCESSES: torchrun_pool,
    ProgramKind.DECLARED: declared_pools,
    ProgramKind.NOTHING: lambda settings: DeclaredPools(()),
}
"""Layout -> function that returns the pools of a program, without pools of unknown size."""
