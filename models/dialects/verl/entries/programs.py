"""Every program of verl and of verl-recipe that is known, read from facts/programs.json.

Source: verl, verl/trainer/*.py, verl/experimental/*/, examples/split_placement/; verl-recipe, */main_*.py. Programs that are a Ray task, not
an actor, or an actor without `num_cpus`, hold no CPU while they wait for the pools: they reserve none.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any, Mapping, Sequence

from ....pools.pool import Reserve
from ....record import dataclass
from ....releases.runs import Releases
from ..data import FOLDER, releases
from .entry import Entry, Kind

_DATA: Mapping[str, Any] = json.loads((FOLDER / "programs.json").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class _Facts:
    """What a program is, by release."""

    data: Mapping[str, Any]

    def entry(self, index: int) -> Entry:
        """The program in the release at an index."""
        data, known = self.data, releases()
        pools = dict(zip(("trained", "rolled"), data.get("pools", ())))
        held = tuple(Reserve(run[2], run[3]) for run in data.get("reserves", ()) if known.covers(run, index))
        slots = _value(data.get("slots", _DATA["slots"]), known, index)
        return Entry(
            data["program"], Kind[data["kind"]], data["configuration"], held, data.get("own_trainer", False), **pools, slots=slots,
            server_slots=_value(_DATA["server_slots"], known, index),
        )  # fmt: skip


def _value(runs: Sequence[Sequence[Any]], known: Releases, index: int) -> int:
    return next(int(run[2]) for run in runs if known.covers(run, index))


_FACTS = {data["program"]: _Facts(data) for data in _DATA["programs"]}


@cache
def programs_in(index: int) -> tuple[Entry, ...]:
    """All programs as they are in the release at an index; those of other releases too."""
    return tuple(facts.entry(index) for facts in _FACTS.values())


PROGRAMS = programs_in(len(releases().names) - 1)
"""All programs, as they are in the newest release."""


def _newest(program: str) -> Entry:
    return next(entry for entry in PROGRAMS if entry.program == program)


MAIN_PPO = _newest("verl.trainer.main_ppo")
ONE_STEP_OFF = _newest("verl.experimental.one_step_off_policy.main_ppo")
FULLY_ASYNC = _newest("verl.experimental.fully_async_policy.fully_async_main")
VLA = _newest("verl.experimental.vla.main_ppo")
SPLIT = _newest("main_ppo_split")
SERVER = _newest("verl.trainer.main_generation_server")
GENERATION = _newest("verl.trainer.main_generation")
TUNING = _newest("verl.trainer.sft_trainer_ray")
PROCESSES = _newest("verl.trainer.fsdp_sft_trainer")
EVALUATION = _newest("verl.trainer.main_eval")
DECLARED = _newest("verl.trainer.ppo.ray_trainer")


def named(name: str) -> Entry | None:
    """The program of a module or file name; one that may lie anywhere is known by its last two words."""
    words = name.removesuffix(".py").replace("/", ".").strip(".").split(".")
    for size in (len(words), 3, 2, 1):
        tail = words[-size:]
        found = [entry for entry in PROGRAMS if any(each.split(".")[-size:] == tail for each in _names(entry.program))]
        if len(found) == 1 and (size > 1 or len(words) == 1 or "." not in found[0].program):
            return found[0]
    return MAIN_PPO if words == ["main_ppo"] else None


def _names(program: str) -> tuple[str, ...]:
    return (program, *_FACTS[program].data.get("names", {}))


def names_in(name: str) -> int:
    """Bits of the releases that have a program under this very module name; 0 where that is not known."""
    module = name.removesuffix(".py").replace("/", ".").strip(".")
    runs = next((names[module] for facts in _FACTS.values() if module in (names := facts.data.get("names", {}))), ())
    return releases().mask(runs)
