"""Two components with times for several models, on one node of each, and every way to lay them there."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Iterator, NamedTuple

SETS = ({"a"}, {"b"}, {"a", "b"})
NAMES = "H100", "A100", "L40"


class Laid(NamedTuple):
    """How many of each component are on each node, whether they share accelerators, and how many accelerators they use."""

    a: tuple[int, ...]
    b: tuple[int, ...]
    shared: bool
    used: int


class Instance:
    """Times of some models may be missing, or be of any model; a component on several models takes as long as on the slowest of them."""

    def __init__(self, seed: int) -> None:
        random = Random(seed)
        self.random = random
        self.models = NAMES[: random.choice((2, 2, 3))]
        self.counts = tuple(random.randint(1, 3 if len(self.models) == 2 else 2) for _ in self.models)
        self.total = total = sum(self.counts)
        self.any = {name: random.random() < 0.2 for name in "ab"}
        self.any["a"] = self.any["a"] and not self.any["b"]
        some = {name: [model for model in self.models if random.random() < 0.85] or list(self.models[:1]) for name in "ab"}
        self.times = {
            (name, model): {count: random.randint(20, 60) // random.randint(1, count) + 1 for count in range(1, total + 1)}
            for name in "ab"
            for model in ([""] if self.any[name] else some[name])
        }
        self.tp = {name: random.choice((1, 1, 1, 2)) for name in "ab"}
        self.least = {name: self.tp[name] * random.randint(1, max(1, total // 2 // self.tp[name])) for name in "ab"}
        self.nested = random.random() < 0.5
        self.cost_model = random.choice(("steady", "stages"))
        self.phases = {name: random.choice(("generate", "train")) for name in "ab"}
        self.fewest = random.random() < 0.3
        self.most = random.randint(30, 80)

    def text(self) -> str:
        nodes = ", ".join(f"{{accelerators: {{count: {count}, model: {model}}}}}" for count, model in zip(self.counts, self.models))
        lines = [f"cluster: {{nodes: [{nodes}]}}", "components:"]
        for name in "ab":
            rows = ", ".join(
                f"{{accelerators: {count}, seconds: {time}{f', accelerator: {model}' if model else ''}}}"
                for (each, model), times in self.times.items()
                if each == name
                for count, time in times.items()
            )
            its = f"accelerators: {self.least[name]}-{self.total}, parallel: {{tp: {self.tp[name]}}}, phase: {self.phases[name]}"
            lines.append(f"  {name}: {{{its}, scaling: table, seconds: [{rows}]}}")
        aim = f", minimise: accelerators, budget: {{seconds: {self.most}}}" if self.fewest else ""
        lines.append(f"plan: {{cost_model: {self.cost_model}, scope: heterogeneous, nested: {str(self.nested).lower()}{aim}}}")
        return "\n".join(lines) + "\n"

    def laid(self) -> Iterator[Laid]:
        """Every way to lay them, with each tensor parallel group on one node."""
        ways = [[way for way in product(range(count + 1), repeat=3) if sum(way) <= count] for count in self.counts]
        for chosen in product(*ways):
            alone, other, both = (sum(way[number] for way in chosen) for number in range(3))
            if both and ((alone and other) or ((alone or other) and not self.nested)):
                continue
            held = {name: tuple(way[number] + way[2] for way in chosen) for number, name in enumerate("ab")}
            if all(sum(held[name]) >= self.least[name] and not any(each % self.tp[name] for each in held[name]) for name in "ab"):
                yield Laid(held["a"], held["b"], both > 0, alone + other + both)

    def seconds(self, laid: Laid, percent: dict[str, int] | None = None) -> float | None:
        """What an iteration takes; None where one of the models has no time."""
        takes = {}
        for name, held in (("a", laid.a), ("b", laid.b)):
            its = [self.times.get((name, "" if self.any[name] else model)) for model, count in zip(self.models, held) if count]
            if None in its:
                return None
            longest = max(times[sum(held)] for times in its if times)
            takes[name] = longest * (percent or {}).get(name, 100) / 100
        in_turn = laid.shared or (self.cost_model == "stages" and len(set(self.phases.values())) == 2)
        return sum(takes.values()) if in_turn else max(takes.values())

    def best(self, percent: dict[str, int] | None = None) -> tuple[float, float] | None:
        """What is as small as possible and what comes second, of all ways; None where there is none."""
        found = []
        for laid in self.laid():
            takes = self.seconds(laid, percent)
            if takes is not None and not (self.fewest and takes > self.most):
                found.append((float(laid.used), takes) if self.fewest else (takes, float(laid.used)))
        return min(found, default=None)
