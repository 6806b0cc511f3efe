"""Names of workers as paths."""

from __future__ import annotations

import pytest
from placewright.runtime.workers.inside.information import WorkerAddress


def test_a_worker_is_called_by_its_group_and_its_rank_and_its_children_by_theirs() -> None:
    address = WorkerAddress("actor", 5)
    assert (address.root_group_name, address.rank, address.rank_path, address.get_name()) == ("actor", 5, [5], "actor:5")
    child = address.get_child_address(0)
    assert (child.get_name(), child.rank, child.get_parent_rank(), address.get_parent_rank()) == ("actor:5:0", 0, 5, 0)
    assert child.get_parent_address() == address
    assert WorkerAddress("actor").get_parent_address() is None


def test_what_is_written_is_read_again() -> None:
    assert WorkerAddress.from_name("actor:5:0") == WorkerAddress("actor", [5, 0])
    assert WorkerAddress.from_parent_name_rank("actor:5", 2).get_name() == "actor:5:2"
    with pytest.raises(ValueError, match="the name of a group has no `:`"):
        WorkerAddress("a:b")


def test_addresses_are_compared_and_ordered_as_paths() -> None:
    assert len({WorkerAddress("actor", 1), WorkerAddress("actor", [1]), WorkerAddress("actor", 2)}) == 2
    assert WorkerAddress("actor", 10) > WorkerAddress("actor", 9) > WorkerAddress("actor")
    assert WorkerAddress("actor", 1) != "actor:1"
