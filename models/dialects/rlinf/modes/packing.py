"""Components as RLinf packs them: one solid range of ranks, processes one after the other.

Source: RLinf, rlinf/utils/placement.py, ModelParallelComponentPlacement._generate_placements.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Sequence

from ....component import UNBOUNDED, Component, Parallel
from ....configuration.settings import Amount
from ....counts import times
from ....findings.finding import UnusableInput
from ....findings.fix import Fix
from ....findings.span import Edit
from ....findings.wording import are, with_noun
from ....machines.node_group import ACCELERATOR, CLUSTER_LABEL
from ....placements.assignment import Assignment, Runs
from ....planning.idle import without_hints
from ....record import dataclass
from ....strategies.packed import PackedPlacementStrategy
from ..known import DEGREE
from .arrangement import Arrangement
from .parts import Degrees, Extent, Parts, extent_of


def fitting_tp(parts: Parts, found: Arrangement, actor: Amount | None, near: int, count: int) -> int | None:
    """A tp that divides the `count` accelerators of rollout, fits a node, and goes with the tp of the actor; None if none does.

    The next one below `near`, else above.
    """
    on_node = min((has for alike in parts.cluster.alike if (has := alike.node.count(ACCELERATOR))), default=count)
    backend = parts.settings.word("actor.training_backend", "PW208")
    bounded = backend == "megatron" or (backend == "fsdp" and found is Arrangement.COLLOCATED and actor is not None and actor.value > 1)

    def fits(tp: int) -> bool:
        if count % tp or on_node % tp:
            return False
        if actor is None or tp >= actor.value:
            return actor is None or tp == actor.value or not bounded
        return found is not Arrangement.COLLOCATED or not (actor.value % tp or count % actor.value)

    most = min(count, on_node)
    return next(filter(fits, (*range(min(near, most), 0, -1), *range(near + 1, most + 1))), None)


@dataclass(frozen=True, slots=True)
class Packing:
    """`each` accelerators a process, `stride` ranks apart."""

    each: int = 1
    stride: int = 1

    @property
    def block(self) -> int:
        """What the number of accelerators must be a multiple of."""
        return self.each * self.stride


def engines_interleaved(parts: Parts, actor: Amount, rollout: Amount, count: int | None) -> Packing | None:
    """Rollout on the actor's `count` accelerators: its groups interleave so that each weight has a short way; pp is not looked at."""
    if actor.value <= rollout.value:
        return Packing(rollout.value)
    if actor.scalar and actor.is_float:
        parts.settings.wrong_type(actor.name, actor.scalar, actor.value)
        return None
    if actor.value % rollout.value:
        message = f"the tp of actor, {actor.value}, is no multiple of the tp of rollout, {rollout.value}, though they share accelerators"
        better = fitting_tp(parts, Arrangement.COLLOCATED, actor, rollout.value, count or actor.value)
        help = (
            f"set `{rollout.name}: {better}`"
            if better
            else f"give both a multiple of {actor.value} accelerators, and rollout a tp that divides it"
        )
        edit = rollout.becomes(better) if better else None
        parts.notes.error(DEGREE, "rollout", message, rollout.span or parts.place("rollout"), "", help, edit)
        return None
    return Packing(rollout.value, actor.value // rollout.value)


def engines_apart(parts: Parts, its: Degrees, count: int | None) -> Packing | None:
    """Rollout on accelerators of its own, `count` of them: RLinf divides them by the number of engines that fit.

    Where tp x pp does not divide them, an engine gets more accelerators than it uses, or RLinf refuses.
    """
    if not its.tp or not its.pp:
        return None
    replica = its.tp.value * its.pp.value
    if count is None or count % replica == 0:
        return Packing(replica)
    place = parts.place("rollout")
    if count < replica:
        message = (
            f"`rollout` has {with_noun(count, 'accelerator')}, but one engine of tp {its.tp.value} x pp {its.pp.value} needs {replica}"
        )
        parts.notes.error(DEGREE, "rollout", message, place, f"{replica} needed", f"give it {replica} accelerators, or lower its tp and pp")
        return None
    each = count // (count // replica)
    if not fits_whole(parts, "rollout", count, Packing(each), its.tp):
        return None
    message = f"RLinf gives each process of `rollout` {each} accelerators, of which its engine (tp {its.tp.value} x pp {its.pp.value}) uses {replica}"
    fit = f"{count // replica * replica} or {(count // replica + 1) * replica}"
    parts.notes.warn(DEGREE, "rollout", message, place, f"no multiple of {replica}", f"give it {fit} accelerators")
    return Packing(each)


def fits_in(parts: Parts, name: str, tp: Amount | None, count: int, better: int | None) -> bool:
    """Is a tensor parallel group no larger than the component? RLinf refuses it otherwise. `better`: a tp that fits."""
    if tp is None or tp.value <= count:
        return True
    message = f"`{name}` has {with_noun(count, 'accelerator')}, fewer than its tp {tp.value}"
    help = f"give it {tp.value} accelerators" + (f", or set `{tp.name}: {better}`" if better else "")
    edit = tp.becomes(better) if better else None
    parts.notes.error(DEGREE, name, message, parts.place(name), f"{tp.value} needed", help, edit)
    return False


def at_least(parts: Parts, name: str, tp: Amount | None) -> None:
    """A component that is left to solve gets no fewer accelerators than its tensor parallel group has, with whatever degrees it may have."""
    component = parts.components.get(name)
    if tp is None or component is None or not parts.is_open(name):
        return
    least = min((each.tp for each in parts.choices.get(name, ())), default=tp.value)
    if least <= component.least or (least > component.most and 1 in parts.steps_of(name)):
        return
    if least <= component.most:
        parts.components[name] = component.between(least, component.most)
        return
    other = least != tp.value  # which its hints offer
    message = f"`{name}` asks for {with_noun(component.most, 'accelerator')}, fewer than {'the least' if other else 'its'} tp {least}"
    help = f"ask for {least} accelerators, or {'offer a smaller tp' if other else f'set `{tp.name}: {component.most}`'}"
    parts.notes.error(DEGREE, name, message, component.span("amount") or parts.place(name), f"{least} needed", help)


def fits_whole(parts: Parts, name: str, count: int, shape: Packing, tp: Amount | None = None) -> bool:
    """Is the number of accelerators a multiple of what the processes are packed in?"""
    left = count % shape.block
    if not left:
        return True
    packed = f"processes of {shape.each}" + (f" that interleave by {shape.stride}" if shape.stride > 1 else "")
    message = f"the {with_noun(count, 'accelerator')} of `{name}` cannot be packed in {packed}: {left} would be left"
    lower = count - left
    fit = f"{lower} or {lower + shape.block}" if lower else str(shape.block)
    said = f" ({tp.said})" if tp and tp.scalar else ""
    parts.notes.error(DEGREE, name, message + said, parts.place(name), f"no multiple of {shape.block}", f"give it {fit} accelerators")
    return False


def of_rollout(parts: Parts, found: Arrangement, actor: Degrees, its: Degrees, count: int | None) -> Packing | None:
    """The shape of rollout; None where it cannot be told, or RLinf refuses it (then that is noted)."""
    if found is Arrangement.COLLOCATED:
        if not actor.tp or not its.tp:
            return None
        shape = engines_interleaved(parts, actor.tp, its.tp, count)
        return shape if shape and (count is None or fits_whole(parts, "rollout", count, shape, its.tp)) else None
    return None if found is Arrangement.NONE else engines_apart(parts, its, count)


def engine_degrees(its: Degrees, shape: Packing | None) -> Parallel | None:
    """The degrees of an engine that fills its process: tp x pp, or tp alone where pp is not looked at."""
    if shape is None or not its.tp or not its.pp:
        return None
    tp, pp = its.tp.value, its.pp.value
    return Parallel(tp, pp) if shape.each == tp * pp else Parallel(tp) if shape.each == tp else None


IGNORED = "PW124"


def extent(parts: Parts, name: str) -> Extent | None:
    """The ranks of a component, if they are given and known."""
    component = parts.placed(name)
    return extent_of(component.runs or (), parts.cluster, component.numbered_in) if component else None


def pack(parts: Parts, name: str, shape: Packing | None, parallel: Parallel | None = None, fills: bool = False) -> None:
    """Make of a component what the mode makes of it. Without a shape only that it must be solid is known.

    `parallel`: the degrees that hold; None if the mode has no say in them.
    `fills`: RLinf does not look whether it is solid; it takes everything from the first rank to the last.
    """
    component = parts.on_accelerators(name)
    if component is None:
        _elsewhere(parts, name)
        return
    _without_group(parts, component)
    found = extent(parts, name)
    if found is None:
        if parts.is_open(name):
            solid = replace(component, contiguous=True)
            parts.components[name] = _hinted(parts, component, shape, parallel) if shape else solid
        elif parts.profiled:
            other_degrees(parts, component, (parallel,) if parallel else ())
            parts.components[name] = replace(component, parallel=parallel or component.parallel)
        return
    if fills and not found.solid:
        message = f"RLinf places `{name}` on all of {found}, not on the {with_noun(found.count, 'rank')} that {are(found.count)} written"
        parts.notes.warn(IGNORED, name, message, parts.place(name), f"becomes {found}", f"write `{found}`, if that is meant")
    if not found.solid and not fills:
        fixes = _without_holes(parts, component, found)
        parts.components[name] = replace(component, contiguous=True, fixes=fixes)  # PW205 says so
    elif shape is None:
        parts.components[name] = replace(component, contiguous=not fills)
    else:
        _fixed(parts, component, found, shape, parallel)


def _fixed(parts: Parts, component: Component, found: Extent, shape: Packing, parallel: Parallel | None) -> None:
    """Its runs anew from its range; the processes that were written are thrown away."""
    notes, name, amount = parts.notes, component.name, found.size
    if parts.profiled:
        other_degrees(parts, component, (parallel,) if parallel else ())
    runs = packed(parts, component, found, shape)
    was = Assignment({name: component.runs or ()}).world_size(name)
    count = amount // shape.each
    if count != was != found.count:
        message = f"the process ranks of `{name}` say {with_noun(was, 'process')}; {parts.reason} drops them and starts {count}"
        notes.warn(IGNORED, name, message, parts.place(name), with_noun(count, "process"), f"write `{found}` alone")
    parts.components[name] = replace(
        component,
        least=amount,
        most=amount,
        per_process=shape.each,
        parallel=parallel or component.parallel,
        contiguous=True,
        stride=shape.stride,
        runs=runs,
        fixes={},
    )


def packed(parts: Parts, component: Component, found: Extent, shape: Packing) -> Runs | None:
    """Its processes, one after the other in a range; None where they cannot be, and that is noted."""
    try:
        return PackedPlacementStrategy(found.first, found.last, shape.each, shape.stride, component.numbered_in).runs(parts.cluster)
    except UnusableInput as refused:
        for each in refused.findings:
            message = f"`{component.name}`: {each.message}; RLinf notices this only at launch"
            parts.notes.error(each.code, component.name, message, parts.place(component.name), "crosses nodes", each.help)
    return None


def _without_holes(parts: Parts, component: Component, found: Extent) -> dict[str, Fix]:
    """As many ranks without holes, where they are free of other components: those with the same ranks move along."""
    span, last = component.spans.get("placement"), found.first + found.count - 1
    written = parts.notes.document.text_of(span.file)[span.start : span.end] if span else ""
    mine = Assignment({component.name: component.runs or ()}).masks(component.name)
    for other in parts.components.values():
        theirs = Assignment({other.name: other.runs or ()}).masks(other.name)
        if other.runs and theirs != mine and other.name != "reward":
            its = extent_of(other.runs, parts.cluster, other.numbered_in)
            if other.numbered_in != component.numbered_in or (its.first <= last and found.first <= its.last):
                return {}
    text = str(Extent(found.first, last, found.count))
    plain = bool(written) and "${" not in written and "\n" not in written
    return {"PW205": Fix(f"write `{text}`", Edit(span, text) if span and plain else None)}


def _hinted(parts: Parts, component: Component, shape: Packing, parallel: Parallel | None) -> Component:
    """A component that is left to solve takes the shape too; hints that say otherwise contradict it."""
    notes, name = parts.notes, component.name
    said = {
        "per_process": ("accelerators_per_process", component.per_process, shape.each),
        "stride": ("stride", component.stride, shape.stride),
    }
    for field, (key, hint, demanded) in said.items():
        if field in component.spans and hint != demanded:
            message = f"`{key}` of `{name}` is {hint}, but the settings of the job make it {demanded} ({parts.reason})"
            notes.error("PW121", name, message, component.spans[field], "", f"drop `{key}`, or change the settings of the job")
    other_degrees(parts, component, (parallel,) if parallel else ())
    component = _in_processes_of(parts, component, shape.each)
    found = replace(component, per_process=shape.each, stride=shape.stride, contiguous=True, parallel=parallel or component.parallel)
    steps = (max(found.unit, found.step), *parts.steps_of(name))
    if component.least == component.most and all(component.least % each for each in steps):
        step = min(steps)
        lower = component.least // step * step
        fit = f"{lower} or {lower + step}" if lower else str(step)
        message = f"`{name}` asks for {with_noun(component.least, 'accelerator')}, but the settings of the job need a multiple of {step}"
        help = f"ask for {fit}"
        if name not in parts.written and (worker := parts.worker_of_idle(name)):
            help += without_hints(worker)
        notes.error("PW208", name, message, component.span("amount") or parts.place(name), f"no multiple of {step}", help)
    return found


def degrees_without_ranks(parts: Parts, name: str, possible: Sequence[Parallel], depends: str) -> None:
    """The degrees that hints say of a component whose ranks are written, but do not say its own: it has one of those that are `possible`.

    Where the ranks are not known here, and hints say only some of these, it is told that it `depends` on something, and is not checked.
    """
    component = parts.on_accelerators(name)
    if component is None or not parts.profiled or "placement" not in component.spans:
        return
    other_degrees(parts, component, possible)
    if component.runs is None and _is_contradicted(parts, component, possible[1:]) != _is_contradicted(parts, component, possible[:1]):
        parts.notes.unsure("PW121", name, f"whether its hints agree with the settings of the job depends on {depends}")


def _is_contradicted(parts: Parts, component: Component, possible: Sequence[Parallel]) -> bool:
    """Do its hints neither say any of these degrees nor leave them open?"""
    choices = parts.offered.get(component.name) or (component.parallel,)
    planned = component.timed is not None and len(choices) > 1
    return "parallel" in component.spans and bool(possible) and not planned and not any(each in choices for each in possible)


def other_degrees(parts: Parts, component: Component, possible: Sequence[Parallel]) -> None:
    """Hints contradict the degrees that hold where they neither say nor leave them open.

    Of components that are planned by their times those of a list are chosen, and written, whether or not the settings have one of them.
    """
    if not _is_contradicted(parts, component, possible):
        return
    choices = parts.offered.get(component.name) or (component.parallel,)
    hint, made = (" or ".join(str(each) for each in dict.fromkeys(its)) for its in (choices, possible))
    message = f"`parallel` of `{component.name}` is {hint}, but the settings of the job make it {made} ({parts.reason})"
    parts.notes.error(
        "PW121", component.name, message, component.spans["parallel"], "", "drop `parallel`, or change the settings of the job"
    )


def _in_processes_of(parts: Parts, component: Component, each: int) -> Component:
    """With the amount that the hints mean where they count processes, each of so many accelerators."""
    spans, its = component.spans, component.per_process
    if "processes" not in spans or its == each:
        return component
    if "accelerators" in spans:
        message = (
            f"`{component.name}` asks for {with_noun(its, 'accelerator')} a process (`accelerators` and `processes`), but the settings of "
        )
        message += f"the job make it {each} ({parts.reason})"
        parts.notes.error("PW121", component.name, message, spans["processes"], "", "drop `processes`, or change the settings of the job")
        return component
    most = component.most if component.most >= UNBOUNDED else component.most // its * each
    counts = times(tuple((low // its, high // its) for low, high in component.counts), each)
    return replace(component, least=component.least // its * each, most=most, counts=counts)


def _without_group(parts: Parts, component: Component) -> None:
    groups, named = component.numbered_in, component.spans.get("node_group")
    if groups == (CLUSTER_LABEL,) or named is None:
        return
    if component.runs is None and not (parts.owner.file == named.file and parts.owner.start <= named.start < parts.owner.end):
        return  # its hints name the nodes that it may be on: what is written is the ranks of the whole cluster
    labels = ",".join(groups)
    message = f"{parts.reason} drops the node group `{labels}` of `{component.name}`: it takes its ranks as ranks of the whole cluster"
    help = "write the ranks that these accelerators have in the whole cluster, and drop `node_group`"
    parts.notes.warn(IGNORED, component.name, message, component.spans["node_group"], "RLinf drops this", help)


def _elsewhere(parts: Parts, name: str) -> None:
    """A component on nodes or robots: RLinf takes its numbers for accelerators, so nothing more is judged here."""
    component = parts.components.get(name)
    if component is not None and component.runs is None and "placement" not in component.spans:
        kind, span = parts.cluster.kind(component.node_groups), component.span("node_group")
        message = f"`{name}` asks for {kind}s, but {parts.reason} takes its ranks for accelerators of the whole cluster"
        parts.notes.error("PW121", name, message, span or parts.place(name), "", "ask for accelerators, in a group that numbers them")
    elif component is not None:
        kind = parts.cluster.kind(component.node_groups)
        message = f"`{name}` is placed on {kind}s, but {parts.reason} takes its ranks for accelerators of the whole cluster"
        parts.notes.warn(IGNORED, name, message, parts.place(name), "", f"place `{name}` on accelerators")
