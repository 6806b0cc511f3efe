"""Where a search runs: in a process of its own, unless it is not wanted there; and nowhere where none is needed."""

from __future__ import annotations

import subprocess
import sys

import placewright as pw
import pytest
from placewright.models.problem import Problem
from placewright.solver.sandbox import solve as sandbox
from placewright.solver.searching.progress import Incumbents
from placewright.solver.searching.search import solve
from placewright.solver.session import SearchNeeded, Session

from ..cases import cluster, component, problem
from .test_liars import GUESSED, OPEN, TOO_MUCH

EASY = problem(cluster({"count": 4}, {"count": 4}), component("a", 4, tp=4), component("b", 4))
FULL = problem(cluster({"count": 4}, {"count": 4}), component("a", 4), component("b", 5))
"""A sum shows that it is impossible, and no search is needed to find out what would help."""
NOTHING_HEAVY = """\
import sys, placewright as pw
answer = pw.solve("easy.yaml")
print(answer.verdict, answer.how, *sorted({"ortools", "numpy", "rich", "pydantic"} & set(sys.modules)))
"""


def nobody(memory: int) -> tuple[str, ...]:
    raise AssertionError("a process is started")


@pytest.mark.parametrize("question", [EASY, FULL])
def test_what_needs_no_search_starts_no_process(question: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "command", nobody)
    answer = sandbox.solve(question)
    assert answer.how in ("greedy", "counting") and answer.verdict == solve(question).verdict
    session = Session()
    with session.without_search():
        assert solve(question, session=session).findings == answer.findings


@pytest.mark.parametrize("question", [GUESSED, OPEN, TOO_MUCH])
def test_what_needs_one_says_so_where_none_may_be(question: Problem) -> None:
    session = Session()
    with session.without_search(), pytest.raises(SearchNeeded):
        solve(question, session=session)
    assert solve(question, session=session).verdict in ("optimal", "impossible")  # outside it may be again


@pytest.mark.parametrize("question", [GUESSED, OPEN, TOO_MUCH])
def test_nor_is_a_process_started_for_it_there(question: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "command", nobody)
    session = Session()
    with session.without_search(), pytest.raises(SearchNeeded):
        sandbox.solve(question, session=session)


def test_an_answer_without_a_search_loads_no_solver(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("easy")
    (folder / "easy.yaml").write_text("cluster: 2x4\ncomponents:\n  a: {accelerators: 4}\n")
    done = subprocess.run([sys.executable, "-c", NOTHING_HEAVY], cwd=folder, capture_output=True, text=True, check=True)
    assert done.stdout == "optimal greedy\n"


def test_the_search_may_run_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Incumbents] = []
    apart = pw.solve(OPEN, on_progress=seen.append)
    assert seen and seen[0].plan is None and seen[-1].gap == 0.0
    monkeypatch.setattr(sandbox, "command", nobody)
    here = pw.solve(OPEN, sandbox=False)
    assert here.plan is not None and apart.plan is not None and here.plan.digest == apart.plan.digest


def test_what_the_progress_raises_ends_the_search() -> None:
    class Enough(Exception):
        pass

    def enough(progress: Incumbents) -> None:
        raise Enough

    with pytest.raises(Enough):
        sandbox.solve(OPEN, on_progress=enough)


def test_a_folder_with_modules_of_its_own_does_not_get_into_the_search(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The child finds modules where its parent does, and not where it is started."""
    folder = tmp_path_factory.mktemp("decoys")
    for name in ("json", "ortools", "selectors", "placewright", "ctypes"):
        (folder / f"{name}.py").write_text("raise SystemExit('a decoy was loaded')\n")
    (folder / "run.py").write_text(
        "import sys\nsys.path.remove(sys.path[0])\nfrom placewright.cli.main import run\nsys.exit(run(['solve', 'open.yaml']))\n"
    )
    (folder / "open.yaml").write_text(
        "cluster: 1x5+6x4\ncomponents:\n  a: {accelerators: 3, contiguous: true}\n  b: {accelerators: 5, parallel: {tp: 5}}\n"
        "  c: {accelerators: 7, contiguous: true}\n  d: {accelerators: 4-8, parallel: {tp: 4}}\n"
    )
    done = subprocess.run([sys.executable, "run.py"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0 and "proved by search" in done.stdout, done.stderr
