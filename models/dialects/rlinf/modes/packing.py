"""Packing of components: a contiguous range of ranks, processes side by side.

Source: RLinf, rlinf/utils/placement.py, ModelParallelComponentPlacement._generate_placements.
"""

from __future__ import annotations

from dataclasses import replace
from math import gcd
from typing import Any

from ....component import UNBOUNDED, Component, Parallel
from ....configuration.settings import Amount
from ....findings.finding import UnusableInput
from ....machines.node_group import ACCELERATOR, CLUSTER_LABEL, NODE
from ....placements.assignment import Assignment
from ....placements.packing import packed_runs
from ....placements.run import Runs
from ....planning.arrangement import ProcessShape
from ....quantity import times
from ....ranks import write_range
from ...checks import divisors, near_text
from ..known import FSDP
from .state import Mode


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
    actor, rollout = mode.degrees("actor").tp, mode.degrees("rollout").tp
    if not actor or not rollout:
        return None
    if actor.value > rollout.value and actor.scalar and isinstance(actor.scalar.value, float):
        mode.settings.report_type(actor.name, actor.scalar, actor.value)
        return None
    if shape := interleave(actor.value, rollout.value, False):
        return shape if count is None or fits_whole(mode, "rollout", count, shape, rollout, actor) else None
    better = fitting_tp(mode, actor, rollout.value, count or actor.value)
    values: dict[str, Any] = {"actor": actor.value, "rollout": rollout.value, "path": rollout.name, "better": better}
    mode.report("tps do not divide", "rollout", rollout.span, rollout.becomes(better), **values)
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
    values: dict[str, Any] = {"tp": degrees.tp.value, "pp": degrees.pp.value, "engine": engine}
    if count < engine:
        mode.report("smaller than an engine", "rollout", count=count, **values)
        return None
    per_process = count // (count // engine)
    if not fits_whole(mode, "rollout", count, ProcessShape(per_process), degrees.tp):
        return None
    mode.report("engine leaves accelerators", "rollout", per_process=per_process, near=near_text(count, engine), **values)
    return ProcessShape(per_process)


def fits_in(mode: Mode, name: str, tp: Amount | None, count: int, actor: Amount | None = None) -> bool:
    """Return True if a tensor parallel group fits its component; RLinf refuses larger groups."""
    if tp is None or tp.value <= count:
        return True
    better, total = fitting_tp(mode, actor, count, count), mode.cluster.total()
    more = f"give it {tp.value} accelerators, or " if not mode.cluster.counted or tp.value <= total else ""
    mode.report("smaller than tp", name, None, tp.becomes(better), count=count, tp=tp.value, path=tp.name, better=better, more=more)
    return False


def fits_whole(mode: Mode, name: str, count: int, shape: ProcessShape, tp: Amount | None = None, actor: Amount | None = None) -> bool:
    """Return True if the accelerators are a multiple of the shape's block."""
    if rest := count % shape.block:
        text = f"processes of {shape.per_process}" + (f" that interleave by {shape.stride}" if shape.stride > 1 else "")
        near = near_text(count, shape.block, mode.cluster.total() if mode.cluster.counted else None)
        choices = [f"give it {near} accelerators"] if near else []
        if tp and shape.block == tp.value:
            choices.append(f"set `{tp.name}: {fitting_tp(mode, actor, tp.value, count)}`")
        values: dict[str, Any] = {"count": count, "shape": text, "rest": rest, "block": shape.block, "choices": ", or ".join(choices)}
        premises = ("actor",) if shape.stride > 1 else ()  # its tp
        mode.report("not whole processes", name, premises=premises, further=(tp.text,) if tp and tp.scalar else (), **values)
    return not rest


def raise_minimum(mode: Mode, name: str, tp: Amount | None) -> None:
    """Raise the minimum of an open component to the size of its tensor parallel group."""
    component = mode.components.get(name)
    if tp is None or component is None or not mode.is_open(name):
        return
    minimum = min((choice.tp for choice in mode.choices.get(name, ())), default=tp.value)
    if component.least < minimum <= component.most:
        mode.components[name] = component.narrow_counts(minimum, component.most)
    elif minimum > component.most and ("parallel" in component.spans or not mode.choices):
        mode.report("asks for less than tp", name, component.span("amount"), count=component.most, tp=minimum)


def engine_degrees(mode: Mode, shape: ProcessShape | None) -> Parallel | None:
    """Return the degrees of an engine that fills a process: tp x pp; tp where pp is ignored."""
    degrees = mode.degrees("rollout")
    if shape is None or not degrees.tp or not degrees.pp:
        return None
    tp, pp = degrees.tp.value, degrees.pp.value
    return Parallel(tp, pp) if shape.per_process == tp * pp else Parallel(tp) if shape.per_process == tp else None


def take_for_accelerators(mode: Mode) -> None:
    """Place components on nodes where RLinf does: on the accelerators of the cluster with their ranks.

    Source: RLinf, rlinf/scheduler/placement/placement.py (get_hardware_ranks) and
    rlinf/utils/placement.py (ModelParallelComponentPlacement).
    """
    for name, component in mode.components.items():
        is_on_nodes = mode.cluster.kind(component.node_groups) == NODE
        if not component.runs or not is_on_nodes or name not in mode.facts["starts"] or not mode.cluster.counted:
            continue
        starts = mode.cluster.numbering(component.numbered_in).first_in
        ranks = sorted({starts[run.node, run.node_group] for run in component.runs})
        spans = {key: span for key, span in component.spans.items() if key != "node_group"}
        as_accelerators = replace(component, node_groups=(CLUSTER_LABEL,), runs=None, spans=spans)
        if ranks == list(range(ranks[0], ranks[-1] + 1)) and (
            runs := runs_in_mode(mode, as_accelerators, range(ranks[0], ranks[-1] + 1), ProcessShape())
        ):
            mode.report("not on accelerators", name, kind=NODE)
            mode.components[name] = replace(as_accelerators, runs=runs)


def pack(mode: Mode, name: str, shape: ProcessShape | None, parallel: Parallel | None = None, fills: bool = False) -> None:
    """Give a component the mode's shape; without a shape only make it contiguous.

    `parallel`: degrees that hold; None if the mode does not decide them. `fills`: RLinf takes all
    ranks from the first to the last.
    """
    component = mode.find_on_accelerators(name)
    if component is None:
        if elsewhere := mode.components.get(name):
            kind, is_hint = mode.cluster.kind(elsewhere.node_groups), elsewhere.runs is None and "placement" not in elsewhere.spans
            at = elsewhere.span("node_group") if is_hint else None
            mode.report("hints not on accelerators" if is_hint else "not on accelerators", name, at, kind=kind)
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
    amount, text = len(extent), write_range(extent)
    has_holes = rank_count < amount
    if has_holes and fills:
        mode.report("holes filled", name, text=text, count=rank_count)
    if shape is None or (has_holes and not fills):
        mode.components[name] = replace(component, contiguous=not fills)
        return
    if mode.profiled:
        _check_degrees(mode, component, parallel)
    runs = runs_in_mode(mode, component, extent, shape)
    process_count, count = Assignment({name: component.runs or ()}).world_size(name), amount // shape.per_process
    if count != process_count != rank_count:
        mode.report("process ranks ignored", name, processes=process_count, count=count, text=text)
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
            mode.notes.error(finding.code, component.name, message, mode.place(component.name), "crosses nodes", finding.help, None, when)
    return None


def _apply_hints(mode: Mode, component: Component, shape: ProcessShape, parallel: Parallel | None) -> Component:
    """Return an open component with the shape; note hints that contradict the shape."""
    name = component.name
    for key, field, mode_value in (("accelerators_per_process", "per_process", shape.per_process), ("stride", "stride", shape.stride)):
        if field in component.spans and getattr(component, field) != mode_value:
            hint = getattr(component, field)
            mode.report("hint contradicts settings", name, component.spans[field], key=key, hint=hint, value=mode_value)
    _check_degrees(mode, component, parallel)
    result = replace(
        _count_accelerators(mode, component, shape.per_process), per_process=shape.per_process, stride=shape.stride, contiguous=True,
        parallel=parallel or component.parallel,
    )  # fmt: skip
    step = max(result.unit, result.step)
    divides = not mode.choices and (name != "actor" or not mode.profiled or mode.backend(name) != FSDP)
    if divides and result.least == result.most and result.least % step:
        near = near_text(result.least, step)
        mode.report("asks for no multiple", name, result.span("amount"), amount=result.least, step=step, near=near)
    return result


def _count_accelerators(mode: Mode, component: Component, per_process: int) -> Component:
    """Return the component with an amount in accelerators, where hints count processes."""
    spans, old_size = component.spans, component.per_process
    if "processes" not in spans or old_size == per_process:
        return component
    if "accelerators" in spans:
        values: dict[str, Any] = {"key": "processes", "hint": f"of {old_size} accelerators each", "value": f"{per_process} each"}
        mode.report("hint contradicts settings", component.name, spans["processes"], **values)
        return component
    most = component.most if component.most >= UNBOUNDED else component.most // old_size * per_process
    counts = times(tuple((low // old_size, high // old_size) for low, high in component.counts), per_process)
    return replace(component, least=component.least // old_size * per_process, most=most, counts=counts)


def _check_degrees(mode: Mode, component: Component, parallel: Parallel | None) -> None:
    """Note an error if hints state degrees and exclude those of the settings."""
    choices = mode.merged.choices.get(component.name) or (component.parallel,)
    is_planned = component.timed is not None and len(choices) > 1
    if parallel and "parallel" in component.spans and not is_planned and parallel not in choices:
        hint, at = " or ".join(map(str, dict.fromkeys(choices))), component.spans["parallel"]
        mode.report("hint contradicts settings", component.name, at, key="parallel", hint=hint, value=parallel)


def _check_group(mode: Mode, component: Component) -> None:
    """Warn of a node group, which RLinf drops; hints name the nodes for a plan."""
    groups, group_span, owner = component.numbered_in, component.spans.get("node_group"), mode.owner
    if groups == (CLUSTER_LABEL,) or group_span is None:
        return
    if component.runs is None and not (owner.file == group_span.file and owner.start <= group_span.start < owner.end):
        return
    mode.report("node group dropped", component.name, group_span, groups=",".join(groups))
