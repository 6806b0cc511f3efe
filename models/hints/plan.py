"""Key `plan`: choice of counts, with the chains of `workflow`."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from typing import Collection, Iterator, Mapping, NamedTuple, Sequence

from ..component import UNBOUNDED, Component
from ..findings.finding import Finding, Severity, UnusableInput, error
from ..findings.span import Edit, Span
from ..machines.cluster import Cluster
from ..machines.topology import LEVELS
from ..parallel import Parallel
from ..planning.workload import (
    AIMS,
    LOOKED_AT,
    MODELS,
    PHASES,
    SECONDS,
    STAGES,
    STEADY,
    STREAM,
    After,
    Budget,
    IterationBatch,
    Workload,
    circles,
)
from ..roles import role_of
from ..scope import HETEROGENEOUS, NESTED, SCOPES, SPANNING
from ..text.edit import correct_name
from ..text.form import Form, ValueKind, as_items, fill, form_of, key, list_of, one_or_list_of, shown_value
from ..text.nearest import nearest
from ..text.tree import ListNode, MapNode, Scalar, Value, find
from ..text.values import Boolean, Count, OneOfValues, Rate, Word, count_key, or_list
from .consistent import has_level, unnamed_level
from .relations import find_unresolved, unknown
from .seconds import Duration
from .times import example

ARROW, WHOLE = "->", "=>"
KEY = "workflow"
LEAVE = f"leave `{KEY}` out"
_Chains = list_of(Word, maximum=256, unpack=as_items, schema=or_list({"type": "string"}, maxItems=256))


class Wait(NamedTuple):
    """Arrow of a chain: dependency, tasks at both ends, and place."""

    after: After
    earlier: frozenset[str]
    later: frozenset[str]
    arrow: Span

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Yield (task, dependent task)."""
        return ((earlier, later) for earlier in sorted(self.earlier) for later in sorted(self.later) if earlier != later)


def waits_in_circles(waits: Sequence[Wait], section: str) -> Iterator[Finding]:
    """Yield an error per arrow with `=>` inside a cycle."""
    following: dict[str, list[str]] = {}
    for earlier, later in (pair for wait in waits for pair in wait.pairs()):
        following.setdefault(earlier, []).append(later)
        following.setdefault(later, [])
    circle = circles(following)
    names: dict[int, dict[str, None]] = {}
    waits_of_circles: list[tuple[Wait, int]] = []
    for wait in waits:
        number = next((circle[earlier] for earlier, later in wait.pairs() if circle[earlier] == circle[later]), None)
        if number is not None:
            names.setdefault(number, {}).update({wait.after.earlier: None, wait.after.later: None})
            waits_of_circles.append((wait, number))
    for wait, number in waits_of_circles:
        if wait.after.whole:
            members = [f"`{name}`" for name in names[number]]
            between = f"{', '.join(members[:-1])} and {members[-1]}" if len(members) > 1 else f"the phases of {members[0]}"
            message = f"`{wait.after.later}` waits for all of `{wait.after.earlier}` inside a circle of `{section}`"
            help_ = f"write `{ARROW}`: a batch goes through a circle in the written order; or drop the arrow that leads back"
            notes = (f"{between} wait for each other",)
            yield error("PW121", wait.after.later, message, wait.arrow, label="never all there", help=help_, notes=notes)


class _PlanKey(NamedTuple):
    """Name or arrow of a chain, with the place."""

    text: str
    span: Span


def read_workflow(
    chains: Collection[str], components: Mapping[str, Component], faulty: Collection[str], plan: Value | None, section: str,
    findings: list[Finding], most: int = UNBOUNDED,
) -> Iterator[After]:  # fmt: skip
    """Yield the dependencies in the chains of a plan, and find unknown names."""
    workflow, waits = find(plan, KEY), list[Wait]()
    for position, chain in enumerate(chains):
        if workflow is None:
            continue  # chains exist only if they were written
        place = workflow.items[position] if isinstance(workflow, ListNode) else workflow
        parts = list(_parts(chain, place))
        names, arrows = parts[::2], parts[1::2]
        if len(parts) < 3 or len(parts) % 2 == 0 or any(part.text not in (ARROW, WHOLE) for part in arrows):
            message = f"`{chain}` is not a chain of components"
            words = [name for name in re.split(r"\s*(?:[-=]*>|→|[,;|]|\s)\s*", chain.strip()) if name]
            are_tasks = len(words) > 1 and all(name in faulty or _tasks(name, components) for name in words)
            examples = words if are_tasks else ["rollout", "actor"]
            help_ = f"write `{f' {ARROW} '.join(examples)}`, or `{f' {WHOLE} '.join(examples)}`; or {LEAVE}"
            findings.append(error("PW105", "", message, place.span, help=help_))
            continue
        findings += _untimed_names(names, components, faulty, section, most)
        for source, arrow, target in zip(names, arrows, names[1:]):
            sources, targets = _tasks(source.text, components), _tasks(target.text, components)
            if not sources or not targets:
                continue
            if sources == targets and len(sources) == 1:
                message, help_ = f"`{section}` has `{source.text}` work on what it makes itself", "name another component, or drop it"
                findings.append(error("PW121", source.text, message, target.span, label="the same again", help=help_))
            else:
                after = After(source.text, target.text, arrow.text == WHOLE, place.span)
                waits.append(Wait(after, sources, targets, arrow.span))
                yield after
    findings += waits_in_circles(waits, section)


def _parts(chain: str, place: Value) -> Iterator[_PlanKey]:
    """Yield the names and arrows of a chain, with places if the text is plain."""
    length = place.span.length - len(chain)
    is_plain = isinstance(place, Scalar) and place.origin is None and place.text == chain and length in (0, 2) and "\n" not in chain
    for match in re.finditer(rf"{ARROW}|{WHOLE}|(?:(?!{ARROW}|{WHOLE})\S)+", chain):
        shift = length // 2
        yield _PlanKey(match.group(), place.span.part(shift + match.start(), shift + match.end()) if is_plain else place.span)


def _untimed_names(
    names: list[_PlanKey], components: Mapping[str, Component], faulty: Collection[str], section: str, most: int
) -> Iterator[Finding]:
    """Yield a finding per name without times in a chain."""
    tasks = [task for name, candidate in components.items() if candidate.timed for task in (name, *_phases(candidate))]
    candidates = list(dict.fromkeys((*tasks, *sorted(faulty))))
    for text, span in {part.text: part.span for part in reversed(names)}.items():
        name, _, phase = text.partition(".")
        if _tasks(text, components) or {text, name} & set(faulty):
            continue
        component = components.get(text) or components.get(name)
        if component is None:
            fault = unknown(section, text, candidates, span)
            # Without a place of its own, the edit would replace the whole chain.
            close = nearest(text, candidates) if span.length == len(text) else None
            yield replace(fault, edit=Edit(span, close) if close else None)
        elif component.timed is None:
            message = f"`{section}` names `{text}`, but the seconds of `{component.name}` are unknown"
            count = example(component.least, min(component.most, most), component.step)
            help_ = f"write `seconds: {count}` of `{component.name}`, or drop it"
            yield error("PW121", component.name, message, span, label="no seconds", help=help_)
        else:
            message = f"`{section}` names `{text}`, and no time of `{component.name}` is of a phase `{phase}`"
            help_ = f"write one of {', '.join(f'`{task}`' for task in (component.name, *_phases(component)))}"
            yield error("PW121", component.name, message, span, label="no such phase", help=help_)


def _tasks(text: str, components: Mapping[str, Component]) -> frozenset[str]:
    """Return the tasks of a name: all of a component, or one like ``critic.train``; else none."""
    component = components.get(text)
    if component is not None and component.timed:
        return frozenset(_phases(component) or (text,))
    return frozenset({text} if any(text in _phases(candidate) for candidate in components.values()) else ())


def _phases(component: Component) -> tuple[str, ...]:
    return tuple(f"{component.name}.{phase}" for phase in component.timed.phases if phase) if component.timed else ()


def _check_once(phases: tuple[str, ...]) -> tuple[str, ...]:
    """Return the phases; raise ValueError if a phase occurs twice."""
    if duplicate := next((phase for phase in phases if phases.count(phase) > 1), None):
        raise ValueError(f"`{duplicate}` appears twice")
    return phases


class BudgetForm(Form):
    """Upper limits on an answer."""

    accelerators = count_key(48)
    seconds = key(Duration, default=None, description="a number such as `60`", title="how long an iteration may take")


class BandwidthForm(Form):
    """Amount per second across a level of the topology; traffic then counts as time."""

    node = key(Rate, default=0, description="an amount such as `50GiB`")
    nvlink_domain = key(Rate, default=0, description="an amount such as `50GiB`")
    rack = key(Rate, default=0, description="an amount such as `12GiB`")
    zone = key(Rate, default=0, description="an amount such as `1GiB`")


class BatchForm(Form):
    """Work of an iteration; from it, times are estimated that no `seconds` says."""

    prompts = key(Count, description="how many prompts, such as `1024`")
    samples = count_key(8, "answers to each prompt", default=1)
    prompt = count_key(512, "tokens of a prompt", default=512)
    response = key(Count, title="tokens of the longest answer", description="a whole number such as `4096`")
    mean_response = count_key(1500, "tokens of an answer on average; a quarter to all of the longest", default=0)
    steps = count_key(4, "optimizer steps", default=1)


def _factor(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0.01 <= value <= 100:
        raise ValueError(f"{shown_value(value)} is not a factor from 0.01 to 100")
    return float(value)


_Factor = ValueKind(_factor, {"type": "number", "minimum": 0.01, "maximum": 100})


class CalibrateForm(Form):
    """Measured over estimated seconds by phase, as `placewright fit` prints them."""

    generate = key(_Factor, default=None, description="a number such as `1.4`")
    infer = key(_Factor, default=None, description="a number such as `1.1`")
    train = key(_Factor, default=None, description="a number such as `1.9`")


class PlanForm(Form):
    """Basis for counts and degrees; the times are the `seconds` of the components."""

    workflow = key(
        _Chains, default=(), title="what works on what",
        description=f"chains such as `rollout {ARROW} inference {ARROW} actor`, with `{WHOLE}` where one begins when all of the other is done",
    )  # fmt: skip
    cost_model = key(OneOfValues("cost model", MODELS), default=STREAM)
    batches = count_key(32, "in how many batches an iteration is handed on", default=1)
    phases = key(
        list_of(Word, 1, unpack=as_items, check=_check_once), default=PHASES, title="the order of the phases",
        description="names such as `[generate, infer, train]`",
    )  # fmt: skip
    scope = key(
        one_or_list_of(OneOfValues("scope", SCOPES)), default=(), title="which sorts of plans are searched too",
        description="any of " + ", ".join(f"`{name}`" for name in SCOPES),
    )  # fmt: skip
    nested = key(
        Boolean, default=False, title="a component may use only some of another's accelerators; another spelling of `scope: [nested]`"
    )
    minimise = key(OneOfValues("aim", AIMS), default=SECONDS, description="`seconds` of an iteration, or `accelerators`")
    budget = key(form_of(BudgetForm), default=BudgetForm(), description="a map such as `{accelerators: 48, seconds: 60}`")
    bandwidth = key(form_of(BandwidthForm), default=BandwidthForm(), description="a map such as `{node: 50GiB}`")
    batch = key(
        form_of(BatchForm), default=None, title="the work of an iteration, from which times that nobody measured are estimated",
        description="a map such as `{prompts: 1024, samples: 8, response: 4096}`",
    )  # fmt: skip
    calibrate = key(
        form_of(CalibrateForm), default=CalibrateForm(), title="factors on estimated times", description="a map such as `{generate: 1.4}`"
    )


def with_estimated_times(
    components: Sequence[Component], choices: Mapping[str, Sequence[Parallel]], cluster: Cluster, plan: Value | None, findings: list[Finding]
) -> tuple[Component, ...]:  # fmt: skip
    """Return the components; without `seconds`, with times estimated from the plan's `batch`."""
    batch = plan.get("batch") if isinstance(plan, MapNode) else None
    if batch is None:
        return tuple(components)
    calibration = plan.get("calibrate") if isinstance(plan, MapNode) else None
    try:
        form = fill(BatchForm, batch, "", "`plan.batch`")
        factors = fill(CalibrateForm, calibration, "", "`plan.calibrate`") if calibration is not None else CalibrateForm()
    except UnusableInput:
        return tuple(components)  # `read_plan` reports it
    from ..performance.component_times import estimated_times, shape_for, unknown_speed  # loaded for estimates alone

    if unknown := unknown_speed(cluster):
        advice = "write `speed: {bf16: 989, bandwidth: 3.35, link: 900}` and `memory` of its `accelerators` in the cluster file"
        findings.append(error("PW121", "", unknown, batch.span, help=advice))
        return tuple(components)
    work = IterationBatch(form.prompts, form.samples, form.prompt, form.response, min(form.mean_response, form.response), form.steps)
    for component in components:
        if component.estimate and not component.timed and role_of(component) and not shape_for(component):
            findings.append(_unknown_shape(component))
    factor_of_phase = {phase: factor for phase in PHASES if (factor := getattr(factors, phase)) is not None}
    times = estimated_times(components, choices, cluster, work, factor_of_phase)
    return tuple(replace(component, timed=times.get(component.name, component.timed)) for component in components)


def _unknown_shape(component: Component) -> Finding:
    """Return the error of a model whose numbers an estimated time needs."""
    from ..model_cards.known import KNOWN

    model = component.estimate.model if component.estimate else ""
    why = f"the model `{model}` is not known" if model else "its model is not named"
    numbers = "`layers`, `hidden`, `heads`, `kv_heads`, `head_size`, `intermediate` and `vocabulary` of its `config.json`"
    message = f"no time of `{component.name}` can be estimated: {why}"
    help_, _ = correct_name(model, KNOWN, None, f"write a known `model`, {numbers}, or its `seconds`")
    return error("PW121", component.name, message, component.span("estimate"), label="not known", help=help_)


def read_plan(
    plan: Value | None, components: Collection[Component], findings: list[Finding], key: str = "plan", faulty: Collection[str] = (),
    cluster: Cluster | None = None,
) -> Workload | None:  # fmt: skip
    """Return the workload of the key, with defaults; None if no component has times.

    Parameters
    ----------
    faulty : components with faulty hints; statements about them cannot be judged.
    cluster : judges statements about topology levels, if given.
    """
    form, times = PlanForm(), {component.name: component.timed for component in components if component.timed}
    most, readable = cluster.total() if cluster is not None and cluster.counted else UNBOUNDED, True
    if plan is not None:
        if fault := find_unresolved(plan, f"`{key}` needs"):
            findings.append(fault)
            return None
        try:
            form = fill(PlanForm, plan, "", f"`{key}`")
        except UnusableInput as problem:
            findings += problem.findings
            entry = plan.entry("workflow") if isinstance(plan, MapNode) else None
            with suppress(UnusableInput):  # reported already
                form = fill(PlanForm, MapNode((entry,), plan.span), "", "") if entry else form
            readable = False
        if not times and not any(finding.severity is Severity.ERROR for finding in findings):
            message = f"`{key}` chooses by time, and no component says its `seconds`"
            advice = f"write `seconds: {example(1, most)}` of each component that is planned"
            findings.append(error("PW121", "", message, plan.span, help=advice))
    if not times and not faulty:
        return None
    faults = len(findings)
    by_name = {component.name: component for component in components}
    after = tuple(read_workflow(form.workflow, by_name, faulty, plan, f"{key}.workflow", findings, most))
    if not readable or not times:
        return None
    spans = dict(_spans(plan))
    span = plan.span if plan is not None else None
    if form.cost_model == STAGES:
        findings += _phases_without_stage(by_name, form.phases, spans.get("phases"), key)
    if NESTED in form.scope and "nested" in spans and not form.nested:
        message = f"`{key}.scope` lets components be nested, and `{key}.nested` forbids it"
        findings.append(error("PW121", "", message, spans["nested"], help="drop one of them"))
    if len(findings) > faults:
        return None
    findings += _ignored_keys(form, spans, key)
    levels = {level: getattr(form.bandwidth, level) for level in ("node", *LEVELS) if getattr(form.bandwidth, level, 0)}
    for level in levels:
        if cluster is not None and not has_level(cluster, level):
            place = spans[f"bandwidth.{level}"]
            findings.append(unnamed_level("", level, f"`{key}.bandwidth.{level}` changes nothing", place))
    budget = Budget(form.budget.accelerators, form.budget.seconds)
    return Workload(
        after, form.nested or NESTED in form.scope, form.batches, form.cost_model, form.phases, form.minimise, budget, levels,
        spanning=SPANNING in form.scope, heterogeneous=HETEROGENEOUS in form.scope, span=span, spans=spans,
    )  # fmt: skip


def _spans(value: Value | None, before: str = "") -> Iterator[tuple[str, Span]]:
    """Yield (key of the plan, like ``budget.seconds``; place of the value)."""
    for entry in value if isinstance(value, MapNode) else ():
        yield before + entry.key.text, entry.value.span
        yield from _spans(entry.value, f"{before}{entry.key.text}.")


def _ignored_keys(form: PlanForm, spans: Mapping[str, Span], key: str) -> Iterator[Finding]:
    """Yield a note per key that no cost model of the dialect uses."""
    cost_models = [form.cost_model] if "cost_model" in form.written_keys or key == "plan" else [STREAM, STEADY]
    for name in ("workflow", "batches", "phases"):
        if name in spans and not any(name in LOOKED_AT[model] for model in cost_models):
            users = ", ".join(f"`{model}`" for model in MODELS if name in LOOKED_AT[model])
            message = f"`{key}.{name}` changes nothing: the cost model `{form.cost_model}` does not look at it"
            yield Finding("PW121", Severity.NOTE, "", message, spans[name], help=f"drop it, or write a `cost_model` that does: {users}")


def _phases_without_stage(components: Mapping[str, Component], phases: Collection[str], span: Span | None, key: str) -> Iterator[Finding]:
    for name, component in components.items():
        times = component.timed
        for phase in times.phases if times else ():
            if phase not in phases:
                subject = f"the phase `{phase}`" if phase else "no phase"
                message = f"a time of `{name}` names {subject}, and the stages are {', '.join(f'`{stage}`' for stage in phases)}"
                row_span = next((row.span for row in times.measured if row.phase == phase), None) if times else None
                component_spans = (component.spans.get(row) for row in ("phases" if phase else "timed", "timed", "name"))
                place = row_span or (span if phase else None) or next(filter(None, component_spans), span)
                help_text = f"add `{phase}` to `{key}.phases`, or call it as one of these" if phase else "write `phase:` of the component"
                yield error("PW121", name, message, place, help=help_text)
