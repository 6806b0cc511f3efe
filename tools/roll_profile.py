"""Profile of one ROLL release: the configuration classes of a checkout with their keys, and its programs.

A source is parsed, never run. `python -m placewright.tools.roll_profile 0.1.0=DIR ... FILE` writes
the data file of all releases, oldest first.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from pathlib import Path
from typing import Any, Iterator, Mapping

PLACES = ("roll/configs/*.py", "roll/pipeline/*/*_config.py", "roll/pipeline/*/*/*_config.py")
LAUNCHERS = "examples/start_*_pipeline.py"
Profile = dict[str, dict[str, Any]]


def profile(checkout: Path) -> Profile:
    """Classes (base and file), keys by ``Class.key`` (type and default), and programs with their class.

    A default that is no plain value is None.
    """
    found: Profile = {"classes": {}, "keys": {}, "programs": {}}
    for place in PLACES:
        for file in sorted(checkout.glob(place)):
            path = file.relative_to(checkout).as_posix()
            for node in ast.parse(file.read_text("utf-8")).body:
                if isinstance(node, ast.ClassDef):
                    bases = [ast.unparse(base) for base in node.bases]
                    # Two pipelines have classes of the same name.
                    prefix = f"{file.parent.name}." if "/pipeline/" in path else ""
                    found["classes"][prefix + node.name] = [bases[0] if bases else "", path]
                    found["keys"].update((prefix + key, value) for key, value in _keys(node))
    for file in sorted(checkout.glob(LAUNCHERS)):
        names = re.findall(r"data_class=(\w+)", file.read_text("utf-8"))
        found["programs"][file.name] = sorted(set(names))
    return found


def _keys(node: ast.ClassDef) -> Iterator[tuple[str, list[Any]]]:
    """Annotated fields of a class."""
    for each in node.body:
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            yield f"{node.name}.{each.target.id}", [ast.unparse(each.annotation), _default(each.value)]


def _default(value: ast.expr | None) -> object:
    """Default of a field: its value, or the keyword `default` of a call of `field`."""
    if isinstance(value, ast.Call):
        value = next((word.value for word in value.keywords if word.arg == "default"), None)
    try:
        found = None if value is None else ast.literal_eval(value)
    except ValueError:
        return None
    return found if isinstance(found, (bool, int, float, str)) else None


def merged(profiles: Mapping[str, Profile]) -> Profile:
    """Profiles of releases, oldest first, as runs ``[since, until, value...]``; "" leaves a side open."""
    names = list(profiles)
    found: Profile = {}
    for section in ("classes", "keys", "programs"):
        table = found.setdefault(section, {})
        for name in dict.fromkeys(key for each in profiles.values() for key in each[section]):
            runs: list[list[Any]] = []
            for index, release in enumerate(names):
                value = profiles[release][section].get(name)
                if value is None:
                    continue
                if runs and runs[-1][1] == release and runs[-1][2:] == value:
                    runs[-1][1] = names[index + 1] if index + 1 < len(names) else ""
                else:
                    since = release if index else ""
                    runs.append([since, names[index + 1] if index + 1 < len(names) else "", *value])
            table[name] = runs
    return found


def written(data: Profile) -> str:
    """Text of the data file: a line a key, so that a release changes few lines."""
    sections = []
    for section, table in data.items():
        lines = [f"  {json.dumps(name)}: {json.dumps(runs, ensure_ascii=False)}" for name, runs in table.items()]
        sections.append(f" {json.dumps(section)}: {{\n" + ",\n".join(lines) + "\n }")
    return "{\n" + ",\n".join(sections) + "\n}\n"


def main(arguments: list[str]) -> int:
    """Write the data file of checkouts, each given as RELEASE=DIR."""
    *given, file = arguments
    pairs = (each.partition("=") for each in given)
    text = written(merged({name: profile(Path(folder)) for name, _, folder in pairs}))
    Path(file).write_text(text, encoding="utf-8")
    return text.count("\n")


if __name__ == "__main__":
    print(f"{main(sys.argv[1:])} lines")
