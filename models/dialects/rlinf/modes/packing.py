"""Packing of components: a contiguous range of ranks, processes side by side.

Source: RLinf, rlinf/utils/placement.py, ModelParallelComponentPlacement._generate_placements.
"""

from __future__ import annotations

from dataclasses import replace
from math import gcd

from ....component import UNBOUNDED, Component, Parallel
from ....configuration.settings import Amount
from ....findings.finding import UnusableInput
from ....findings.wording import are, with_noun
from ....machines.node_group import ACCELERATOR, CLUSTER_LABEL
from ....placements.assignment import Assignment
from ....placements.packing import packed_runs
from ....placements.run import Runs
from ....planning.arrangement import ProcessShape
from ....quantity import times
from ...checks import divisors
from ..known import DEGREE, FSDP
from .state import Mode, text_of

IGNORED, HINTS = "PW124", "PW121"
"""Codes of ignored settings, and of hints that contradict the settings of the job."""


def fitting_tp(mode: Mode, actor: Amount | None, near: int, count: int) -> int:
    """Return the largest tp up to `near` that divides node, actor's tp and `count`."""
    on_node = min((has for stretch in mode.cluster.alike if (has := stretch.node.count(ACCELERATOR))), default=count)
    common = gcd(count, on_node, actor.value if actor else 0)
    return max(divisor for divisor in divisors(common) if divisor <= max(near, 1))


def shape_of_rollout(mode: Mode, shares: bool, count: int | None) -> ProcessShape | None:
    """Return the shape of rollout, with (`shares`) or without the actor's accelerators.

    None if it is unknown or refused. pp is ignored on the actor's accelerators.
    """
    if not shares:
        return _engines_apart(mode, count)
    actor, rollout = mode.tp("actor"), mode.tp("rollout")
    if not actor or not rollout:
        return None
    if actor.value > rollout.value and actor.scalar and actor.is_float:
        mode.settings.report_type(actor.name, actor.scalar, actor.value)
        return None
    if shape := interleave(actor.value, rollout.value, False):
        return shape if count is None or fits_whole(mode, "rollout", count, shape, rollout) else None
    message = f"the tp of actor, {actor.value}, is no multiple of the tp of rollout, {rollout.value}, though they share accelerators"
    better = fitting_tp(mode, actor, rollout.value, count or actor.value)
    mode.error(DEGREE, "rollout", message, f"set `{rollout.name}: {better}`", at=rollout.span, edit=rollout.becomes(better))
    return None


def interleave(actor: int, rollout: int, fsdp: bool) -> ProcessShape | None:
    """Return the shape of rollout on the actor's accelerators: interleaved engines.

    None if the tps `actor` and `rollout` do not fit. With `fsdp`, an actor tp above 1 and below the
    tp of rollout does not fit: no actor rank finds the engine for its weights.
    """
    if (actor > rollout and actor % rollout) or (fsdp and 1 < actor < rollout):
        return None
    return ProcessShape(rollout, max(actor // rollout, 1), Parallel(rollout))


def _engines_apart(mode: Mode, count: int | None) -> ProcessShape | None:
    """Return the shape of separate engines: RLinf divides by the number of engines that fit."""
    degrees = mode.degrees("rollout")
    if not degrees.tp or not degrees.pp:
        return None
    engine = degrees.tp.value * degrees.pp.value
    if count is None or count % engine == 0:
        return ProcessShape(engine)
    of_engine = f"one engine of tp {degrees.tp.value} x pp {degrees.pp.value}"
    if count < engine:
        message = f"`rollout` has {with_noun(count, 'accelerator')}, but {of_engine} needs {engine}"
        mode.error(DEGREE, "rollout", message, f"give it {engine} accelerators, or lower its tp and pp", f"{engine} needed")
        return None
    per_process = count // (count // engine)
    if not fits_whole(mode, "rollout", count, ProcessShape(per_process), degrees.tp):
        return None
    message = f"RLinf gives each process of `rollout` {per_process} accelerators, but {of_engine} uses {engine}"
    mode.warn(DEGREE, "rollout", message, f"give it {_format_near(count, engine)} accelerators", f"no multiple of {engine}")
    return ProcessShape(per_process)


def _format_near(count: int, step: int) -> str:
    lower = count // step * step
    return f"{lower} or {lower + step}" if lower else str(step)


def fits_in(mode: Mode, name: str, tp: Amount | None, count: int, actor: Amount | None = None) -> bool:
    """Return True if a tensor parallel group fits its component; RLinf refuses larger groups."""
    if tp is None or tp.value <= count:
        return True
    better = fitting_tp(mode, actor, count, count)
    message = f"`{name}` has {with_noun(count, 'accelerator')}, fewer than its tp {tp.value}"
    help = f"give it {tp.value} accelerators, or set `{tp.name}: {better}`"
    mode.error(DEGREE, name, message, help, f"{tp.value} needed", edit=tp.becomes(better))
    return False


def fits_whole(mode: Mode, name: str, count: int, shape: ProcessShape, tp: Amount | None = None) -> bool:
    """Return True if the accelerators are a multiple of the shape's block."""
    rest = count % shape.block
    if rest:
        shape_text = f"processes of {shape.per_process}" + (f" that interleave by {shape.stride}" if shape.stride > 1 else "")
        message = f"the {with_noun(count, 'accelerator')} of `{name}` cannot be packed in {shape_text}: {rest} {are(rest)} left"
        notes, help = (tp.text,) if tp and tp.scalar else (), f"give it {_format_near(count, shape.block)} accelerators"
        premises = ("actor",) if shape.stride > 1 else ()  # its tp
        mode.error(DEGREE, name, message, help, f"no multiple of {shape.block}", notes=notes, premises=premises)
    return not rest


def raise_minimum(mode: Mode, name: str, tp: Amount | None) -> None:
    """Raise the minimum of an open component to the size of its tensor parallel group."""
    component = mode.components.get(name)
    if tp is None or component is None or not mode.is_open(name):
        return
    minimum = min((choice.tp for choice in mode.choices.get(name, ())), default=tp.value)
    if component.least < minimum <= component.most:
        mode.components[name] = component.narrow_counts(minimum, component.most)
    elif minimum > component.most and 1 not in mode.steps_of(name):
        message = f"`{name}` asks for {with_noun(component.most, 'accelerator')}, fewer than its tp {minimum}"
        help = f"ask for {minimum} accelerators, or a smaller tp"
        mode.error(DEGREE, name, message, help, f"{minimum} needed", component.span("amount"))


def engine_degrees(mode: Mode, shape: ProcessShape | None) -> Parallel | None:
    """Return the degrees of an engine that fills a process: tp x pp; tp where pp is ignored."""
    degrees = mode.degrees("rollout")
    if shape is None or not degrees.tp or not degrees.pp:
        return None
    tp, pp = degrees.tp.value, degrees.pp.value
    return Parallel(tp, pp) if shape.per_process == tp * pp else Parallel(tp) if shape.per_process == tp else None


def pack(mode: Mode, name: str, shape: ProcessShape | None, parallel: Parallel | None = None, fills: bool = False) -> None:
    """Give a component the mode's shape; without a shape only make it contiguous.

    `parallel`: degrees that hold; None if the mode does not decide them. `fills`: RLinf takes all
    ranks from the first to the last.
    """
    component = mode.find_on_accelerators(name)
    if component is None:
        if elsewhere := mode.components.get(name):
            message = f"`{name}` is on {mode.cluster.kind(elsewhere.node_groups)}s, but RLinf takes its ranks for accelerators of the whole cluster"
            help, is_hint = f"place `{name}` on accelerators", elsewhere.runs is None and "placement" not in elsewhere.spans
            report, at = (mode.error, elsewhere.span("node_group")) if is_hint else (mode.warn, None)
            report(HINTS if is_hint else IGNORED, name, message, help, at=at, notes=mode.placed_by)
        return
    _check_group(mode, component)
    extent, rank_count = mode.extent(name), mode.count(name) or 0
    if extent is None:
        if mode.is_open(name):
            mode.components[name] = _apply_hints(mode, component, shape, parallel) if shape else replace(component, contiguous=True)
        elif mode.profiled:
            _check_degrees(mode, component, parallel)
            mode.components[name] = replace(component, parallel=parallel or component.parallel)
        return
    amount, text = len(extent), text_of(extent)
    if rank_count < amount and not fills:
        mode.components[name] = replace(component, contiguous=True)
        return
    if rank_count < amount:
        message = f"RLinf places `{name}` on all of {text}, not on the {with_noun(rank_count, 'rank')} that {are(rank_count)} written"
        mode.warn(IGNORED, name, message, f"write `{text}`, if that is meant", f"becomes {text}")
    if shape is None:
        mode.components[name] = replace(component, contiguous=not fills)
        return
    if mode.profiled:
        _check_degrees(mode, component, parallel)
    runs = runs_in_mode(mode, component, extent, shape)
    process_count, count = Assignment({name: component.runs or ()}).world_size(name), amount // shape.per_process
    if count != process_count != rank_count:
        message = f"the process ranks of `{name}` give {with_noun(process_count, 'process')}, but RLinf starts {count}"
        mode.warn(IGNORED, name, message, f"write `{text}` alone", with_noun(count, "process"), notes=mode.placed_by)
    mode.components[name] = replace(
        component, least=amount, most=amount, per_process=shape.per_process, parallel=parallel or component.parallel,
        contiguous=True, stride=shape.stride, runs=runs, fixes={},
    )  # fmt: skip


def runs_in_mode(mode: Mode, component: Component, extent: range, shape: ProcessShape) -> Runs | None:
    """Return packed runs of a range; None (noted) if RLinf refuses them."""
    try:
        return packed_runs(mode.cluster, component.numbered_in, extent, shape.per_process, shape.stride, component.name)
    except UnusableInput as refused:
        for finding in refused.findings:
            message, when = f"`{component.name}`: {finding.message}", "RLinf notices this only at launch"
            mode.error(finding.code, component.name, message, finding.help, "crosses nodes", notes=(when,))
    return None


def _apply_hints(mode: Mode, component: Component, shape: ProcessShape, parallel: Parallel | None) -> Component:
    """Return an open component with the shape; note hints that contradict the shape."""
    name = component.name
    for key, field, mode_value in (("accelerators_per_process", "per_process", shape.per_process), ("stride", "stride", shape.stride)):
        if field in component.spans and getattr(component, field) != mode_value:
            _contradicts(mode, component, key, field, getattr(component, field), mode_value)
    _check_degrees(mode, component, parallel)
    result = replace(
        _count_accelerators(mode, component, shape.per_process), per_process=shape.per_process, stride=shape.stride, contiguous=True,
        parallel=parallel or component.parallel,
    )  # fmt: skip
    steps = (max(result.unit, result.step), *mode.steps_of(name))
    divides = name != "actor" or not mode.profiled or mode.backend(name) != FSDP
    if divides and result.least == result.most and all(result.least % multiple for multiple in steps):
        amount, step = result.least, min(steps)
        message = f"`{name}` asks for {with_noun(amount, 'accelerator')}, but the settings of the job need a multiple of {step}"
        mode.error(DEGREE, name, message, f"ask for {_format_near(amount, step)}", f"no multiple of {step}", result.span("amount"))
    return result


def _contradicts(mode: Mode, component: Component, key: str, field: str, hint: object, mode_value: object) -> None:
    message = f"`{key}` of `{component.name}` is {hint}, but the settings of the job make it {mode_value}"
    help = f"drop `{key}`, or change the settings of the job"
    mode.error(HINTS, component.name, message, help, at=component.spans[field], notes=mode.placed_by)


def _count_accelerators(mode: Mode, component: Component, per_process: int) -> Component:
    """Return the component with an amount in accelerators, where hints count processes."""
    spans, old_size = component.spans, component.per_process
    if "processes" not in spans or old_size == per_process:
        return component
    if "accelerators" in spans:
        _contradicts(mode, component, "processes", "processes", f"of {old_size} accelerators each", f"{per_process} each")
        return component
    most = component.most if component.most >= UNBOUNDED else component.most // old_size * per_process
    counts = times(tuple((low // old_size, high // old_size) for low, high in component.counts), per_process)
    return replace(component, least=component.least // old_size * per_process, most=most, counts=counts)


def _check_degrees(mode: Mode, component: Component, parallel: Parallel | None) -> None:
    """Note an error if hints state degrees and exclude those of the settings."""
    choices = mode.merged.choices.get(component.name) or (component.parallel,)
    is_planned = component.timed is not None and len(choices) > 1
    if parallel and "parallel" in component.spans and not is_planned and parallel not in choices:
        _contradicts(mode, component, "parallel", "parallel", " or ".join(map(str, dict.fromkeys(choices))), parallel)


def _check_group(mode: Mode, component: Component) -> None:
    """Warn of a node group, which RLinf drops; hints name the nodes for a plan."""
    groups, group_span, owner = component.numbered_in, component.spans.get("node_group"), mode.owner
    if groups == (CLUSTER_LABEL,) or group_span is None:
        return
    if component.runs is None and not (owner.file == group_span.file and owner.start <= group_span.start < owner.end):
        return
    message = f"RLinf drops the node group `{','.join(groups)}` of `{component.name}`: ranks count the whole cluster"
    help = "write the ranks that these accelerators have in the whole cluster, and drop `node_group`"
    mode.warn(IGNORED, component.name, message, help, "RLinf drops this", group_span, mode.placed_by)
