"""A pool of its own for each server that generates.

Source: verl, verl/trainer/main_generation_server.py (start_server); verl/workers/rollout/replica.py (init_standalone).
"""

from __future__ import annotations

from ....findings.wording import are, with_noun
from ....pools.pool import Parts, Pool
from ..components.parallel import engine, place_of
from ..configuration import Configuration
from ..entries import Entry
from .declared import MAX_PROCESSES, Declared, sized
from .main_ppo import ACCELERATORS, NODES

LEFT, TORN = "PW804", "PW214"


def servers(settings: Configuration, entry: Entry) -> Declared:
    """As many servers as tensor parallel groups have room, each with tp x pp x dp accelerators."""
    found, degrees = sized(settings, NODES, ACCELERATORS), engine(settings)
    if found is None or degrees is None:
        return Declared(())
    (count, size), (parallel, amounts) = found, degrees
    machines, total, whole = (Parts(size.value, count.value),), size.value * count.value, parallel.replica
    started, on_node = total // parallel.tp, min(size.value, whole)
    at = place_of(amounts) or size.span or count.span or settings.top
    if not started:
        message = f"{with_noun(total, 'accelerator')} hold{'s' * (total == 1)} no server of tp {parallel.tp}: nothing would be generated"
        settings.notes.error(
            "PW208", "rollout", message, at, "", f"set `{amounts['tp'].name}` to {total} or less", amounts["tp"].becomes(total)
        )
        return Declared((), machines)
    if started * whole > total:
        message = f"verl starts {with_noun(started, 'server')} ({with_noun(total, 'accelerator')} // tp {parallel.tp}), each on {with_noun(whole, 'accelerator')} ({parallel}):"
        message += f" {started * whole} of {total}"
        help_ = f"set `{amounts['dp'].name}` and `{amounts['pp'].name}` to 1"
        settings.notes.warn(LEFT, "rollout", message, at, "only tp is counted", help_)
    elif total % parallel.tp:
        message = f"{with_noun(total, 'accelerator')} // tp {parallel.tp} {are(started)} {with_noun(started, 'server')}; {with_noun(total - started * whole, 'accelerator')} {are(total - started * whole)} left over"
        settings.notes.warn(LEFT, "rollout", message, at, "rounded down", f"set `{amounts['tp'].name}` to a divisor of {total}")
    if whole % on_node:
        message = f"a server of {with_noun(whole, 'accelerator')} ({parallel}) is no multiple of {settings.says(size)}, and verl asserts that it is"
        fitting = max(tp for tp in range(1, size.value + 1) if size.value % tp == 0 and tp <= parallel.tp)
        help_ = f"set `{amounts['tp'].name}` so that tp x dp x pp divides {size.value}, or is a multiple of it"
        alone = parallel.replica == parallel.tp
        settings.notes.error(TORN, "rollout", message, at, "", help_, amounts["tp"].becomes(fitting) if alone else None)
    if whole % on_node or started * whole > MAX_PROCESSES:
        return Declared((), machines)  # the second is said already
    spans = {key: amount.span for key, amount in (("count", count), ("size", size)) if amount.span}
    name = "rollout_pool_0" if started == 1 else f"rollout_pool_0 to rollout_pool_{started - 1}"
    spans["name"] = at
    pool = Pool(name, (Parts(on_node, started * (whole // on_node)),), entry.slots, ("rollout",), size.name, count.name, spans)
    return Declared((pool,), machines if pool.size <= total else ())
