"""Tables of measured times: `profile_data`, RLinf's formulas, and fitted curves.

Sources in RLinf:

- docs (guides/auto_placement) and toolkits/auto_placement/{util,node}.py (get_valid_gpu_num_list). Any
  `<component>_cost` is read.
- toolkits/auto_placement/fitter.py, which fits by scipy; here every family has its best curve.

The tables have the time of an iteration; the tool divides it by the number of batches for the time
of a batch.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Iterator, Mapping, NamedTuple

from ....configuration.notes import Notes
from ....configuration.settings import Settings
from ....findings.span import Span
from ....hints.seconds import duration
from ....planning.curves import fit
from ....planning.workload import SECOND, Measurement
from ....quantity import AdviceError
from ....record import dataclass
from ....text.tree import MapNode, Scalar
from ..known import COST, KEY, MEGATRON
from ..section import is_absent

BY_ENVIRONMENTS = {"env": "env_profile_data", "rollout": "rollout_profile_data"}
"""Component -> key of seconds by the number of environments on an accelerator."""


@dataclass(frozen=True)
class ProfileData:
    """Times of the section `profile_data`.

    Attributes
    ----------
    costs : component -> nanoseconds per iteration.
    shares : component -> seconds per iteration, by the number of environments on one accelerator.
    spans : component -> span of its time.
    """

    costs: Mapping[str, int]
    shares: Mapping[str, Mapping[int, Fraction]]
    spans: Mapping[str, Span]

    def span(self, name: str = "") -> Span | None:
        """Return the span of a component's time, by default of the first cost."""
        return self.spans.get(name or next(iter(self.costs), ""))


def read_profile(notes: Notes, settings: Settings) -> ProfileData:
    """Return the section (empty if missing); note values that are no seconds."""
    section = settings.at(KEY)
    costs, shares, spans = dict[str, int](), dict[str, Mapping[int, Fraction]](), dict[str, Span]()
    for entry in section if isinstance(section, MapNode) else ():
        name = entry.key.text.removesuffix(COST)
        if name != entry.key.text and (cost := _seconds(notes, settings, f"{KEY}.{entry.key.text}")) is not None:
            costs[name], spans[name] = cost, entry.value.span
    for name, key in BY_ENVIRONMENTS.items():
        table = settings.at(f"{KEY}.{key}")
        if isinstance(table, MapNode) and (rows := dict(_rows(notes, settings, key, table))):
            shares[name], spans[name] = rows, table.span
    return ProfileData(costs, shares, spans)


def _rows(notes: Notes, settings: Settings, key: str, table: MapNode) -> Iterator[tuple[int, Fraction]]:
    for entry in table:
        count = entry.key.text
        if not (count.isascii() and count.isdecimal() and len(count) < 10 and int(count)):
            message = f"`{key}` has seconds by the number of environments on one accelerator, and `{count[:40]}` is no such number"
            notes.error("PW105", KEY, message, entry.key, "no number", "write whole numbers such as `16: 2.46`")
        elif (seconds := _seconds(notes, settings, f"{KEY}.{key}.{count}")) is not None:
            yield int(count), Fraction(seconds, SECOND)


def _seconds(notes: Notes, settings: Settings, path: str) -> int | None:
    value = settings.at(path)
    if value is None or is_absent(value):
        return None
    try:
        return duration(value.value if isinstance(value, Scalar) else value)
    except ValueError as wrong:
        advice = wrong.advice if isinstance(wrong, AdviceError) else "write the seconds of an iteration, such as `59.9`"
        notes.error("PW105", path, f"`{path}`: {wrong}", value, "no seconds", advice)
        return None


MEGATRON_FORMULA = "RLinf's formula for Megatron"
"""Formula that RLinf's tool uses for any trained or probability-computing component.

See `formula_of`.
"""


Table = Mapping[int, Measurement]
"""Accelerators -> time of an iteration; other counts are infeasible."""


class Batch(NamedTuple):
    """Prompts of a step, samples per prompt, and updates per step.

    Keys: `data.rollout_batch_size`, `algorithm.group_size`, `algorithm.n_minibatches`.
    """

    prompts: int
    group: int
    updates: int

    @property
    def samples(self) -> int:
        """Number of samples per step."""
        return self.prompts * self.group


def formula_of(backend: str | None) -> str:
    """Return the name of the formula for a backend; the formula is meant for Megatron."""
    return MEGATRON_FORMULA if backend == MEGATRON else f"{MEGATRON_FORMULA}, taken for {'FSDP' if backend == 'fsdp' else 'this'} too"


def trained_table(nanoseconds: int, measured_on: int, replica: int, total: int, batch: Batch, formula: str = MEGATRON_FORMULA) -> Table:
    """Return the table of a trained or probability-computing component.

    Replicas have `replica` accelerators; the cost was measured on `measured_on` of `total`. The
    number of replicas divides the groups of an update. s times fewer accelerators take s times as long,
    divided by 1 + s / 10 (at least 1.1, at most 1.9), the gain from less communication.
    """
    update = batch.samples // batch.updates
    replicas = [count for count in range(1, total // replica + 1) if update % (count * batch.group) == 0]
    table = {}
    for count in [count * replica for count in replicas] or range(replica, total + 1, replica):
        if count < measured_on:
            slower = Fraction(measured_on, count)
            gain = 1 + min(Fraction(9, 10), max(slower / 10, Fraction(1, 10)))
            table[count] = Measurement(count, round(nanoseconds * slower / gain), assumed=formula)
    return {**table, measured_on: Measurement(measured_on, nanoseconds)}


def generated_table(nanoseconds: int, measured_on: int, engine: int, running: int, batch: Batch) -> Table:
    """Return the table of rollout in engines of `engine` accelerators.

    An engine runs at most `running` requests; from 128 on, nine tenths count as its capacity.
    Rollout is as fast as measured while the engines can run all samples at once; else the time
    grows as the accelerators become fewer.
    """
    capacity = -(-running * 9 // 10) if running >= 128 else running
    table = {}
    for count in range(engine, measured_on, engine):
        slower = 1 if count // engine * capacity >= batch.samples else Fraction(measured_on, count)
        table[count] = Measurement(count, round(nanoseconds * slower), assumed="RLinf's formula for rollout")
    return {**table, measured_on: Measurement(measured_on, nanoseconds)}


def simulated_table(profile: Mapping[int, Fraction], environments: int, total: int, even: bool) -> Table:
    """Return the table of environments dealt to processes with an accelerator each.

    `profile`: seconds by the number of environments on one accelerator. `even`: every process must
    have equally many; else the time of the smaller share counts. More environments per accelerator
    than measured are infeasible; between measurements a curve is used.
    """
    table, curve = dict[int, Measurement](), None
    for count in range(1, min(total, environments) + 1):
        share = environments // count
        if (even and environments % count) or share > max(profile):
            continue
        if share in profile:
            table[count] = Measurement(count, round(profile[share] * SECOND))
        elif (curve := curve or fit(tuple(profile.items()))) is not None and (seconds := curve.curve(share)) > 0:
            formula = f"a curve {curve.family} through the measured ones, as RLinf fits it"
            table[count] = Measurement(count, max(1, round(seconds * SECOND)), assumed=formula)
    return table
