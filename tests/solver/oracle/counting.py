"""Which demands, sorts, counts and states a native file has: so that nothing is left out unnoticed."""

from __future__ import annotations

from typing import Any, Iterator

import yaml

from .generator import ON_NODES

COUNTED = ("accelerators", "processes")
KEYS_OF_RELATIONS = {
    "colocate_with": "colocated", "disjoint_from": "disjoint", "within": "subset", "rank_aligned_with": "rank aligned",
    "zero_copy_with": "zero copy", "apart_from": "apart", "near": "near",
}  # fmt: skip


def demands_of(text: str) -> set[str]:
    """All that is asked in a file, in words of its keys."""
    data = yaml.safe_load(text)
    found = set(_of_machines(data["cluster"]["nodes"]))
    for keys in data["components"].values():
        found |= set(_of_component(keys))
    found |= {f"relation: {entry['kind']}" for entry in data.get("relations", ())}
    found |= {f"link: {key}" for link in data.get("links", ()) for key in link if key not in ("from", "to")}
    objective = data.get("objective", "lexicographic")
    found.add("objective: lexicographic" if objective == "lexicographic" else "objective: weighted")
    return found | ({"work"} if "work" in data else set())


def _of_machines(nodes: list[dict[str, Any]]) -> Iterator[str]:
    for node in nodes:
        yield from (f"machines: {key}" for key in ("cpus", "memory") if key in node)
        yield from (f"machines: {key}" for key in ("taken", "numa") if key in node.get("accelerators", {}))
        yield from (f"machines: {level}" for level in node.get("topology", {}))
    for key, word in (("model", "models"), ("count", "sizes")):
        if len({node["accelerators"][key] for node in nodes if "accelerators" in node}) > 1:
            yield f"machines: {word}"


def _of_component(keys: dict[str, Any]) -> Iterator[str]:
    group = keys.get("node_group", "cluster")
    yield "sort: nodes" if group in ON_NODES else "sort: other hardware" if group == "robots" else "sort: accelerators"
    yield "state: given" if "placement" in keys else "state: pinned" if "pin" in keys else "state: open"
    for key, value in keys.items():
        if key in COUNTED:
            yield f"{key}: {'list' if isinstance(value, list) else 'range' if isinstance(value, str) else 'fixed'}"
        elif key in ("parallel", "keep"):
            yield from (f"key: {key}.{each}" for each in value)
        elif key == "spread":
            yield from (f"key: spread.{each}" for each in (value if isinstance(value, dict) else ("level",)))
        else:
            yield f"key: {key}"
        if key in KEYS_OF_RELATIONS:
            yield f"relation: {KEYS_OF_RELATIONS[key]}"
    if any(isinstance(size, list) for size in keys.get("parallel", {}).values()):
        yield "key: parallel.tp open"
    for said in keys.get("keep", {}).values():
        yield f"keep: {said['level'] if isinstance(said, dict) else said}"
        if isinstance(said, dict) and not said.get("required", True):
            yield "keep: preferred"
