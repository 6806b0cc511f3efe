"""Engines by name, and the libraries that some of them need."""

from __future__ import annotations

import importlib
from types import ModuleType

from ..failure import failed
from .engine import Engine

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


ENGINES = {
    "echo": (".echo", "EchoEngine"),
    "transformer": (".transformer", "TransformerEngine"),
    "vllm": (".external.vllm", "VllmEngine"),
    "sglang": (".external.sglang", "SglangEngine"),
}
"""Name of an engine -> module here, class."""
_NEEDS = {"transformer": "numpy"}


def engine_class(name: str) -> type[Engine]:
    """Return the class of an engine.

    Raises LaunchFailed: PW741 for an unknown name, PW740 for a missing library.
    """
    if name not in ENGINES:
        raise failed("PW741", name, f"there is no engine `{name}`", f"use one of {', '.join(ENGINES)}", name)
    if name in _NEEDS:
        need(_NEEDS[name], f"the engine `{name}`")
    module, cls = ENGINES[name]
    engine: type[Engine] = getattr(importlib.import_module(module, __package__), cls)
    return engine
