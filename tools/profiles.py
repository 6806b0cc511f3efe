"""Release profiles of a framework from a checkout: ``python -m placewright.tools.profiles --framework verl --release 0.9.0 CHECKOUT``.

What a release adds or changes is written into the data files of the dialect; `git diff` then shows what is new in it.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, Sequence

from ..models.releases.configurations import Configurations
from ..models.releases.release import Releases
from .encoded import Column, decoded, encoded, written
from .flattened import Flat, configurations

DIALECTS = Path(__file__).parents[1] / "models" / "dialects"


@dataclass(frozen=True)
class Layout:
    """Where a framework keeps its configurations.

    Attributes
    ----------
    patterns : files below a checkout, the first of a name counts.
    beside : the same below a second repository of recipes.
    bases : configurations that others may be told as changes of, most general first.
    choosing : configurations of which every option of every group is kept.
    without : recipes whose program is not known and whose configuration stands on no other one.
    """

    patterns: tuple[str, ...]
    beside: tuple[str, ...] = ()
    bases: tuple[str, ...] = ()
    choosing: tuple[str, ...] = ()
    without: tuple[str, ...] = ()


LAYOUTS = {
    "verl": Layout(
        (
            "verl/trainer/config/*.yaml", "verl/experimental/*/config/*.yaml", "examples/*/config/*.yaml", "recipe/*/config/*.yaml",
            "recipe/*/configs/*.yaml",
        ),
        ("*/config/*.yaml", "*/configs/*.yaml", "*/*/config/*.yaml"),
        ("ppo_trainer", "ppo_megatron_trainer"),
        ("ppo_trainer", "sft_trainer_engine", "sft_trainer"),
        ("dance_ppo_trainer", "rep_exp_trainer"),
    ),
}  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Read a checkout into the data files; 0 where that was done."""
    asked = _parser().parse_args(arguments)
    start, layout = monotonic(), LAYOUTS[asked.framework]
    folder = Path(asked.facts) if asked.facts else DIALECTS / asked.framework / "facts"
    file = folder / "releases.json"
    registered = json.loads(file.read_text("utf-8"))
    names = [each["name"] for each in registered["releases"]]
    known = decoded(Configurations(folder, Releases(names))) if (folder / "configurations.json").is_file() else {}
    new = _read(layout, str(Path(asked.checkout).resolve()), asked.recipes)
    if not new:
        raise SystemExit(f"{asked.checkout} holds no configuration of {asked.framework} that can be composed")
    names = _registered(file, registered, asked)
    columns: dict[str, Column] = {}
    for name in known.keys() | new.keys():
        its = {**{release: flat for release, flat in known.get(name, {}).items() if release != asked.release}}
        its.update({asked.release: new[name]} if name in new else {})
        if its:
            columns[name] = {names.index(release): its[release] for release in sorted(its, key=names.index)}
    lines = written(encoded(columns, Releases(names), layout.bases), folder)
    print(f"{asked.framework} {asked.release}: {len(new)} configurations in {monotonic() - start:.1f} s, {lines} lines of data")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m placewright.tools.profiles", description="Read a release of a framework as data.")
    parser.add_argument("checkout", help="folder of the framework at this release")
    parser.add_argument("--framework", choices=sorted(LAYOUTS), required=True)
    parser.add_argument("--release", required=True, help="its name, such as 0.9.0 or an abbreviated commit")
    parser.add_argument("--commit", help="commit of the checkout; needed for a release that is new")
    parser.add_argument("--date", default="", help="date of that commit, YYYY-MM-DD")
    parser.add_argument("--before", default="", help="the known release that it comes before; by default it is the newest")
    parser.add_argument("--recipes", default="", help="checkout of the repository of recipes that goes with it")
    parser.add_argument("--facts", default="", help="folder of data files; by default that of the dialect")
    return parser


def _registered(file: Path, registered: dict[str, Any], asked: argparse.Namespace) -> list[str]:
    """Names of all releases with the asked one among them."""
    every = registered["releases"]
    names = [each["name"] for each in every]
    if asked.release not in names:
        if not asked.commit:
            raise SystemExit(f"{asked.release} is new: name its commit with --commit")
        place = names.index(asked.before) if asked.before else len(names)
        every.insert(place, {"name": asked.release, "commit": asked.commit[:10], "date": asked.date})
        names.insert(place, asked.release)
        lines = ",\n".join(f"  {json.dumps(each)}" for each in every)
        head = ",\n ".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in registered.items() if key != "releases")
        file.write_text(f'{{{head},\n "releases": [\n{lines}\n]}}\n', encoding="utf-8")
    return names


def _read(layout: Layout, checkout: str, recipes: str) -> dict[str, Flat]:
    """Every configuration of a checkout, then those of recipes that have no such name."""
    found = configurations(layout.patterns, (checkout,), layout.choosing)
    if recipes:
        found = {**configurations(layout.beside, (str(Path(recipes).resolve()), checkout)), **found}
    return {name: flat for name, flat in found.items() if name not in layout.without}


if __name__ == "__main__":
    sys.exit(main())
