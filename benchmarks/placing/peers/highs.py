"""The obvious integer program, solved by HiGHS from the same wheel: how many groups of each component are on each node."""

from __future__ import annotations

from dataclasses import dataclass

from ortools.linear_solver.python import model_builder
from placewright.models.problem import Problem

from ..counts import Counts, groups_in_a_rack, racks_of, room, usable


@dataclass(frozen=True)
class Found:
    """What HiGHS found; it says neither an answer nor a bound where it was stopped."""

    status: str
    objective: int
    counts: Counts | None


def highs(problem: Problem, seconds: float) -> Found:
    """Solve the integer program within so many seconds."""
    model = model_builder.ModelBuilder()
    groups = {
        (component.name, node.rank): model.new_int_var(0, room(problem, component, node) // component.parallel.tp, "")
        for component in problem.components
        for node in usable(problem, component)
    }
    here, seen = dict[tuple[str, str], model_builder.LinearExpr](), dict[tuple[str, str], model_builder.Variable]()
    parts = []
    for component in problem.components:
        tp, name = component.parallel.tp, component.name
        for rack, nodes in racks_of(problem).items():
            its = [groups[name, node.rank] for node in nodes if (name, node.rank) in groups]
            if not its:
                continue
            here[name, rack], seen[name, rack] = sum(its), model.new_bool_var("")
            most = min(sum(room(problem, component, node) // tp for node in nodes), groups_in_a_rack(component), component.least // tp)
            model.add(here[name, rack] <= most * seen[name, rack])
            model.add(here[name, rack] >= seen[name, rack])
            if component.keep:
                model.add(here[name, rack] == component.parallel.pp * model.new_int_var(0, most, ""))
            parts.append(component.traffic * seen[name, rack])
        model.add(sum(count for (its, _), count in here.items() if its == name) == component.least // tp)
    for node in problem.cluster.nodes:
        its = [(name, count) for (name, rank), count in groups.items() if rank == node.rank]
        if its:
            has = max(room(problem, problem[name], node) for name, _ in its)
            model.add(sum(problem[name].parallel.tp * count for name, count in its) <= has)
    for link in problem.job.links:
        for (name, rack), literal in list(seen.items()):
            if name == link.target:
                lacks = model.new_bool_var("")
                model.add(lacks >= literal - seen.get((link.source, rack), 0))
                target = problem[name].parallel.tp * here[name, rack]
                over = model.new_int_var(0, problem[name].least, "")
                model.add(over >= target - link.ratio * problem[link.source].parallel.tp * here.get((link.source, rack), 0))
                parts += [link.weights * lacks, link.stream * over]
    constant = sum(component.traffic for component in problem.components)
    model.minimize(sum(parts) - constant)
    solver = model_builder.Solver("HIGHS")
    solver.set_time_limit_in_seconds(seconds)
    status = solver.solve(model)
    if status not in (model_builder.SolveStatus.OPTIMAL, model_builder.SolveStatus.FEASIBLE):
        return Found(status.name.lower(), 0, None)
    counts = {key: round(solver.value(count)) * problem[key[0]].parallel.tp for key, count in groups.items()}
    return Found(status.name.lower(), round(solver.objective_value), {key: count for key, count in counts.items() if count})
