"""Slurm's short form of host names."""

from __future__ import annotations

import pytest
from placewright.runtime.world.slurm import expand


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("login1", ("login1",)),
        ("gpu[001-003,007],login1", ("gpu001", "gpu002", "gpu003", "gpu007", "login1")),
        ("r[1-2]n[09-10]", ("r1n09", "r1n10", "r2n09", "r2n10")),
        ("rack-a[1,3]-ib,b", ("rack-a1-ib", "rack-a3-ib", "b")),
        (" a , b\n", ("a", "b")),
        ("n[8-11]", ("n8", "n9", "n10", "n11")),
    ],
)
def test_names_come_in_their_order_with_their_zeros(text: str, hosts: tuple[str, ...]) -> None:
    assert expand(text) == hosts


@pytest.mark.parametrize(
    "text", ["", " ,", "gpu[1-2", "gpu1]", "gpu[]", "gpu[a-b]", "gpu[3-1]", "a,a", "n[1-999999999]", "n[1-9999]m[1-9999]"]
)
def test_what_is_no_list_says_so_at_once(text: str) -> None:
    with pytest.raises(ValueError, match=r"names|is not a list"):
        expand(text)
