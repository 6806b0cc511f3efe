"""How many accelerators one process of a packed component holds, how far apart, and whether its ranks hold whole ones.

Source: RLinf, rlinf/utils/placement.py, ModelParallelComponentPlacement._generate_placements.
"""

from __future__ import annotations

from dataclasses import dataclass

from ....component import Parallel
from ....configuration.settings import Amount
from ....findings.wording import with_noun
from .arrangement import Arrangement
from .degrees import Degrees
from .fitting_tp import fitting_tp
from .parts import Parts

CODE = "PW208"


@dataclass(frozen=True, slots=True)
class Shape:
    """`each` accelerators a process, `stride` ranks apart."""

    each: int = 1
    stride: int = 1

    @property
    def block(self) -> int:
        """What the number of accelerators must be a multiple of."""
        return self.each * self.stride


def collocated(parts: Parts, actor: Amount, rollout: Amount, count: int | None) -> Shape | None:
    """Rollout on the actor's `count` accelerators: its groups interleave so that each weight has a short way; pp is not looked at."""
    if actor.value <= rollout.value:
        return Shape(rollout.value)
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
        parts.notes.error(CODE, "rollout", message, rollout.span or parts.place("rollout"), "", help, edit)
        return None
    return Shape(rollout.value, actor.value // rollout.value)


def apart(parts: Parts, its: Degrees, count: int | None) -> Shape | None:
    """Rollout on accelerators of its own, `count` of them: RLinf divides them by the number of engines that fit.

    Where tp x pp does not divide them, an engine gets more accelerators than it uses, or RLinf refuses.
    """
    if not its.tp or not its.pp:
        return None
    replica = its.tp.value * its.pp.value
    if count is None or count % replica == 0:
        return Shape(replica)
    place = parts.place("rollout")
    if count < replica:
        message = (
            f"`rollout` has {with_noun(count, 'accelerator')}, but one engine of tp {its.tp.value} x pp {its.pp.value} needs {replica}"
        )
        parts.notes.error(CODE, "rollout", message, place, f"{replica} needed", f"give it {replica} accelerators, or lower its tp and pp")
        return None
    each = count // (count // replica)
    if not whole(parts, "rollout", count, Shape(each), its.tp):
        return None
    message = f"RLinf gives each process of `rollout` {each} accelerators, of which its engine (tp {its.tp.value} x pp {its.pp.value}) uses {replica}"
    fit = f"{count // replica * replica} or {(count // replica + 1) * replica}"
    parts.notes.warn(CODE, "rollout", message, place, f"no multiple of {replica}", f"give it {fit} accelerators")
    return Shape(each)


def fits_in(parts: Parts, name: str, tp: Amount | None, count: int, better: int | None) -> bool:
    """Is a tensor parallel group no larger than the component? RLinf refuses it otherwise. `better`: a tp that fits."""
    if tp is None or tp.value <= count:
        return True
    message = f"`{name}` has {with_noun(count, 'accelerator')}, fewer than its tp {tp.value}"
    help = f"give it {tp.value} accelerators" + (f", or set `{tp.name}: {better}`" if better else "")
    edit = tp.becomes(better) if better else None
    parts.notes.error(CODE, name, message, parts.place(name), f"{tp.value} needed", help, edit)
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
    parts.notes.error(CODE, name, message, component.span("amount") or parts.place(name), f"{least} needed", help)


def whole(parts: Parts, name: str, count: int, shape: Shape, tp: Amount | None = None) -> bool:
    """Is the number of accelerators a multiple of what the processes are packed in?"""
    left = count % shape.block
    if not left:
        return True
    packed = f"processes of {shape.each}" + (f" that interleave by {shape.stride}" if shape.stride > 1 else "")
    message = f"the {with_noun(count, 'accelerator')} of `{name}` cannot be packed in {packed}: {left} would be left"
    lower = count - left
    fit = f"{lower} or {lower + shape.block}" if lower else str(shape.block)
    said = f" ({tp.said})" if tp and tp.scalar else ""
    parts.notes.error(CODE, name, message + said, parts.place(name), f"no multiple of {shape.block}", f"give it {fit} accelerators")
    return False


def of_rollout(parts: Parts, found: Arrangement, actor: Degrees, its: Degrees, count: int | None) -> Shape | None:
    """The shape of rollout; None where it cannot be told, or RLinf refuses it (then that is noted)."""
    if found is Arrangement.COLLOCATED:
        if not actor.tp or not its.tp:
            return None
        shape = collocated(parts, actor.tp, its.tp, count)
        return shape if shape and (count is None or whole(parts, "rollout", count, shape, its.tp)) else None
    return None if found is Arrangement.NONE else apart(parts, its, count)


def engine(its: Degrees, shape: Shape | None) -> Parallel | None:
    """The degrees of an engine that fills its process: tp x pp, or tp alone where pp is not looked at."""
    if shape is None or not its.tp or not its.pp:
        return None
    tp, pp = its.tp.value, its.pp.value
    return Parallel(tp, pp) if shape.each == tp * pp else Parallel(tp) if shape.each == tp else None
