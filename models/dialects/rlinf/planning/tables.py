"""Times that somebody measured, as tables: `profile_data`, RLinf's formulas, and curves through measurements.

Sources in RLinf:

- docs (guides/auto_placement) and toolkits/auto_placement/{util,node}.py (get_valid_gpu_num_list). Any `<component>_cost` is read.
- toolkits/auto_placement/fitter.py, which fits by scipy; here every family has its best curve.

The tables hold the time of an iteration; the tool divides it by the number of batches where it needs that of one.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Callable, Iterator, Mapping, NamedTuple, Sequence

from ....configuration.notes import Notes
from ....configuration.settings import Settings
from ....findings.span import Span
from ....hints.seconds import duration
from ....planning.measured import SECOND
from ....quantity import Advised
from ....record import dataclass
from ....text.tree import MapNode, Scalar
from ..known import COST, KEY, MEGATRON
from ..section import is_absent

BY_ENVIRONMENTS = {"env": "env_profile_data", "rollout": "rollout_profile_data"}
"""Component -> where its seconds stand by the number of environments on one accelerator."""


@dataclass(frozen=True)
class Profile:
    """Times of the section `profile_data`.

    Attributes
    ----------
    costs : component -> nanoseconds of an iteration.
    shares : component -> seconds of an iteration by the number of environments on one accelerator.
    spans : component -> where its time stands.
    """

    costs: Mapping[str, int]
    shares: Mapping[str, Mapping[int, Fraction]]
    spans: Mapping[str, Span]

    def span(self, name: str = "") -> Span | None:
        """Where the time of a component stands, by default that of the first cost."""
        return self.spans.get(name or next(iter(self.costs), ""))


def read_profile(notes: Notes, settings: Settings) -> Profile:
    """The section, empty where there is none; a finding for each value that is no number of seconds."""
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
    return Profile(costs, shares, spans)


def _rows(notes: Notes, settings: Settings, key: str, table: MapNode) -> Iterator[tuple[int, Fraction]]:
    for entry in table:
        count = entry.key.text
        if not (count.isascii() and count.isdecimal() and len(count) < 10 and int(count)):
            message = f"`{key}` has seconds by the number of environments on one accelerator, and `{count[:40]}` is no such number"
            notes.error("PW105", KEY, message, entry.key, "no number", "write whole numbers such as `16: 2.46`")
        elif (found := _seconds(notes, settings, f"{KEY}.{key}.{count}")) is not None:
            yield int(count), Fraction(found, SECOND)


def _seconds(notes: Notes, settings: Settings, path: str) -> int | None:
    value = settings.at(path)
    if value is None or is_absent(value):
        return None
    try:
        return duration(value.value if isinstance(value, Scalar) else value)
    except ValueError as wrong:
        advice = wrong.advice if isinstance(wrong, Advised) else "write the seconds of an iteration, such as `59.9`"
        notes.error("PW105", path, f"`{path}`: {wrong}", value, "no seconds", advice)
        return None


Curve = Callable[[int], float]
STEPS = 400
"""How finely the exponent is looked for before it is narrowed down."""


class Fitted(NamedTuple):
    """A curve, the name of its family, and how much of the points' variance it explains (1: all)."""

    curve: Curve
    family: str
    explained: float


def fitted(points: Mapping[int, Fraction]) -> Fitted | None:
    """Curve that explains most, the first of equals: power, exponential, logarithm, parabola; None for a single point."""
    return _fitted(tuple(points.items()))


@lru_cache(maxsize=64)  # a file is read many times while it is planned, each time with the same points
def _fitted(pairs: tuple[tuple[int, Fraction], ...]) -> Fitted | None:
    points, curves = dict(pairs), dict[str, Curve]()
    xs, ys = list(points), [float(value) for value in points.values()]
    if len(xs) < 2:
        return None
    if min(xs) > 0:
        centre = math.exp(math.fsum(map(math.log, xs)) / len(xs))
        curves["a x^b"] = _scaled(xs, ys, lambda x, b: (x / centre) ** b, 10.0)
    middle = sum(xs) / len(xs)
    curves["a e^(b x)"] = _scaled(xs, ys, lambda x, b: math.exp(b * (x - middle)), 20.0 / (max(xs) - min(xs)))
    if min(xs) > 0:
        curves["a + b ln x"] = _logarithm(xs, ys)
    if len(xs) > 2:
        curves["a x^2 + b x + c"] = _parabola(points)
    return max((Fitted(curve, family, _explained(xs, ys, curve)) for family, curve in curves.items()), key=lambda each: each.explained)


def _explained(xs: Sequence[int], ys: Sequence[float], curve: Curve) -> float:
    mean = math.fsum(ys) / len(ys)
    whole = math.fsum((y - mean) ** 2 for y in ys)
    left = math.fsum((y - curve(x)) ** 2 for x, y in zip(xs, ys))
    return 1 - left / whole if whole else 1.0


def _scaled(xs: Sequence[int], ys: Sequence[float], shape: Callable[[float, float], float], reach: float) -> Curve:
    """Least squares of a f(x, b): for each b the best a is a quotient, so that b alone is looked for, up to `reach`."""

    def factor(b: float) -> float:
        values = [shape(x, b) for x in xs]
        return math.fsum(y * value for y, value in zip(ys, values)) / math.fsum(value * value for value in values)

    def left(b: float) -> float:
        a = factor(b)
        return math.fsum((y - a * shape(x, b)) ** 2 for x, y in zip(xs, ys))

    grid = [reach * step / STEPS for step in range(-STEPS, STEPS + 1)]
    place = min(range(len(grid)), key=lambda index: left(grid[index]))
    low, high = grid[max(place - 1, 0)], grid[min(place + 1, len(grid) - 1)]
    for _ in range(100):  # thirds, until the two cannot be told apart
        lower, upper = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, upper) if left(lower) <= left(upper) else (lower, high)
    b = (low + high) / 2
    a = factor(b)
    return lambda x: a * shape(x, b)


def _logarithm(xs: Sequence[int], ys: Sequence[float]) -> Curve:
    logs = [math.log(x) for x in xs]
    mean, height = math.fsum(logs) / len(logs), math.fsum(ys) / len(ys)
    slope = math.fsum((log - mean) * (y - height) for log, y in zip(logs, ys)) / math.fsum((log - mean) ** 2 for log in logs)
    return lambda x: height + slope * (math.log(x) - mean)


def _parabola(points: Mapping[int, Fraction]) -> Curve:
    """Equations of least squares, solved exactly in fractions."""
    powers = [sum(Fraction(x) ** power for x in points) for power in range(5)]
    sums = [sum((value * x**power for x, value in points.items()), Fraction()) for power in range(3)]
    rows = [[powers[row + column] for column in range(3)] + [sums[row]] for row in range(3)]
    for pivot in range(3):
        at = next(row for row in range(pivot, 3) if rows[row][pivot])
        rows[pivot], rows[at] = rows[at], rows[pivot]
        for row in range(3):
            if row != pivot:
                times = rows[row][pivot] / rows[pivot][pivot]
                rows[row] = [mine - times * other for mine, other in zip(rows[row], rows[pivot])]
    factors = [rows[row][3] / rows[row][row] for row in range(3)]
    return lambda x: float(sum((factor * x**power for power, factor in enumerate(factors)), Fraction()))


MEASURED = ""
MEGATRON_FORMULA = "RLinf's formula for Megatron"
"""RLinf's tool takes the same for whatever else trains or computes probabilities (see `formula_of`)."""


class Row(NamedTuple):
    """Time of an iteration in ns, and by which formula it follows from what was measured; `MEASURED` if it was measured itself."""

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
    """Name of the formula for what `backend` trains: it is no formula for that, unless that is Megatron."""
    return MEGATRON_FORMULA if backend == MEGATRON else f"{MEGATRON_FORMULA}, taken for {'FSDP' if backend == 'fsdp' else 'this'} too"


def trained_table(nanoseconds: int, measured: int, replica: int, total: int, batch: Batch, formula: str = MEGATRON_FORMULA) -> Table:
    """Table of what trains or computes probabilities, in replicas of so many accelerators, measured on `measured` of `total`.

    As many replicas as divide the groups of an update. s times fewer accelerators take s times as long, divided by 1 + s / 10 (at least
    1.1, at most 1.9): what they lose less by talking less.
    """
    update = batch.samples // batch.updates
    replicas = [count for count in range(1, total // replica + 1) if update % (count * batch.group) == 0]
    found = {}
    for count in [count * replica for count in replicas] or range(replica, total + 1, replica):
        if count < measured:
            slower = Fraction(measured, count)
            gain = 1 + min(Fraction(9, 10), max(slower / 10, Fraction(1, 10)))
            found[count] = Row(round(nanoseconds * slower / gain), formula)
    return {**found, measured: Row(nanoseconds)}


def generated_table(nanoseconds: int, measured: int, engine: int, running: int, batch: Batch) -> Table:
    """Table of rollout in engines of so many accelerators, each with at most `running` requests at once.

    As fast as measured while its engines hold all samples at once, nine tenths of 128 requests or more counting as full; else the
    time grows as the accelerators become fewer.
    """
    held = -(-running * 9 // 10) if running >= 128 else running
    found = {}
    for count in range(engine, measured, engine):
        slower = 1 if count // engine * held >= batch.samples else Fraction(measured, count)
        found[count] = Row(round(nanoseconds * slower), "RLinf's formula for rollout")
    return {**found, measured: Row(nanoseconds)}


def simulated_table(profile: Mapping[int, Fraction], environments: int, total: int, even: bool) -> Table:
    """Table of environments dealt out to so many processes, an accelerator each, by the measured seconds of a number of them on one.

    `even`: every process must have as many; else the time of the smaller share is taken. More on one accelerator than were ever
    measured are not possible; between measurements a curve is taken.
    """
    found, curve = dict[int, Row](), None
    for count in range(1, min(total, environments) + 1):
        share = environments // count
        if (even and environments % count) or share > max(profile):
            continue
        if share in profile:
            found[count] = Row(round(profile[share] * SECOND))
        elif (curve := curve or fitted(profile)) is not None and (seconds := curve.curve(share)) > 0:
            formula = f"a curve {curve.family} through the measured ones, as RLinf fits it"
            found[count] = Row(max(1, round(seconds * SECOND)), formula)
    return found
