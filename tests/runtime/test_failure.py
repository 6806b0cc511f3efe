"""A failure is the same in another process."""

from __future__ import annotations

import pickle

import pytest
from placewright.runtime.failure import LaunchFailed, build_failure, build_refusal, headline


@pytest.mark.parametrize(
    "failure", [build_failure("PW709", "actor", "it raised", "fix it", 1, traceback="line 3"), build_refusal("PW741", "", "no", "yes")]
)
def test_it_travels_with_all_that_it_says(failure: LaunchFailed) -> None:
    again = pickle.loads(pickle.dumps(failure))
    assert (type(again), str(again), again.findings, again.traceback) == (type(failure), str(failure), failure.findings, failure.traceback)


FRAMES = ["Traceback (most recent call last):", '  File "a.py", line 1, in f', "    f()", "    ^^^"]
RULER = "+------------------------------------"
GROUP = [
    "  + Exception Group Traceback (most recent call last):",
    '  |   File "a.py", line 1, in f',
    "  | ExceptionGroup: two",
    f"  +-{RULER}",
]


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([], "?"),
        (["one", "two"], "two"),
        ([*FRAMES, "RuntimeError: CUDA error: out of memory", "For debugging consider ..."], "RuntimeError: CUDA error: out of memory For debugging consider ..."),
        ([*FRAMES, "ValueError: a", "During handling of the above ...", *FRAMES, "pydantic.ValidationError: 1 error", "max_num_seqs", "  Input should be >= 1"],
         "pydantic.ValidationError: 1 error max_num_seqs Input should be >= 1"),
        ([*FRAMES, "RuntimeError: the engine:", '  File "b.py", line 1, in g', "KeyError: 'x'"], "RuntimeError: the engine: File \"b.py\", line 1, in g KeyError: 'x'"),
        ([*GROUP, "    | OSError: no weights", "    +---------------- 2 ----------------", "    | ValueError: b", RULER], "OSError: no weights"),
        ([*GROUP, "    | ExceptionGroup: inner", f"    +-+{RULER}", "      | Traceback (most recent call last):", '      |   File "a.py", line 1, in f',
          "      | ValueError: a", "      | b", RULER], "ValueError: a b"),
        ([*GROUP, "    | ValueError: a", RULER, "The above exception was the direct cause ...", *FRAMES, "KeyError: 'x'"], "KeyError: 'x'"),
    ],
)  # fmt: skip
def test_the_headline_is_the_exception_with_its_whole_message(lines: list[str], told: str) -> None:
    assert headline(lines, "?") == told


def test_a_headline_is_at_most_1000_characters_long() -> None:
    assert headline([*FRAMES, "E: " + "x" * 1400]) == "E: " + "x" * 997
