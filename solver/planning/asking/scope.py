"""What the scope leaves out of a question, and which wider questions there are."""

from __future__ import annotations

from dataclasses import replace
from typing import Collection, Iterator, Sequence

from ....models.component import Component
from ....models.machines.node_group import ACCELERATOR
from ....models.planning.kind import Kind
from ....models.problem import Problem
from ....models.scope import HETEROGENEOUS, LIMITS, NESTED, SPANNING, has_groups, let_over_nodes
from ...wording import listed
from .nested import with_nesting
from .spanning import may_span, on_all_models


def left_out(problem: Problem, kinds: Sequence[Kind]) -> tuple[str, ...]:
    """The widenings of the scope by which a question of these kinds would have other plans, as far as a glance shows."""
    open_ = [each for each in problem.components if each.runs is None and problem.kind(each) == ACCELERATOR]
    nodes = sum(bool(node.accelerators) for node in problem.cluster.nodes)
    found = {
        SPANNING: nodes > 1 and any(_is_on_one_node(problem, each) for each in open_),
        HETEROGENEOUS: bool(open_) and sum(not kind.holders for kind in kinds) > 1,
        NESTED: len(open_) > 1 and with_nesting(problem) is not None,
    }
    return tuple(name for name, is_left in found.items() if is_left)


def _is_on_one_node(problem: Problem, component: Component) -> bool:
    """True if a component may have tensor parallel groups, and each of them lies on one node by the scope alone."""
    return let_over_nodes(component) is not component and has_groups(problem, component)


def widened(problem: Problem, widenings: Collection[str]) -> Iterator[tuple[str, Problem]]:
    """Each of these widenings of the scope, with the problem that it makes."""
    job, workload = problem.job, problem.job.workload
    if NESTED in widenings and (inside := with_nesting(problem)) is not None:
        yield NESTED, inside
    if SPANNING in widenings:
        parts = tuple(let_over_nodes(each) if _is_on_one_node(problem, each) else each for each in problem.components)
        yield SPANNING, replace(problem, job=replace(job, components=parts))
    if HETEROGENEOUS in widenings and workload is not None:
        wide = replace(problem, job=replace(job, workload=replace(workload, heterogeneous=True)))
        if may_span(wide):
            yield HETEROGENEOUS, on_all_models(wide)


def with_limits(widenings: Sequence[str]) -> str:
    """What holds of all plans without these widenings: `with each tp group on one node`; "" where there are none."""
    return f"with {listed([LIMITS[name] for name in widenings])}" if widenings else ""
