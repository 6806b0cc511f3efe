"""Plan as a file: atomic writing, limited reading, and a check of the digest."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, ValidationError, WithJsonSchema

from ..findings.finding import UnusableInput, error
from ..machines.cluster_file import ClusterForm, cluster_to_data
from ..parallel import Parallel
from ..text.form import faults_at
from .assignment import Assignment
from .moves import GroupMoves, Moves, Trade
from .plan import Plan, TermValue
from .run import Run
from .run_checks import must_be_sound

MAX_BYTES = 64 << 20
MAX_ACCELERATORS = 1 << 18
"""Maximum cluster size: the digest covers every accelerator of the cluster."""
_BESIDE = "what `solve --format json` says beside the plan; nothing is read of it"
Count = Annotated[int, Field(ge=0, le=1 << 30)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class RunForm(_Strict):
    """Consecutive processes on one node: number `i` holds the local resources `first + i*pitch + j*step` for `j < each`."""

    ranks: tuple[Count, Count] = Field(description="the first process rank and the one after the last")
    node: Count = Field(description="the rank of the node")
    kind: str = Field(description="what is counted: `Accelerator`, `node`, or a type of hardware")
    first: Count = Field(description="the lowest local index of its first process")
    each: Count = Field(description="resources of one process; 0 where the node itself is the resource")
    step: int = Field(description="from one resource of a process to its next")
    pitch: int = Field(description="from the first resource of a process to that of the next; 0 where they share")
    node_group: str = Field(description="the node group that the ranks were numbered in")


class DegreesForm(_Strict):
    """Parallel degrees chosen for a component, if there was a choice."""

    tp: Count = Field(description="tensor parallel size")
    pp: Count = Field(description="pipeline parallel size")
    cp: Count = Field(description="context parallel size")
    ep: Count = Field(description="expert parallel size")
    dp: Count = Field(default=1, description="data parallel ranks inside one replica of an engine")


class TermForm(_Strict):
    """One term of the objective."""

    name: str = Field(description="what is counted")
    value: int = Field(description="its value in this plan")
    bound: int = Field(description="a proved lower bound on it")
    weight: int = Field(description="its weight in the sum")
    tier: int = Field(default=0, description="terms of one tier are weighed against each other, those of a later one decide between equals")


class MovesForm(BaseModel):
    """Moves from the plan before, by component; sums over the components stand beside them."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)
    components: Annotated[tuple[GroupMoves, ...], WithJsonSchema({"type": "array"})] = Field(
        description="groups that were kept or lost, component by component"
    )
    bound: Count = Field(description="a proved lower bound on the groups that moved though they could have stayed")
    terms_before: dict[str, int] = Field(description="the terms of the objective in the plan before")
    traffic_first: bool = Field(default=False, description="whether the bound holds among plans without more traffic")
    trade: Annotated[Trade | None, WithJsonSchema({})] = Field(
        default=None, description="the next better plan with more moves; null if there is none"
    )

    def moves(self) -> Moves:
        """Return the moves."""
        no_trade = "trade" in self.model_fields_set and self.trade is None
        return Moves(self.components, self.bound, tuple(self.terms_before.items()), self.trade, no_trade, self.traffic_first)


class PlanFileForm(_Strict):
    """Plan: placement of every process, cluster, and quality."""

    schema_: Literal[1] = Field(alias="schema", description="the version of this format")
    status: Literal["verified", "optimal", "feasible"] = Field(description="`verified` where the ranks were given, else how good it is")
    isolate_accelerator: bool = Field(description="whether each process sees its own accelerators only")
    cluster: Annotated[ClusterForm, PlainValidator(ClusterForm.read), WithJsonSchema({})] = Field(
        description="the cluster that it was made for"
    )
    degrees: dict[str, DegreesForm] = Field(default={}, description="component -> parallel degrees that were chosen for it")
    cpus: dict[str, Annotated[int, Field(ge=1, le=1 << 20)]] = Field(
        default={}, description="component -> CPUs reserved for each of its processes"
    )
    components: dict[str, tuple[RunForm, ...]] = Field(description="component -> its processes, in the order of their ranks")
    terms: tuple[TermForm, ...] = Field(description="the objective, term by term")
    bound: int = Field(description="a proved lower bound on the objective")
    seed: int = Field(description="the seed of the search")
    seconds: float = Field(description="how long it took")
    planned: Any = Field(default=None, description=_BESIDE)
    moves: MovesForm | None = Field(default=None, description="what moves from the plan before, where one was named")
    alternatives: Any = Field(default=None, description=_BESIDE)
    why: Any = Field(default=None, description=_BESIDE)
    findings: Any = Field(default=None, description=_BESIDE)
    unchecked: Any = Field(default=None, description=_BESIDE)
    digest: str = Field(description="sha256 of all that makes this plan this plan; a changed plan is refused")


class PlanFile(NamedTuple):
    """Plan, and the moves from the plan before if one was named."""

    plan: Plan
    moves: Moves | None


def plan_to_json(plan: Plan) -> str:
    """Return the plan as JSON text, with accelerators as the user named them."""
    rest = {
        "cluster": cluster_to_data(plan.cluster, as_named=True),
        "terms": list(map(asdict, plan.terms)),
        "bound": plan.bound,
        "seed": plan.seed,
        "seconds": round(plan.seconds, 3),
        "digest": plan.digest,
    }
    return json.dumps({**plan.canonical(), **rest}, indent=1) + "\n"


def read_plan(path: str | Path) -> Plan:
    """Return the plan in a file. Raises UnusableInput if it is none, or was changed."""
    return read_plan_file(path).plan


def read_plan_file(path: str | Path) -> PlanFile:
    """Return the content of a plan's file. Raises UnusableInput as `read_plan` does."""
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as problem:
        raise UnusableInput([error("PW001", "", f"`{path}` cannot be read: {problem.strerror}", help="check the path")]) from None
    if len(data) > MAX_BYTES:
        raise UnusableInput([error("PW002", "", f"`{path}` is larger than {MAX_BYTES >> 20} MiB", help="is this a plan?")])
    return plan_file_of(data, path)


def plan_file_of(data: bytes, path: str | Path) -> PlanFile:
    """Return the content of a text from `path`. Raises UnusableInput as `read_plan` does."""
    try:
        form = PlanFileForm.model_validate_json(data)
        plan = _build(form)
    except ValidationError as problem:
        first = problem.errors()[0]
        place, cause = first["loc"], first.get("ctx", {}).get("error")
        fault = next(faults_at(cause, None, *place), None) if isinstance(cause, ValueError) else None
        where = ".".join(map(str, fault.place if fault else place)) or "the file"
        message = f"`{path}` is not a plan: {where}: {(fault.message or fault.kind) if fault else first['msg']}"
        raise UnusableInput([error("PW008", "", message, help="make it again with `placewright solve FILE -o plan.json`")]) from None
    except ValueError as problem:
        raise UnusableInput(
            [error("PW008", "", f"`{path}` is not a plan: {problem}", help="make it again with `placewright solve`")]
        ) from None
    if plan.digest != form.digest:
        message = f"`{path}` was changed after it was made: its digest is {plan.digest[:19]}, it says {form.digest[:19]}"
        raise UnusableInput([error("PW009", "", message, help="make it again with `placewright solve FILE -o plan.json`")])
    return PlanFile(plan, form.moves.moves() if form.moves else None)


def _build(form: PlanFileForm) -> Plan:
    cluster = form.cluster.build()
    if cluster.total() > MAX_ACCELERATORS:
        raise ValueError(f"its cluster has {cluster.total():,} accelerators; more than {MAX_ACCELERATORS:,} are not read")
    runs = {
        name: tuple(Run(range(*run.ranks), **run.model_dump(exclude={"ranks"})) for run in run_forms)
        for name, run_forms in form.components.items()
    }
    must_be_sound(cluster, runs)
    terms = tuple(TermValue(**term.model_dump()) for term in form.terms)
    degrees = {name: Parallel(**sizes.model_dump()) for name, sizes in form.degrees.items()}
    if strange_names := sorted(set(form.cpus) - set(runs)):
        raise ValueError(f"cpus: `{strange_names[0]}` is not a component of it")
    return Plan(
        cluster, Assignment(runs), form.status, terms, form.bound, form.seed, form.seconds, form.isolate_accelerator, degrees, form.cpus
    )
