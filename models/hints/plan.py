"""The key `plan`, of a native file and of the block `placewright:`: what counts and degrees are chosen by."""

from __future__ import annotations

from typing import Annotated, Collection, Iterator, Mapping

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool

from ..component import Component
from ..findings.finding import Finding, Severity, UnusableInput, error
from ..findings.span import Span
from ..machines.topology import LEVELS
from ..planning.workload import AIMS, MODELS, PHASES, SECONDS, STREAM, After, Budget, Timed, Workload
from ..text.forms import fill
from ..text.interpolation import UNRESOLVED
from ..text.tree import Value, find, leaves
from ..text.values import Count, Mebibytes, OneOf, Word, or_list, several
from .entries import unknown
from .seconds import Duration

ARROW, WHOLE = "->", "=>"
_Chains = Annotated[tuple[Word, ...], BeforeValidator(several), Field(max_length=256), or_list({"type": "string"}, maxItems=256)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class BudgetForm(_Strict):
    """What an answer may take at most."""

    accelerators: Count | None = Field(default=None, description="a whole number such as `48`")
    seconds: Duration | None = Field(default=None, description="an iteration, such as `60`")


class BandwidthForm(_Strict):
    """How much crosses a level of the topology in a second; with it, what components send counts as time."""

    node: Mebibytes = Field(default=0, description="an amount such as `50GiB`")
    nvlink_domain: Mebibytes = Field(default=0, description="an amount such as `50GiB`")
    rack: Mebibytes = Field(default=0, description="an amount such as `12GiB`")
    zone: Mebibytes = Field(default=0, description="an amount such as `1GiB`")


class PlanForm(_Strict):
    """What counts and degrees are chosen by; the times themselves are the `seconds` of the components."""

    workflow: _Chains = Field(
        default=(),
        description=f"what works on what: chains such as `rollout {ARROW} inference {ARROW} actor`; `{WHOLE}` where one begins when all of the other is done",
    )
    cost_model: Annotated[str, OneOf("cost model", MODELS)] = Field(
        default=STREAM, description="one of " + ", ".join(f"`{name}`" for name in MODELS)
    )
    batches: Count = Field(default=1, description="an iteration is handed on in so many batches, such as `32`")
    phases: Annotated[tuple[Word, ...], BeforeValidator(several)] = Field(
        default=PHASES, description="the order of the phases, such as `[generate, infer, train]`"
    )
    nested: StrictBool = Field(
        default=False, description="`true` or `false`", title="a component may use the accelerators of several others"
    )
    minimise: Annotated[str, OneOf("aim", AIMS)] = Field(default=SECONDS, description="`seconds` of an iteration, or `accelerators`")
    budget: BudgetForm = Field(default=BudgetForm(), description="a map such as `{accelerators: 48, seconds: 60}`")
    bandwidth: BandwidthForm = Field(default=BandwidthForm(), description="a map such as `{node: 50GiB}`")


def read_plan(written: Value | None, components: Collection[Component], findings: list[Finding], key: str = "plan") -> Workload | None:
    """What the key says; what is usual where it is not there; None where no component says its time."""
    form, timed = PlanForm(), {component.name: component.timed for component in components if component.timed}
    if written is not None:
        if open_values := [value for value in leaves(written) if value.tag == UNRESOLVED]:
            message = f"`{key}` needs a value that is not known here: `{open_values[0].text}`"
            findings.append(error("PW120", "", message, open_values[0].span, help="write the value"))
            return None
        try:
            form = fill(PlanForm, written, "", f"`{key}`")
        except UnusableInput as problem:
            findings += problem.findings
            return None
        if not timed and not any(finding.severity is Severity.ERROR for finding in findings):
            message = f"`{key}` chooses by time, and no component says its `seconds`"
            findings.append(error("PW121", "", message, written.span, help="write `seconds: {8: 120}` of each component that is planned"))
    if not timed:
        return None
    faults = len(findings)
    after = tuple(_edges(form.workflow, timed, written, key, findings))
    span = written.span if written is not None else None
    if form.cost_model == "stages":
        findings += _strange_phases(timed, form.phases, span, key)
    if len(findings) > faults:
        return None
    levels = {level: getattr(form.bandwidth, level) for level in ("node", *LEVELS) if getattr(form.bandwidth, level, 0)}
    budget = Budget(form.budget.accelerators, form.budget.seconds)
    return Workload(after, form.nested, form.batches, form.cost_model, form.phases, form.minimise, budget, levels, span=span)


def _edges(
    chains: Collection[str], timed: Mapping[str, Timed], written: Value | None, key: str, findings: list[Finding]
) -> Iterator[After]:
    names = [*timed, *(f"{name}.{phase}" for name, its in timed.items() for phase in its.phases if phase)]
    for number, chain in enumerate(chains):
        if written is None or not (found := find(written, f"workflow.{number}") or find(written, "workflow")):
            continue  # there are chains only where they were written
        place = found.span
        parts = chain.replace(WHOLE, f" {WHOLE} ").replace(ARROW, f" {ARROW} ").split()
        tasks, arrows = parts[::2], parts[1::2]
        if len(parts) < 3 or len(parts) % 2 == 0 or not set(arrows) <= {ARROW, WHOLE}:
            message = f"`{chain}` is no chain of components"
            findings.append(error("PW105", "", message, place, help=f"write `rollout {ARROW} actor`, or `rollout {WHOLE} actor`"))
            continue
        strange = [name for name in tasks if name not in names]
        findings += [unknown(f"{key}.workflow", name, names, place) for name in dict.fromkeys(strange)]
        if not strange:
            yield from (After(one, other, arrow == WHOLE, place) for one, arrow, other in zip(tasks, arrows, tasks[1:]))


def _strange_phases(timed: Mapping[str, Timed], phases: Collection[str], span: Span | None, key: str) -> Iterator[Finding]:
    for name, its in timed.items():
        for phase in its.phases:
            if phase not in phases:
                what = f"the phase `{phase}`" if phase else "no phase"
                message = f"a time of `{name}` names {what}, and the stages are {', '.join(f'`{each}`' for each in phases)}"
                place = next((each.span for each in its.measured if each.phase == phase), None) or span
                yield error("PW121", name, message, place, help=f"write `phase:` of the component, or `{key}.phases`")
