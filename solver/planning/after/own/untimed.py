"""Why no time is known of the file's own count of a component, with the degrees that it has there."""

from __future__ import annotations

from .....models.component import Component, Parallel
from .....models.problem import Problem
from ....wording import listed
from ...asking.interpolation import time_of
from .refused import refused


def untimed(problem: Problem, component: Component, phase: str, amount: int, parallel: Parallel, model: str) -> str:
    """What is not known, as a sentence: the time on so many, or that with these degrees where it is known with others."""
    what = f"nothing says how long `{component.name}` takes on {amount}"
    if reason := refused(problem, component, amount, parallel):
        return f"{what}: {reason}"
    timed = component.timed
    every = dict.fromkeys(each.parallel for each in timed.measured if each.parallel is not None) if timed else {}
    others = [str(each) for each in every if timed and each != parallel and time_of(timed, phase, amount, each, model) is not None]
    return f"{what} with {parallel}: its times there are of {listed(others)}" if others else what
