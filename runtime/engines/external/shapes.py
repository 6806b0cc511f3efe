"""Checks of the replicas that vLLM and SGLang can serve, before anything starts."""

from __future__ import annotations

from typing import Any, Collection, Mapping

from ...failure import failed
from ..shape import Shape

OURS = ("path", "served_model_name")
"""Settings that are not the engine's."""


def own(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings for the engine itself."""
    return {name: value for name, value in settings.items() if name not in OURS}


def refuse(engine: str, settings: Mapping[str, Any], shape: Shape, nodes: int, decided: Collection[str]) -> None:
    """Check the model, settings reserved for the replica, and the shape on nodes.

    Raises LaunchFailed (PW741) without a model, for such settings, and for a copy that crosses
    nodes unevenly.
    """
    if not settings.get("path"):
        raise failed("PW741", engine, f"the engine `{engine}` needs a model", "give `path`, a name or a directory of a model")
    reserved_names = sorted(set(settings) & set(decided))
    if reserved_names:
        message = f"`{reserved_names[0]}` of the model is decided by the replica: tp {shape.tensor}, dp {shape.data}, pp {shape.pipeline}, {nodes} nodes"
        raise failed("PW741", engine, message, "leave it out, and set the degrees in the replica's `config`", *reserved_names)
    copy, per_node = shape.tensor * shape.pipeline, shape.world_size // nodes
    if copy % per_node and per_node % copy:
        message = (
            f"the engine `{engine}` cannot serve copies of tp {shape.tensor} x pp {shape.pipeline} = {copy} "
            f"on nodes of {per_node}: neither divides the other"
        )
        raise failed("PW741", engine, message, f"choose tp and pp whose product divides {per_node}, or is a multiple of it", copy, per_node)


def sleeps(engine: str, settings: Mapping[str, Any], setting: str) -> None:
    """Check that the engine was started with support for sleep.

    Raises LaunchFailed (PW741) otherwise.
    """
    if not settings.get(setting):
        message = f"the engine `{engine}` can sleep only if it was started with `{setting}`"
        raise failed("PW741", engine, message, f"set `{setting}: true` in the model's settings", setting)
