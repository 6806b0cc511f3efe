"""Independent check and price of a design, by plain arithmetic without any search code."""

from __future__ import annotations

from itertools import combinations, permutations
from math import lcm
from typing import Iterator, Mapping

from ..models.findings.wording import plural
from ..models.planning.arrangement import FrameworkArrangement
from ..models.planning.cost_models import CostModel, iteration
from ..models.planning.design import Block, Design, bars
from ..models.planning.option import Area, Option
from ..models.planning.problem import PlanningProblem
from ..models.quantity import write_estimate, write_memory
from ..solver.wording import exactly_in_seconds, join_names, round_seconds, with_unit


def faults(question: PlanningProblem, model: CostModel, design: Design) -> Iterator[str]:
    """Yield the faults of a design, a sentence each; none for an admissible design."""
    yield from forbidden(question, model, design)
    for first, second in design.overlapping:
        yield f"`{first}` and `{second}` share some accelerators, and neither is inside the other"


def forbidden(question: PlanningProblem, model: CostModel, design: Design) -> Iterator[str]:
    """Yield the faults of a design in which components may overlap in part."""
    yield from _options(question, design)
    yield from _kinds(question, design)
    yield from _relations(question, design)
    yield from _segments(question, model, design)
    yield from find_broken_limits(question, design)
    limit = question.budget.accelerators
    if limit is not None and design.count_used(question) > limit:
        yield f"{design.all_accelerators(question)} accelerators are used, {limit + question.given.held} may be"
    most, takes = question.budget.nanoseconds, iteration(model, question, design)
    if most is not None and takes > most:
        yield f"an iteration takes {with_unit(round_seconds(takes))}, {exactly_in_seconds(most)} may be taken"


def price(question: PlanningProblem, model: CostModel, design: Design) -> tuple[int, int]:
    """Return (ns, accelerators) in the order of the aim."""
    return question.by_aim(iteration(model, question, design), design.count_used(question))


def memory(question: PlanningProblem, design: Design, block: Block) -> int:
    """Return the MiB of a block on each accelerator at the worst moment.

    Resident components need their memory all the time; of the others those of one phase at a time,
    while the rest keep their offloaded part. Components that the framework does not start need
    none; a stand-in also works in their turns.
    """
    idle = question.idle.among(block.components)
    members = [(name, design.options[name]) for name in block.components if name not in idle]
    always = sum(option.memory for name, option in members if name in question.memory.resident)
    turns = [(name, option) for name, option in members if name not in question.memory.resident]
    rises: dict[tuple[str, str], int] = {}
    for name, option in turns:
        for turn in question.turns_beside(name, idle):
            rises[turn] = rises.get(turn, 0) + option.memory - option.kept
    return always + sum(option.kept for _, option in turns) + max(rises.values(), default=0)


def _options(question: PlanningProblem, design: Design) -> Iterator[str]:
    for name, options in question.options.items():
        option = design.options.get(name)
        if option is None or option not in options:
            yield no_option(name, option)
            continue
        blocks = [design.blocks[index] for index in design.blocks_of(name)]
        if sum(block.accelerators for block in blocks) != option.accelerators:
            yield f"the blocks of `{name}` have not {option.accelerators} accelerators"
        if any(block.kind != option.kind for block in blocks):
            yield f"a block of `{name}` is of another kind than its option"
        if len(blocks) > 1 and not question.sharing.nested:
            yield f"`{name}` shares only some of its accelerators, which `nested: true` in `plan` would allow"


def no_option(name: str, option: Option | None) -> str:
    """Format the fault of a component whose configuration is not an option."""
    amount = "it has no option" if option is None else f"not on {option.amount} with these degrees"
    return f"`{name}` may not run so, {amount}: its counts, degrees, batches or times do not allow it"


def _kinds(question: PlanningProblem, design: Design) -> Iterator[str]:
    for index, kind in enumerate(question.kinds):
        count = sum(block.accelerators for block in design.blocks if block.kind == index)
        if count > kind.accelerators:
            yield f"{count} {kind.model or 'accelerators'} are used, there are {kind.accelerators}"
    for block in design.blocks:
        if block.accelerators < 1 or not block.components:
            yield "a block is empty"
            continue
        limit, need = question.kinds[block.kind].memory, memory(question, design, block)
        if limit is not None and need > limit:
            running_names = [name for name in block.components if name not in question.idle.among(block.components)]
            yield f"{_needs(design, running_names, need)}, and it has {write_memory(limit)}"
    if len({block.components for block in design.blocks}) < len(design.blocks):
        yield "two blocks have the same components"


def _needs(design: Design, names: list[str], mebibytes: int) -> str:
    """Format the need of components on an accelerator; of an estimate the high."""
    need = f"{join_names(names)} {'need' if len(names) > 1 else 'needs'}"
    if not any(design.options[name].estimated for name in names):
        return f"{need} {write_memory(mebibytes)} of an accelerator"
    return f"by estimates {need} up to {write_estimate(mebibytes)} of an accelerator"


def _relations(question: PlanningProblem, design: Design) -> Iterator[str]:
    uses = {name: set(design.blocks_of(name)) for name in question.components}
    for first, second in sorted(question.sharing.together):
        if uses[first] != uses[second]:
            yield f"`{first}` and `{second}` are not on the same accelerators"
    for first, second in sorted(question.sharing.apart):
        if uses[first] & uses[second]:
            yield f"`{first}` and `{second}` share accelerators"
    for first, second in sorted(question.sharing.within):
        if not uses[first] <= uses[second]:
            yield f"`{first}` is not within `{second}`"
    if question.sharing.only_within:
        yield from _find_not_demanded(question, uses)
    if question.ways and not any(_is_arranged(arrangement, uses) for arrangement in question.ways):
        names = [f"`{arrangement.name}`" for arrangement in question.ways]
        yield (
            f"it is not {names[0]}, the only arrangement that is looked at"
            if len(names) == 1
            else f"it is none of the arrangements {', '.join(names)}"
        )
    pairs = {frozenset(pair) for pair in (*question.sharing.together, *question.sharing.within, *question.sharing.inside)}
    for first, second in combinations(question.components, 2):
        if (
            uses[first] & uses[second]
            and not question.sharing.alone.isdisjoint((first, second))
            and frozenset((first, second)) not in pairs
        ):
            yield f"`{first}` and `{second}` share accelerators, and nothing says that they may"


def _find_not_demanded(question: PlanningProblem, uses: Mapping[str, set[int]]) -> Iterator[str]:
    """Yield components inside others without a demand or permission."""
    why = "which `nested: false` in `plan` forbids" if question.sharing.forbids_nesting else "which `nested: true` in `plan` would allow"
    may = sorted(question.sharing.within | question.sharing.inside)
    for inner, outer in permutations(question.components, 2):
        if not uses[inner] < uses[outer] or not uses[inner]:
            continue
        reach = [uses[inner]]
        for blocks in reach:
            reach += [uses[larger] for smaller, larger in may if uses[smaller] == blocks and uses[larger] not in reach]
        if uses[outer] not in reach:
            yield f"`{inner}` uses only some of the accelerators of `{outer}`, {why}"


def _is_arranged(arrangement: FrameworkArrangement, uses: Mapping[str, set[int]]) -> bool:
    """Return True if the components use blocks as the arrangement demands."""
    are_apart = all(uses[first].isdisjoint(uses[second]) for first, second in arrangement.apart)
    return are_apart and all(uses[first] == uses[second] for first, second in arrangement.together)


def _segments(question: PlanningProblem, model: CostModel, design: Design) -> Iterator[str]:
    segments, numbers_used = design.segments, set(design.segments)
    if len(segments) != len(question.tasks) or (numbers_used != set(range(len(numbers_used))) and not model.by_phase):
        yield "the segments are not numbered 0, 1, ... of every task"
        return
    for edge in question.flow.edges:
        if model.by_phase:
            break
        early, late = segments[edge.earlier], segments[edge.later]
        if early > late or (edge.whole and early == late):
            yield f"{question.tasks[edge.later]} runs before {question.tasks[edge.earlier]} has ended"
    for index, task in enumerate(question.tasks):
        if model.by_phase and model.segment(question, index) != segments[index]:
            yield f"{task} runs in another phase than its own"
    if not model.turns:
        for low, high in combinations(range(len(segments)), 2):
            first, second = question.tasks[low].component, question.tasks[high].component
            if segments[low] == segments[high] and takes_turns(design, first, second):
                yield f"{question.tasks[low]} and {question.tasks[high]} run at the same time on the same accelerators"
        yield from check_rounds(question, design)
    if fault := model.refuses(question, [block.components for block in design.blocks], segments):
        yield fault


def find_broken_limits(question: PlanningProblem, design: Design) -> Iterator[str]:
    """Yield broken limits of a design, a sentence each."""
    uses = {name: frozenset(design.blocks_of(name)) for name in question.components}
    for area in question.areas:
        yield from _check_area(design, uses, area)
    for first, second in sorted(question.sharing.whole):
        if uses[first] & uses[second] and uses[first] != uses[second]:
            yield f"`{first}` and `{second}` share some accelerators and not all"
    for first, second in sorted(question.sharing.not_fewer):
        few, many = design.options[first].processes, design.options[second].processes
        if few < many:
            yield f"`{first}` has {few} {plural('process', few)} and `{second}` {many}"
    for first, second in sorted(question.sharing.in_step):
        has, met = design.options[first].amount, design.options[second]
        if uses[first] & uses[second] and has * met.processes % met.amount:
            size = met.amount // met.processes
            yield f"`{first}` shares accelerators with `{second}`, but {has} are not whole groups for processes of {size}"
    for multiple in dict.fromkeys(constraint for arrangement in question.ways for constraint in arrangement.multiples):
        amount, partner_amount = design.options[multiple.component].amount, design.options[multiple.partner].amount
        if not multiple.holds(amount, partner_amount):
            step = f"a multiple of {multiple.step}, and " if multiple.step > 1 else ""
            yield f"`{multiple.component}` has {amount} accelerators beside {partner_amount} of `{multiple.partner}`: it may have {step}at most {partner_amount} or a multiple of {partner_amount}"
    for names in question.sharing.filling:
        count = sum(block.accelerators for block in design.blocks if not names.isdisjoint(block.components))
        if count != sum(kind.accelerators for kind in question.kinds):
            yield f"{', '.join(sorted(names))} leave accelerators over"
    if any(bars(no_good, design) for no_good in question.barred):
        yield "it is excluded"
    if (arrangement := design.way(question)) is not None:
        yield from _find_deviations(question, design, arrangement)


def _find_deviations(question: PlanningProblem, design: Design, deviating: FrameworkArrangement) -> Iterator[str]:
    """Yield deviations from the framework arrangement of the components."""
    for name, minimum in deviating.least.items():
        if name in design.options and design.options[name].amount < minimum:
            yield f"`{name}` has {design.options[name].amount}, fewer than the {minimum} that it needs where the job is {deviating.name}"
    for name, shape in deviating.shapes.items():
        is_common = name in design.options and all(name in arrangement.shapes for arrangement in question.ways)
        if is_common and design.options[name].parallel != shape.parallel:
            yield f"`{name}` has {design.options[name].parallel}, and {shape.parallel} where the job is {deviating.name}"


def _check_area(design: Design, uses: dict[str, frozenset[int]], area: Area) -> Iterator[str]:
    """Yield blocks of an area not in whole groups of all components."""
    outermost = {extent for extent in uses.values() if extent and not any(extent < wider for wider in uses.values())}
    for size, most in area.rooms.items():
        count = 0
        for blocks in outermost:
            members = [name for name, extent in uses.items() if extent == blocks]
            groups = lcm(*(design.options[name].group for name in members))
            if groups % size == 0 and not area.components.isdisjoint(members):
                count += sum(design.blocks[index].accelerators for index in blocks if design.blocks[index].kind == area.kind)
        if count > most:
            yield f"{count} accelerators in groups of {size} are used where {most} are"


def check_rounds(question: PlanningProblem, design: Design) -> Iterator[str]:
    """Yield faults for cost models in which sharing tasks never run at the same time."""
    wholes = {(edge.earlier, edge.later) for edge in question.flow.edges if edge.whole}
    for tasks in question.flow.rounds:
        names, in_turn = ", ".join(str(question.tasks[task]) for task in sorted(tasks)), False
        for low, high in combinations(sorted(tasks), 2):
            first, second = question.tasks[low].component, question.tasks[high].component
            in_turn |= takes_turns(design, first, second) or (low, high) in wholes
        parts = len({design.segments[task] for task in tasks})
        if in_turn and parts < len(tasks):
            yield f"{names} wait for each other and some share accelerators, so that no two of them run at the same time"
        if not in_turn and parts > 1:
            yield f"{names} wait for each other, so that they run at the same time"


def takes_turns(design: Design, first: str, second: str) -> bool:
    """Return True if all tasks of two sharing components run one after another."""
    return first == second or not set(design.blocks_of(first)).isdisjoint(design.blocks_of(second))
