"""What all tests share."""

from __future__ import annotations

import signal
from typing import Iterator

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--update`."""
    parser.addoption("--update", action="store_true", help="rewrite the expected text of the scenarios")


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C is heard, even where a shell that runs this in its background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
