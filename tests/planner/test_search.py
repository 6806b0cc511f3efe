"""What the search answers at every size, how soon, and that it is the same each time."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from dataclasses import replace
from random import Random

import pytest
from placewright.models.dialects.load import read
from placewright.models.parallel import Parallel
from placewright.models.planning.option import AcceleratorKind, Option
from placewright.models.planning.problem import Edge, PlanningProblem, Task, Workflow
from placewright.models.planning.workload import PHASES, SECOND
from placewright.models.text.source import Source
from placewright.planner.check import faults, price
from placewright.planner.costs import cost_model
from placewright.planner.problem import planning_problem as as_question
from placewright.planner.search import search as searching
from placewright.planner.search.branching import Branching
from placewright.planner.search.found import SearchOutcome
from placewright.planner.search.search import search
from placewright.solver.session import Session

from .questions import question
from .texts import FOUR_IN_A_CIRCLE

GIB = 1024
ROLES = {"actor": ("generate", "train"), "ref": ("infer",), "critic": ("infer", "train"), "reward": ("infer",), "cost": ("infer",)}


def hybrid(models: int, accelerators: int, seed: int, loss: float = 0.01) -> PlanningProblem:
    """Models of HybridFlow's kind on whole nodes of 8: degrees up to 8, memory by ZeRO, a loss for each 64 accelerators more."""
    random, names = Random(seed), list(ROLES)[:models]
    options = {}
    for name in names:
        size, trains = random.choice((7, 13, 34, 70)), "train" in ROLES[name]
        its = []
        for count in range(8, accelerators + 1, 8):
            for tp in (1, 2, 4, 8):
                for pp in (1, 2, 4, 8):
                    shards = count if trains else tp * pp
                    memory = int((18 if trains else 2) * size * 1e9 / shards / 2**20) + 8 * GIB
                    if count % (tp * pp) or memory > 80 * GIB:
                        continue
                    slower = (1 + 0.08 * (tp - 1)) * (1 + 0.05 * (pp - 1)) * (1 + loss * count / 64)
                    work = {"generate": 300, "infer": 40, "train": 200}
                    times = tuple(int(work[phase] * size / 13 * 8 / count * slower * 1e9) for phase in ROLES[name])
                    its.append(Option(0, count, Parallel(tp, pp), times, memory, memory // 4))
        options[name] = tuple(its)
    tasks = tuple(sorted((Task(name, phase) for name in names for phase in ROLES[name]), key=lambda task: PHASES.index(task.phase)))
    return PlanningProblem((AcceleratorKind("H100", accelerators, 80 * GIB),), tasks, options, flow=Workflow(phases=PHASES))


def branched(models: int, accelerators: int, seed: int, batches: int = 32) -> PlanningProblem:
    """A pipeline: the first component, branches of which each works on what it makes, and a last one that works on all of theirs."""
    random = Random(seed)
    names = [f"component {number}" for number in range(models)]
    options = {}
    for name in names:
        work, power, step = random.uniform(50, 2000), random.choice((0.6, 0.8, 1.0)), random.choice((1, 2, 4, 8))
        options[name] = tuple(
            Option(0, count, Parallel(step), (-(-int(work * 1e9 / count**power) // batches) * batches,))
            for count in range(step, accelerators + 1, step)
        )
    middle = range(1, models - 1)
    edges = (*(Edge(0, place) for place in middle), *(Edge(place, models - 1) for place in middle)) or (Edge(0, 1),)
    return PlanningProblem(
        (AcceleratorKind("H100", accelerators),), tuple(map(Task, names)), options, Workflow(tuple(edges), batches=batches)
    )


def must_hold(asked: PlanningProblem, name: str, searched: SearchOutcome) -> None:
    """It is proved, an answer, and costs what it says."""
    model = cost_model(name)
    assert searched.proved and searched.best is not None and searched.bound == searched.best.price[0]
    assert not list(faults(asked, model, searched.best.design))
    assert price(asked, model, searched.best.design) == searched.best.price


def spent(asked: PlanningProblem, name: str) -> float:
    """The deterministic seconds in which the best is proved: the same on any machine, about those of a fast one."""
    searched = search(asked, cost_model(name))
    must_hold(asked, name, searched)
    return searched.spent


@pytest.mark.parametrize("accelerators", [8, 64, 256, 1024])
@pytest.mark.parametrize("seed", [0, 1])
def test_three_components_are_proved_at_once(accelerators: int, seed: int) -> None:
    assert spent(branched(3, accelerators, seed), "stream") < 0.02


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_five_models_on_1024_accelerators_are_proved_soon(seed: int) -> None:
    assert spent(hybrid(5, 1024, seed), "stages") < 0.5
    assert spent(branched(5, 1024, seed), "stream") < 0.5


@pytest.mark.parametrize("models", [7, 8])
@pytest.mark.parametrize("seed", [0, 1])
def test_components_that_nothing_relates_are_proved_soon(models: int, seed: int) -> None:
    """Every count is open, and who waits for whom: with thousands of arrangements, of which few are ever cut."""
    assert spent(replace(branched(models, 8, seed), flow=replace(branched(models, 8, seed).flow, edges=())), "stream") < 1.0


def test_small_questions_are_divided_for_as_long_as_there_is_time() -> None:
    """A part of them is soon looked at, and counts for little: two in a circle, one inside another, on 16 accelerators."""
    asked_for = read(Source("job.yaml", FOUR_IN_A_CIRCLE), None, "native", "start").to_solve.problem
    assert asked_for is not None and asked_for.job.planning.workload is not None
    its = as_question(asked_for)
    searched = search(its, cost_model("stream"), limit=10.0)
    must_hold(its, "stream", searched)
    assert searched.best is not None and round(searched.best.price[0] / SECOND, 1) == 112.3


def test_models_that_scale_badly_are_told_apart() -> None:
    """Of models that lose much with every accelerator, some are alone: sets beside each other win over one set of all."""
    asked = hybrid(5, 256, 0, loss=0.5)
    searched = search(asked, cost_model("stages"))
    must_hold(asked, "stages", searched)
    assert searched.best is not None and len(searched.best.design.blocks) > 1


def test_few_accelerators_need_no_solver() -> None:
    """And load none."""
    code = (
        "import sys; from tests.planner.test_search import *\n"
        "for seed in range(20): assert search(branched(4, 16, seed), cost_model('stream')).proved\n"
        "assert 'ortools' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=os.getcwd(), env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})


def describe(searched: SearchOutcome) -> str:
    """All of it, in a word."""
    return hashlib.sha256(repr(searched).encode()).hexdigest()


CODE = """\
from tests.planner.questions import question
from tests.planner.test_search import *
for seed in range(30):
    for name in ("stages", "stream"):
        print(describe(search(question(seed, name == "stages"), cost_model(name), count=3)))
print(describe(search(hybrid(4, 256, 3), cost_model("stages"), count=4)))
"""


@pytest.mark.slow
def test_every_process_gives_the_same_answer() -> None:
    """Whatever order its sets are in."""
    answers = set()
    for seed in ("0", "1", "77"):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": seed}
        ended = subprocess.run([sys.executable, "-c", CODE], check=True, text=True, stdout=subprocess.PIPE, env=environment)
        assert len(ended.stdout.split()) == 61
        answers.add(ended.stdout)
    assert len(answers) == 1


def test_a_search_that_is_cut_short_says_how_far_it_came(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without time it has what it saw at first sight: no better than the best, and a bound that is not a higher."""
    cuts = 0
    for seed in range(60):
        asked, model = question(seed, False), cost_model("stream")
        whole = search(asked, model)
        with monkeypatch.context() as patched:
            patched.setattr(searching, "STRUCTURE", 0.0)
            cut = search(asked, model, limit=1e-9)
        cuts += not cut.proved
        if cut.proved:
            assert [each.price for each in cut.found] == [each.price for each in whole.found] and cut.bound == whole.bound
        elif whole.best is not None:
            assert cut.stopped is None and cut.bound is not None and 0 < cut.bound <= whole.best.price[0]
            assert cut.best is None or cut.best.price >= whole.best.price
    assert cuts > 5


def test_very_many_structures_are_looked_at_for_as_long_as_there_is_time() -> None:
    """Then it has an answer, and claims nothing of what it did not see."""
    searched = search(branched(7, 32, 0), cost_model("stream"), limit=0.2)
    assert searched.best is not None and not searched.proved and searched.bound is not None
    assert searched.bound < searched.best.price[0]


def test_ctrl_c_ends_it_with_what_it_found(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, model = branched(5, 64, 0, 8), cost_model("stream")
    whole = search(asked, model)

    def interrupt(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Branching, "_divide", interrupt)
    with pytest.raises(KeyboardInterrupt):
        search(asked, model)
    with Session() as session:
        searched = search(asked, model, session=session)
    assert searched.stopped is not None and searched.stopped.with_answer.code == "PW602" and not searched.proved
    assert searched.best is not None and whole.best is not None and searched.bound is not None
    assert searched.bound <= whole.best.price[0] <= searched.best.price[0]
