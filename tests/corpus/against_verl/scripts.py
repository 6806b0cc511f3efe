"""verl's own scripts as questions: the programs that they start, with the settings that they give them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator

from placewright.models.composition import Composer
from placewright.models.dialects.load import read_all
from placewright.models.dialects.verl.programs import table_of
from placewright.models.reading import Reading
from placewright.models.script.document import read_script
from placewright.models.script.launch import LaunchCommand, launch_of
from placewright.models.text.source import Source

from .configurations import PROGRAMS

ROOMY = [16] * 1024
"""Nodes on which every pool of a script has room."""
PINNED = 7
"""Index of b178a3cd among the releases, which the records were made of."""
NAMES = (
    "ppo_trainer",
    "ppo_megatron_trainer",
    "one_step_off_ppo_trainer",
    "fully_async_ppo_trainer",
    "rob_ppo_trainer",
    "generation",
    "sft_trainer",
)
JUDGED = {key for name in NAMES if (table := table_of(name, PINNED)) for key in (*table.defaults, *table.same)}
"""The keys that verdicts depend on."""
ENVIRONMENT = {"HOME": "/home/me", "PWD": "/home/me/verl"}


@dataclass(frozen=True)
class Script:
    """One program of a script: what the oracle is asked, and our reading."""

    file: str
    program: str
    asked: dict[str, Any]
    reading: Reading


def scripts(checkout: Path, files: list[str]) -> Iterator[Script | str]:
    """Every program of verl that these scripts start; the name of a script in which none is known, or a setting is not."""
    for file in files:
        source = Source.read(checkout / file)
        launches = [launch for each in read_script(source, ENVIRONMENT).started if (launch := launch_of(each))]
        found = [(launch, program) for launch in launches if (program := _program(launch))]
        readings = {
            reading.document.program: reading
            for reading in read_all(source, None, "verl", "training", Composer(frameworks=("verl==b178a3cd",)))
        }
        matching = [
            reading for known, reading in readings.items() if known and any(known.name == launch.program.plain for launch, _ in found)
        ]
        question = _asked(checkout, *found[0]) if len(found) == len(matching) == 1 else None
        yield file if question is None else Script(file, found[0][1], question, matching[0])


def _program(launch: LaunchCommand) -> str | None:
    name = launch.program.plain.removesuffix(".py").replace("/", ".")
    for program, (module, _, _) in PROGRAMS.items():
        if name.endswith(module.removesuffix(".py")):
            return program
    return None


def _asked(checkout: Path, launch: LaunchCommand, program: str) -> dict[str, Any] | None:
    """What the oracle is asked; None where the configuration is not in the checkout, or a setting that we judge is not known."""
    words = [*launch.options, *launch.arguments]
    options, settings = {}, []
    for word, following in zip(words, [*words[1:], words[-1]]):
        key, equals, value = word.plain.partition("=")
        if key.startswith("--"):
            options[key] = value if equals else following.plain
        elif equals and not word.known and key.lstrip("+") in JUDGED:
            return None
        elif equals:
            settings.append(word.plain if word.known else f"{key}=unknown")
    folder, names = PROGRAMS[program][1:]
    path = options.get("--config-path", folder)
    parts = [path[path.index(top) :] for top in ("examples/", "verl/trainer", "verl/experimental", "recipe/") if top in path]
    config = f"{parts[0] if parts else folder}/{options.get('--config-name', names[0]).removesuffix('.yaml')}.yaml"
    if not (checkout / config).is_file():
        return None
    return {"program": program, "config": config, "settings": settings, "nodes": ROOMY}
