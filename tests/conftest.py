"""What all tests share."""

from __future__ import annotations

import gc
import signal
from pathlib import Path
from typing import Iterator

import pytest
from hypothesis import HealthCheck, settings

# No test fails because the machine is slow: what it costs to make an example or to try it is no property of the code.
settings.register_profile("any machine", settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")

# Thousands of tests leave much in memory; to look through it at every few hundred new objects takes an eighth of the time of all.
gc.set_threshold(200_000, 20, 50)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--update` and `--deep`."""
    parser.addoption("--update", action="store_true", help="rewrite the expected text of the scenarios")
    parser.addoption("--deep", action="store_true", help="run the tests marked `slow` too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks what reads the corpus; leaves out the slow tests, unless `--deep` is given."""
    for item in items:
        if "corpus" in item.path.relative_to(Path(__file__).parent).parts:
            item.add_marker("corpus")
    if not config.getoption("--deep"):
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("slow")])
        items[:] = [item for item in items if not item.get_closest_marker("slow")]


def pytest_collection_finish() -> None:
    """Leaves the tests themselves out of what is looked through for garbage."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that a user states in the environment holds in a test."""
    monkeypatch.delenv("PLACEWRIGHT_CLUSTER", raising=False)


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C is heard, even where a shell that runs this in its background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
