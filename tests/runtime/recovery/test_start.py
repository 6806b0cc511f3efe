"""What is lost while a launch starts: replaced where restarts are allowed, told where they are not."""

from __future__ import annotations

from typing import Any, Sequence

import pytest
from placewright.runtime.failure import LaunchFailed
from placewright.runtime.port.port import RayBundle, Start

from ..fake import FakePort
from ..fake_cluster import FakeHold
from ..fake_process import FakeActor
from .launching import codes, launched, problem


class LosesWhileReserving(FakePort):
    """A node is gone as soon as something is held on it."""

    lost = False

    def hold(self, name: str, bundles: Sequence[RayBundle], *more: Any) -> FakeHold:
        made = super().hold(name, bundles, *more)
        if not self.lost:
            self.lost = True
            self.lose_node(int(bundles[0].node_id[-1]))
        return made


class LosesWhileStarting(FakePort):
    """A node is gone when three processes are asked for; nobody is told."""

    lost = False

    def start(self, start: Start) -> FakeActor:
        made = super().start(start)
        if len(self.actors) == 3 and not self.lost:
            self.lost = True
            self.lose_node(int(made.node_id[-1]), silently=True)
        return made


@pytest.mark.parametrize("kind", [LosesWhileReserving, LosesWhileStarting])
def test_a_node_that_is_lost_during_the_start_is_replaced_too(kind: type[FakePort]) -> None:
    port = kind(4, 4, 4)
    with launched(port, problem("3x4xH100", 8)) as running:
        assert running.call("actor", "step") == ["stepped"] * 8
        assert len(running.recoveries) == 1
        assert len(running.recoveries[0].lost) == 1


@pytest.mark.parametrize("kind", [LosesWhileReserving, LosesWhileStarting])
def test_without_restarts_it_is_told_and_nothing_is_left(kind: type[FakePort]) -> None:
    port = kind(4, 4, 4)
    with pytest.raises(LaunchFailed), launched(port, problem("3x4xH100", 8), restarts=0):
        pytest.fail("it was launched")
    assert port.left_over() == {}


def test_a_world_that_never_was_the_plans_is_no_loss() -> None:
    port = FakePort(4, 4)
    with pytest.raises(LaunchFailed) as caught, launched(port, problem("3x4xH100", 12), restarts=5):
        pytest.fail("it was launched")
    assert codes(caught.value) == ["PW702"]
