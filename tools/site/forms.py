"""Keys of native files, hints, cluster files and plans, from their JSON Schema."""

from __future__ import annotations

from typing import Any, Iterator, Mapping

import yaml

from ...report.schema import schema

Node = Mapping[str, Any]

_HINTS = """# Hints and native files

A native file has these keys at its top. In a file of RLinf, ROLL or verl, the block `placewright:` takes the same
keys, without `cluster` and `placement`. [Concepts](../concepts/ranks.md) explains what the words mean. `placewright
schema` prints all of this as JSON Schema for [editors](../how_to/editor.md).

Amounts of memory are `70GiB`, `512MiB` or `80GB`; a bare number is GiB. Any value may be an interpolation such as
`${cluster.nodes}`.
"""
_CLUSTER = """# Cluster file

A cluster file describes the machines. Pass it as `--cluster FILE`; the same keys go below `cluster:` in a native file.
[`placewright discover`](cli/discover.md) writes one. `placewright schema cluster` prints this as JSON Schema.
"""
_PLAN = """# Plan file

`placewright solve -o plan.json` writes a plan; `placewright launch` starts it, and `--previous` reads it. A plan carries
the digest of its content: a plan that was changed by hand is refused. `placewright schema plan` prints this as JSON
Schema.
"""
_PARTS_OF_CLUSTER = frozenset({"Accelerators", "Cluster", "EnvConfig", "Group", "Hardware", "Node", "Topology"})
_WORDS = {"integer": "whole number", "number": "number", "string": "text", "boolean": "`true` or `false`", "object": "map"}


def form_pages() -> Iterator[tuple[str, str]]:
    """Yield (path below `docs/`, Markdown) of the reference of each kind of file."""
    native = schema("native")
    hints = {**_definitions(native), **_only_in_frameworks(native)}
    hints = {name: hints[name] for name in sorted(hints, key=_by_use) if name not in _PARTS_OF_CLUSTER}
    away = dict.fromkeys(_PARTS_OF_CLUSTER, "cluster_file.md")
    yield "reference/hints.md", _page(_HINTS, "Native file", native, hints, away)
    cluster = schema("cluster")
    yield "reference/cluster_file.md", _page(_CLUSTER, "Cluster", cluster, _definitions(cluster), {})
    plan = schema("plan")
    parts = {name: node for name, node in _definitions(plan).items() if name not in _PARTS_OF_CLUSTER}
    yield "reference/plan_file.md", _page(_PLAN, "Plan", plan, parts, away)


def _only_in_frameworks(native: Node) -> dict[str, Node]:
    """Return the keys of a `placewright:` block missing in native files."""
    left: dict[str, Node] = {}
    for name, node in {**_definitions(schema("verl")), **_definitions(schema("rlinf"))}.items():
        like = native if name.endswith("Block") else native["definitions"]["Component"] if name.endswith("Hint") else {}
        keys = {key: value for key, value in node["properties"].items() if key not in like.get("properties", {})}
        if keys and name not in native["definitions"] and keys not in [part["properties"] for part in left.values()]:
            left[name] = {**node, "properties": keys, "required": ()}
    return left


def _by_use(name: str) -> tuple[int, str]:
    """Return a sort key: what most files have first."""
    first = ("Component", "Placed", "Parallel", "Estimate", "Plan", "Budget", "Keep", "Kept", "Spread", "Pin", "Link", "Relation")
    return first.index(name) if name in first else len(first), name


def _definitions(root: Node) -> dict[str, Node]:
    return {name: node for name, node in root["definitions"].items() if name != "Interpolation"}


def _page(intro: str, title: str, root: Node, definitions: Mapping[str, Node], away: Mapping[str, str]) -> str:
    parts = [intro]
    for name, node in ((title, root), *definitions.items()):
        text = node.get("description", "") if name != title else ""
        parts.append("\n".join([f"## {name}", "", *([text, ""] if text else []), *_table(node, away)]))
    return "\n\n".join(parts) + "\n"


def _table(node: Node, away: Mapping[str, str]) -> Iterator[str]:
    required = node.get("required", ())
    yield "| key | takes | what it says |"
    yield "|---|---|---|"
    for key, value in node.get("properties", {}).items():
        needed = " (required)" if key in required else ""
        default = value.get("default")
        by_default = f" Default: `{_flow(default)}`." if default not in (None, "", [], {}, False, 0) else ""
        examples = ", ".join(f"`{_flow(example)}`" for example in value.get("examples", ())[:3])
        takes = examples or " or ".join(dict.fromkeys(_takes(value, away)))
        description = str(value.get("description", "")).replace("<", "&lt;").replace("|", "\\|").rstrip(".")
        description = f"{description}." if description and by_default else description
        links = [] if not examples else [link for link in dict.fromkeys(_takes(value, away)) if link.startswith("[")]
        takes = "; ".join([takes.replace("|", "\\|"), *links])
        yield f"| `{key}`{needed} | {takes} | {description}{by_default} |"


def _takes(node: Node, away: Mapping[str, str]) -> Iterator[str]:
    """Yield what a value may be, each kind in a few words."""
    if "$ref" in node:
        name = node["$ref"].rpartition("/")[2]
        if name != "Interpolation":
            yield f"[{name}]({away.get(name, '')}#{name.lower()})"
    elif "anyOf" in node or "allOf" in node:
        for part in node.get("anyOf", node.get("allOf", ())):
            yield from _takes(part, away)
    elif "enum" in node:
        yield ", ".join(f"`{_flow(word)}`" for word in node["enum"])
    elif "const" in node:
        yield f"`{_flow(node['const'])}`"
    elif node.get("type") == "array":
        items = node.get("items", {})
        parts = items if isinstance(items, list) else [items]
        kinds = " or ".join(dict.fromkeys(kind for part in parts for kind in _takes(part, away)))
        yield f"a list of {kinds}" if kinds else "a list"
    elif node.get("type") == "object" and isinstance(node.get("additionalProperties"), Mapping):
        kinds = " or ".join(dict.fromkeys(_takes(node["additionalProperties"], away)))
        yield f"name -> {kinds}" if kinds else "a map"
    elif node.get("type") in _WORDS:
        yield _WORDS[node["type"]]


def _flow(value: Any) -> str:
    """Return a value as YAML on one line."""
    text = yaml.safe_dump(value, default_flow_style=True, width=10_000, sort_keys=False, allow_unicode=True)
    return text.removesuffix("\n").removesuffix("\n...").strip()
