"""How long an iteration takes: one cost model a file, each with a value by arithmetic and the same said to CP-SAT."""

from __future__ import annotations

from .cost_model import CostModel
from .rlinf import Rlinf, RlinfEmbodied
from .stages import Stages, Steady
from .stream import Stream

__all__ = ["MODELS", "cost_model"]

MODELS: tuple[CostModel, ...] = (Stream(), Stages(), Steady(), Rlinf(), RlinfEmbodied())


def cost_model(name: str) -> CostModel:
    """The cost model of a name."""
    return next(model for model in MODELS if model.name == name)
