"""Profiled RLinf jobs of two to five components on 8 to 1024 accelerators, drawn at random."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Iterator, Mapping

from placewright.models.dialects.rlinf.planning.times import (
    Batch,
    Table,
)
from placewright.models.dialects.rlinf.planning.times import (
    generated_table as generated,
)
from placewright.models.dialects.rlinf.planning.times import (
    simulated_table as simulated,
)
from placewright.models.dialects.rlinf.planning.times import (
    trained_table as trained,
)
from placewright.models.planning.workload import SECOND

CHAINS = {
    2: ("rollout", "actor"),
    3: ("rollout", "inference", "actor"),
    4: ("rollout", "inference", "critic", "actor"),
    5: ("rollout", "inference", "critic", "reward_model", "actor"),
}
EMBODIED = ("env", "env_rollout", "actor")
SIZES = (8, 16, 32, 64, 128, 256, 512, 1024)


@dataclass(frozen=True)
class Case:
    """One job. Costs are hundredths of seconds of an iteration on all accelerators; `profiles` by how many environments one has."""

    task: str
    accelerators: int
    chain: tuple[str, ...]
    seed: int
    replicas: Mapping[str, int]
    costs: Mapping[str, int]
    batch: Batch
    running: int = 128
    environments: int = 0
    profiles: Mapping[str, Mapping[int, int]] = field(default_factory=dict)

    @property
    def batches(self) -> int:
        """In how many parts an iteration is handed on."""
        return self.environments or self.batch.prompts

    def tables(self) -> dict[str, Table]:
        """The times of each component, by RLinf's formulas."""
        total = self.accelerators
        found: dict[str, Table] = {}
        for name in self.chain:
            if name in self.profiles:
                seconds = {count: Fraction(value, 100) for count, value in self.profiles[name].items()}
                found[name] = simulated(seconds, self.environments, total, name == "env")
            elif name == "rollout":
                found[name] = generated(self.costs[name] * SECOND // 100, total, self.replicas[name], self.running, self.batch)
            else:
                found[name] = trained(self.costs[name] * SECOND // 100, total, self.replicas[name], total, self.batch)
        return found


def cases(full: bool) -> Iterator[Case]:
    """A hundred at random, from the smallest on, and one like that of RLinf's own test on four sizes (seed 0); else those that end soon."""
    if not full:
        yield from (like_its_test(64), reasoning(64, 3, 1), reasoning(8, 2, 2), reasoning(256, 2, 1), reasoning(64, 5, 1), embodied(64, 1))
        return
    for size in (8, 64, 256, 1024):
        yield like_its_test(size)
    for size in SIZES:
        for components in (2, 3):
            for seed in range(1, 5):
                yield reasoning(size, components, seed)
        for seed in range(1, 4):
            yield embodied(size, seed)
    for size in (64, 256):
        for components in (4, 5):
            for seed in range(1, 4):
                yield reasoning(size, components, seed)


def like_its_test(size: int) -> Case:
    """The job of RLinf's unit test (tests/unit_tests/test_auto_placement.py), which has 128 accelerators there."""
    costs = {"rollout": 224_00, "inference": 10_00, "actor": 101_00}
    replicas = {"rollout": 1, "inference": 2, "actor": 2}
    return Case("reasoning", size, CHAINS[3], 0, replicas, costs, Batch(4096 if size > 256 else 512, 16, 4))


def reasoning(size: int, components: int, seed: int) -> Case:
    """A job that generates, computes probabilities, and trains, in batches of a prompt."""
    source = random.Random(f"{size} {components} {seed}")
    chain = CHAINS[components]
    replica = source.choice((1, 2, 2, 4))
    replicas = {name: source.choice((1, 2)) if name == "rollout" else replica for name in chain}
    costs = {name: source.randrange(10_00, 100_00) for name in chain}
    costs["rollout"] = source.randrange(100_00, 400_00)
    prompts = 4096 if size > 256 else 1024
    return Case("reasoning", size, chain, seed, replicas, costs, Batch(prompts, 16, source.choice((1, 4))), source.choice((64, 128)))


def embodied(size: int, seed: int) -> Case:
    """A simulator, its policy, and training on everything."""
    source = random.Random(f"embodied {size} {seed}")
    slopes = {name: (source.randrange(2, 20), source.randrange(20, 100)) for name in EMBODIED[:2]}
    profiles = {
        name: {count: base + slope * count + source.randrange(0, 10) for count in (2, 4, 8, 16, 32)}
        for name, (slope, base) in slopes.items()
    }
    costs = {"actor": source.randrange(10_00, 100_00)}
    ones = dict.fromkeys(EMBODIED, 1)
    return Case("embodied", size, EMBODIED, seed, ones, costs, Batch(1, 1, 1), environments=8 * size, profiles=profiles)
