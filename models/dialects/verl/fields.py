"""Sections that verl turns into dataclasses, which refuse other keys; see facts/fields.json.

Source: verl, verl/utils/config.py (omega_conf_to_dataclass), called in verl/utils/config.py
(validate_config), verl/workers/*_workers.py, verl/trainer/ppo/ray_trainer.py and
verl/trainer/sft_trainer.py. Sections without `_target_`, such as `engine_kwargs`, take any key.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Mapping, Sequence

from ...configuration.notes import is_unknown
from ...text.tree import Scalar
from .configuration import Configuration
from .defaults import Table
from .programs import FOLDER, TRAINERS, ProgramKind, releases

_TARGET = "_target_"
_TRAINED = ("actor_rollout_ref.actor", "actor_rollout_ref.rollout", "actor_rollout_ref.model", "critic")
_TUNED = ("model", "engine", "optim", "checkpoint")
SINCE = "0.6.0"


@cache
def _fields() -> Mapping[str, Sequence[tuple[str, str, str]]]:
    """Return dataclass -> (since, until, field names in these releases)."""
    fields: Mapping[str, Sequence[tuple[str, str, str]]] = json.loads((FOLDER / "fields.json").read_text(encoding="utf-8"))
    return fields


def refused_field(settings: Configuration, key: str) -> tuple[str, str, int] | None:
    """Return (dataclass, path of the unknown field, bits of releases with the field).

    None if no dataclass refuses the key in the selected release.
    """
    choice, table = settings.choice, settings.table
    owner = next((section for section in _sections(settings) if key.startswith(f"{section}.")), "") if choice is not None else ""
    rest = key[len(owner) + 1 :].split(".")
    while choice is not None and table is not None and owner and rest:
        name = _dataclass(settings, table, owner)
        known = _fields().get(name, ())
        mask = releases().mask([run for run in known if rest[0] in run[2].split()])
        if not mask >> choice.release.index & 1:
            return (name, f"{owner}.{rest[0]}", mask) if releases().has(known, choice.release.index) else None
        owner, rest = f"{owner}.{rest[0]}", rest[1:]
    return None


def is_hidden_field(settings: Configuration, key: str) -> bool:
    """Return True if `+` can add a key as a field of a dataclass.

    No configuration has the key.
    """
    owner, _, name = key.rpartition(".")
    choice, table = settings.choice, settings.table
    if choice is None or table is None or not any(f"{owner}.".startswith(f"{section}.") for section in _sections(settings)):
        return False
    runs = [run for run in _fields().get(_dataclass(settings, table, owner), ()) if name in run[2].split()]
    return releases().has(runs, choice.release.index)


def _dataclass(settings: Configuration, table: Table, section: str) -> str:
    """Return the dataclass of a section; "" if unknown or none."""
    path, program = f"{section}.{_TARGET}", settings.notes.document.program
    written, default = settings.at(path), table.defaults.get(path)
    if program is None or program.found:
        text = written.text if isinstance(written, Scalar) and not is_unknown(written) else ""
    else:
        text = str(default.value) if default is not None and written is None and not table.is_open(section) else ""
    return text.rpartition(".")[2] if text.startswith("verl.") else ""


def _sections(settings: Configuration) -> Sequence[str]:
    """Return the sections that the program always turns into dataclasses."""
    if settings.until(SINCE) or settings.entry.own_trainer:
        return ()
    if settings.entry.kind in TRAINERS:
        return _TRAINED if settings.has_critic else _TRAINED[:-1]
    is_tuned = settings.entry.configuration == "sft_trainer_engine" and settings.entry.kind in (ProgramKind.PROCESSES, ProgramKind.TUNING)
    return _TUNED if is_tuned else ()
