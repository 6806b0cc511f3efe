"""Libraries that only some need: loaded when used, and missed in words."""

from __future__ import annotations

import importlib
from types import ModuleType

from ..failure import failed

SERVING = ("zmq", "fastapi", "uvicorn")
_FROM = {"zmq": "placewright[serve]", "fastapi": "placewright[serve]", "uvicorn": "placewright[serve]"}


def need(module: str, what: str) -> ModuleType:
    """The module. Raises LaunchFailed (PW740) with what to install if it is not there."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as problem:
        if problem.name != module:
            raise
        install = _FROM.get(module, module)
        raise failed(
            "PW740", module, f"{what} needs `{module}`, which is not installed", f"run `pip install '{install}'`", module
        ) from None


def need_serving() -> None:
    """Raises LaunchFailed (PW740) unless all that a server needs is there."""
    for module in SERVING:
        need(module, "a server")
