"""The file's own ranks, beside a pool whose size stays: what `verify` finds no error in may be proposed."""

from __future__ import annotations

from itertools import product

import placewright as pw
import pytest
from placewright.models.reading import Reading
from placewright.planner.baseline import baseline_of_file
from placewright.planner.verify import verify

from .test_verl_proved import BESIDE, MEGATRON, TEXT, Size, hints, of

TIMES = {name: {(count, tp): 10 * count for count in range(1, 6) for tp in (1, 2) if count % tp == 0} for name in ("actor", "rollout")}


def read(size: Size, beside: Size, tp: int, cluster: str) -> Reading:
    """Pools of these sizes, of which that of reward has no times."""
    text = TEXT.format(actor=MEGATRON.format(tp), ref=", strategy: megatron", rollout=tp, reward=BESIDE.format(beside), size=size)
    return of(text + hints(TIMES, {}), cluster)


@pytest.mark.slow
@pytest.mark.parametrize("cluster", ["1x4", "1x3+1x2", "1x4+1x1+1x1"])
def test_ranks_that_verify_accepts_may_be_proposed(cluster: str) -> None:
    """Reward lay where it would while the other pool is open: both were told to hold the same accelerators, or a server to be torn."""
    looked_at = 0
    for size, beside, tp in product([(1, 1), (1, 2), (2, 1), (4, 1)], [(1, 1), (1, 2)], (1, 2)):
        reading = read(size, beside, tp, cluster)
        if reading.failed or verify(reading).errors or any(each.code == "PW215" for each in reading.findings):
            continue
        answer = pw.solve(reading, sandbox=False)
        problem = reading.to_solve.problem
        assert answer.planned is not None and problem is not None
        its = baseline_of_file(problem, answer.planned)
        assert its is not None and its.priced is not None and its.forbidden == (), (size, beside, tp)
        assert its.priced.nanoseconds >= answer.planned.best.nanoseconds
        looked_at += 1
    assert looked_at > 3


def test_sizes_that_have_room_only_by_chance_are_not_proposed_and_that_is_said() -> None:
    """Two accelerators leave three to reward only if Ray puts them onto the node of two."""
    reading = read((1, 2), (1, 3), 2, "1x3+1x2")
    assert [each.code for each in reading.findings] == ["PW215"]
    answer = pw.solve(reading, sandbox=False)
    assert answer.plan is None
    (finding,) = answer.findings
    assert "do not fit on the nodes where the framework puts them" in finding.message
