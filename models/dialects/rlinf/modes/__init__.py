"""The modes of RLinf: what its placement classes demand of the components, as general words where there are any."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Callable, Mapping

from ....component import Component, Parallel, Relation
from ....configuration.notes import Notes
from ....configuration.settings import Settings
from ....findings.span import Span
from ....machines.cluster import Cluster
from ....planning.way import Shape, Way
from . import evaluation, hybrid, model_parallel, multi_agent
from .pairs import of_choices
from .parts import Parts
from .sharding import sharding
from .task import Placer, placer_of, task_of
from .undivided import of_undivided
from .unused import unused

_APPLY: Mapping[Placer, Callable[[Parts], None]] = {
    Placer.HYBRID: hybrid.apply,
    Placer.MODEL_PARALLEL: model_parallel.apply,
    Placer.MODEL_PARALLEL_EVAL: evaluation.apply,
    Placer.MULTI_AGENT: multi_agent.apply,
    Placer.MULTI_AGENT_EVAL: multi_agent.evaluate,
}


@dataclass(frozen=True)
class Mode:
    """What a mode made of the components, and what it demands besides. `task` is "" where it is not known.

    `placed` are the names of all components, also of those that could not be read; `ways` the arrangements that are left to a plan.
    """

    task: str
    placer: Placer
    components: tuple[Component, ...]
    relations: tuple[Relation, ...]
    shaped: frozenset[str]
    """Components whose degrees the settings of the job fix."""
    placed: frozenset[str]
    ways: tuple[Way, ...] = ()
    shapes: Mapping[str, Mapping[Parallel, Shape]] = field(default_factory=dict)
    """The processes of components by themselves with each choice of their degrees."""

    @property
    def packs(self) -> bool:
        """Are processes packed into solid ranges, so that process ranks are not written?"""
        return self.placer is not Placer.HYBRID


def read_mode(
    notes: Notes,
    settings: Settings,
    cluster: Cluster,
    written: dict[str, Span],
    owner: Span,
    components: tuple[Component, ...],
    hinted: tuple[Relation, ...],
    planned: frozenset[str] = frozenset(),
    choices: Mapping[str, tuple[Parallel, ...]] | None = None,
    profiled: bool = False,
) -> Mode:
    """The components as the task's placement class has them. `written`, `owner` and what follows are those of `Parts`."""
    task = task_of(notes, settings)
    placer = placer_of(settings, task)
    known = {each.name: each for each in components}
    open_ = choices if profiled and choices else {}
    parts = Parts(notes, settings, cluster, task, placer, known, written, owner, hinted, planned, open_, profiled, choices or {})
    unused(parts)
    if placer in _APPLY:
        _APPLY[placer](parts)
        if not task.endswith("_eval"):
            sharding(parts)
    shaped = frozenset(
        each.name
        for each in components
        if parts.components[each.name].parallel != each.parallel and not (each.timed and each.name in parts.choices)
    )
    return Mode(
        task,
        placer,
        tuple(parts.components.values()),
        (*hinted, *parts.relations),
        shaped,
        frozenset((*written, *parts.components)),
        tuple(parts.ways),
        of_choices(parts) if parts.ways else of_undivided(parts) if placer is Placer.HYBRID else {},
    )


__all__ = ["Mode", "Placer", "read_mode"]
