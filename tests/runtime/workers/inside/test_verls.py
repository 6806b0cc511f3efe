"""What verl's own code asks of its workers."""

from __future__ import annotations

import pytest
from placewright.runtime import Worker


def test_the_variables_that_tell_a_worker_who_it_is_end_with_the_one_of_its_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CUDA_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES"):
        monkeypatch.setenv(name, "")
    assert Worker.env_keys() == [
        "WORLD_SIZE", "RANK", "LOCAL_WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT", "CUDA_VISIBLE_DEVICES",
    ]  # fmt: skip
    monkeypatch.setenv("ASCEND_RT_VISIBLE_DEVICES", "3")
    assert Worker.env_keys()[-1] == "ASCEND_RT_VISIBLE_DEVICES"


def test_its_node_and_a_port_can_be_asked_for_under_every_name_that_is_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MASTER_ADDR", "127.0.0.1")
    worker = Worker()
    assert worker._get_node_ip() == "127.0.0.1"
    assert worker._get_free_port() > 0
    for found in (worker.get_available_master_addr_port(), worker.get_availale_master_addr_port()):
        assert (found[0], found[1].isdecimal()) == ("127.0.0.1", True)
