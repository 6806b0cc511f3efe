"""Registry of cost models: the general ones, and those of dialects."""

from __future__ import annotations

from ..models.dialects.rlinf.planning.cost_models import Rlinf, RlinfEmbodied
from ..models.planning.cost_models import CostModel, Stages, Steady, Stream, segment_times
from ..models.planning.design import Design
from ..models.planning.planned import CostedDesign
from ..models.planning.problem import PlanningProblem

MODELS: tuple[CostModel, ...] = (Stream(), Stages(), Steady(), Rlinf(), RlinfEmbodied())


def cost_model(name: str) -> CostModel:
    """Return the cost model of a name. Raises StopIteration for an unknown one."""
    return next(model for model in MODELS if model.name == name)


def cost_design(model: CostModel, question: PlanningProblem, design: Design, traffic: int = 0, usage: int | None = None) -> CostedDesign:
    """Return a design with the ns of its iteration."""
    times = tuple(segment_times(model, question, design))
    return CostedDesign(design, sum(times), times, traffic, usage)
