"""Engines by name, imported on use."""

from __future__ import annotations

import importlib

from ..failure import failed
from .engine import Engine
from .needed import need

ENGINES = {
    "echo": (".echo", "EchoEngine"),
    "transformer": (".transformer.engine", "TransformerEngine"),
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
