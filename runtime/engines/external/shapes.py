"""Which replicas vLLM and SGLang can serve, looked at before anything starts."""

from __future__ import annotations

from typing import Any, Collection, Mapping

from ...failure import failed
from ..shape import Shape

OURS = ("path", "served_model_name")
"""Settings that are not the engine's."""


def own(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that go to the engine by its own names."""
    return {name: value for name, value in settings.items() if name not in OURS}


def refuse(engine: str, settings: Mapping[str, Any], shape: Shape, nodes: int, decided: Collection[str]) -> None:
    """Raises LaunchFailed (PW741) without a model, for settings that the replica decides, and for a copy that crosses nodes unevenly."""
    if not settings.get("path"):
        raise failed("PW741", engine, f"the engine `{engine}` needs a model", "give `path`, a name or a directory of a model")
    taken = sorted(set(settings) & set(decided))
    if taken:
        message = (
            f"`{taken[0]}` of the model is decided by the replica: tp {shape.tensor}, dp {shape.data}, pp {shape.pipeline}, {nodes} nodes"
        )
        raise failed("PW741", engine, message, "leave it out, and set the degrees in the replica's `config`", *taken)
    copy, each = shape.tensor * shape.pipeline, shape.world_size // nodes
    if copy % each and each % copy:
        message = (
            f"the engine `{engine}` cannot serve copies of tp {shape.tensor} x pp {shape.pipeline} = {copy} "
            f"on nodes of {each}: neither divides the other"
        )
        raise failed("PW741", engine, message, f"choose tp and pp whose product divides {each}, or is a multiple of it", copy, each)


def sleeps(engine: str, settings: Mapping[str, Any], setting: str) -> None:
    """Raises LaunchFailed (PW741) where the engine was not started so that it can give its memory back."""
    if not settings.get(setting):
        message = f"the engine `{engine}` can sleep only if it was started with `{setting}`"
        raise failed("PW741", engine, message, f"set `{setting}: true` in the model's settings", setting)
