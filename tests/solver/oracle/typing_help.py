"""A help as a person types it into a native file: the words alone decide what is changed."""

from __future__ import annotations

import re
from copy import deepcopy
from typing import Any, Callable, Iterator

from .generator import Keys

RELATIONS = {
    "colocate_with": "colocated", "disjoint_from": "disjoint", "within": "subset", "rank_aligned_with": "rank aligned",
    "zero_copy_with": "zero copy", "apart_from": "apart", "near": "near",
}  # fmt: skip
STEP = re.compile(r" and (?=(?:ask|drop|set|use|keep|make|let|spread|add|give)\b)")


class Untypable(AssertionError):
    """A help whose words nobody can type into this file."""


def typed(file: Keys, help_text: str) -> Keys:
    """The file with one help typed into it, step by step. Raises Untypable."""
    changed = deepcopy(file)
    for step in STEP.split(help_text):
        match = next(((do, found) for form, do in FORMS if (found := re.fullmatch(form, step))), None)
        if match is None:
            raise Untypable(f"no such form: {step}")
        do, found = match
        do(changed, *found.groups())
    return changed


def _ask(file: Keys, amount: str, unit: str | None, before: str, name: str) -> None:
    keys = file["components"][name]
    if unit or "processes" not in keys:
        keys.pop("processes", None)
        keys["accelerators"] = int(amount)
    elif keys.get("accelerators_per_process", 1) > 1:
        raise Untypable(f"`processes: {keys['processes']}` of {name} are no {before} accelerators")
    else:
        keys["processes"] = int(amount)


def _drop(file: Keys, key: str, name: str) -> None:
    if key not in file["components"][name]:
        raise Untypable(f"{name} has no `{key}`")
    del file["components"][name][key]


def _drop_relation(file: Keys, key: str, partner: str, name: str) -> None:
    for owner, other in ((name, partner), (partner, name)):
        keys = file["components"].get(owner, {})
        stated = list(_values_of(keys.get(key)))
        left = [each for each in stated if (each["component"] if isinstance(each, dict) else each) != other]
        if len(left) < len(stated):
            keys[key] = left
            if not left:
                del keys[key]
            return
    names, kind = {name, *re.split(r"\+|, ", partner)}, RELATIONS.get(key, key)
    for relation in file.get("relations", ()):
        if relation["kind"] == kind and names <= set(relation["components"]):
            file["relations"].remove(relation)
            return
    raise Untypable(f"no `{key}: {partner}` of {name}")


def _drop_keep(file: Keys, group: str, level: str, name: str) -> None:
    keep = file["components"][name]["keep"]
    keep[group] = [said for said in _values_of(keep[group]) if _level_of(said) != level]
    if not keep[group]:
        del keep[group]
    if not keep:
        del file["components"][name]["keep"]


def _drop_spread(file: Keys, level: str, name: str) -> None:
    keys = file["components"][name]
    keys["spread"] = [said for said in _values_of(keys["spread"]) if _level_of(said) != level]
    if not keys["spread"]:
        del keys["spread"]


def _drop_pin(file: Keys, ranks: str, name: str) -> None:
    keys = file["components"][name]
    left = [pin for pin in keys["pin"] if str(pin["ranks"]) != ranks]
    if len(left) == len(keys["pin"]):
        raise Untypable(f"no pin of ranks {ranks}")
    keys["pin"] = left
    if not left:
        del keys["pin"]


def _set_key(file: Keys, key: str, name: str, value: str, _: str) -> None:
    if key not in file["components"][name]:
        raise Untypable(f"{name} has no `{key}`")
    file["components"][name][key] = int(value) if value.isdigit() else value


def _set_work(file: Keys, number: str, value: str) -> None:
    file["work"][int(number)]["amount"] = int(value)


def _use(file: Keys, degrees: str, _: str, name: str) -> None:
    file["components"][name]["parallel"] = {part.split()[0]: int(part.split()[1]) for part in degrees.split(", ")}


def _keep_in(file: Keys, name: str, domains: str, level: str, _: str) -> None:
    _change(file["components"][name]["keep"], "component", level, domains=int(domains))


def _prefer(file: Keys, group: str, level: str, name: str) -> None:
    _change(file["components"][name]["keep"], group, level, required=False)


def _let_hold(file: Keys, level: str, percent: str, name: str, _: str) -> None:
    _change(file["components"][name], "spread", level, percent=int(percent))


def _spread(file: Keys, name: str, domains: str, level: str, _: str) -> None:
    _change(file["components"][name], "spread", level, domains=int(domains))


def _change(keys: Keys, key: str, level: str, **fields: Any) -> None:
    """Changes what a key says of a level: a word becomes a map."""
    level = _key(level)
    said = [
        ({"level": level} if isinstance(each, str) else each) | fields if _level_of(each) == level else each
        for each in _values_of(keys[key])
    ]
    keys[key] = said if len(said) > 1 else said[0]


def _add_nodes(file: Keys, count: str, size: str, model: str, memory: str | None, _: str | None, groups: str | None) -> None:
    nodes = file["cluster"]["nodes"]
    first = sum(node.get("repeat", 1) for node in nodes)
    accelerators: Keys = {"count": int(size)} | ({} if model.startswith("accelerator") else {"model": model})
    like = [node["accelerators"] for node in nodes if accelerators.items() <= node.get("accelerators", {}).items()]
    accelerators |= {key: like[0][key] for key in ("memory", "numa") if like and key in like[0]}
    accelerators |= {"memory": memory} if memory else {}
    levels = {level for node in nodes for level in node.get("topology", ())}
    for _ in range(int(count)):
        nodes.append({"accelerators": dict(accelerators)} | ({"topology": dict.fromkeys(levels, "new")} if levels else {}))
    for label in re.findall("`([^`]+)`", groups or ""):
        group = next(group for group in file["cluster"]["node_groups"] if group["label"] == label)
        group["node_ranks"] = ",".join([str(group["node_ranks"]), *(str(first + number) for number in range(int(count)))])


def _add_relation(file: Keys, key: str, partner: str, name: str) -> None:
    keys = file["components"][name]
    keys[key] = [*_values_of(keys.get(key)), partner]


def _give_hints(file: Keys, name: str, amount: str, partner: str) -> None:
    keys = file["components"][name]
    keys.pop("placement", None)
    keys.pop("processes", None)
    keys |= {"accelerators": int(amount), "within": partner}


def _values_of(stated: Any) -> Iterator[Any]:
    yield from () if stated is None else stated if isinstance(stated, list) else [stated]


def _level_of(said: Any) -> str:
    return str(said.get("level", "rack")) if isinstance(said, dict) else str(said)


def _key(words: str) -> str:
    """The key of a level from its name in a sentence, such as `NVLink domains`."""
    key = words.lower().replace(" ", "_").removesuffix("s")
    return {"numa_domain": "numa"}.get(key, key)


FORMS: tuple[tuple[str, Callable[..., None]], ...] = (
    (r"ask for (\d+)( accelerators)? instead of (.+) for (\S+)", _ask),
    (r"drop `keep: \{(\w+): (\w+)\}` of (\S+)", _drop_keep),
    (r"drop `(\w+)` of (\S+)", _drop),
    (r"drop `([\w ]+): ([^`]+)` of (\S+)", _drop_relation),
    (r"drop `spread` over (\w+) of (\S+)", _drop_spread),
    (r"drop the `pin` of ranks (\S+) of (\S+)", _drop_pin),
    (r"set `(\w+)` of (\S+) to (\S+) instead of (\S+)", _set_key),
    (r"set `work\.(\d+)\.amount` to (\d+)", _set_work),
    (r"use (.+) instead of (.+) for (\S+)", _use),
    (r"keep (\S+) in (\d+) ([\w ]+) instead of (\d+)", _keep_in),
    (r"make `keep: \{(\w+): (\w+)\}` of (\S+) `required: false`", _prefer),
    (r"let one ([\w ]+?) hold (\d+) % of (\S+) instead of (\d+) %", _let_hold),
    (r"spread (\S+) over (\d+) ([\w ]+) instead of (\d+)", _spread),
    (r"add (\d+) nodes? with (\d+) (\S+?)(?: of (\S+?))?( in a rack of their own)?(?:, in node groups? (.+))?", _add_nodes),
    (r"add `(\w+): (\S+)` to (\S+)", _add_relation),
    (r"give (\S+) no ranks but the hints `\{accelerators: (\d+), within: (\S+)\}`", _give_hints),
)
"""Form of a help -> what typing it changes."""
