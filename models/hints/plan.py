"""The key `plan`, of a native file and of the block `placewright:`: what counts and degrees are chosen by."""

from __future__ import annotations

from typing import Collection, Iterator, Mapping

from ..component import UNBOUNDED, Component
from ..findings.finding import Finding, Severity, UnusableInput, error, warning
from ..findings.span import Span
from ..machines.cluster import Cluster
from ..machines.topology import LEVELS
from ..planning.workload import AIMS, LOOKED_AT, MODELS, PHASES, SECONDS, STAGES, STEADY, STREAM, Budget, Workload
from ..quantity import Advised
from ..scope import HETEROGENEOUS, NESTED, SCOPES, SPANNING
from ..text.form import Form, form_of, key, list_of, one_or_list_of, several
from ..text.forms import fill
from ..text.tree import MapNode, Value, leaves
from ..text.unresolved import UNRESOLVED
from ..text.values import Boolean, Count, OneOf, Rate, Word, or_list
from .circles import ARROW, WHOLE
from .seconds.duration import Duration
from .times.timed import example
from .topology import UNNAMED, named
from .workflow import read_workflow

_Chains = list_of(Word, most=256, unpack=several, schema=or_list({"type": "string"}, maxItems=256))


def _once(phases: tuple[str, ...]) -> tuple[str, ...]:
    """Phases of which each is one stage. Raises Advised."""
    if twice := next((each for each in phases if phases.count(each) > 1), None):
        raise Advised(f"`{twice}` stands twice", "write each phase once")
    return phases


class BudgetForm(Form):
    """What an answer may take at most."""

    accelerators = key(Count, default=None, description="a whole number such as `48`")
    seconds = key(Duration, default=None, description="a number such as `60`", title="how long an iteration may take")


class BandwidthForm(Form):
    """How much crosses a level of the topology in a second; with it, what components send counts as time."""

    node = key(Rate, default=0, description="an amount such as `50GiB`")
    nvlink_domain = key(Rate, default=0, description="an amount such as `50GiB`")
    rack = key(Rate, default=0, description="an amount such as `12GiB`")
    zone = key(Rate, default=0, description="an amount such as `1GiB`")


_OTHER_WORDS = {
    **dict.fromkeys(("async", "asynchronous", "off_policy"), "write `cost_model: steady` where nothing waits for anything"),
    **dict.fromkeys(("sync", "synchronous", "on_policy"), "write `cost_model: stages` where phases come one after the other"),
    **dict.fromkeys(
        ("chain", "chains", "dependencies", "depends_on", "stages", "order"), f"write chains such as `workflow: rollout {ARROW} actor`"
    ),
    **dict.fromkeys(("objective", "aim", "goal", "minimize"), "write `minimise`"),
    **dict.fromkeys(
        ("warmup", "warm_up", "pipeline"),
        "write `batches`, in how many an iteration is handed on: how long the first one takes until it is everywhere is counted",
    ),
    **dict.fromkeys(("micro_batches", "num_batches", "n_batches", "pipeline_stages"), "write `batches`"),
}


class PlanForm(Form):
    """What counts and degrees are chosen by; the times themselves are the `seconds` of the components."""

    other_words = _OTHER_WORDS

    workflow = key(
        _Chains,
        default=(),
        title="what works on what",
        description=f"chains such as `rollout {ARROW} inference {ARROW} actor`, with `{WHOLE}` where one begins when all of the other is done",
    )
    cost_model = key(OneOf("cost model", MODELS), default=STREAM, description="one of " + ", ".join(f"`{name}`" for name in MODELS))
    batches = key(Count, default=1, title="in how many batches an iteration is handed on", description="a whole number such as `32`")
    phases = key(
        list_of(Word, 1, unpack=several, check=_once),
        default=PHASES,
        title="the order of the phases",
        description="names such as `[generate, infer, train]`",
    )
    scope = key(
        one_or_list_of(OneOf("scope", SCOPES)),
        default=(),
        title="which sorts of plans are searched too",
        description="any of " + ", ".join(f"`{name}`" for name in SCOPES),
    )
    nested = key(
        Boolean,
        default=False,
        description="`true` or `false`",
        title="a component may use only some of another's accelerators; another spelling of `scope: [nested]`",
    )
    minimise = key(OneOf("aim", AIMS), default=SECONDS, description="`seconds` of an iteration, or `accelerators`")
    budget = key(form_of(BudgetForm), default=BudgetForm(), description="a map such as `{accelerators: 48, seconds: 60}`")
    bandwidth = key(form_of(BandwidthForm), default=BandwidthForm(), description="a map such as `{node: 50GiB}`")


def read_plan(
    written: Value | None,
    components: Collection[Component],
    findings: list[Finding],
    key: str = "plan",
    faulty: Collection[str] = (),
    cluster: Cluster | None = None,
) -> Workload | None:
    """What the key says; what is usual where it is not there; None where no component says its time.

    `faulty` are components whose own hints are wrong: what is said of them here cannot be judged. What is said of levels of the
    topology is judged by the `cluster`, where there is one.
    """
    form, timed = PlanForm(), {component.name: component.timed for component in components if component.timed}
    most, readable = cluster.total() if cluster is not None and cluster.counted else UNBOUNDED, True
    if written is not None:
        if open_values := [value for value in leaves(written) if value.tag == UNRESOLVED]:
            message = f"`{key}` needs a value that is not known here: `{open_values[0].text}`"
            findings.append(error("PW120", "", message, open_values[0].span, help="write the value"))
            return None
        try:
            form = fill(PlanForm, written, "", f"`{key}`")
        except UnusableInput as problem:
            findings += problem.findings
            form, readable = _workflow_of(written), False
        if not timed and not any(finding.severity is Severity.ERROR for finding in findings):
            message = f"`{key}` chooses by time, and no component says its `seconds`"
            advice = f"write `seconds: {example(1, most)}` of each component that is planned"
            findings.append(error("PW121", "", message, written.span, help=advice))
    if not timed and not faulty:
        return None
    faults = len(findings)
    by_name = {component.name: component for component in components}
    after = tuple(read_workflow(form.workflow, by_name, faulty, written, f"{key}.workflow", findings, most))
    if not readable or not timed:
        return None
    spans = dict(_spans(written))
    span = written.span if written is not None else None
    if form.cost_model == STAGES:
        findings += _strange_phases(by_name, form.phases, spans.get("phases"), key)
    if NESTED in form.scope and "nested" in spans and not form.nested:
        message = f"`{key}.scope` lets components be nested, and `{key}.nested` forbids it"
        findings.append(error("PW121", "", message, spans["nested"], help="drop one of them"))
    if len(findings) > faults:
        return None
    findings += _not_looked_at(form, spans, key)
    findings += _strange_levels(form.bandwidth, spans, key, cluster)
    levels = {level: getattr(form.bandwidth, level) for level in ("node", *LEVELS) if getattr(form.bandwidth, level, 0)}
    budget = Budget(form.budget.accelerators, form.budget.seconds)
    return Workload(
        after, form.nested or NESTED in form.scope, form.batches, form.cost_model, form.phases, form.minimise, budget, levels,
        spanning=SPANNING in form.scope, heterogeneous=HETEROGENEOUS in form.scope, span=span, spans=spans,
    )  # fmt: skip


def _workflow_of(written: Value) -> PlanForm:
    """Of a plan with faults elsewhere what its workflow says, so that what is wrong there is told too."""
    its = written.entry("workflow") if isinstance(written, MapNode) else None
    try:
        return fill(PlanForm, MapNode((its,), written.span), "", "") if its else PlanForm()
    except UnusableInput:
        return PlanForm()  # told already


def _spans(written: Value | None, before: str = "") -> Iterator[tuple[str, Span]]:
    """Key of the plan, such as ``budget.seconds`` -> where its value stands."""
    for entry in written if isinstance(written, MapNode) else ():
        yield before + entry.key.text, entry.value.span
        yield from _spans(entry.value, f"{before}{entry.key.text}.")


def _not_looked_at(form: PlanForm, spans: Mapping[str, Span], key: str) -> Iterator[Finding]:
    """What is written and says nothing to the cost model. Where a dialect may choose another one, only what none of these looks at."""
    judged = [form.cost_model] if "cost_model" in form.said or key == "plan" else [STREAM, STEADY]
    for each in ("workflow", "batches", "phases"):
        if each in spans and not any(each in LOOKED_AT[model] for model in judged):
            others = ", ".join(f"`{model}`" for model in MODELS if each in LOOKED_AT[model])
            message = f"`{key}.{each}` changes nothing: the cost model `{form.cost_model}` does not look at it"
            yield Finding("PW121", Severity.INFO, "", message, spans[each], help=f"drop it, or write a `cost_model` that does: {others}")


def _strange_levels(form: BandwidthForm, spans: Mapping[str, Span], key: str, cluster: Cluster | None) -> Iterator[Finding]:
    """A bandwidth of nothing, or of a level that no node names."""
    for level in BandwidthForm.keys:
        span = spans.get(f"bandwidth.{level}")
        if span is None:
            continue
        if not getattr(form, level):
            message = f"`{key}.bandwidth.{level}` is nothing, so that traffic at this level takes no time"
            yield warning("PW121", "", message, span, label="not used", help="write an amount such as `50GiB`, or drop it")
        elif cluster is not None and not named(cluster, level):
            message = f"no node names its {level}: nothing crosses it, so that `{key}.bandwidth.{level}` changes nothing"
            yield warning(
                UNNAMED,
                "",
                message,
                span,
                label="not named by any node",
                help=f"give the nodes of the cluster `topology: {{{level}: {level[0]}1}}`",
            )


def _strange_phases(components: Mapping[str, Component], phases: Collection[str], span: Span | None, key: str) -> Iterator[Finding]:
    for name, component in components.items():
        its = component.timed
        for phase in its.phases if its else ():
            if phase not in phases:
                what = f"the phase `{phase}`" if phase else "no phase"
                message = f"a time of `{name}` names {what}, and the stages are {', '.join(f'`{each}`' for each in phases)}"
                own = next((each.span for each in its.measured if each.phase == phase), None) if its else None
                where = (component.spans.get(each) for each in ("phases" if phase else "timed", "timed", "name"))
                place = own or (span if phase else None) or next(filter(None, where), span)
                help_text = f"add `{phase}` to `{key}.phases`, or call it as one of these" if phase else "write `phase:` of the component"
                yield error("PW121", name, message, place, help=help_text)
