"""Pools that a file lists: `resource_pool_spec` with its `mapping`, or the proposed block `topology:`.

Source: verl, verl/single_controller/ray/base.py, ResourcePoolManager and RayWorkerGroup._init_with_resource_pool; issue 7269 of verl (a
draft; no release reads it). How `device_range` counts is not settled there: it is read as the first and the last rank of the pool.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator

from ....configuration.notes import is_unknown
from ....findings.span import Span
from ....findings.wording import with_noun
from ....machines.shorthand import MAX_ACCELERATORS_PER_NODE, MAX_NODES
from ....pools.layout import as_parts
from ....pools.pool import Parts, Pool
from ....text.nearest import nearest
from ....text.tree import Entry as Line
from ....text.tree import Mapping, Scalar, Sequence, Value, kind_of
from ..configuration import Configuration
from ..entries import Entry
from ..entries.which import SPEC, TOPOLOGY
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


MODE = "PW123"
WORKERS = {
    "actor": "actor",
    "rollout": "rollout",
    "ref": "ref",
    "critic": "critic",
    "reward": "reward_model",
    "reward_model": "reward_model",
}
"""`worker` of a model -> the component that it is."""
_SIZES = ("nnodes", "n_gpus_per_node")
_POOL_KEYS = ("name", "cluster", "nnodes", "n_gpus_per_node", "attributes")
_MODEL_KEYS = ("name", "worker", "config_key", "resource_pool", "device_range")


def device_pools(settings: Configuration, entry: Entry) -> Declared:
    """The pools of the block with the models that run on them, and its clusters as the machines."""
    settings.notes.unsure(FIT, TOPOLOGY, "the block is a draft (verl issue 7269): it is judged by what the draft says, no release reads it")
    block = settings.tree(TOPOLOGY)
    if not isinstance(block, Mapping):
        return Declared(())
    clusters = {_text(each, "name"): each for each in _items(settings, block, "clusters", ("name", "nnodes", "n_gpus_per_node"))}
    pools = {
        pool.name: pool for each in _items(settings, block, "device_pools", _POOL_KEYS) if (pool := _pool(settings, each, clusters, entry))
    }
    ranges: dict[str, tuple[int, int]] = {}
    for model in _items(settings, block, "models", _MODEL_KEYS):
        _model(settings, model, pools, ranges)
    for pool in pools.values():
        _slots(settings, pool, ranges)
    nodes = tuple(parts for each in clusters.values() if (parts := _parts(settings, each, f"{TOPOLOGY}.clusters")))
    return Declared(tuple(pools.values()), nodes, ranges)


def _items(settings: Configuration, block: Mapping, key: str, known: tuple[str, ...]) -> Iterator[Mapping]:
    """The maps of a list of the block; keys that are not known are said."""
    value = block.get(key)
    if value is None:
        settings.notes.missing(TOPOLOGY, key, block.span, f"add `{key}:` with a list")
        return
    if not isinstance(value, Sequence):
        if not is_unknown(value):
            settings.notes.wrong_type(TOPOLOGY, f"{TOPOLOGY}.{key}", value, "a list", "write a list of maps")
        return
    for item in value.items:
        if isinstance(item, Mapping):
            required = tuple(name for name in _SIZES if name in known)
            yield settings.notes.unknown_keys(item, key, known, False, f"an item of `{TOPOLOGY}.{key}`", required)
        elif not is_unknown(item):
            settings.notes.wrong_type(TOPOLOGY, f"an item of {TOPOLOGY}.{key}", item, "a map", "write `{name: ...}`")


def _pool(settings: Configuration, written: Mapping, clusters: dict[str, Mapping], entry: Entry) -> Pool | None:
    name, parts, cluster = _text(written, "name"), _parts(settings, written, f"{TOPOLOGY}.device_pools"), _text(written, "cluster")
    if parts is None or not name:
        return None
    at = written.get("cluster")
    if cluster and cluster not in clusters and at is not None:
        close = nearest(cluster, clusters)
        edit = settings.notes.instead(at, close) if close else None
        message = f"`{name}` is in cluster `{cluster}`, which is not declared"
        settings.notes.error(MODE, name, message, at, "not a cluster", f"write `{close}`" if close else "declare it", edit)
    spans: dict[str, Span] = {"name": written.span}
    for key, field in (("size", "n_gpus_per_node"), ("count", "nnodes")):
        value = written.get(field)
        if value is not None:
            spans[key] = value.span
    return Pool(name, (parts,), entry.slots, spans=spans)


def _parts(settings: Configuration, written: Mapping, what: str) -> Parts | None:
    found = []
    for key, most in (("n_gpus_per_node", MAX_ACCELERATORS_PER_NODE), ("nnodes", MAX_NODES)):
        value = written.get(key)
        number = value.value if isinstance(value, Scalar) else None
        if value is None:
            settings.notes.missing(what, key, written.span, f"add `{key}:`", shared=False)
        elif is_unknown(value):
            settings.notes.unsure(FIT, what, f"`{key}` is not known here", True, f"Write a number for `{key}`")
        elif not isinstance(number, int) or isinstance(number, bool) or not 0 < number <= most:
            settings.notes.wrong_type(what, key, value, f"a whole number from 1 to {most:,}", "write such a number")
        else:
            found.append(number)
    return Parts(*found) if len(found) == 2 else None


def _model(settings: Configuration, written: Mapping, pools: dict[str, Pool], ranges: dict[str, tuple[int, int]]) -> None:
    """Puts a model onto its pool."""
    worker, name = written.get("worker"), _text(written, "resource_pool")
    component = WORKERS.get(_text(written, "worker"))
    at = written.get("resource_pool")
    if component is None:
        if worker is not None and not is_unknown(worker):
            why = f"the worker `{_text(written, 'worker')}` is not known here"
            settings.notes.unsure("PW122", _text(written, "name"), why, True, f"Name one of {', '.join(WORKERS)}")
        return
    if name not in pools:
        if at is not None and not is_unknown(at):
            close = nearest(name, pools)
            edit = settings.notes.instead(at, close) if close else None
            message = f"`{_text(written, 'name')}` is to run on `{name}`, which is no pool of the block"
            help_ = f"write `{close}`" if close else f"name one of {', '.join(pools)}"
            settings.notes.error(MODE, component, message, at, "not a pool", help_, edit)
        return
    if any(component in pool.components for pool in pools.values()):
        settings.notes.unsure("PW122", component, "a second model of this worker is not judged")
        return
    pool = pools[name]
    pools[name] = replace(pool, components=(*pool.components, component))
    part = written.get("device_range")
    if part is not None and not (isinstance(part, Scalar) and part.is_null):
        found = _range(settings, component, part, pool)
        if found is not None:
            ranges[component] = found


def _range(settings: Configuration, component: str, value: Value, pool: Pool) -> tuple[int, int] | None:
    """(first, last) of `[0, 7]` or `0-7`."""
    if is_unknown(value):
        settings.notes.unsure(FIT, component, "`device_range` is not known here", True, "Write its ranks, such as `[0, 7]`")
        return None
    texts = [item.text for item in value.items if isinstance(item, Scalar)] if isinstance(value, Sequence) else []
    if isinstance(value, Scalar):
        texts = value.text.split("-")
    numbers = [int(text) for text in texts if text.isascii() and text.isdecimal() and len(text) < 9]
    if len(numbers) != 2 or len(texts) != 2 or numbers[0] > numbers[1]:
        settings.notes.wrong_type(
            component, "device_range", value, "the first and the last rank", f"write `[0, {pool.size - 1}]`, not {kind_of(value)}"
        )
        return None
    if numbers[1] >= pool.size:
        message = f"`device_range` of `{component}` ends at {numbers[1]}, but `{pool.name}` has the ranks 0 to {pool.size - 1}"
        better = f"[{min(numbers[0], pool.size - 1)}, {pool.size - 1}]"
        settings.notes.error(MODE, component, message, value, "too far", f"write `{better}`", settings.notes.instead(value, better))
        return None
    return numbers[0], numbers[1]


def _slots(settings: Configuration, pool: Pool, ranges: dict[str, tuple[int, int]]) -> None:
    """Models of different parts are different worker groups, of which an accelerator takes only so many."""
    parts = {ranges.get(name, (0, pool.size - 1)) for name in pool.components}
    for first, _ in parts:
        groups = sum(start <= first <= last for start, last in parts)
        if groups > pool.cpus:
            message = f"{groups} worker groups run on rank {first} of `{pool.name}`, whose accelerators take {pool.cpus}; the others wait for ever"
            settings.notes.warn(MODE, pool.name, message, pool.span("name") or settings.top, "", "give more models the same `device_range`")
            return


def _text(written: Mapping, key: str) -> str:
    value = written.get(key)
    return str(value.value) if isinstance(value, Scalar) and not value.is_null else ""
