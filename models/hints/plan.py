"""Key `plan`: what counts are chosen by, with the chains of its `workflow`."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Collection, Iterator, Mapping, NamedTuple, Sequence

from ..component import UNBOUNDED, Component
from ..findings.finding import Finding, Severity, UnusableInput, error, warning
from ..findings.span import Edit, Span
from ..machines.cluster import Cluster
from ..machines.topology import LEVELS
from ..planning.workload import AIMS, LOOKED_AT, MODELS, PHASES, SECONDS, STAGES, STEADY, STREAM, After, Budget, Workload, circles
from ..quantity import Advised
from ..scope import HETEROGENEOUS, NESTED, SCOPES, SPANNING
from ..text.form import Form, fill, form_of, key, list_of, one_or_list_of, several
from ..text.nearest import nearest
from ..text.tree import ListNode, MapNode, Scalar, Value, find, leaves
from ..text.unresolved import UNRESOLVED
from ..text.values import Boolean, Count, OneOf, Rate, Word, or_list
from .consistent import UNNAMED, named
from .entries import unknown
from .seconds import Duration
from .times import example

ARROW, WHOLE = "->", "=>"


KEY = "workflow"
LEAVE = f"leave `{KEY}` out"
_BETWEEN = r"\s*(?:[-=]*>|→|[,;|]|\s)\s*"
"""What people write between the names of a chain."""
_Chains = list_of(Word, most=256, unpack=several, schema=or_list({"type": "string"}, maxItems=256))
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


class Wait(NamedTuple):
    """One arrow of a chain: what it says, the tasks at both ends, and where it stands."""

    after: After
    ones: frozenset[str]
    others: frozenset[str]
    arrow: Span

    def pairs(self) -> Iterator[tuple[str, str]]:
        """(task, task that works on what it makes)."""
        return ((one, other) for one in sorted(self.ones) for other in sorted(self.others) if one != other)


def waits_in_circles(waits: Sequence[Wait], section: str) -> Iterator[Finding]:
    """An error for each arrow that asks for the whole of what comes round in a circle."""
    following: dict[str, list[str]] = {}
    for one, other in (pair for wait in waits for pair in wait.pairs()):
        following.setdefault(one, []).append(other)
        following.setdefault(other, [])
    circle = circles(following)
    names: dict[int, dict[str, None]] = {}
    inside: list[tuple[Wait, int]] = []
    for wait in waits:
        its = next((circle[one] for one, other in wait.pairs() if circle[one] == circle[other]), None)
        if its is not None:
            names.setdefault(its, {}).update({wait.after.earlier: None, wait.after.later: None})
            inside.append((wait, its))
    for wait, its in inside:
        if wait.after.whole:
            whose = [f"`{name}`" for name in names[its]]
            between = f"{', '.join(whose[:-1])} and {whose[-1]}" if len(whose) > 1 else f"the phases of {whose[0]}"
            message = f"`{section}` has `{wait.after.later}` begin when all of `{wait.after.earlier}` is there"
            message += f", and {between} wait for each other in a circle"
            help_ = f"write `{ARROW}`: a batch goes through a circle in the written order; or drop the arrow that leads back"
            yield error("PW121", wait.after.later, message, wait.arrow, label="never all there", help=help_)


class _Part(NamedTuple):
    """A name or an arrow of a chain, and where it stands."""

    text: str
    span: Span


def read_workflow(
    chains: Collection[str],
    components: Mapping[str, Component],
    faulty: Collection[str],
    plan: Value | None,
    section: str,
    findings: list[Finding],
    most: int = UNBOUNDED,
) -> Iterator[After]:
    """What the chains of a plan say; of names that are none a finding, of those of `faulty` components nothing. `most`: all accelerators."""
    written, waits = find(plan, KEY), list[Wait]()
    if written is not None and len(chains) > 1 and all(len(chain.split()) == 1 and ARROW[-1] not in chain for chain in chains):
        listed, chained = ", ".join(f"`{chain}`" for chain in chains), f" {ARROW} ".join(chains)
        message = f"`{section}` lists {listed}, and says of none what works on what it makes"
        findings.append(error("PW105", "", message, written.span, help=f"write `{chained}`, or {LEAVE}"))
        return
    for position, chain in enumerate(chains):
        if written is None:
            continue  # there are chains only where they were written
        place = written.items[position] if isinstance(written, ListNode) else written
        parts = list(_parts(chain, place))
        names, arrows = parts[::2], parts[1::2]
        if len(parts) < 3 or len(parts) % 2 == 0 or any(each.text not in (ARROW, WHOLE) for each in arrows):
            message = f"`{chain}` is no chain of components"
            said = [name for name in re.split(_BETWEEN, chain.strip()) if name]
            meant = said if len(said) > 1 and all(name in faulty or _tasks(name, components) for name in said) else ["rollout", "actor"]
            help_ = f"write `{f' {ARROW} '.join(meant)}`, or `{f' {WHOLE} '.join(meant)}`; or {LEAVE}"
            findings.append(error("PW105", "", message, place.span, help=help_))
            continue
        findings += _strange(names, components, faulty, section, most)
        for one, arrow, other in zip(names, arrows, names[1:]):
            ones, others = _tasks(one.text, components), _tasks(other.text, components)
            if not ones or not others:
                continue
            if ones == others and len(ones) == 1:
                message = f"`{section}` has `{one.text}` work on what it makes itself"
                span = other.span
                findings.append(error("PW121", one.text, message, span, label="the same again", help="name another component, or drop it"))
            else:
                after = After(one.text, other.text, arrow.text == WHOLE, place.span)
                waits.append(Wait(after, ones, others, arrow.span))
                yield after
    findings += waits_in_circles(waits, section)


def _parts(chain: str, place: Value) -> Iterator[_Part]:
    """The names and arrows of a chain. They have places of their own where the text is written as it is read."""
    length = place.span.length - len(chain)
    alike = isinstance(place, Scalar) and place.origin is None and place.text == chain and length in (0, 2) and "\n" not in chain
    for found in re.finditer(rf"{ARROW}|{WHOLE}|(?:(?!{ARROW}|{WHOLE})\S)+", chain):
        shift = length // 2
        yield _Part(found.group(), place.span.part(shift + found.start(), shift + found.end()) if alike else place.span)


def _strange(
    names: list[_Part], components: Mapping[str, Component], faulty: Collection[str], section: str, most: int
) -> Iterator[Finding]:
    """Names that no time belongs to, each once."""
    timed = [task for name, each in components.items() if each.timed for task in (name, *_phases(each))]
    known = list(dict.fromkeys((*timed, *sorted(faulty))))
    for text, span in {each.text: each.span for each in reversed(names)}.items():
        name, _, phase = text.partition(".")
        if _tasks(text, components) or {text, name} & set(faulty):
            continue
        its = components.get(text) or components.get(name)
        if its is None:
            found = unknown(section, text, known, span)
            close = nearest(text, known) if span.length == len(text) else None  # else all of the chain would be replaced
            yield replace(found, edit=Edit(span, close) if close else None)
        elif its.timed is None:
            message = f"`{section}` names `{text}`, and nobody says how long `{its.name}` takes"
            count = example(its.least, min(its.most, most), its.step)
            yield error("PW121", its.name, message, span, label="no seconds", help=f"write `seconds: {count}` of `{its.name}`, or drop it")
        else:
            message = f"`{section}` names `{text}`, and no time of `{its.name}` is of a phase `{phase}`"
            yield error(
                "PW121",
                its.name,
                message,
                span,
                label="no such phase",
                help=f"write one of {', '.join(f'`{each}`' for each in (its.name, *_phases(its)))}",
            )


def _tasks(text: str, components: Mapping[str, Component]) -> frozenset[str]:
    """The tasks that a name means: all of a component, or one of them, such as ``critic.train``; none where it means nothing."""
    its = components.get(text)
    if its is not None and its.timed:
        return frozenset(_phases(its) or (text,))
    return frozenset({text} if any(text in _phases(each) for each in components.values()) else ())


def _phases(component: Component) -> tuple[str, ...]:
    return tuple(f"{component.name}.{phase}" for phase in component.timed.phases if phase) if component.timed else ()


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
