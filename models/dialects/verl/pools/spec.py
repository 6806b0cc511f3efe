"""The pools of a `ResourcePoolManager`, written out: their parts, and the role -> pool mapping.

Source: verl, verl/single_controller/ray/base.py, ResourcePoolManager and RayWorkerGroup._init_with_resource_pool.
"""

from __future__ import annotations

from ....configuration.notes import is_unknown
from ....findings.span import Span
from ....findings.wording import with_noun
from ....pools.layout import as_parts
from ....pools.pool import Pool
from ....text.nearest import nearest
from ....text.tree import Entry as Line
from ....text.tree import Mapping, Scalar, Sequence, Value, kind_of
from ..configuration import Configuration
from ..entries import Entry
from ..entries.which import SPEC
from .declared import FIT, Declared

MAPPING, MODE, UNEVEN = "mapping", "PW123", "PW216"
ROLES = {
    "Actor": ("actor",), "Rollout": ("rollout",), "ActorRollout": ("actor", "rollout"), "ActorRolloutRef": ("actor", "rollout", "ref"),
    "Critic": ("critic",), "RefPolicy": ("ref",), "RewardModel": ("reward_model",), "Env": ("env",),
}  # fmt: skip
"""verl's roles -> the components that they are. Source: verl, verl/trainer/ppo/utils.py, Role."""
MAX_PARTS = 100_000


def listed(settings: Configuration, entry: Entry) -> Declared:
    """The pools of `resource_pool_spec`, or of a `topology`."""
    written = settings.tree(SPEC)
    if written is None:
        from .topology import device_pools

        return device_pools(settings, entry)
    if not isinstance(written, Mapping):
        if not is_unknown(written):
            settings.notes.wrong_type(SPEC, SPEC, written, "a map of pools", "write `global_pool: [8, 8]` below it")
        return Declared(())
    sizes = {line.key.text: (line, found) for line in written if (found := _sizes(settings, line)) is not None}
    roles = _roles(settings, tuple(line.key.text for line in written))
    pools = []
    for name, (line, parts) in sizes.items():
        spans: dict[str, Span] = {"name": line.key.span, "size": line.value.span}
        pool = Pool(name, as_parts(parts), entry.slots, roles.get(name, ()), spans=spans)
        _judge(settings, pool, line.value)
        if pool.even and pool.size:
            pools.append(pool)
    return Declared(tuple(pools))


def _sizes(settings: Configuration, line: Line) -> list[int] | None:
    value, name = line.value, line.key.text
    if is_unknown(value) or (isinstance(value, Sequence) and any(map(is_unknown, value.items))):
        settings.notes.unsure(FIT, name, f"`{SPEC}.{name}` is not known here", True, f"Pass `--set {SPEC}.{name}=[8,8]`")
        return None
    numbers = [item.value for item in value.items if isinstance(item, Scalar)] if isinstance(value, Sequence) else []
    good = [number for number in numbers if isinstance(number, int) and not isinstance(number, bool) and number > 0]
    if not isinstance(value, Sequence) or len(good) < len(value.items) or len(good) > MAX_PARTS:
        help_ = "write the accelerators of each node in brackets, such as `[8, 8]`"
        settings.notes.wrong_type(name, f"{SPEC}.{name}", value, "a list of whole numbers above 0", help_)
        return None
    return good


def _judge(settings: Configuration, pool: Pool, at: Value) -> None:
    if not pool.size:
        message = f"`{pool.name}` has no parts, and verl raises an IndexError when it makes its worker group"
        settings.notes.error(UNEVEN, pool.name, message, at, "empty", "write the accelerators of each node, such as `[8, 8]`")
    elif not pool.even:
        first, other = pool.parts[0].size, next(parts.size for parts in pool.parts if parts.size != pool.parts[0].size)
        message = f"the parts of `{pool.name}` differ ({pool.sizes}), but verl takes the first, {first}, as the size of all"
        if first > other:
            message += ", and fails with an AssertionError at the part that is smaller"
        else:
            started = first * pool.count
            message += (
                f": {with_noun(started, 'worker')} would be started, which wait{'s' * (started == 1)} for ever for a world of {pool.size}"
            )
        smallest = min(parts.size for parts in pool.parts)
        better = f"[{', '.join([str(smallest)] * min(pool.count, 64))}]"
        edit = settings.notes.instead(at, better) if pool.count <= 64 else None
        note = "verl notices an uneven pool after the placement groups were made, or never"
        settings.notes.error(UNEVEN, pool.name, message, at, "uneven", f"write `{better}`", edit, note)


def _roles(settings: Configuration, pools: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """The components of each pool, as `mapping` says."""
    found: dict[str, tuple[str, ...]] = {}
    written = settings.tree(MAPPING)
    if not isinstance(written, Mapping):
        if written is None:
            settings.notes.missing(
                "the file",
                MAPPING,
                settings.top,
                f"add `{MAPPING}:` with a pool for each role, `Role.ActorRollout: {pools[0] if pools else 'global_pool'}`",
            )
        elif not is_unknown(written):
            settings.notes.wrong_type(MAPPING, MAPPING, written, f"a map, not {kind_of(written)}", "write `Role.ActorRollout: global_pool`")
        return found
    for line in written:
        role = line.key.text.removeprefix("Role.")
        pool = str(line.value.value) if isinstance(line.value, Scalar) and not is_unknown(line.value) else None
        if role not in ROLES:
            prefix = "Role." * line.key.text.startswith("Role.")
            free = nearest(role, [each for each in ROLES if written.get(f"{prefix}{each}") is None])
            close = f"{prefix}{free}" if free else None
            edit = settings.notes.renamed(line, close) if close else None
            message = f"verl has no role `{line.key.text}`"
            help_ = f"write `{close}`" if close else f"roles are {', '.join(ROLES)}"
            settings.notes.error("PW104", MAPPING, message, line.key.span, "not a role", help_, edit)
        elif pool is not None and pool not in pools:
            close = nearest(pool, pools)
            help_ = f"write `{close}`" if close else f"name one of {', '.join(pools) or 'the pools'}"
            message = f"`{line.key.text}` is mapped to `{pool}`, which is no pool: verl raises a KeyError"
            settings.notes.error(
                MODE, pool, message, line.value, "not a pool", help_, settings.notes.instead(line.value, close) if close else None
            )
        elif pool is not None:
            found[pool] = tuple(dict.fromkeys((*found.get(pool, ()), *ROLES[role])))
    named = [str(line.value.value) for line in written if isinstance(line.value, Scalar)]
    meant = {name if name in pools else nearest(name, pools) for name in named}  # a role that is misspelt is mapped too
    for name in pools:
        if name not in meant:
            message = f"no role is mapped to `{name}`, and verl raises an IndexError for a pool without workers"
            settings.notes.error(MODE, name, message, written.span, "", f"map a role to `{name}`, or remove it")
    return found
