"""Fields of verl's dataclasses by release: ``python -m placewright.tools.verl_fields --release 0.9.0 CHECKOUT``.

The class bodies are parsed, never imported. Only classes that a configuration names with `_target_` are kept.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
from pathlib import Path
from typing import Sequence

from ..models.releases.release import Releases
from .rlinf_profile import list_annotated

FACTS = Path(__file__).parents[1] / "models" / "dialects" / "verl" / "facts"
PATTERNS = ("verl/base_config.py", "verl/workers/config/*.py", "verl/trainer/config/*.py", "verl/utils/profiler/config.py")
FIRST = "0.6.0"
"""Oldest release that turns sections into dataclasses."""
_TARGET = re.compile(r'"verl\.[\w.]*?(\w+)"')

Fields = dict[str, set[int]]
"""Field -> indices of the releases that have it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Read a checkout into the data file; return 0 on success."""
    parser = argparse.ArgumentParser(prog="python -m placewright.tools.verl_fields", description=__doc__)
    parser.add_argument("checkout", help="folder of verl at this release")
    parser.add_argument("--release", required=True, help="its name in releases.json")
    parser.add_argument("--facts", default=str(FACTS), help="folder of data files")
    options = parser.parse_args(arguments)
    folder = Path(options.facts)
    names = [release["name"] for release in json.loads((folder / "releases.json").read_text("utf-8"))["releases"]]
    targets = {match[1] for file in folder.glob("*.json") for match in _TARGET.finditer(file.read_text("utf-8"))}
    new = {name: fields for name, fields in fields_of(Path(options.checkout)).items() if name in targets}
    if not new or options.release not in names:
        raise SystemExit(f"{options.checkout} has no dataclass that is known, or {options.release} is not a known release")
    releases, index = Releases(names), names.index(options.release)
    file = folder / "fields.json"
    known = _decode(json.loads(file.read_text("utf-8")), releases) if file.is_file() else {}
    for name in known.keys() | new.keys():
        fields_known = known.setdefault(name, {})
        for field in fields_known.keys() | new.get(name, set()):
            (fields_known.setdefault(field, set()).add if field in new.get(name, ()) else fields_known[field].discard)(index)
    file.write_text(_encode(known, releases, names.index(FIRST)), "utf-8")
    return 0


def fields_of(checkout: Path) -> dict[str, set[str]]:
    """Return the fields of every class of a checkout, including inherited ones."""
    classes: dict[str, tuple[list[str], set[str]]] = {}
    for file in (file for pattern in PATTERNS for file in sorted(checkout.glob(pattern))):
        for node in ast.parse(file.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef):
                bases = [ast.unparse(base).rpartition(".")[2] for base in node.bases]
                classes[node.name] = bases, {name for name, _ in list_annotated(node)}

    def every(name: str) -> set[str]:
        bases, fields = classes.get(name, ([], set()))
        return fields.union(*map(every, bases))

    return {name: every(name) for name in classes}


def _decode(data: dict[str, list[list[str]]], releases: Releases) -> dict[str, Fields]:
    by_class: dict[str, Fields] = {}
    for name, runs in data.items():
        for since, until, fields in runs:
            indices = {index for index in range(len(releases.names)) if releases.covers((since, until), index)}
            for field in fields.split():
                by_class.setdefault(name, {}).setdefault(field, set()).update(indices)
    return by_class


def _encode(known: dict[str, Fields], releases: Releases, first: int) -> str:
    lines = []
    for name in sorted(known):
        grouped: dict[tuple[str, str], list[str]] = {}
        for field, indices in sorted(known[name].items()):
            for since, until, _ in releases.runs(dict.fromkeys(sorted(indices), True), range(first, len(releases.names))):
                grouped.setdefault((since, until), []).append(field)
        starts = {"": 0, **{release: index for index, release in enumerate(releases.names)}}
        order = sorted(grouped, key=lambda run: (starts[run[0]], starts[run[1]]))
        if grouped:
            lines.append(f" {json.dumps(name)}: {json.dumps([[*run, ' '.join(grouped[run])] for run in order])}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    sys.exit(main())
