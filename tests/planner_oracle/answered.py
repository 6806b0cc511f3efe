"""Answer one input through the public doors, and summarise the answer as JSON data."""

from __future__ import annotations

import os
import resource
import signal
import tempfile
import traceback
from contextlib import contextmanager
from itertools import permutations
from pathlib import Path
from typing import Any, Iterator, Mapping

import placewright as pw
from placewright.models.answer import Answer
from placewright.models.model_cards.card import read_model_config
from placewright.models.parallel import Parallel
from placewright.models.placements.assignment import seats
from placewright.models.placements.plan import Plan
from placewright.models.planning.planned import CostedDesign, PlanningResult
from placewright.models.planning.problem import PlanningProblem
from placewright.models.reading import Reading
from placewright.models.resolving import with_models

from .questions import Ask, case_of, files_of

Record = dict[str, Any]
"""What is kept of an answer.

verdict : that of the answer; `unusable`, `crash` or `too slow` where there is none. codes : of findings, each once.
price, own, others : [ns of an iteration, accelerators], of the plan, of the file's own ranks, of the first three other plans.
aim : what is as small as possible, unless that is time. bound : of it. proved, ties_open : as in `Planned`.
components : name -> [accelerators, degrees, model]. sets : [components, accelerators] of each set that shares accelerators.
parts : task -> part of the iteration. outside : why the plan is outside of the scope. cpu : seconds.
"""

LIMIT, SEED, MOST_SECONDS = 10.0, 1, 400
"""Deterministic seconds and seed of each search; CPU seconds after which an input is given up."""
SPANS, MODELS, NESTED = "tp groups over nodes", "several models", "nested"
"""Plans outside of the scope, where the file did not ask for them."""


class TooSlow(BaseException):
    """An input took more than `MOST_SECONDS`."""


def answered(ask: Ask) -> Record:
    """The record of an input's answer; a crash is a record too."""
    began, before = _cpu(), dict(os.environ)
    try:
        with _at_most(MOST_SECONDS):
            record = _of_case(ask) if "case" in ask else _of_files(ask)
    except pw.UnusableInput as refused:
        record = {"verdict": "unusable", "codes": _codes(refused.findings)}
    except TooSlow:
        record = {"verdict": "too slow"}
    except Exception as error:
        at = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(at.filename).name}:{at.lineno}"
        record = {"verdict": "crash", "error": f"{type(error).__name__} at {place}: {error}"[:300]}
    finally:
        os.environ.clear()
        os.environ.update(before)
    return {**record, "cpu": round(_cpu() - began, 3)}


def plan_text(ask: Ask) -> str:
    """The plan of an input as the text of a plan file."""
    with _in_folder(files_of(ask)):
        plan = _solved(ask).plan
        assert plan is not None
        pw.write_plan(plan, "oracle_plan.json")
        return Path("oracle_plan.json").read_text("utf-8")


def _of_files(ask: Ask) -> Record:
    files = files_of(ask)
    with _in_folder(files):
        answer = _solved(ask)
        record: Record = {"verdict": answer.verdict, "codes": _codes(answer.findings)}
        if answer.plan is None:
            return record
        if answer.planned is not None:
            record |= of_planned(answer.planned)
            outside = _outside(answer.plan, answer.planned, "\n".join(files.values()))
            record |= {"outside": outside} if outside else {}
        if answer.planned is None or "seed" not in ask:
            record |= _own(ask, answer)
        return record


def _solved(ask: Ask) -> Answer:
    previous = {"previous": ask["previous"]} if "previous" in ask else {}
    return pw.solve(_read(ask), limit=LIMIT, seed=SEED, sandbox=False, lose=ask.get("lose", ()), **previous)


def _read(ask: Ask) -> Reading:
    os.environ.update(ask.get("env", {}))
    options = {key: ask[key] for key in ("level", "set", "roots", "allow_env", "framework") if key in ask}
    reading = pw.load(ask.get("file", "job.yaml"), ask.get("cluster"), ask.get("dialect", "auto"), **options)
    if "model_config" in ask:
        reading = with_models(reading.to_solve, read_model_config(ask["model_config"]))
    return reading


def _of_case(ask: Ask) -> Record:
    """Answer a case of a benchmark or a record of RLinf's tool; the one place that asks the search itself."""
    from placewright.planner.check import faults
    from placewright.planner.costs import cost_model
    from placewright.planner.search.search import search

    question, model = case_of(ask)
    found = search(question, cost_model(model), limit=60.0)
    if found.best is None:
        return {"verdict": "impossible" if found.proved else "undecided"}
    assert not list(faults(question, cost_model(model), found.best.design))
    best = CostedDesign(found.best.design, found.best.price[0])
    bound = 0 if found.bound is None else found.bound
    planned = PlanningResult(question, model, best, bound, found.proved, structures=found.structures)
    return {"verdict": "optimal" if found.proved else "feasible", **of_planned(planned)}


def of_planned(planned: PlanningResult) -> Record:
    """What is kept of a planned answer; the one place that reads the planner's own records."""
    question, design = planned.question, planned.best.design
    record: Record = {
        "price": _price(question, planned.best),
        "bound": planned.bound,
        "proved": planned.proved,
        "components": {
            name: [option.amount, _degrees(design.degrees(question, name)), question.kinds[option.kind].model if option.kind >= 0 else "-"]
            for name, option in design.options.items()
        },
        "sets": [[list(block.components), block.accelerators] for block in design.blocks],
        "parts": {str(task): part for task, part in zip(question.tasks, design.segments)},
        "others": [_price(question, each) for each in planned.alternatives[:3]],
    }
    for key, value in (("aim", question.aim if question.aim != "seconds" else ""), ("ties_open", planned.ties_open)):
        record |= {key: value} if value else {}
    return record


def _own(ask: Ask, answer: Answer) -> Record:
    """The price of the file's own ranks, where it has all of them."""
    try:
        account = pw.account(_read(ask), limit=LIMIT, seed=SEED, answer=answer, searches=0, sandbox=False)
    except ValueError:
        return {}
    if account.given:
        planned = account.planned
        return {"own": _price(planned.question, planned.best), "bound": planned.bound}
    own = account.own
    return {"own": _price(own.question, own.priced)} if own is not None and own.priced is not None else {}


def _price(question: PlanningProblem, priced: CostedDesign) -> list[int]:
    """[ns of an iteration with its traffic, accelerators]."""
    return [priced.nanoseconds + priced.traffic, priced.accelerators(question)]


def _degrees(parallel: Parallel) -> str:
    return " ".join(f"{name}{getattr(parallel, name)}" for name in ("tp", "pp", "cp", "ep", "dp") if getattr(parallel, name) > 1)


def _outside(plan: Plan, planned: PlanningResult, text: str) -> list[str]:
    """Why the plan is outside of the scope, where its file does not ask for that."""
    question, design = planned.question, planned.best.design
    found, every = set(), {name: plan.assignment.accelerators(name) for name in question.components}
    for name, option in design.options.items():
        nodes = [node for _, held in seats(plan.assignment.of(name)) for (node, _), _, _ in held]
        tp = design.degrees(question, name).tp
        groups = [nodes[start : start + tp] for start in range(0, len(nodes), tp)] if option.kind >= 0 else []
        if any(len(set(group)) > 1 for group in groups) and "required: false" not in text:
            found.add(SPANS)
        models = {plan.cluster.nodes[node].accelerator_model for node in nodes} if option.kind >= 0 else set()
        if len(models) > 1 and (question.kinds[option.kind].mixed or name in question.scope.on_models):
            found.add(MODELS)
    strictly = any(every[one] < every[other] for one, other in permutations(every, 2) if every[one])
    if strictly and not question.sharing.nested and "nested: true" not in text and "within" not in text:
        found.add(NESTED)
    return sorted(found)


def _codes(findings: Any) -> list[str]:
    """Codes of errors and warnings, each once."""
    return sorted({finding.code for finding in findings})


@contextmanager
def _in_folder(files: Mapping[str, str]) -> Iterator[None]:
    """Run in a fresh folder with these files."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        for file, text in files.items():
            path = Path(name) / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        os.chdir(name)
        try:
            yield
        finally:
            os.chdir(before)


@contextmanager
def _at_most(seconds: int) -> Iterator[None]:
    def raise_too_slow(number: int, frame: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGPROF, raise_too_slow)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _cpu() -> float:
    """CPU seconds of this process and of its ended children."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)
