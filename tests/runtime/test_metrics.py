"""Metrics say how the workers are, what was called, and for how long nothing was heard, in the text that Prometheus reads."""

from __future__ import annotations

import socket
import urllib.error
import urllib.request
from contextlib import ExitStack
from typing import Callable, Iterator

import pytest
from placewright.models.placements.run import Run
from placewright.runtime.failure import LaunchFailed
from placewright.runtime.launch import bring_up
from placewright.runtime.progress import Step
from placewright.runtime.recovery.lifetime import Launch, RestartPolicy
from prometheus_client.parser import text_string_to_metric_families

from .conftest import Planner
from .fake import FakePort

Figures = dict[tuple[str, ...], float]


class Quiet:
    """Worker that does nothing."""

    def step(self) -> None:
        """Nothing."""


@pytest.fixture
def port() -> FakePort:
    return FakePort(2, 2, 2)


@pytest.fixture
def urls() -> list[str]:
    return []


@pytest.fixture
def running(plan: Planner, port: FakePort, urls: list[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Launch]:
    """An actor of two processes, and a critic with an odd name; its watch sleeps, so that time passes in the test alone."""
    monkeypatch.setattr("placewright.runtime.recovery.lifetime.PERIOD", 3600.0)
    made = plan("3x2", **{"actor": (Run(range(2), 0),), 'cri"tic\\': (Run(range(1), 1, each=2),)})

    def note(step: Step) -> None:
        if step.words.startswith("metrics at "):
            urls.append(step.words.removeprefix("metrics at "))
            assert scraped(urls[0])["workers", "actor", "starting"] == 2  # served before the workers start

    with ExitStack() as stack:
        yield bring_up(stack, made, port, Quiet, 60, note, policy=RestartPolicy(1), metrics="0")


def scraped(url: str) -> Figures:
    """(name, labels ...) -> value, as Prometheus' own library reads them."""
    with urllib.request.urlopen(url, timeout=10) as answer:
        assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        text = answer.read().decode()
    families = list(text_string_to_metric_families(text))
    assert all(family.documentation and family.type in ("gauge", "counter") for family in families)
    samples = [sample for family in families for sample in family.samples]
    return {(sample.name.removeprefix("placewright_"), *sample.labels.values()): sample.value for sample in samples}


def test_all_workers_run_and_calls_are_counted(running: Launch, urls: list[str]) -> None:
    running.call("actor", "step")
    running.call_all("step")
    figures = scraped(urls[0])
    assert (figures["workers", "actor", "running"], figures["workers", 'cri"tic\\', "running"]) == (2, 1)
    assert sum(value for (name, *_), value in figures.items() if name == "workers") == 3
    assert (figures["calls_total", "actor"], figures["calls_total", 'cri"tic\\']) == (4, 1)
    assert figures[("recoveries_total",)] == 0


def test_a_silent_worker_is_counted_and_its_component_grows_old(running: Launch, port: FakePort, urls: list[str]) -> None:
    port.stopped = {actor.start.name for actor in port.actors if actor.start.name.endswith("actor/1")}
    began = port.time
    port.time += 6
    running.watch(0.5)
    port.time = began + 20
    figures = scraped(urls[0])
    assert (figures["workers", "actor", "running"], figures["workers", "actor", "silent"]) == (1, 1)
    assert figures["heartbeat_age_seconds", "actor"] > figures["heartbeat_age_seconds", 'cri"tic\\'] + 5
    assert 13 < figures["heartbeat_age_seconds", 'cri"tic\\'] < 14.1


def test_a_loss_and_the_restart_are_seen(running: Launch, port: FakePort, urls: list[str]) -> None:
    running.call("actor", "step")
    port.kill(next(actor.start.name for actor in port.actors if actor.start.name.endswith("actor/0")))
    with pytest.raises(LaunchFailed):
        running.watch(1)
    assert scraped(urls[0])["workers", "actor", "ending"] == 2
    running.recover()
    running.call("actor", "step")
    figures = scraped(urls[0])
    assert (figures["workers", "actor", "running"], figures[("recoveries_total",)]) == (2, 1)
    assert figures["calls_total", "actor"] == 4  # over all restarts


def test_metrics_are_served_only_while_the_launch_is_there(plan: Planner, port: FakePort, urls: list[str]) -> None:
    def note(step: Step) -> None:
        urls.extend([step.words.removeprefix("metrics at ")] * step.words.startswith("metrics at "))

    with ExitStack() as stack:
        bring_up(stack, plan("3x2", actor=(Run(range(2), 0),)), port, Quiet, 60, note, metrics="127.0.0.1:0")
        assert scraped(urls[0])["workers", "actor", "running"] == 2
    with pytest.raises(urllib.error.URLError, match="refused"):
        urllib.request.urlopen(urls[0], timeout=10)


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        (str, "Address already in use"),
        (lambda port: "nowhere", "it is no [HOST:]PORT"),
        (lambda port: "127.0.0.1:99999", "it is no [HOST:]PORT"),
    ],
)
def test_an_address_that_cannot_be_served_ends_the_launch_first(
    plan: Planner, port: FakePort, address: Callable[[int], str], reason: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, ExitStack() as stack:
        text = address(taken.getsockname()[1])
        with pytest.raises(LaunchFailed) as caught:
            bring_up(stack, plan("3x2", actor=(Run(range(2), 0),)), port, Quiet, 60, metrics=text, progress=lambda step: None)
    assert (caught.value.findings[0].code, caught.value.exit_code) == ("PW734", 2)
    assert caught.value.findings[0].message == f"metrics cannot be served at `{text}`: {reason}"
    assert "start" not in port.calls
