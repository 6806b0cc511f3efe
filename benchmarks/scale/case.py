"""One case of the study `verify_scale`, and how it is measured: the same for both tools, each case in a process of its own."""

from __future__ import annotations

import hashlib
import json
import resource
import sys
import time
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from statistics import median
from typing import Any, Callable, Iterable

NODE = 8
MAX_TEXT = 1 << 20
ENOUGH = 5.0
"""A case is not run again once its runs took so many CPU seconds."""
SHORT = 0.1
"""Work that takes less is timed several times in one go: the clock is coarse."""

ALL, PACKED, SEGMENTS, SEVERAL = "all", "0-N:0-M", "a segment a node", "4 components"
PACKED_STRATEGY, FLEXIBLE_STRATEGY = "PackedPlacementStrategy", "FlexiblePlacementStrategy"
TEXTS = (ALL, PACKED, SEGMENTS, SEVERAL)
FORMS = (*TEXTS, PACKED_STRATEGY, FLEXIBLE_STRATEGY)
COMPONENTS = {form: 4 if form == SEVERAL else 1 for form in FORMS}
EACH = 4
"""Accelerators of a process where a form has several."""


@dataclass(frozen=True)
class Case:
    """A form of saying where things go on so many accelerators, with all Placements made or without, run so many times."""

    form: str
    accelerators: int
    made: bool
    runs: int
    limit: int

    @property
    def nodes(self) -> int:
        """How many nodes of NODE accelerators there are."""
        return self.accelerators // NODE

    @property
    def components(self) -> dict[str, str]:
        """The placement of each component, in RLinf's notation; a strategy places one component without any text."""
        last, half = self.accelerators - 1, self.accelerators // 2
        packed = f"0-{last}:0-{self.accelerators // EACH - 1}"
        if self.form == SEGMENTS:
            return {"actor": ",".join(map(segment, range(self.nodes)))}
        if self.form == SEVERAL:
            return {"actor": "all", "rollout": packed, "env": f"0-{half - 1}", "reward": f"{half}-{last}"}
        return {"actor": packed if self.form in (PACKED, PACKED_STRATEGY) else "all"}

    @property
    def text(self) -> str:
        """The configuration."""
        lines = [f"    {name}: {placement}\n" for name, placement in self.components.items()]
        return f"cluster:\n  num_nodes: {self.nodes}\n  component_placement:\n" + "".join(lines)


def segment(node: int) -> str:
    """The accelerators of one node, and as many processes."""
    ranks = f"{node * NODE}-{node * NODE + NODE - 1}"
    return f"{ranks}:{ranks}"


def longest() -> int:
    """The accelerators that a text with a segment for every node can name within the 1 MiB that are read."""
    room = MAX_TEXT - 200
    lengths = accumulate(len(segment(node)) + 1 for node in range(MAX_TEXT))
    return next(node for node, length in enumerate(lengths) if length > room) * NODE


Work = Callable[[Case], list[object]]
"""What is measured: it gives every Placement that it made."""

Told = Callable[[Any], tuple[object, ...]]
"""A Placement as rank, node rank, local accelerators and visible ones."""


def main(prepare: Callable[[Case], Work], told: Told) -> None:
    """Measures the case of the command line. What `prepare` does is not counted, nor a first small case, which loads the modules."""
    case = Case(**json.loads(sys.argv[1]))
    small = Case(case.form, 16 * NODE, True, 1, case.limit)
    prepare(small)(small)
    work = prepare(case)
    used = int(sum(resource.getrusage(resource.RUSAGE_SELF)[:2])) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (used + case.limit, used + case.limit + 1))
    began = time.process_time()
    made = work(case)
    once = time.process_time() - began
    peak = _peak()
    digest = _digest(map(told, made)) if case.accelerators <= 10_000 else None
    found = {"peak_mb": peak, "placements": len(made), "digest": digest}
    del made
    times = max(1, int(SHORT / max(once, SHORT / 100)))
    seconds = [once] if times == 1 else []
    while len(seconds) < case.runs and sum(seconds) * times < ENOUGH:
        began = time.process_time()
        for _ in range(times):
            work(case)
        seconds.append((time.process_time() - began) / times)
    print(json.dumps({**found, "cpu_seconds": median(seconds), "runs": len(seconds) * times}))


def _peak() -> float:
    """The most memory that this process had, in MiB. (What getrusage says on Linux includes the process that started this one.)"""
    status = Path("/proc/self/status")
    if status.is_file():
        return int(next(line for line in status.read_text("ascii").splitlines() if line.startswith("VmHWM")).split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def _digest(placements: Iterable[tuple[object, ...]]) -> str:
    found = hashlib.sha256()
    for each in placements:
        found.update(repr(each).encode())
    return found.hexdigest()
