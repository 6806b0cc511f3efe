"""Engines by name, each loaded when it is asked for."""

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
"""The name of an engine, its module here, and its class."""
_NEEDS = {"transformer": "numpy"}


def engine_class(name: str) -> type[Engine]:
    """The class of an engine. Raises LaunchFailed: PW741 for a name that is not known, PW740 where a library is missing."""
    if name not in ENGINES:
        raise failed("PW741", name, f"there is no engine `{name}`", f"use one of {', '.join(ENGINES)}", name)
    if name in _NEEDS:
        need(_NEEDS[name], f"the engine `{name}`")
    module, cls = ENGINES[name]
    found: type[Engine] = getattr(importlib.import_module(module, __package__), cls)
    return found
