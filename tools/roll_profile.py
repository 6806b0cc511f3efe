"""Profile of a ROLL release: configuration classes of a checkout with keys, and programs.

Sources are parsed, never run. `python -m placewright.tools.roll_profile 0.1.0=DIR ... FILE` writes
the data file of all releases, oldest first.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from pathlib import Path
from typing import Any, Mapping

from ..models.releases.release import Releases
from .rlinf_profile import list_annotated

MEGATRON = "mcore_adapter/src/mcore_adapter/training_args.py"
PLACES = ("roll/configs/*.py", "roll/pipeline/*/*_config.py", "roll/pipeline/*/*/*_config.py", MEGATRON)
LAUNCHERS = "examples/start_*_pipeline.py"
Profile = dict[str, dict[str, Any]]


def profile(checkout: Path) -> Profile:
    """Return classes (base, file), ``Class.key`` (type, default), and programs with their class.

    A default that is not a plain value is None.
    """
    result: Profile = {"classes": {}, "keys": {}, "programs": {}}
    for place in PLACES:
        for file in sorted(checkout.glob(place)):
            path = file.relative_to(checkout).as_posix()
            for node in ast.parse(file.read_text("utf-8")).body:
                if isinstance(node, ast.ClassDef):
                    bases = [ast.unparse(base) for base in node.bases]
                    # Classes of two pipelines may have equal names.
                    prefix = f"{file.parent.name}." if "/pipeline/" in path or place == MEGATRON else ""
                    base = bases[0] if bases else ""
                    result["classes"][prefix + node.name] = [f"{prefix}{base}" if base and place == MEGATRON else base, path]
                    for name, statement in list_annotated(node):
                        result["keys"][f"{prefix}{node.name}.{name}"] = [ast.unparse(statement.annotation), _default(statement.value)]
    for file in sorted(checkout.glob(LAUNCHERS)):
        names = re.findall(r"data_class=(\w+)", file.read_text("utf-8"))
        result["programs"][file.name] = sorted(set(names))
    return result


def _default(value: ast.expr | None) -> object:
    """Return the default of a field: its value, or the keyword `default` of a call of `field`."""
    if isinstance(value, ast.Call):
        value = next((word.value for word in value.keywords if word.arg == "default"), None)
    try:
        default = None if value is None else ast.literal_eval(value)
    except ValueError:
        return None
    return default if isinstance(default, (bool, int, float, str)) else None


def merge(profiles: Mapping[str, Profile]) -> Profile:
    """Merge profiles, oldest first, to runs ``[since, until, value...]``; "" leaves a side open."""
    releases, result = Releases(list(profiles)), Profile()
    for section in ("classes", "keys", "programs"):
        columns: dict[str, dict[int, Any]] = {}
        for index, facts in enumerate(profiles.values()):
            for name, value in facts[section].items():
                columns.setdefault(name, {})[index] = value
        result[section] = {
            name: [[since, until, *value] for since, until, value in releases.runs(column, range(len(profiles)))]
            for name, column in columns.items()
        }
    return result


def write(data: Profile) -> str:
    """Format the data file: a line per key, so that a release changes few lines."""
    sections = []
    for section, table in data.items():
        lines = [f"  {json.dumps(name)}: {json.dumps(runs, ensure_ascii=False)}" for name, runs in table.items()]
        sections.append(f" {json.dumps(section)}: {{\n" + ",\n".join(lines) + "\n }")
    return "{\n" + ",\n".join(sections) + "\n}\n"


def main(arguments: list[str]) -> int:
    """Write the data file of checkouts, given as RELEASE=DIR."""
    *checkouts, file = arguments
    pairs = (argument.partition("=") for argument in checkouts)
    text = write(merge({name: profile(Path(folder)) for name, _, folder in pairs}))
    Path(file).write_text(text, encoding="utf-8")
    return text.count("\n")


if __name__ == "__main__":
    print(f"{main(sys.argv[1:])} lines")
