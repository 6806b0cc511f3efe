"""Pools that a file lists: `resource_pool_spec` and `mapping`.

Source: verl, verl/single_controller/ray/base.py, ResourcePoolManager and
RayWorkerGroup._init_with_resource_pool.
"""

from __future__ import annotations

from typing import Sequence

from ...configuration.notes import is_unknown
from ...findings.span import Span
from ...findings.wording import with_noun
from ...pools import Pool, as_parts
from ...text.nearest import nearest
from ...text.tree import Entry as Line
from ...text.tree import ListNode, MapNode, Scalar, Value, kind_of
from .configuration import Configuration
from .programs import SPEC

FIT, MAPPING, MODE, UNEVEN = "PW215", "mapping", "PW123", "PW216"
ROLES = {
    "Actor": ("actor",), "Rollout": ("rollout",), "ActorRollout": ("actor", "rollout"),
    "ActorRolloutRef": ("actor", "rollout", "ref"), "Critic": ("critic",), "RefPolicy": ("ref",), "RewardModel": ("reward_model",),
    "Env": ("env",),
}  # fmt: skip
"""Role of verl -> components. Source: verl, verl/trainer/ppo/utils.py, Role."""
MAX_PARTS = 100_000


def listed_pools(settings: Configuration) -> tuple[Pool, ...]:
    """Return the even pools of `resource_pool_spec`, with the components of `mapping`."""
    written = settings.tree(SPEC)
    if not isinstance(written, MapNode):
        if written is not None and not is_unknown(written):
            settings.notes.wrong_type(SPEC, SPEC, written, "a map of pools", "write `global_pool: [8, 8]` below it")
        return ()
    sizes = {line.key.text: (line, numbers) for line in written if (numbers := _sizes(settings, line)) is not None}
    roles = _components(settings, tuple(line.key.text for line in written))
    pools = []
    for name, (line, parts) in sizes.items():
        spans: dict[str, Span] = {"name": line.key.span, "size": line.value.span}
        pool = Pool(name, as_parts(parts), settings.entry.slots, roles.get(name, ()), spans=spans)
        _judge(settings, pool, line.value)
        if pool.even and pool.size:
            pools.append(pool)
    return tuple(pools)


def _sizes(settings: Configuration, line: Line) -> list[int] | None:
    """Return the accelerators of every part; None if unknown or wrong."""
    value, name = line.value, line.key.text
    items = value.items if isinstance(value, ListNode) else ()
    if is_unknown(value) or any(map(is_unknown, items)):
        settings.notes.unsure(FIT, name, f"`{SPEC}.{name}` is not known here", True, f"Pass `--set {SPEC}.{name}=[8,8]`")
        return None
    numbers = [item.value for item in items if isinstance(item, Scalar)]
    good = [number for number in numbers if isinstance(number, int) and not isinstance(number, bool) and number > 0]
    if not isinstance(value, ListNode) or len(good) < len(items) or len(good) > MAX_PARTS:
        help_ = "write the accelerators of each node in brackets, such as `[8, 8]`"
        settings.notes.wrong_type(name, f"{SPEC}.{name}", value, "a list of whole numbers above 0", help_)
        return None
    return good


def _judge(settings: Configuration, pool: Pool, at: Value) -> None:
    if not pool.size:
        message = f"`{pool.name}` has no parts: verl raises an IndexError when it makes its worker group"
        settings.notes.error(UNEVEN, pool.name, message, at, "empty", "write the accelerators of each node, such as `[8, 8]`")
    elif not pool.even:
        first, smallest = pool.parts[0].size, min(parts.size for parts in pool.parts)
        fails = next(parts.size for parts in pool.parts if parts.size != first) < first
        how = "fails at a smaller part" if fails else f"waits for ever with {with_noun(first * pool.count, 'worker')}"
        message = f"the parts of `{pool.name}` differ ({pool.sizes}), but verl takes {first} as the size of all"
        better = f"[{', '.join([str(smallest)] * min(pool.count, 64))}]"
        edit = settings.notes.instead(at, better) if pool.count <= 64 else None
        note = "verl notices an uneven pool after the placement groups were made, or never"
        settings.notes.error(UNEVEN, pool.name, message, at, "uneven", f"write `{better}`", edit, f"verl {how}", note)


def _components(settings: Configuration, pools: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Map pools to components, by `mapping`."""
    by_pool: dict[str, tuple[str, ...]] = {}
    written, notes = settings.tree(MAPPING), settings.notes
    if not isinstance(written, MapNode):
        if written is None:
            role = f"`Role.ActorRollout: {pools[0] if pools else 'global_pool'}`"
            notes.missing("the file", MAPPING, settings.top, f"add `{MAPPING}:` with a pool for each role, {role}")
        elif not is_unknown(written):
            notes.wrong_type(MAPPING, MAPPING, written, f"a map, not {kind_of(written)}", "write `Role.ActorRollout: global_pool`")
        return by_pool
    for line in written:
        prefix, role = "Role." * line.key.text.startswith("Role."), line.key.text.removeprefix("Role.")
        pool = str(line.value.value) if isinstance(line.value, Scalar) and not is_unknown(line.value) else None
        if role not in ROLES:
            close = nearest(role, [known_role for known_role in ROLES if written.get(f"{prefix}{known_role}") is None])
            help_ = f"write `{prefix}{close}`" if close else f"roles are {', '.join(ROLES)}"
            edit = notes.renamed(line, f"{prefix}{close}") if close else None
            notes.error("PW104", MAPPING, f"verl has no role `{line.key.text}`", line.key.span, "not a role", help_, edit)
        elif pool is not None and pool not in pools:
            close = nearest(pool, pools)
            help_ = f"write `{close}`" if close else f"name one of {', '.join(pools) or 'the pools'}"
            message = f"`{line.key.text}` is mapped to `{pool}`, which is no pool: verl raises a KeyError"
            notes.error(MODE, pool, message, line.value, "not a pool", help_, notes.instead(line.value, close) if close else None)
        elif pool is not None:
            by_pool[pool] = tuple(dict.fromkeys((*by_pool.get(pool, ()), *ROLES[role])))
    named = [str(line.value.value) for line in written if isinstance(line.value, Scalar)]
    # Misspelt roles are mapped too.
    meant = {name if name in pools else nearest(name, pools) for name in named}
    for name in pools:
        if name not in meant:
            message = f"no role is mapped to `{name}`: verl raises an IndexError for a pool without workers"
            notes.error(MODE, name, message, written.span, "", f"map a role to `{name}`, or remove it")
    return by_pool
