"""A pool of its own for each server that generates.

Source: verl, verl/trainer/main_generation_server.py (start_server); verl/workers/rollout/replica.py (init_standalone).
"""

from __future__ import annotations

from ....pool import Parts, Pool
from ..components.parallel import engine, place_of
from ..configuration import Configuration
from ..entries import Entry
from .declared import FIT, Declared
from .main_ppo import ACCELERATORS, NODES

LEFT = "PW804"


def servers(settings: Configuration, entry: Entry) -> Declared:
    """As many servers as tensor parallel groups have room, each with tp x pp x dp accelerators."""
    count, size, degrees = settings.whole(NODES, FIT, exact=True), settings.whole(ACCELERATORS, FIT, exact=True), engine(settings)
    if count is None or size is None or degrees is None:
        return Declared(())
    parallel, amounts = degrees
    machines, total, whole = (Parts(size.value, count.value),), size.value * count.value, parallel.replica
    number, on_node = total // parallel.tp, min(size.value, whole)
    at = place_of(amounts) or size.span or count.span or settings.top
    if not number:
        message = f"{total} accelerators hold no server of tp {parallel.tp}: nothing would be generated"
        settings.notes.error(
            "PW208", "rollout", message, at, "", f"set `{amounts['tp'].name}` to {total} or less", amounts["tp"].becomes(total)
        )
        return Declared((), machines)
    if number * whole > total:
        message = f"verl starts {number} servers ({total} accelerators // tp {parallel.tp}), each on {whole} accelerators ({parallel}):"
        message += f" {number * whole} of {total}"
        help_ = f"set `{amounts['dp'].name}` and `{amounts['pp'].name}` to 1"
        settings.notes.warn(LEFT, "rollout", message, at, "only tp is counted", help_)
    elif total % parallel.tp:
        message = f"{total} accelerators // tp {parallel.tp} are {number} servers; {total - number * whole} accelerators are left over"
        settings.notes.warn(LEFT, "rollout", message, at, "rounded down", f"set `{amounts['tp'].name}` to a divisor of {total}")
    if whole % on_node:
        return Declared((), machines)  # the server itself refuses this (see work/)
    spans = {key: amount.span for key, amount in (("count", count), ("size", size)) if amount.span}
    name = "rollout_pool_0" if number == 1 else f"rollout_pool_0 to rollout_pool_{number - 1}"
    spans["name"] = at
    pool = Pool(name, (Parts(on_node, number * (whole // on_node)),), entry.slots, ("rollout",), size.name, count.name, spans)
    return Declared((pool,), machines if pool.size <= total else ())
