"""A failure is the same in another process."""

from __future__ import annotations

import pickle

import pytest
from placewright.runtime.failure import LaunchFailed, failed, refused


@pytest.mark.parametrize(
    "failure", [failed("PW709", "actor", "it raised", "fix it", 1, traceback="line 3"), refused("PW741", "", "no", "yes")]
)
def test_it_travels_with_all_that_it_says(failure: LaunchFailed) -> None:
    again = pickle.loads(pickle.dumps(failure))
    assert (type(again), str(again), again.findings, again.traceback) == (type(failure), str(failure), failure.findings, failure.traceback)
