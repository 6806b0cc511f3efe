"""Design as JSON data: components, accelerators, price."""

from __future__ import annotations

from dataclasses import asdict
from typing import Mapping, Sequence

from ...models.account import models_of
from ...models.planning.design import Block, Design
from ...models.planning.measured import SECOND
from ...models.planning.option import NO_KIND
from ...models.planning.planned import CostedDesign
from ...models.planning.problem import PlanningProblem

Data = dict[str, object]


def priced_data(question: PlanningProblem, priced: CostedDesign) -> Data:
    """Convert a design with its price in seconds."""
    design = priced.design
    models = {**question.scope.confined, **models_of((question,), design), **priced.models}
    return {
        "seconds": (priced.nanoseconds + priced.traffic) / SECOND,
        **({"traffic": priced.traffic / SECOND} if priced.traffic else {}),
        "accelerators": (held := priced.accelerators(question)),
        **({"by_given_ranks": given} if (given := held - design.accelerators) else {}),
        "parts": [time / SECOND for time in priced.segments],
        "components": {name: _component(question, design, name, models.get(name, ())) for name in question.components},
        "blocks": [_block(question, block, models) for block in design.blocks],
    }


def _component(question: PlanningProblem, design: Design, name: str, models: Sequence[str]) -> Data:
    option, runs = design.options[name], design.option_of_work(question, name)
    tasks = question.tasks_of[name]
    amount = "accelerators" if option.kind != NO_KIND else "resources"
    return {
        amount: option.amount,
        **(_models(models or question.kinds[option.kind].named) if option.kind != NO_KIND else {}),
        "parallel": asdict(runs.parallel),
        "replicas": runs.replicas,
        "tasks": [
            {"phase": question.tasks[task].phase, "seconds": design.nanoseconds(question, task) / SECOND, "part": design.segments[task]}
            for task in tasks
        ],
        "extrapolated": option.extrapolated,
    }


def _block(question: PlanningProblem, block: Block, models: Mapping[str, tuple[str, ...]]) -> Data:
    """Convert a block with its possible models."""
    named = question.kinds[block.kind].named
    possible = [model for model in named if all(model in models.get(name, named) for name in block.components)]
    return {"components": list(block.components), "accelerators": block.accelerators, **_models(possible or named)}


def _models(names: Sequence[str]) -> Data:
    """Convert one or several models of accelerators."""
    return {"model": names[0]} if len(names) == 1 else {"models": list(names)}
