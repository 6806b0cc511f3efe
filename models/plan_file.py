"""A Plan as a file: written whole or not at all, read within limits and checked against its digest."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from .assignment import Assignment, Run
from .cluster import Cluster
from .cluster_file import ClusterForm
from .component import Parallel
from .finding import UnusableInput, error
from .node_group import NODE
from .plan import Plan, Term

MAX_BYTES = 64 << 20
MAX_PROCESSES = 1 << 20
Count = Annotated[int, Field(ge=0, le=1 << 30)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _RunForm(_Strict):
    ranks: tuple[Count, Count]
    node: Count
    kind: str
    first: Count
    each: Count
    step: int
    pitch: int
    node_group: str


class _DegreesForm(_Strict):
    tp: Count
    pp: Count
    cp: Count
    ep: Count


class _TermForm(_Strict):
    name: str
    value: int
    bound: int
    weight: int


class _PlanForm(_Strict):
    schema_: Literal[1] = Field(alias="schema")
    status: Literal["verified", "optimal", "feasible"]
    isolate_accelerator: bool
    cluster: ClusterForm
    degrees: dict[str, _DegreesForm] = {}
    components: dict[str, tuple[_RunForm, ...]]
    terms: tuple[_TermForm, ...]
    bound: int
    seed: int
    seconds: float
    digest: str


def plan_to_json(plan: Plan) -> str:
    """The plan as JSON text."""
    terms = [{"name": t.name, "value": t.value, "bound": t.bound, "weight": t.weight} for t in plan.terms]
    rest = {"terms": terms, "bound": plan.bound, "seed": plan.seed, "seconds": round(plan.seconds, 3), "digest": plan.digest}
    return json.dumps({**plan.canonical(), **rest}, indent=1) + "\n"


def write_whole(path: str | Path, text: str) -> None:
    """Write a text file so that nobody ever sees half of it: a new file beside it takes its place. Raises OSError."""
    target = Path(path)
    if target.exists() and not target.is_file():  # a pipe or a device takes what it is given, and stays what it is
        target.write_text(text, encoding="utf-8", newline="")
        return
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o644
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.resolve().parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, mode)
        os.replace(name, target.resolve())
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def read_plan(path: str | Path) -> Plan:
    """The plan in a file. Raises UnusableInput if it is missing, not a plan, or not the plan that its digest says."""
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as problem:
        raise UnusableInput([error("PW001", "", f"`{path}` cannot be read: {problem.strerror}", help="check the path")]) from None
    if len(data) > MAX_BYTES:
        raise UnusableInput([error("PW002", "", f"`{path}` is larger than {MAX_BYTES >> 20} MiB", help="is this a plan?")])
    try:
        form = _PlanForm.model_validate_json(data)
        plan = _build(form)
    except ValidationError as problem:
        first = problem.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        message = f"`{path}` is not a plan: {place}: {first['msg']}"
        raise UnusableInput([error("PW008", "", message, help="make it again with `placewright solve FILE -o plan.json`")]) from None
    except ValueError as problem:
        raise UnusableInput(
            [error("PW008", "", f"`{path}` is not a plan: {problem}", help="make it again with `placewright solve`")]
        ) from None
    if plan.digest != form.digest:
        message = f"`{path}` was changed after it was made: its digest is {plan.digest[:19]}, it says {form.digest[:19]}"
        raise UnusableInput([error("PW009", "", message, help="make it again with `placewright solve FILE -o plan.json`")])
    return plan


def _build(form: _PlanForm) -> Plan:
    cluster = form.cluster.build()
    runs: dict[str, tuple[Run, ...]] = {}
    for name, its in form.components.items():
        runs[name] = tuple(
            Run(range(*run.ranks), run.node, run.kind, run.first, run.each, run.step, run.pitch, run.node_group) for run in its
        )
        for run in runs[name]:
            _must_exist(cluster, name, run)
        _must_follow(name, runs[name])
    if sum(len(run.ranks) for its in runs.values() for run in its) > MAX_PROCESSES:
        raise ValueError(f"it has more than {MAX_PROCESSES:,} processes")
    terms = tuple(Term(t.name, t.value, t.bound, t.weight) for t in form.terms)
    degrees = {name: Parallel(its.tp, its.pp, its.cp, its.ep) for name, its in form.degrees.items()}
    return Plan(cluster, Assignment(runs), form.status, terms, form.bound, form.seed, form.seconds, form.isolate_accelerator, degrees)


def _must_exist(cluster: Cluster, name: str, run: Run) -> None:
    """Raises ValueError if a run holds what the cluster does not have: a plan that was made here never does."""
    if run.node >= len(cluster.nodes):
        raise ValueError(f"`{name}` is on a node that the plan's cluster does not have")
    count, (low, high) = cluster.nodes[run.node].count(run.kind), run.within
    if (run.step == 0 and run.each > 1) or not run.ranks or (run.each == 0) != (run.kind == NODE) or low < 0 or high >= count:
        raise ValueError(f"`{name}` holds resources that node {run.node} does not have ({run.kind}: {count})")
    if run.node_group not in cluster.groups:
        raise ValueError(f"`{name}` is in node group `{run.node_group}`, which the plan's cluster does not have")


def _must_follow(name: str, runs: tuple[Run, ...]) -> None:
    """Raises ValueError if the ranks of a component are not 0, 1, ... to the last, in order."""
    following = 0
    for run in runs:
        if not following - 1 <= run.ranks.start <= following or (run.ranks.start < following and len(run.ranks) > 1) or not runs:
            raise ValueError(f"the ranks of `{name}` do not follow each other: {run.ranks.start} where {following} comes next")
        following = run.ranks.stop
    if not following:
        raise ValueError(f"`{name}` has no process")
