"""What all tests share."""

from __future__ import annotations

import gc
import os
import re
import signal
from pathlib import Path
from typing import Iterator

import pytest
from _pytest.mark.expression import Expression
from hypothesis import HealthCheck, settings

# No test fails because the machine is slow: what it costs to make an example or to try it is not a property of the code.
settings.register_profile("any machine", settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")

os.environ.pop("PLACEWRIGHT_CLUSTER", None)  # what a user states in the environment holds in no test

# Thousands of tests leave much in memory; to look through it at every few hundred new objects takes an eighth of the time of all.
gc.set_threshold(200_000, 20, 50)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--update` and `--deep`."""
    parser.addoption("--update", action="store_true", help="rewrite the expected text of the scenarios")
    parser.addoption("--deep", action="store_true", help="run the tests marked `slow` too")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leaves files unread that have no test with the marks that `-m` asks for."""
    asked = re.sub(r"\bnot \w+", "any", config.getoption("-m"))  # another test of the file may have the mark
    if not asked or not collection_path.name.startswith("test_"):
        return None
    text = collection_path.read_text("utf-8")

    def may_have(mark: str, **_: object) -> bool:
        return mark == "any" or f"mark.{mark}" in text or mark in collection_path.parts

    return None if Expression.compile(asked).evaluate(may_have) else True


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks what reads the corpus; leaves out the slow tests, unless `--deep` or `--update` is given."""
    for item in items:
        if "corpus" in item.path.relative_to(Path(__file__).parent).parts:
            item.add_marker("corpus")
    if not config.getoption("--deep") and not config.getoption("--update"):
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("slow")])
        items[:] = [item for item in items if not item.get_closest_marker("slow")]


def pytest_collection_finish() -> None:
    """Leaves the tests themselves out of what is looked through for garbage."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C is heard, even where a shell that runs this in its background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
