"""The base class of workers: what it knows, when, and what it says where nothing is known."""

from __future__ import annotations

import subprocess
import sys

import pytest
from placewright.runtime.workers.inside.base import Worker

NAMES = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "VISIBLE_DEVICES", "GROUP_NAME", "WORKER_NAME", "CUDA_VISIBLE_DEVICES")


class Actor(Worker):
    def __init__(self, scale: int) -> None:
        self.early = self.rank
        super().__init__()
        self.scale = scale


class Mixin:
    def __init__(self, depth: int) -> None:
        self.depth = depth


class Both(Worker, Mixin):
    """As verl's workers: each constructor is called by name, with its own arguments."""

    def __init__(self) -> None:
        Worker.__init__(self)
        Mixin.__init__(self, 3)


@pytest.fixture
def rank_3(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in zip(NAMES, ("3", "8", "10.0.0.7", "1234", "6,7", "actor", "actor:3", "6,7")):
        monkeypatch.setenv(name, value)


@pytest.mark.usefixtures("rank_3")
def test_a_worker_knows_who_it_is_before_and_after_its_constructor() -> None:
    actor = Actor(2)
    assert (actor.early, actor.rank, actor._rank, actor.world_size, actor._world_size) == (3, 3, 3, 8, 8)
    assert (actor.master_address, actor.master_port) == ("10.0.0.7", 1234)
    assert (actor.visible_accelerators, actor.get_cuda_visible_devices()) == (("6", "7"), "6,7")
    assert (actor.group_name, actor.get_name()) == ("actor", "actor:3")


@pytest.mark.usefixtures("rank_3")
def test_other_base_classes_are_constructed_by_name() -> None:
    both = Both()
    assert (both.rank, both.depth) == (3, 3)


@pytest.mark.usefixtures("rank_3")
def test_what_is_assigned_is_what_is_read() -> None:
    actor = Actor(2)
    actor._rank = 5
    assert (actor._rank, actor.rank) == (5, 3)


def test_outside_a_group_it_says_which_variable_is_missing_and_how_to_start_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RANK", raising=False)
    worker = Worker()
    with pytest.raises(AttributeError, match=r"`Worker.rank` is known only in a process of a worker group: start the class with"):
        _ = worker.rank
    assert not hasattr(worker, "rank")


def test_shares_of_a_mesh_are_said_once_and_asked_for_by_name() -> None:
    worker = Worker()
    worker._register_dispatch_collect_info("train", 2, True)
    assert (worker._query_dispatch_info("train"), worker.query_collect_info("train")) == (2, True)
    with pytest.raises(ValueError, match="mesh_name train has been registered"):
        worker._register_dispatch_collect_info("train", 2, True)
    with pytest.raises(ValueError, match="mesh_name infer is not registered in Worker: registered are train"):
        worker._query_collect_info("infer")


@pytest.mark.usefixtures("rank_3")
def test_what_is_logged_once_is_logged_by_one_rank(caplog: pytest.LogCaptureFixture) -> None:
    worker = Worker()
    with caplog.at_level("INFO"):
        worker.log_on_first_rank("first")
        worker.log_info("each")
    assert [(record.name, record.message) for record in caplog.records] == [("actor:3", "each")]


def test_it_needs_the_standard_library_alone() -> None:
    loaded = "import sys; import placewright.runtime.workers.inside.base; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    said = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True).stdout.split()
    assert not {"ray", "numpy", "pydantic", "yaml", "networkx"} & set(said)
