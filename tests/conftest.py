"""What all tests share."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--update`."""
    parser.addoption("--update", action="store_true", help="rewrite the expected text of the scenarios")
