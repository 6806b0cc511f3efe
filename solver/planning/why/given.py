"""Given ranks that leave a component no way to be run."""

from __future__ import annotations

from dataclasses import replace
from typing import Sequence

from ....models.component import Component, Parallel
from ....models.findings.finding import Finding
from ....models.part import among
from ....models.problem import Problem
from ...wording import listed
from ..asking.options import options
from ..asking.room import room


def with_given(problem: Problem, name: str, holding: Sequence[Component], finding: Finding) -> Finding:
    """Why a component can be run in no way; with whose given ranks are the reason, if it could be run without them.

    `holding` : the components that hold what they are given and let nobody else use it. One of them is named where one is enough, else
    all. Other ranks of theirs are proposed where as many accelerators are left beside them as it needs.
    """
    ways = [[each.name] for each in holding] + ([[each.name for each in holding]] if len(holding) > 1 else [])
    for names in ways:
        part = among(problem, {each.name for each in problem.components if each.name not in names})
        space = room(part, [each for each in holding if each.name not in names])
        if can := [option.amount for option in options(part, part[name], part[name].timed, space, 1)]:
            told, held = listed([f"`{each}`" for each in names]), problem.given().held_together(names)
            alone = replace(part[name], parallel=Parallel(), stride=1)
            has_room = min(can) + held <= max(space.most(part, alone, kind) for kind in range(len(space.kinds)))
            message = f"{finding.message}; without the ranks that are given to {told} it could be run"
            return replace(finding, message=message, help=f"{finding.help}, or give {told} other ranks" if has_room else finding.help)
    return finding
