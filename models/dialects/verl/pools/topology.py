"""The block `topology:`, as it is proposed for verl: clusters, pools of devices in them, and the models that run on these.

Source: verl, issue 7269 (a draft; no release reads it). How `device_range` counts is not settled there: it is read as the first
and the last rank of the pool.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator

from ....configuration.notes import is_unknown
from ....findings.span import Span
from ....machines.shorthand import MAX_ACCELERATORS_PER_NODE, MAX_NODES
from ....pools.pool import Parts, Pool
from ....text.nearest import nearest
from ....text.tree import Mapping, Scalar, Sequence, Value, kind_of
from ..configuration import Configuration
from ..entries import Entry
from ..entries.which import TOPOLOGY
from .declared import FIT, Declared

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
