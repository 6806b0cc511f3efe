"""Random command lines of verl with times: what solve chooses and writes into them verifies, at the level of training."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from against_verl.configurations import Dice, Question
from placewright.models.composition import Composer
from placewright.models.dialects import verl
from placewright.models.dialects.load import read
from placewright.models.findings.finding import UnusableInput
from placewright.models.findings.span import apply_edits
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.placements.assignment import seats
from placewright.models.reading import Reading
from placewright.models.text.source import Source
from placewright.planner.answer import Solver
from placewright.planner.verify import verify
from placewright.solver.searching.search import solve
from sampling import examples

SAMPLE, SEED = examples(12), 2029
PROGRAMS = ("main_ppo", "one_step_off", "fully_async")


def reading_of(text: str, nodes: tuple[int, ...], level: str = "training") -> Reading:
    machines = read_shorthand("+".join(f"1x{count}" for count in nodes))
    return read(Source("run.sh", text), machines, "verl", level, Composer(frameworks=("verl==b178a3cd",)))


def timed(question: Question, dice: Dice) -> str:
    """The script with times for its components, and degrees of its engine left open in every other one."""
    before = reading_of(question.script, question.nodes).problem
    names = [component.name for component in before.components] if before else []
    hints = [f"+placewright.components.{name}.seconds.8={dice.randrange(10, 200)}" for name in names]
    if "rollout" in names and dice.chance(0.5):
        hints.append("'+placewright.components.rollout.parallel.tp=[1,2,4]'")
    return " \\\n    ".join([question.script.rstrip("\n"), *hints]) + "\n"


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.parametrize("program", PROGRAMS)
def test_what_is_planned_and_written_verifies(program: str) -> None:
    dice, found, wrong = Dice(SEED), Counter[str](), list[str]()
    for _ in range(SAMPLE):
        question = dice.question(program)
        text = timed(replace(question, nodes=question.nodes[:4]), dice)
        first = reading_of(text, question.nodes[:4])
        before, known = first.to_solve, {(each.code, each.subject) for each in verify(first).errors}
        refused = any("verl refuses every size" in each.message for each in before.findings)
        if before.problem is None or before.problem.job.planning.laying is None or verify(before).errors or refused:
            found["faulty"] += 1
            continue
        answer = Solver(solve, 2.0)(before.problem)
        if answer.plan is None:
            assert answer.findings, text
            found["none"] += 1
            continue
        try:
            after = apply_edits(text, verl.write(before, answer.plan.assignment, answer.plan.degrees))
        except UnusableInput as refused:
            wrong += [f"{each.message}\n{question.nodes}\n{text}" for each in refused.findings]
            continue
        again = reading_of(after, question.nodes[:4])
        errors = [each for each in verify(again).errors if (each.code, each.subject) not in known]
        wrong += [f"{each.code} {each.message}\n{question.nodes}\n{after}" for each in errors]
        assert again.problem is not None
        for component in again.problem.components:
            assert list(seats(component.runs or ())) == list(seats(answer.plan.assignment.of(component.name))), after
        found["degrees" if answer.plan.degrees else "counts"] += not errors
    print(program, found)
    assert not wrong, f"{len(wrong)} of {SAMPLE}\n" + "\n".join(wrong[:4])
    assert found["counts"] >= SAMPLE / 20
    assert found["degrees"] >= SAMPLE / 20
