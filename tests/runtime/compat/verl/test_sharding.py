"""The rule by which arguments are dealt out, as verl has it."""

from __future__ import annotations

from typing import Any

import pytest
from placewright.runtime.compat.verl.dispatch import shares


@pytest.mark.parametrize(
    ("arguments", "named", "dealt"),
    [
        (([1, 2],), {}, [((1,), {}), ((2,), {})]),
        (([1, 2],), {"y": [3, 4]}, [((1,), {"y": 3}), ((2,), {"y": 4})]),
        ((), {}, [((), {}), ((), {})]),
        (((1, 2),), {}, [(((1, 2),), {})] * 2),
        (([1, 2], 7), {}, [(([1, 2], 7), {})] * 2),
        (([1, 2],), {"y": 3}, [(([1, 2],), {"y": 3})] * 2),
        (([1, 2, 3],), {}, [(([1, 2, 3],), {})] * 2),
        (([1, 2], [3]), {}, [(([1, 2], [3]), {})] * 2),
        (([[1, 2], [1, 2]],), {}, [(([1, 2],), {})] * 2),
    ],
)
def test_lists_of_as_many_elements_as_workers_are_dealt_out_and_all_else_goes_to_all(
    arguments: tuple[Any, ...], named: dict[str, Any], dealt: list[Any]
) -> None:
    assert shares(arguments, named, 2) == dealt
