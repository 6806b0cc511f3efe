"""Registry of cost models: the general ones, and those of dialects."""

from __future__ import annotations

from ..models.dialects.rlinf.planning.cost_models import Rlinf, RlinfEmbodied
from ..models.planning.cost_models import CostModel, Stages, Steady, Stream

MODELS: tuple[CostModel, ...] = (Stream(), Stages(), Steady(), Rlinf(), RlinfEmbodied())


def cost_model(name: str) -> CostModel:
    """Return the cost model of a name. Raises StopIteration for an unknown one."""
    return next(model for model in MODELS if model.name == name)
