"""A lie in any face of a rule, or in the structure that they share, is caught by parity: the proof that parity can fail."""

from __future__ import annotations

import pytest
from placewright.solver.expanding import counts as taking
from placewright.solver.expanding import expand
from placewright.solver.searching.state import WrongAnswer

from . import parity
from .parity_cases.every import CASES
from .parity_lies.every import LIES


@pytest.mark.slow
@pytest.mark.parametrize("lie", LIES)
def test_parity_catches(lie: str, monkeypatch: pytest.MonkeyPatch) -> None:
    home, name, told, case = LIES[lie]
    monkeypatch.setattr(home, name, told(getattr(home, name)))
    with pytest.raises((AssertionError, KeyError, expand.ExpansionFailed, WrongAnswer)):
        parity.compare(CASES[case])


def test_parity_lets_a_harmless_change_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """Taking the highest accelerators first is another answer, not a wrong one."""

    def highest(free: int, size: int, each: int, solid: bool) -> int:
        taken = 0
        while free and taken.bit_count() < size:
            taken |= 1 << free.bit_length() - 1
            free &= ~taken
        return taken if taken.bit_count() == size else 0

    monkeypatch.setattr(taking, "lowest_resources", highest)
    parity.compare(CASES["sizes of a chain"])
