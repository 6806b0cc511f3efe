"""The order of tasks is that of networkx, which `verify` has no time to load."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import networkx
from placewright.models.component import Component
from placewright.models.planning.workload import After, Measurement, TimedComponent, Workload
from placewright.models.task_order import order_tasks


def test_circles_are_together_and_none_is_before_what_it_works_on() -> None:
    source = random.Random(1)
    for _ in range(500):
        parts = [Component(f"c{number}", timed=TimedComponent((Measurement(4, 10**9),))) for number in range(source.randint(1, 8))]
        dense = source.choice([0.1, 0.2, 0.4])
        edges = [(one.name, other.name) for one in parts for other in parts if one is not other and source.random() < dense]
        found = order_tasks(parts, Workload(after=tuple(After(*edge) for edge in edges)))
        names, place = [task.component for task in found.tasks], {part.name: number for number, part in enumerate(parts)}
        graph = networkx.DiGraph(edges)
        graph.add_nodes_from(place)
        circles = [tuple(sorted(its, key=place.__getitem__)) for its in networkx.strongly_connected_components(graph)]
        of = {name: circle for circle in circles for name in circle}
        between = networkx.DiGraph([(of[one], of[other]) for one, other in edges if of[one] != of[other]])
        between.add_nodes_from(circles)
        in_turn = networkx.lexicographical_topological_sort(between, key=lambda circle: place[circle[0]])
        assert names == [name for circle in in_turn for name in circle]
        assert {frozenset(names[number] for number in its) for its in found.rounds} == {frozenset(its) for its in circles if len(its) > 1}


def test_a_file_with_times_is_verified_without_it(tmp_path: Path) -> None:
    text = "cluster: 1x8xH100\ncomponents:\n  a: {seconds: {4: 10}}\n  b: {seconds: {4: 10}}\nplan: {workflow: a -> b}\n"
    (tmp_path / "job.yaml").write_text(text)
    program = "import sys, placewright as pw; assert not pw.verify(pw.load(sys.argv[1])).errors; print('networkx' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path / "job.yaml")], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
