"""Counting groups in cells against the obvious model with an interval for every group: the same problems, in one run.

Both must find the same optimum; the time to prove it is what differs. CPU seconds of this process, one worker each.
"""

from __future__ import annotations

import random
import time
from pathlib import Path

from ortools.sat.python import cp_model
from placewright.models.component import Component, Parallel
from placewright.models.job import Job
from placewright.models.machines.cluster import Cluster
from placewright.models.machines.node import Node, accelerators
from placewright.models.machines.topology import domain, domains
from placewright.models.problem import Problem
from placewright.solver.compile import compile, encode_tier
from placewright.solver.cuts import domains_of_subsets
from placewright.solver.model.engine import Status, run
from placewright.solver.objectives.tiers import tiers
from placewright.solver.searching.search import solve
from study import Rows, Study, plotting

LIMIT = 30.0
QUICK, FULL = (32, 64, 128), (32, 64, 128, 256, 512, 1024)
NAIVE_UP_TO = 512
PROVED = ("optimal", "infeasible", "impossible")
SHARES = (("actor", 8, 0.4), ("rollout", 4, 0.25), ("critic", 4, 0.15), ("reward", 2, 0.1), ("env", 1, 0.05))


def instance(size: int, seed: int) -> Problem:
    """A shared cluster of `size` accelerators in racks of 2 to 6 nodes, some partly taken, 70 % of the rest asked for."""
    source, nodes = random.Random(seed), list[Node]()
    rack, left = 0, 0
    for rank in range(size // 8):
        if not left:
            rack, left = rack + 1, source.randint(2, 6)
        left -= 1
        taken = (1 << source.choice([0, 0, 0, 0, 0, 1, 3, 4])) - 1
        nodes.append(Node(rank, f"node-{rank}", accelerators(8, "H100"), topology={"rack": f"r{rack}"}, taken=taken))
    free = sum(node.free("Accelerator").bit_count() for node in nodes)
    components = []
    for name, tp, share in SHARES:
        amount = max(1, int(free * 0.7 * share) // tp) * tp
        components.append(Component(name, least=amount, most=amount, parallel=Parallel(tp)))
    return Problem(Cluster(tuple(nodes)), Job(tuple(components)))


def naive(problem: Problem) -> tuple[str, int]:
    """The obvious model: every group has a start among the slots of its size, no two groups overlap. (status, objective)."""
    model = cp_model.CpModel()
    intervals, racks = [], domains(problem.cluster, "rack")
    touched: list[cp_model.IntVar] = []
    for node in problem.cluster.nodes:
        for index in range(8):
            if node.taken >> index & 1:
                intervals.append(model.new_fixed_size_interval_var(node.rank * 8 + index, 1, "taken"))
    rack_of = [racks.index(domain(node, "rack")) for node in problem.cluster.nodes]
    for component in problem.components:
        tp, before = component.parallel.tp, None
        seen = [model.new_bool_var(f"{component.name} in {rack}") for rack in racks]
        touched += seen
        for group in range(component.least // tp):
            slot = model.new_int_var(0, len(rack_of) * 8 // tp - 1, f"{component.name} {group}")
            intervals.append(model.new_fixed_size_interval_var(tp * slot, tp, ""))
            where = model.new_int_var(0, len(racks) - 1, "")
            model.add_element(slot, [rack_of[s * tp // 8] for s in range(len(rack_of) * 8 // tp)], where)
            model.add_element(where, seen, 1)
            if before is not None:
                model.add(before < slot)  # groups of one component are interchangeable
            before = slot
    model.add_no_overlap(intervals)
    model.minimize(sum(touched) - len(problem.components))  # racks beyond the first of each
    solver = cp_model.CpSolver()
    solver.parameters.num_workers, solver.parameters.random_seed = 1, 1
    solver.parameters.max_time_in_seconds = LIMIT
    status = solver.solve(model)
    return solver.status_name(status).lower(), round(solver.objective_value) if status in (cp_model.OPTIMAL, cp_model.FEASIBLE) else -1


def measure(full: bool) -> Rows:
    """One row for each problem and way of solving it."""
    rows: Rows = []
    for size in FULL if full else QUICK:
        problem = instance(size, seed=1)
        began = time.process_time()
        answer = solve(problem, limit=LIMIT)
        plan = answer.plan
        rows.append(_row(size, "placewright", began, answer.verdict, plan.objective if plan else -1, answer.how))
        began = time.process_time()
        variables = compile(problem)
        variables.minimise(variables.total(tier.scale * encode_tier(variables, tier) for tier in tiers(problem)))
        domains_of_subsets(variables)
        outcome = run(variables, LIMIT, seed=1)
        rows.append(_row(size, "cells, CP-SAT", began, outcome.status.value, outcome.objective, "search"))
        if size <= (NAIVE_UP_TO if full else 64):
            began = time.process_time()
            status, objective = naive(problem)
            rows.append(_row(size, "interval per group", began, status, objective, "search"))
            if status == Status.OPTIMAL.value and plan and plan.status == status and objective != plan.objective:
                raise SystemExit(f"two proofs differ at {size} accelerators: {objective} and {plan.objective}")
    return rows


def _row(size: int, way: str, began: float, status: str, objective: int, how: str) -> dict[str, object]:
    cpu = time.process_time() - began
    return {"accelerators": size, "way": way, "cpu_seconds": round(cpu, 4), "status": status, "objective": objective, "how": how}


def draw(rows: Rows, path: Path) -> None:
    """CPU seconds over accelerators, one line for each way; unproved results are hollow."""
    pyplot = plotting()
    figure, axes = pyplot.subplots(figsize=(7, 4))
    for way in dict.fromkeys(str(row["way"]) for row in rows):
        its = [row for row in rows if row["way"] == way]
        (line,) = axes.plot([row["accelerators"] for row in its], [row["cpu_seconds"] for row in its], label=way)
        for row in its:
            face = line.get_color() if row["status"] in PROVED else "white"
            axes.plot(row["accelerators"], row["cpu_seconds"], "o", color=line.get_color(), markerfacecolor=face)
    axes.set(xscale="log", yscale="log", xlabel="accelerators", ylabel="CPU seconds (hollow: not proved)")
    axes.legend()
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    Study("formulations", measure, draw).main()
