"""Real configurations of RLinf, ROLL and verl: those of the corpus beside the repository, and verl's scripts where a checkout is named."""

from __future__ import annotations

import gzip
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
CORPUS = ROOT.parent / "shared" / "corpus"
CHECKOUT = os.environ.get("PLACEWRIGHT_VERL", "")
"""A checkout of verl with its recipes; "" where none is named."""


@dataclass(frozen=True)
class Input:
    """One configuration: a file, or settings of a command line. `framework` is its dialect, `form` how it is written."""

    framework: str
    form: str
    path: Path | None = None
    settings: tuple[str, ...] = ()


def inputs() -> list[Input]:
    """All there is, framework by framework; the examples of this repository where no corpus lies beside it."""
    if not CORPUS.is_dir():
        examples = {"rlinf": "rlinf/reasoning.yaml", "roll": "roll/rlvr.yaml", "verl": "verl/ppo.sh"}
        return [Input(name, "YAML" if path.endswith("yaml") else "script", ROOT / "examples" / path) for name, path in examples.items()]
    found = [Input(name, "YAML", path) for name in ("rlinf", "roll") for path in _listed(name)]
    records = verl_records()
    found += [Input("verl", "settings", None, tuple(_settings(record["overrides"]))) for record in records]
    if CHECKOUT:
        scripts = dict.fromkeys(Path(CHECKOUT) / record["file"] for record in records)
        found += [Input("verl", "script", path) for path in scripts if path.is_file() and path.suffix in (".sh", ".slurm", ".sbatch")]
    return found


def verl_records() -> list[dict[str, Any]]:
    """What verl's scripts start, as the corpus has it."""
    with gzip.open(CORPUS / "verl" / "golden" / "overrides.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _listed(framework: str) -> list[Path]:
    folder = CORPUS / framework
    return [folder / line for line in (folder / "placement_files.txt").read_text("utf-8").split()]


def _settings(overrides: dict[str, object]) -> list[str]:
    """`key=value` as a command line has them; options of the program are left out."""
    return [f"{key}={_text(value)}" for key, value in overrides.items() if not key.startswith("-")]


def _text(value: object) -> str:
    return value if isinstance(value, str) else "null" if value is None else json.dumps(value).replace('"', "'")
