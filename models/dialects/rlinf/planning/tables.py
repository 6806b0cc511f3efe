"""How long RLinf's placement tool takes a component to run on fewer accelerators than it was measured on, as tables in whole ns.

Source: RLinf, toolkits/auto_placement/node.py and util.py (get_valid_gpu_num_list). The tables hold the time of an iteration; the tool
divides it by the number of batches where it needs that of one.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Iterator, Mapping, NamedTuple

from ....planning.measured import SECOND
from .curves import fitted

MEASURED = ""
MEGATRON = "RLinf's formula for Megatron"
"""By name, as RLinf's tool has it; it takes the same for whatever else trains or computes probabilities (see `formula_of`)."""


class Row(NamedTuple):
    """The time of an iteration in ns, and by which formula it follows from what was measured; `MEASURED` if it was measured itself."""

    nanoseconds: int
    formula: str = MEASURED


Table = Mapping[int, Row]
"""Accelerators -> the time on them; other counts are not possible."""


class Batch(NamedTuple):
    """Prompts of a step, samples of each, updates in a step: `data.rollout_batch_size`, `algorithm.group_size`, `algorithm.n_minibatches`."""

    prompts: int
    group: int
    updates: int

    @property
    def samples(self) -> int:
        """Samples of a step."""
        return self.prompts * self.group


def formula_of(backend: str | None) -> str:
    """How it is told that a time follows by `trained` of what `backend` trains: it is no formula for that, unless that is Megatron."""
    return MEGATRON if backend == "megatron" else f"{MEGATRON}, taken for {'FSDP' if backend == 'fsdp' else 'this'} too"


def trained(nanoseconds: int, measured: int, replica: int, total: int, batch: Batch, formula: str = MEGATRON) -> Table:
    """What trains or computes probabilities, in replicas of so many accelerators, measured on `measured` of `total`.

    As many replicas as divide the groups of an update. A fewer accelerators take s times as long, divided by 1 + s / 10 (at least
    1.1, at most 1.9): what they lose less by talking less.
    """
    update = batch.samples // batch.updates
    replicas = [count for count in range(1, total // replica + 1) if update % (count * batch.group) == 0]
    counts = [count * replica for count in replicas] or list(range(replica, total + 1, replica))
    found = {}
    for count in counts:
        if count < measured:
            slower = Fraction(measured, count)
            gain = 1 + min(Fraction(9, 10), max(slower / 10, Fraction(1, 10)))
            found[count] = Row(round(nanoseconds * slower / gain), formula)
    return {**found, measured: Row(nanoseconds)}


def generated(nanoseconds: int, measured: int, engine: int, running: int, batch: Batch) -> Table:
    """Rollout in engines of so many accelerators, each with at most `running` requests at once.

    As fast as measured while its engines hold all samples at once, nine tenths of 128 requests or more counting as full; else the
    time grows as the accelerators become fewer.
    """
    held = -(-running * 9 // 10) if running >= 128 else running
    found = {}
    for count in range(engine, measured, engine):
        all_at_once = count // engine * held >= batch.samples
        formula = "RLinf's formula for rollout"
        found[count] = Row(nanoseconds if all_at_once else round(Fraction(nanoseconds * measured, count)), formula)
    return {**found, measured: Row(nanoseconds)}


def simulated(profile: Mapping[int, Fraction], environments: int, total: int, even: bool) -> Table:
    """Environments dealt out to so many processes, an accelerator each, where the time for a number of them on one was measured.

    `profile` is in seconds. `even`: every process must have as many; else the time of the smaller share is taken. More on one
    accelerator than were ever measured are not possible; between measurements a curve is taken (see curves.py).
    """
    return dict(_simulated(profile, environments, total, even))


def _simulated(profile: Mapping[int, Fraction], environments: int, total: int, even: bool) -> Iterator[tuple[int, Row]]:
    most, curve = max(profile), None
    for count in range(1, min(total, environments) + 1):
        share = environments // count
        if (even and environments % count) or share > most:
            continue
        if share in profile:
            yield count, Row(round(profile[share] * SECOND))
            continue
        curve = curve or fitted(profile)
        if curve is not None and (seconds := curve.curve(share)) > 0:
            yield count, Row(max(1, round(seconds * SECOND)), f"a curve {curve.family} through the measured ones, as RLinf fits it")
