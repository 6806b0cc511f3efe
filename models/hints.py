"""What a user says about a component instead of its ranks: how much, how parallel, how much memory, with whom."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Annotated, Iterator
from typing import Mapping as MappingType

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PositiveInt, StrictBool

from .cluster import Cluster
from .cluster_file import Mebibytes, Name, Word
from .component import COLOCATED, DISJOINT, SUBSET, UNBOUNDED, Component, Parallel, Relation
from .finding import Finding, UnusableInput, error
from .hint_rules import KEYS, consistent
from .node_group import CLUSTER_LABEL, NODE
from .quantity import read_range, write_range
from .span import Span
from .text.forms import fill
from .text.interpolation import UNRESOLVED
from .text.tree import Mapping, Scalar, Sequence, Value, kind_of

MAX_CHOICES = 64
Relations = tuple[Relation, ...]
Choices = MappingType[str, tuple[Parallel, ...]]


def _range(value: object) -> object:
    if value is None or not isinstance(value, (str, int)) or isinstance(value, bool):
        raise ValueError(f"{value!r} is neither a number nor a range")
    return read_range(str(value))


def _several(value: object) -> object:
    return [value] if isinstance(value, (str, int)) and not isinstance(value, bool) else value


def _labels(value: object) -> object:
    items = value if isinstance(value, list) else str(value).split(",")
    return [str(item).strip() for item in items]


Amount = Annotated[tuple[int, int], BeforeValidator(_range)]
Degrees = Annotated[tuple[PositiveInt, ...], BeforeValidator(_several), Field(min_length=1, max_length=8)]
Names = Annotated[tuple[Word, ...], BeforeValidator(_several)]
Labels = Annotated[tuple[Word, ...], BeforeValidator(_labels), Field(min_length=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ParallelForm(_Strict):
    """Degrees of parallelism; a list leaves the choice open, the preferred one first."""

    tp: Degrees = Field(default=(1,), description="a whole number such as `8`, or a list such as `[2, 4]`")
    pp: Degrees = Field(default=(1,), description="a whole number such as `2`, or a list")
    cp: Degrees = Field(default=(1,), description="a whole number such as `2`, or a list")
    ep: Degrees = Field(default=(1,), description="a whole number such as `8`, or a list")

    def choices(self) -> tuple[Parallel, ...]:
        """Every combination, the preferred ones first."""
        return tuple(Parallel(*degrees) for degrees in product(self.tp, self.pp, self.cp, self.ep))


class ComponentForm(_Strict):
    """The hints of one component. `accelerators` and `processes` are a number or a range such as ``8-32``."""

    accelerators: Amount | None = Field(default=None, description="a number such as `16`, or a range such as `8-32`")
    processes: Amount | None = Field(default=None, description="a number such as `16`, or a range such as `8-32`")
    accelerators_per_process: PositiveInt | None = Field(default=None, description="a whole number such as `1`")
    parallel: ParallelForm = Field(default=ParallelForm(), description="degrees such as `{tp: 8, pp: 2}`")
    memory: Mebibytes = Field(default=0, description="memory of one process on one accelerator, such as `70GiB`")
    phase: Word = Field(default="", description="a name such as `generate`")
    node_group: Labels = Field(default=(CLUSTER_LABEL,), description="the label of a node group, or several with commas")
    accelerator: Name | None = Field(default=None, description="a model such as `H100`")
    contiguous: StrictBool = Field(default=False, description="`true` or `false`")
    stride: PositiveInt = Field(default=1, description="a whole number such as `2`")
    colocate_with: Names = Field(default=(), description="the name of a component, or a list of names")
    disjoint_from: Names = Field(default=(), description="the name of a component, or a list of names")
    within: Names = Field(default=(), description="the name of a component, or a list of names")
    placement: Word | None = Field(default=None, description="ranks such as `0-7`")


_FIELDS = {"accelerators": "amount", "processes": "amount", "accelerator": "accelerator_model", "accelerators_per_process": "per_process"}


def add_block(
    block: Value, cluster: Cluster, components: tuple[Component, ...], findings: list[Finding]
) -> tuple[tuple[Component, ...], Relations, Choices]:
    """As `add_hints`, from the block `placewright:` of a framework's file, whose only key is `components`."""
    inner = block.get("components") if isinstance(block, Mapping) else None
    if not isinstance(block, Mapping) or not isinstance(inner, Mapping):
        span = inner.span if inner is not None else block.span
        message = "the block `placewright` holds a map `components` of hints"
        findings.append(error("PW105", "", message, span, help="write `components: {actor: {accelerators: 8}}` in it"))
        return components, (), {}
    for entry in block:
        if entry.key.text != "components":
            message = f"`{entry.key.text}` is no key of the block `placewright`"
            findings.append(error("PW104", "", message, entry.key.span, label="not known", help="its only key is `components`"))
    known, relations, choices = add_hints(inner, cluster, components, findings)
    for component in known:
        if component.runs is None and "placement" in component.spans and component.name not in {each.name for each in components}:
            message = f"the ranks of `{component.name}` belong into the framework's own section, not into its hints"
            findings.append(error("PW121", component.name, message, component.spans["placement"], help="move them there"))
    return known, relations, choices


def add_hints(
    inner: Mapping, cluster: Cluster, components: tuple[Component, ...], findings: list[Finding]
) -> tuple[tuple[Component, ...], Relations, Choices]:
    """The components that are already known with what hints say of them, and those that the hints add.

    Parameters
    ----------
    inner : name -> hints.
    components : components whose ranks were given elsewhere; hints about them are checked, not searched.
    findings : gets every fault of the block.
    """
    known = {component.name: component for component in components}
    found, relations, choices = dict(known), list[Relation](), dict[str, tuple[Parallel, ...]]()
    for entry in inner:
        name = entry.key.text
        if open_values := [value for value in _scalars(entry.value) if value.tag == UNRESOLVED]:
            message = f"the hints of `{name}` need a value that is not known here: `{open_values[0].text}`"
            findings.append(error("PW120", name, message, open_values[0].span, help="write the value"))
            continue
        if not isinstance(entry.value, Mapping):
            message = f"the hints of `{name}` are {kind_of(entry.value)}, not a map"
            advice = "write hints such as `{accelerators: 8}`, or `{placement: 0-7}`"
            findings.append(error("PW105", name, message, entry.value.span, label=kind_of(entry.value), help=advice))
            continue
        try:
            form = fill(ComponentForm, entry.value, name, f"the hints of `{name}`")
            component = _component(form, name, entry.value, cluster, known.get(name))
        except UnusableInput as problem:
            findings += problem.findings
            continue
        spans = {**component.spans, "name": component.spans.get("name", entry.key.span)}
        found[name] = replace(component, spans=spans)
        relations += _relations(form, name, entry.value)
        if len(form.parallel.choices()) > 1:
            choices[name] = form.parallel.choices()
    count = 1
    for alternatives in choices.values():
        count *= len(alternatives)
    if count > MAX_CHOICES:
        message = f"{count} combinations of parallel degrees are open; at most {MAX_CHOICES} are tried"
        findings.append(error("PW121", next(iter(choices)), message, inner.span, help="leave fewer degrees open"))
    kept = tuple(consistent(tuple(found.values()), relations, choices, cluster, findings))
    return kept, tuple(r for r in relations if all(name in found for name in r.components)), choices


def _component(form: ComponentForm, name: str, value: Value, cluster: Cluster, known: Component | None) -> Component:
    """One component from its hints. Raises UnusableInput where they cannot be."""
    spans = {}
    for entry in value if isinstance(value, Mapping) else ():
        spans[entry.key.text] = spans[_FIELDS.get(entry.key.text, entry.key.text)] = entry.value.span
    groups = known.node_groups if known and "node_group" not in spans else form.node_group
    for label in groups:
        if label not in cluster.groups:
            exist = ", ".join(f"`{each}`" for each in cluster.groups)
            message = f"`{name}` names node group `{label}`, which does not exist"
            raise UnusableInput(
                [error("PW107", name, message, spans.get("node_group"), label="not declared", help=f"write one of {exist}")]
            )
    if len(set(groups)) < len(groups):
        message = f"`{name}` names node group `{groups[0]}` twice"
        raise UnusableInput([error("PW121", name, message, spans.get("node_group"), help="name each group once")])
    if fault := _group_fault(form, name, groups, cluster):
        raise UnusableInput([error("PW121", name, fault, spans.get("node_group"), help="name groups that go together")])
    for amount in (form.accelerators, form.processes):
        if amount and amount[1] >= UNBOUNDED:
            message = f"`{name}` asks for {amount[1]:,}; {UNBOUNDED - 1:,} is the most that is read"
            raise UnusableInput([error("PW121", name, message, spans.get("amount"), label="too many", help="ask for less")])
    each, least, most = _amount(form, name, cluster.kind(groups) == NODE, spans.get("amount", value.span))
    if known and "amount" not in spans:
        least, most = known.least, known.most
        each = each if form.accelerators_per_process else known.per_process
    component = Component(
        name, groups, least, most, each, form.parallel.choices()[0], form.memory, form.phase, form.accelerator or "", form.contiguous, form.stride,
        known.runs if known else None, {**(known.spans if known else {}), **spans},
    )  # fmt: skip
    return replace(component, cpus=known.cpus, any_order=known.any_order, role=known.role) if known else component


def _group_fault(form: ComponentForm, name: str, groups: tuple[str, ...], cluster: Cluster) -> str:
    """Why a component cannot be searched over these groups together; "" if it can."""
    kinds = dict.fromkeys(cluster.groups[label].kind for label in groups)
    if len(kinds) > 1:
        return f"`{name}` may be on groups that number {' and '.join(f'{kind}s' for kind in kinds)}"
    nodes = [rank for label in groups for rank in cluster.groups[label].node_ranks]
    if form.contiguous and len(set(nodes)) < len(nodes):
        return f"`{name}` is contiguous over groups that share nodes, so these are numbered twice"
    return ""


def _amount(form: ComponentForm, name: str, on_nodes: bool, span: Span) -> tuple[int, int, int]:
    """(resources per process, least, most) from accelerators, processes or both."""

    def refuse(message: str, help_text: str) -> UnusableInput:
        return UnusableInput([error("PW121", name, message, span, help=help_text)])

    accelerators, processes, each = form.accelerators, form.processes, form.accelerators_per_process
    if on_nodes:
        if accelerators or each:
            raise refuse(f"`{name}` asks for accelerators in a group that numbers nodes", "write `processes:`, or name another node group")
        least, most = processes or (1, UNBOUNDED)
        return 1, least, most
    if accelerators and processes and each is None and accelerators[0] == accelerators[1] and processes[0] == processes[1]:
        if accelerators[0] % processes[0]:
            raise refuse(f"{accelerators[0]} accelerators of `{name}` do not divide among {processes[0]} processes", "make one a multiple")
        each = accelerators[0] // processes[0]
    each = each or 1
    by_process = (processes[0] * each, processes[1] * each) if processes else None
    if accelerators and by_process:
        least, most = max(accelerators[0], by_process[0]), min(accelerators[1], by_process[1])
        if least > most:
            asked = f"{write_range(accelerators)} accelerators and for {write_range(by_process)} in processes of {each}"
            raise refuse(f"`{name}` asks for {asked}", "write one of the two, or `accelerators_per_process` too")
        return each, least, most
    return (each, *(accelerators or by_process or (1, UNBOUNDED)))


def _relations(form: ComponentForm, name: str, value: Value) -> list[Relation]:
    found = []
    for kind, names in ((COLOCATED, form.colocate_with), (DISJOINT, form.disjoint_from), (SUBSET, form.within)):
        entry = value.entry(KEYS[kind]) if isinstance(value, Mapping) else None
        found += [Relation(kind, (name, other), entry.value.span if entry else None) for other in names]
    return found


def _scalars(value: Value) -> Iterator[Scalar]:
    """Every leaf of a value."""
    if isinstance(value, Scalar):
        yield value
    for inner in (entry.value for entry in value) if isinstance(value, Mapping) else value.items if isinstance(value, Sequence) else ():
        yield from _scalars(inner)
