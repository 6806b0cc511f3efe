"""A failure is the same in another process."""

from __future__ import annotations

import pickle

import pytest
from placewright.runtime.failure import LaunchFailed, failed, headline, refused


@pytest.mark.parametrize(
    "failure", [failed("PW709", "actor", "it raised", "fix it", 1, traceback="line 3"), refused("PW741", "", "no", "yes")]
)
def test_it_travels_with_all_that_it_says(failure: LaunchFailed) -> None:
    again = pickle.loads(pickle.dumps(failure))
    assert (type(again), str(again), again.findings, again.traceback) == (type(failure), str(failure), failure.findings, failure.traceback)


FRAMES = ["Traceback (most recent call last):", '  File "a.py", line 1, in f', "    f()", "    ^^^"]


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([], "?"),
        (["one", "two"], "two"),
        ([*FRAMES, "RuntimeError: CUDA error: out of memory", "For debugging consider ..."], "RuntimeError: CUDA error: out of memory For debugging consider ..."),
        ([*FRAMES, "ValueError: a", "During handling", *FRAMES, "pydantic.ValidationError: 1 error", "max_num_seqs", "  Input should be >= 1"],
         "pydantic.ValidationError: 1 error max_num_seqs Input should be >= 1"),
    ],
)  # fmt: skip
def test_the_headline_is_the_exception_with_its_whole_message(lines: list[str], told: str) -> None:
    assert headline(lines, "?") == told


def test_a_headline_is_at_most_300_characters_long() -> None:
    assert headline([*FRAMES, "E: " + "x" * 400]) == "E: " + "x" * 297
