"""Estimates of memory on accelerators of several sizes at once, against every way to lay the components on the nodes."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from random import Random

import placewright as pw
import pytest
from placewright.models.answer import Answer
from placewright.models.memory.estimated import estimated, with_slack
from placewright.models.parallel import Parallel
from placewright.models.problem import Problem

SETS = ({"a"}, {"b"}, {"a", "b"})
Needs = dict[str, tuple[int, int]]
"""Component -> MiB while it works, and while others do."""


class Instance:
    """Two components on two nodes of two sizes of memory, of one model or of two, with times that may be of one model."""

    def __init__(self, seed: int) -> None:
        random = Random(seed)
        self.counts = random.randint(1, 3), random.randint(1, 4)
        self.models = ("H100", random.choice(("H100", "A100")))
        self.sizes = random.choice(((16, 24), (12, 32), (20, 40)))
        total = sum(self.counts)
        self.named = random.random() < 0.5
        self.tp = {name: random.choice(("1", "1", "[1, 2]")) for name in "ab"}
        times = {(name, model): random.randint(20, 60) for name in "ab" for model in dict.fromkeys(self.models)}
        if not self.named:
            times = {(name, model): times[name, self.models[0]] for name, model in times}
        self.times = {
            (name, model, count): -(-base // random.randint(1, count))
            for (name, model), base in times.items()
            for count in range(1, total + 1)
        }
        if not self.named:
            self.times = {(name, model, count): self.times[name, self.models[0], count] for name, model, count in self.times}
        self.offload = {name: random.choice(("", ", offload: true")) for name in "ab"}
        self.sequence = {name: random.choice((1024, 8192)) for name in "ab"}
        self.phase = random.choice(("", "phase: [train], "))
        self.nested = random.random() < 0.5

    def text(self) -> str:
        nodes = ", ".join(
            f"{{accelerators: {{count: {count}, model: {model}, memory: {memory}GiB}}}}"
            for count, model, memory in zip(self.counts, self.models, self.sizes)
        )
        lines = [f"cluster: {{nodes: [{nodes}]}}", "components:"]
        for name in "ab":
            rows = ", ".join(
                f"{{accelerators: {count}, seconds: {time}{f', accelerator: {model}' if self.named else ''}"
                f"{', phase: train' if self.phase else ''}}}"
                for (its, model, count), time in self.times.items()
                if its == name and (self.named or model == self.models[0])
            )
            model = f"model: Qwen/Qwen2.5-1.5B-Instruct, sharding: fsdp, sequence: {self.sequence[name]}{self.offload[name]}"
            its = f"accelerators: 1-{sum(self.counts)}, parallel: {{tp: {self.tp[name]}}}, estimate: {{{model}}}"
            lines.append(f"  {name}: {{{its}, {self.phase}seconds: [{rows}]}}")
        lines.append(f"plan: {{cost_model: steady, nested: {str(self.nested).lower()}}}")
        return "\n".join(lines) + "\n"

    def best(self, problem: Problem) -> tuple[int, int] | None:
        """(seconds, accelerators) of the best of all that fits by the estimates; None where there is none."""
        found = []
        ways = [[way for way in product(range(count + 1), repeat=3) if sum(way) <= count] for count in self.counts]
        for one, other in product(*ways):
            used = [sum(each) for each in zip(one, other)]
            held = {"a": used[0] + used[2], "b": used[1] + used[2]}
            partly = used[2] > 0 and used[0] + used[1] > 0
            if (partly and not self.nested) or (used[2] and used[0] and used[1]) or not all(held.values()):
                continue
            on = {name: [way[number] + way[2] for way in (one, other)] for number, name in enumerate("ab")}
            if any(self.has_degrees(problem, held, on, (one, other), degrees) for degrees in product((1, 2), repeat=2)):
                times = {
                    name: max(self.times[name, model, held[name]] for model, its in zip(self.models, on[name]) if its) for name in "ab"
                }
                found.append((sum(times.values()) if used[2] else max(times.values()), sum(used)))
        return min(found, default=None)

    def has_degrees(
        self, problem: Problem, held: dict[str, int], on: dict[str, list[int]], ways: tuple[tuple[int, ...], ...], degrees: tuple[int, ...]
    ) -> bool:
        """Does it fit with these degrees?"""
        for name, tp in zip("ab", degrees):
            if (tp > 1 and self.tp[name] == "1") or any(its % tp for its in on[name]):
                return False
        needs = self.needs(problem, held, degrees)
        return all(
            self.peak(needs, names) <= size * 1024 for way, size in zip(ways, self.sizes) for names, count in zip(SETS, way) if count
        )

    def needs(self, problem: Problem, held: dict[str, int], degrees: tuple[int, ...]) -> Needs:
        """Of each on so many accelerators, with a tp."""
        needs = {}
        for name, tp in zip("ab", degrees):
            found = estimated(problem[name], problem.job.models[name].card, Parallel(tp), held[name])
            assert found is not None
            needs[name] = with_slack(found.mebibytes), with_slack(found.kept)
        return needs

    def peak(self, needs: Needs, names: set[str]) -> int:
        """MiB of an accelerator that these share."""
        full, kept = [needs[name][0] for name in names], [needs[name][1] for name in names]
        return sum(full) if self.phase else sum(kept) + max(one - other for one, other in zip(full, kept))

    def fits(self, problem: Problem, answer: Answer) -> bool:
        """Has everything room where the plan puts it?"""
        assert answer.plan is not None and answer.planned is not None
        options = answer.planned.best.design.options
        needs = self.needs(problem, {name: options[name].amount for name in "ab"}, tuple(options[name].parallel.tp for name in "ab"))
        seats = {name: answer.plan.assignment.accelerators(name) for name in "ab"}
        return all(
            self.peak(needs, {name for name in "ab" if (node, index) in seats[name]}) <= self.sizes[node] * 1024
            for node, index in frozenset().union(*seats.values())
        )


@pytest.mark.parametrize("first", range(0, 80, 10))
def test_as_good_as_every_way_to_lay_them_that_fits_by_the_estimates(first: int, tmp_path: Path) -> None:
    file = tmp_path / "job.yaml"
    for seed in range(first, first + 10):
        instance = Instance(seed)
        file.write_text(instance.text(), encoding="utf-8")
        problem = pw.load(file).problem
        assert problem is not None
        answer, best = pw.solve(str(file), sandbox=False), instance.best(problem)
        warned = any(each.code == "PW805" and "no plan leaves" in each.message for each in answer.findings)
        assert warned == (best is None), seed
        if best is not None:
            assert answer.planned is not None and answer.planned.proved and answer.planned.over_kinds is None, seed
            assert round(answer.planned.price[0] / 1e9) == best[0], seed
            assert instance.fits(problem, answer), seed
            assert answer.planned.ties_open or answer.planned.price[1] == best[1], seed
