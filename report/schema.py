"""JSON Schema (draft-07) of a kind of file, for editors: every key with its meaning.

It is made from the forms that read the files, so that both accept the same. Pydantic writes the schema of a plan in the draft of
2020-12; editors and their language servers know draft-07. Faults such as a rank outside the cluster show only when a file is read.
"""

from __future__ import annotations

import json
import re
from typing import Any, Mapping

import yaml

from ..models.dialect_names import DIALECTS, FRAMEWORKS
from ..models.text.form import REQUIRED, Form

Node = dict[str, Any]
KINDS: Mapping[str, str] = {
    "native": "A native file of placewright: a cluster, and what is to be placed on it.",
    "cluster": "A cluster file of placewright: what `--cluster` names.",
    "plan": "A plan of placewright: what `solve -o` writes and `launch` starts.",
    **{name: f"A file of {DIALECTS[name].framework} with hints for placewright." for name in FRAMEWORKS},
}
"""Kind of file -> description of its schema."""
_INTERPOLATION = "Interpolation"
_MARK = {"type": "string", "pattern": r"\$\{.+\}", "description": "a value from elsewhere, such as `${cluster.nodes}`"}
_KEPT = (
    "type", "enum", "const", "pattern", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "required", "uniqueItems",
    "exclusiveMinimum", "exclusiveMaximum", "minProperties", "maxProperties", "propertyNames",
)  # fmt: skip
_CONVERTED = ("$ref", "anyOf", "prefixItems", "items", "properties", "patternProperties", "additionalProperties")
_DROPPED = ("title", "description", "default", "examples", "discriminator")
"""Words that `definition` and `_key` write, or that no schema has."""
_EXAMPLES = re.compile(r"such as ((?:`[^`]+`(?:, or | or |, )?)+)")
_BACKTICKS = re.compile(r"`([^`]+)`")


def schema(kind: str) -> Node:
    """Return the schema of one of KINDS, as JSON data."""
    form, may_interpolate = _of_plan() if kind == "plan" else _convert_form(_form(kind)), kind not in ("cluster", "plan")
    definitions = {_short(name): _Converter(may_interpolate).definition(node) for name, node in sorted(form.pop("$defs", {}).items())}
    if may_interpolate:
        definitions[_INTERPOLATION] = _MARK
    root = _Converter(may_interpolate).definition(form)
    return {
        "$schema": "http://json-schema.org/draft-07/schema#", "$id": f"urn:placewright:schema:{kind}", "title": f"placewright: {kind}", **root, "description": KINDS[kind],
        "definitions": definitions,
    }  # fmt: skip


def schema_to_json(kind: str) -> str:
    """Format the schema of one of KINDS."""
    return json.dumps(schema(kind), indent=1, ensure_ascii=False) + "\n"


def _convert_form(form: type[Form]) -> Node:
    """Convert a form and its inner forms, the `$defs`."""
    definitions: Node = {}
    waiting = [form]
    while waiting:
        current = waiting.pop()
        if current.__name__ not in definitions:
            definitions[current.__name__] = _keys_of(current)
            kinds = [key.kind for key in current.keys.values()]
            waiting += [kind.form for kind in kinds if kind.form and f'"$ref": "{kind.form.__name__}"' in json.dumps(kind.schema)]
    return {**definitions.pop(form.__name__), "$defs": definitions}


def _keys_of(form: type[Form]) -> Node:
    properties: Node = {}
    for key in form.keys.values():
        value = {"anyOf": [key.kind.schema, {"type": "null"}]} if key.default is None else key.kind.schema
        default = {} if key.default is REQUIRED else {"default": key.default}
        properties[key.name_in_file] = {**value, "description": key.description, "title": key.title, **default}
    required = [key.name_in_file for key in form.keys.values() if key.default is REQUIRED]
    node: Node = {"description": form.__doc__ or "", "properties": properties, "additionalProperties": form.is_open}
    return node | ({"required": required} if required else {})


def _of_plan() -> Node:
    from ..models.machines.cluster_file import ClusterForm
    from ..models.placements.plan_file import PlanFileForm

    form, cluster = PlanFileForm.model_json_schema(mode="validation"), _convert_form(ClusterForm)
    form["properties"]["cluster"]["$ref"] = ClusterForm.__name__
    form["$defs"] |= cluster.pop("$defs") | {ClusterForm.__name__: cluster}
    return form


def _form(kind: str) -> type[Form]:
    if kind == "cluster":
        from ..models.machines.cluster_file import ClusterForm

        return ClusterForm
    if kind in FRAMEWORKS:
        from ..models.hints.block import FileForm

        return FileForm
    from ..models.dialects.native.form import NativeForm

    return NativeForm


def _short(name: str) -> str:
    return name.lstrip("_").removesuffix("Form")


class _Converter:
    """Draft 2020-12 as pydantic writes it, in words of draft-07. With `interpolated`, `${...}` may stand for any value."""

    def __init__(self, interpolated: bool) -> None:
        self.interpolated = interpolated

    def definition(self, node: Node) -> Node:
        """Convert a form: keys with descriptions and values."""
        required = set(node.get("required", ()))
        keys = {name: self._key(name, value, name in required) for name, value in node.get("properties", {}).items()}
        schema_node: Node = {"description": " ".join(node["description"].split())} if "description" in node else {}
        schema_node |= {"type": "object", "properties": keys, "additionalProperties": node.get("additionalProperties", True)}
        return schema_node | ({"required": node["required"]} if required else {})

    def _key(self, name: str, node: Node, is_required: bool) -> Node:
        description = node.get("description", "")
        title = node.get("title", "")
        meaning = "" if title == name.rstrip("_").replace("_", " ").title() else title
        schema_node: Node = {"description": ": ".join(filter(None, (meaning, description)))} if meaning or description else {}
        value = self._value(node)
        schema_node |= value if "$ref" not in value else {"allOf": [value]}
        default = node.get("default")
        if isinstance(default, (bool, int, str)) and default != "" and not is_required:
            schema_node["default"] = default
        return schema_node | ({"examples": examples} if (examples := _examples(description)) else {})

    def _value(self, node: Node) -> Node:
        """Convert the allowed values, without description."""
        plain = self._plain(node)
        if not self.interpolated or _any_text(plain):
            return plain
        return {"anyOf": [*_choices(plain), {"$ref": f"#/definitions/{_INTERPOLATION}"}]}

    def _plain(self, node: Node) -> Node:
        if unknown := node.keys() - {*_KEPT, *_CONVERTED, *_DROPPED}:
            raise ValueError(f"unknown in the schema: {', '.join(sorted(unknown))}")
        if "$ref" in node:
            return {"$ref": "#/definitions/" + _short(node["$ref"].rpartition("/")[2])}
        if "anyOf" in node:
            return {"anyOf": [choice for inner in node["anyOf"] for choice in _choices(self._plain(inner))]}
        kept_words = {word: node[word] for word in _KEPT if word in node}
        if "prefixItems" in node:  # a list of so many items, each of its own kind
            return kept_words | {"items": [self._value(item) for item in node["prefixItems"]], "additionalItems": False}
        if "items" in node:
            kept_words["items"] = self._value(node["items"])
        for word in ("properties", "patternProperties"):
            if word in node:
                kept_words[word] = {name: self._value(value) for name, value in node[word].items()}
        if "additionalProperties" in node:
            rest = node["additionalProperties"]
            kept_words["additionalProperties"] = self._value(rest) if isinstance(rest, dict) else rest
        return kept_words


def _choices(node: Node) -> list[Node]:
    """Return the choices of a schema that is nothing but a choice, else the schema."""
    return list(node["anyOf"]) if set(node) == {"anyOf"} else [node]


def _any_text(node: Node) -> bool:
    """Return True if a schema already allows every short text."""
    return any(choice.get("type") == "string" and not {"pattern", "enum", "const"} & choice.keys() for choice in node.get("anyOf", [node]))


def _examples(text: str) -> list[object]:
    """Return the examples in backticks after `such as`, as values."""
    return [yaml.safe_load(example) for sentence in _EXAMPLES.findall(text) for example in _BACKTICKS.findall(sentence)]
