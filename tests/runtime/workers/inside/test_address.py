"""Names of workers as paths."""

from __future__ import annotations

import pytest
from placewright.runtime.workers.inside.information import WorkerAddress


def test_a_worker_is_called_by_its_group_and_its_rank() -> None:
    address = WorkerAddress("actor", 5)
    assert (address.root_group_name, address.rank, address.rank_path, address.get_name()) == ("actor", 5, [5], "actor:5")


def test_what_is_written_is_read_again() -> None:
    assert WorkerAddress.from_name("actor:5:0") == WorkerAddress("actor", [5, 0])
    with pytest.raises(ValueError, match="the name of a group has no `:`"):
        WorkerAddress("a:b")


def test_addresses_are_compared_and_ordered_as_paths() -> None:
    assert len({WorkerAddress("actor", 1), WorkerAddress("actor", [1]), WorkerAddress("actor", 2)}) == 2
    assert WorkerAddress("actor", 10) > WorkerAddress("actor", 9) > WorkerAddress("actor")
    assert WorkerAddress("actor", 1) != "actor:1"
