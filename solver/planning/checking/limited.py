"""Does a design keep to what placing leaves: room in whole groups, processes beside processes, what is barred?"""

from __future__ import annotations

from math import lcm
from typing import Iterator

from ....models.findings.wording import plural
from ....models.planning.barring import bars
from ....models.planning.design import Design
from ....models.planning.limits import Area
from ....models.planning.question import Question
from ....models.planning.way import Way


def limited(question: Question, design: Design) -> Iterator[str]:
    """What is wrong with it, each in a sentence."""
    uses = {name: frozenset(design.blocks_of(name)) for name in question.components}
    for area in question.areas:
        yield from _in_area(design, uses, area)
    for one, other in sorted(question.whole):
        if uses[one] & uses[other] and uses[one] != uses[other]:
            yield f"`{one}` and `{other}` share some accelerators and not all"
    for one, other in sorted(question.not_fewer):
        few, many = design.options[one].processes, design.options[other].processes
        if few < many:
            yield f"`{one}` has {few} {plural('process', few)} and `{other}` {many}"
    for one, other in sorted(question.in_step):
        has, met = design.options[one].amount, design.options[other]
        if uses[one] & uses[other] and has * met.processes % met.amount:
            size = met.amount // met.processes
            yield f"`{one}` shares accelerators with `{other}`, but {has} are no whole groups for processes of {size}"
    for multiple in dict.fromkeys(each for way in question.ways for each in way.multiples):
        mine, its = design.options[multiple.one].amount, design.options[multiple.other].amount
        if any(degrees not in (None, design.options[name].parallel) for name, degrees in multiple.meant):
            continue
        if not multiple.holds(mine, its):
            step = f"a multiple of {multiple.step}, and " if multiple.step > 1 else ""
            yield f"`{multiple.one}` has {mine} accelerators beside {its} of `{multiple.other}`: it may have {step}no more than these or a multiple of them"
    for names in question.filling:
        used = sum(block.accelerators for block in design.blocks if not names.isdisjoint(block.components))
        if used != sum(kind.accelerators for kind in question.kinds):
            yield f"{', '.join(sorted(names))} leave accelerators over"
    if any(bars(each, design) for each in question.barred):
        yield "it is barred"
    if (way := design.way(question)) is not None:
        yield from _amiss(question, design, way)


def _amiss(question: Question, design: Design, way: Way) -> Iterator[str]:
    """What is not as the way has it in which the components lie."""
    for name, least in way.least.items():
        if name in design.options and design.options[name].amount < least:
            yield f"`{name}` has {design.options[name].amount}, fewer than the {least} that it needs where the job is {way.name}"
    for pair in way.paired:
        if {pair.one, pair.other} <= design.options.keys():
            mine, its = (design.options[name].parallel for name in (pair.one, pair.other))
            if pair.of(mine, its) is None:
                yield f"`{pair.one}` has {mine} beside {its} of `{pair.other}`, which do not go together where the job is {way.name}"
    for name, shape in way.shapes.items():
        known = name in design.options and all(name in each.shapes for each in question.ways)
        if known and design.options[name].parallel != shape.parallel:
            yield f"`{name}` has {design.options[name].parallel}, and {shape.parallel} where the job is {way.name}"


def _in_area(design: Design, uses: dict[str, frozenset[int]], area: Area) -> Iterator[str]:
    """Blocks of components inside no others: they come in groups that are whole for all of these."""
    outermost = {its for its in uses.values() if its and not any(its < other for other in uses.values())}
    for size, most in area.rooms.items():
        used = 0
        for blocks in outermost:
            members = [name for name, its in uses.items() if its == blocks]
            groups = lcm(*(design.options[name].group for name in members))
            if groups % size == 0 and not area.components.isdisjoint(members):
                used += sum(design.blocks[index].accelerators for index in blocks if design.blocks[index].kind == area.kind)
        if used > most:
            yield f"{used} accelerators in groups of {size} are used where {most} are"
