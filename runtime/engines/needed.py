"""Optional libraries: imported on use, with a helpful failure."""

from __future__ import annotations

import importlib
from types import ModuleType

from ..failure import failed

SERVING = ("zmq", "fastapi", "uvicorn")
_FROM = {"zmq": "placewright[serve]", "fastapi": "placewright[serve]", "uvicorn": "placewright[serve]"}


def need(module: str, what: str) -> ModuleType:
    """Import a module. Raises LaunchFailed (PW740) with the package to install."""
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
    """Check the libraries of a server. Raises LaunchFailed (PW740) if one is missing."""
    for module in SERVING:
        need(module, "a server")
