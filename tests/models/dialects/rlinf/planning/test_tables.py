"""RLinf's formulas: what a component takes on fewer accelerators than it was measured on."""

from __future__ import annotations

from fractions import Fraction

import pytest
from placewright.models.dialects.rlinf.planning.times import (
    Batch,
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

BATCH = Batch(prompts=512, group=16, updates=4)


def test_training_on_half_as_many_loses_less_than_half() -> None:
    table = trained(100 * SECOND, 64, 2, 64, BATCH)
    assert table[64].nanoseconds == 100 * SECOND and not table[64].assumed
    assert table[32].nanoseconds == pytest.approx(200 / 1.2 * SECOND)
    assert table[4].nanoseconds == pytest.approx(1600 / 1.9 * SECOND)
    assert "Megatron" in table[32].assumed


def test_replicas_divide_the_groups_of_an_update() -> None:
    assert sorted(trained(SECOND, 8, 2, 8, Batch(6, 4, 1))) == [2, 4, 6, 8]
    assert sorted(trained(SECOND, 12, 1, 12, Batch(10, 4, 1))) == [1, 2, 5, 10, 12]


def test_rollout_is_as_fast_as_measured_while_its_engines_hold_all_samples() -> None:
    table = generated(100 * SECOND, 128, 1, 128, BATCH)
    assert table[71].nanoseconds == 100 * SECOND  # 71 x 116 requests at once are more than the 8192 samples
    assert table[70].nanoseconds == round(Fraction(100 * SECOND * 128, 70))
    few = generated(100 * SECOND, 128, 1, 64, BATCH)
    assert few[127].nanoseconds > 100 * SECOND


def test_an_engine_is_never_divided() -> None:
    assert sorted(generated(SECOND, 8, 4, 8, BATCH)) == [4, 8]


def test_a_simulator_takes_the_time_of_its_share_and_only_even_shares() -> None:
    profile = {4: Fraction("0.61"), 8: Fraction("1.23"), 16: Fraction("2.46")}
    table = simulated(profile, 64, 8, even=True)
    assert {count: row.nanoseconds for count, row in table.items()} == {4: 2_460_000_000, 8: 1_230_000_000}
    policy = simulated(profile, 64, 8, even=False)
    assert sorted(policy) == [4, 5, 6, 7, 8]
    assert not policy[4].assumed and "curve" in policy[5].assumed


def test_no_more_processes_than_environments() -> None:
    assert max(simulated({1: Fraction(1), 2: Fraction(2)}, 3, 16, even=False)) == 3
