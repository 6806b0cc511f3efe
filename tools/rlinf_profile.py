"""Profile of an RLinf checkout as plain data, and several profiles as ranges of releases.

`python -m placewright.tools.rlinf_profile NAME=CHECKOUT ... >
models/dialects/rlinf/facts/known.json`, oldest release first. Nothing of a checkout is run or imported.
"""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path
from typing import Any, Iterable, Iterator, Mapping, Sequence

import yaml

from ..models.releases.release import UNSTORED_VALUE, Releases

Profile = dict[str, list[str]]
"""Kind of fact -> names that the release knows."""

DEPTH = 3
"""Maximal depth of stored keys; deeper keys are settings of models and simulators."""
_UNLIKE = ("hydra", "defaults")
_EXAMPLES = ("examples", "evaluations", "tests")


def profile(checkout: Path) -> Profile:
    """Return the facts of a checkout: tasks, algorithms, hardware, placements, programs, keys."""
    config = _parse(checkout / "rlinf" / "config.py")
    cluster = _parse(checkout / "rlinf" / "scheduler" / "cluster" / "config.py")
    hardware, models = list(_hardware(checkout)), _models(config, _parse(checkout / "rlinf" / "models" / "__init__.py"))
    return {
        "task": _list_of(config, "SUPPORTED_TASK_TYPE"),
        "training_backend": _list_of(config, "SUPPORTED_TRAINING_BACKENDS"),
        "rollout_backend": _list_of(config, "SUPPORTED_ROLLOUT_BACKENDS"),
        "advantage": _find_registered(checkout / "rlinf" / "algorithms" / "advantages.py", "register_advantage"),
        "loss": _find_registered(checkout / "rlinf" / "algorithms" / "losses.py", "register_policy_loss"),
        "model": list(models),
        "embodied_model": [name for name, is_embodied in models.items() if is_embodied],
        "environment": _members(_parse(checkout / "rlinf" / "envs" / "__init__.py"), "SupportedEnvType"),
        "hardware": [name for name, _, _ in hardware],
        "hardware_field": [f"{name}.{field}" for name, fields, _ in hardware for field in fields],
        "hardware_required": [f"{name}.{field}" for name, _, required in hardware for field in required],
        "cluster_key": _fields(cluster, "ClusterConfig"),
        "profiler": _profilers(checkout),
        "program": sorted(_programs(checkout)),
        "key": sorted(_keys(checkout) | {f"cluster.{name}" for name in _fields(cluster, "ClusterConfig")}),
    }


def ranges(profiles: Mapping[str, Profile]) -> dict[str, dict[str, list[str]]]:
    """Return kind -> releases -> names known to exactly these.

    Releases are ``since:until`` runs with commas; "" leaves a side open.
    """
    releases, result = Releases(list(profiles)), dict[str, dict[str, list[str]]]()
    for kind in next(iter(profiles.values())):
        known = [set(names_known[kind]) for names_known in profiles.values()]
        groups: dict[str, list[str]] = {}
        for name in sorted(set().union(*known)):
            has = {index: UNSTORED_VALUE for index, names_known in enumerate(known) if name in names_known}
            runs = releases.runs(has, range(len(known)))
            groups.setdefault(",".join(map(":".join, runs)), []).append(name)
        result[kind] = dict(sorted(groups.items()))
    return result


def _parse(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8")) if file.is_file() else ast.Module([], [])


def _strings(node: ast.AST | None) -> list[str]:
    elements = node.elts if isinstance(node, (ast.List, ast.Tuple, ast.Set)) else []
    return [element.value for element in elements if isinstance(element, ast.Constant) and isinstance(element.value, str)]


def _list_of(module: ast.Module, name: str) -> list[str]:
    for node in module.body:
        if isinstance(node, ast.Assign) and any(isinstance(target, ast.Name) and target.id == name for target in node.targets):
            return _strings(node.value)
    return []


def _members(module: ast.Module, name: str) -> list[str]:
    node = _class(module, name)
    return [text for member in (node.body if node else ()) if isinstance(member, ast.Assign) for text in _strings(ast.List([member.value]))]


def _models(config: ast.Module, registry: ast.Module) -> dict[str, bool]:
    """Return model type -> True if its models act in environments.

    Types are members of an enumeration, or registered by calls.
    """
    types, embodied = dict[str, str](), set[str]()
    for node in (node for node in ast.walk(config) if isinstance(node, ast.Assign)):
        name, value = ast.unparse(node.targets[0]).rpartition(".")[2], node.value
        if name in ("EMBODIED_MODEL", "DIFFUSION_MODELS"):
            embodied |= {model.attr for model in ast.walk(value) if isinstance(model, ast.Attribute)}
        elif isinstance(value, ast.Tuple) and len(words := _strings(value)) == 2:  # type, category
            types[name], embodied = words[0], embodied | ({name} if words[1] == "embodied" else set())
        elif isinstance(value, ast.Call) and ast.unparse(value.func) == "SupportedModel.register":
            types[name] = _strings(ast.List(value.args))[0]
    for call in ast.walk(registry):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "register_model":
            embodied.add(ast.unparse(call.args[0]).split(".")[1])
    return {model: any(types.get(name) == model for name in embodied) for model in types.values()}


def _find_decorated(module: ast.Module) -> Iterator[tuple[ast.AST, str, ast.Call]]:
    """Yield (function or class, name of a decorator, its call) of a module."""
    for node in ast.walk(module):
        for call in node.decorator_list if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else ():
            if isinstance(call, ast.Call):
                yield node, ast.unparse(call.func), call


def _find_registered(file: Path, decorator: str) -> list[str]:
    return [text for _, name, call in _find_decorated(_parse(file)) if name == decorator for text in _strings(ast.List(call.args[:1]))]


def list_annotated(node: ast.ClassDef) -> Iterator[tuple[str, ast.AnnAssign]]:
    """Yield (name, statement) of the annotated fields of a class."""
    for statement in node.body:
        if (
            isinstance(statement, ast.AnnAssign)
            and isinstance(statement.target, ast.Name)
            and "ClassVar" not in ast.dump(statement.annotation)
        ):
            yield statement.target.id, statement


def _class(module: ast.Module, name: str) -> ast.ClassDef | None:
    return next((node for node in module.body if isinstance(node, ast.ClassDef) and node.name == name), None)


def _fields(module: ast.Module, name: str) -> list[str]:
    node = _class(module, name)
    return [field for field, _ in list_annotated(node)] if node else []


def _constant(module: ast.Module, owner: str, name: str) -> str:
    """Return a text constant of a class, like ``HW_TYPE``."""
    node = _class(module, owner)
    for statement in node.body if node else ():
        if (
            isinstance(statement, (ast.Assign, ast.AnnAssign))
            and isinstance(statement.value, ast.Constant)
            and f"'{name}'" in ast.dump(statement)
        ):
            return str(statement.value.value)
    return ""


def _hardware(checkout: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield (hardware type, fields, required fields) of every registered configuration."""
    for file in sorted((checkout / "rlinf" / "scheduler" / "hardware" / "robots").glob("*.py")):
        module = _parse(file)
        for node, name, call in _find_decorated(module):
            if isinstance(node, ast.ClassDef) and "register_hardware_config" in name and isinstance(call.args[0], ast.Attribute):
                kind = _constant(module, ast.unparse(call.args[0].value), call.args[0].attr)
                fields = list(list_annotated(node))
                yield kind, [field for field, _ in fields], [field for field, statement in fields if statement.value is None]


def _profilers(checkout: Path) -> list[str]:
    kinds = []
    for file in sorted((checkout / "rlinf" / "scheduler" / "hardware" / "accelerators").glob("*.py")):
        module = _parse(file)
        names = [node.name for node in module.body if isinstance(node, ast.ClassDef)]
        kinds += [kind for name in names if (kind := _constant(module, name, "BACKEND_TYPE"))]
    return kinds


def _programs(checkout: Path) -> Iterator[str]:
    """Yield ``path:folder/name`` (configuration folder, name) of every Hydra program."""
    for file in _under(checkout, ".py"):
        for _, decorator, call in _find_decorated(_parse(file)):
            if decorator == "hydra.main":
                keywords = {word.arg: word.value.value for word in call.keywords if isinstance(word.value, ast.Constant)}
                folder, name = (str(keywords.get(key) or "") for key in ("config_path", "config_name"))
                yield f"{file.relative_to(checkout).as_posix()}:{folder}/{name}"


def _under(checkout: Path, suffix: str) -> Iterator[Path]:
    for folder in _EXAMPLES:
        yield from sorted((checkout / folder).rglob(f"*{suffix}"))


def _keys(checkout: Path) -> set[str]:
    """Return the keys of configurations, and keys read by code below their sections."""
    keys = set(_keys_of_files(checkout))
    sections = {key for key in keys if "." not in key}
    return keys | {key for key in _keys_of_code(checkout) if key.partition(".")[0] in sections}


def _keys_of_files(checkout: Path) -> Iterator[str]:
    """Yield the keys of configurations, also those from the groups of their defaults."""
    trees = dict(_trees(checkout))
    for tree in trees.values():
        if "cluster" in tree and "runner" in tree:
            yield from _paths(tree, ())
            for default in filter(lambda entry: isinstance(entry, str), tree.get("defaults") or ()):
                option, _, package = default.partition("@")
                prefix = tuple((package or option.rpartition("/")[0]).split("."))
                for path in (path for path in trees if path.endswith(f"/{option}.yaml")):
                    yield from _paths(trees[path], prefix)


def _trees(checkout: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield (path, content) of every YAML file with a map."""
    for file in _under(checkout, ".yaml"):
        try:
            tree = yaml.load(file.read_text(encoding="utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        except (yaml.YAMLError, UnicodeDecodeError):
            continue
        if isinstance(tree, dict):
            yield file.as_posix(), tree


def _paths(tree: Mapping[Any, object], prefix: tuple[str, ...]) -> Iterator[str]:
    for key, value in tree.items():
        path = (*prefix, str(key))
        if path[0] in _UNLIKE or path[:2] == ("cluster", "component_placement") or len(path) > DEPTH:
            continue
        yield ".".join(path)
        if isinstance(value, dict):
            yield from _paths(value, path)


def _keys_of_code(checkout: Path) -> Iterator[str]:
    """Yield keys that code reads below `cfg`.

    For example ``cfg.runner.only_eval``, ``self.cfg.algorithm.get("adv_type")``.
    """
    for file in (*sorted((checkout / "rlinf").rglob("*.py")), *_under(checkout, ".py")):
        for node in ast.walk(_parse(file)):
            path = list(_chain(node))
            if path and path[0] in ("cfg", "self.cfg", "config", "self._cfg") and 2 < len(path) <= DEPTH + 1:
                yield ".".join(path[1:])


def _chain(node: ast.AST) -> Iterable[str]:
    """Return the names of an attribute chain, including ``get`` with a text, or nothing."""
    if isinstance(node, ast.Name):
        return [node.id]
    if isinstance(node, ast.Attribute):
        prefix = list(_chain(node.value))
        if prefix == ["self"]:
            return [f"self.{node.attr}"]
        return [*prefix, node.attr] if prefix and node.attr not in ("get", "items", "keys") else []
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get" and node.args:
        prefix, first = list(_chain(node.func.value)), node.args[0]
        return [*prefix, first.value] if prefix and isinstance(first, ast.Constant) and isinstance(first.value, str) else []
    return []


def main(arguments: Sequence[str]) -> None:
    """Print the ranges of the releases in ``NAME=CHECKOUT`` arguments, oldest first."""
    named = (argument.partition("=") for argument in arguments)
    print(json.dumps(ranges({name: profile(Path(folder)) for name, _, folder in named}), indent=1))


if __name__ == "__main__":
    main(sys.argv[1:])
