"""Block `placewright:` of a framework's own file."""

from __future__ import annotations

from dataclasses import replace
from typing import Collection

from ..component import Component, Relation
from ..findings.finding import Finding, UnusableInput, error, warning
from ..job import HintedJob
from ..machines.cluster import Cluster
from ..model_cards.card import MODEL, NUMBERS, ModelCard
from ..roles import role_of
from ..text.edit import correct_name
from ..text.form import Form, ValueKind, fill, form_of, key, list_of, map_of
from ..text.tree import Entry, MapNode, Value, find, with_value
from ..text.values import whole_between
from .add import add_hints
from .forms import HintForm
from .plan import PlanForm, read_plan, with_estimated_times
from .relations import LinkForm, Objective, RelationForm, read_links, read_preference, read_relations
from .times import with_usual_phases

_NUMBER = ValueKind(whole_between(1).read, {"type": "integer", "minimum": 1})
_MEANING = "What is known of the model that is trained."
_KEYS = {name: key(_NUMBER, default=1, description="a whole number such as `28`") for name in NUMBERS}
ModelForm: type[Form] = type("ModelForm", (Form,), {"__doc__": _MEANING, **_KEYS})
"""Form of `model`."""
NAME = "placewright"
COMPONENTS, RELATIONS, LINKS, OBJECTIVE, PLAN = "components", "relations", "links", "objective", "plan"
IGNORED = "PW124"
KEYS = (COMPONENTS, RELATIONS, LINKS, OBJECTIVE, PLAN, MODEL)


class BlockForm(Form):
    """Hints about the components of the file; the framework ignores them."""

    components = key(map_of(form_of(HintForm)), default={}, description="name -> its hints, such as `{actor: {seconds: {8: 120, 16: 66}}}`")
    relations = key(list_of(form_of(RelationForm)), default=(), description="what must hold between components")
    links = key(
        list_of(form_of(LinkForm)),
        default=(),
        description="what components send to each other in every step, such as `[{from: actor, to: rollout, weights: 16GiB}]`",
    )
    objective = key(Objective, default=None, description="what is kept low first: `lexicographic` or `weighted`")
    plan = key(
        form_of(PlanForm), default=PlanForm(), description="what counts and degrees are chosen by, such as `{workflow: rollout -> actor}`"
    )
    model = key(
        form_of(ModelForm), default=ModelForm(), description="what is known of the model, such as `{heads: 28, kv_heads: 4, layers: 28}`"
    )


class FileForm(Form):
    """File of a framework; all keys except `placewright` are the framework's own."""

    is_open = True

    placewright = key(form_of(BlockForm), default=BlockForm(), description="hints such as `{components: {actor: {seconds: {8: 120}}}}`")


def model_of_block(root: MapNode, findings: list[Finding]) -> ModelCard | None:
    """Return the model that a file describes, or None; `findings` gets every fault."""
    place = f"{NAME}.{MODEL}"
    model = find(root, place)
    if model is None:
        return None
    try:
        form = fill(ModelForm, model, "", f"`{place}`")
    except UnusableInput as problem:
        findings += problem.findings
        return None
    return ModelCard.of(place, {name: getattr(form, name) for name in form.written_keys})


def timed_names(block: Value | None) -> frozenset[str]:
    """Return the components with `seconds` in the block `placewright`."""
    return _saying(block, "seconds")


def may_leave_degrees(block: Value | None) -> bool:
    """Return True if hints mention degrees, so that some may be open."""
    return bool(_saying(block, "parallel"))


def _saying(block: Value | None, key: str) -> frozenset[str]:
    """Return the components of the block with a key in their hints."""
    return frozenset(name for name, entry in hinted_entries(block).items() if find(entry.value, key) is not None)


def hinted_entries(block: Value | None) -> dict[str, Entry]:
    """Return component -> entry of its hints in the block."""
    inner = find(block, COMPONENTS)
    return {entry.key.text: entry for entry in inner} if isinstance(inner, MapNode) else {}


def find_plan_keys(block: Value | None) -> frozenset[str]:
    """Return the keys of `plan` in the block `placewright`."""
    plan = block.get("plan") if isinstance(block, MapNode) else None
    return frozenset(entry.key.text for entry in plan) if isinstance(plan, MapNode) else frozenset()


def without(block: Value | None, names: Collection[str]) -> Value | None:
    """Return the block without the hints of some components; None if empty."""
    entries, inner = hinted_entries(block), find(block, COMPONENTS)
    if not isinstance(block, MapNode) or not isinstance(inner, MapNode) or entries.keys().isdisjoint(names):
        return block
    entries_left = tuple(entry for name, entry in entries.items() if name not in names)
    remainder = with_value(block, COMPONENTS, replace(inner, entries=entries_left) if entries_left else None)
    return remainder if remainder.entries else None


def add_block(
    block: Value, cluster: Cluster, components: tuple[Component, ...], findings: list[Finding], further: tuple[Relation, ...] = (),
    without_division: Collection[str] = (),
) -> HintedJob:  # fmt: skip
    """Merge the whole block into the components, as `add_hints` does for `components`.

    The keys are `KEYS`; `components` may be omitted beside another key. `without_division`: components
    whose framework divides nothing by their degrees.
    """
    keys = list(block) if isinstance(block, MapNode) else []
    for entry in keys:
        if entry.key.text not in KEYS:
            advice, edit = correct_name(entry.key.text, KEYS, entry.key.span, "its keys are " + ", ".join(f"`{key}`" for key in KEYS))
            message = f"unknown key `{entry.key.text}` in the block `placewright`"
            findings.append(error("PW104", "", message, entry.key.span, label="not known", help=advice, edit=edit))
    inner = block.get(COMPONENTS) if isinstance(block, MapNode) else None
    if not isinstance(block, MapNode) or not keys or (inner is not None and not isinstance(inner, MapNode)):
        span = inner.span if inner is not None else block.span
        message = "the block `placewright` holds a map `components` of hints"
        findings.append(error("PW105", "", message, span, help="write `components: {actor: {accelerators: 8}}` in it"))
        return HintedJob(components, further)
    hint_map = inner if isinstance(inner, MapNode) else MapNode((), block.span)
    names = list(dict.fromkeys([*(component.name for component in components), *(entry.key.text for entry in hint_map)]))
    further += tuple(read_relations(block.get(RELATIONS), names, findings, f"{NAME}.{RELATIONS}"))
    links = tuple(read_links(block.get(LINKS), names, findings, f"{NAME}.{LINKS}"))
    merged_components, relations, choices, faulty = add_hints(hint_map, cluster, components, findings, further, without_division)
    for name, hints in ((entry.key.text, entry.value) for entry in hint_map):
        if name not in faulty and isinstance(hints, MapNode) and (ranks := hints.get("placement")) is not None:
            message = f"the ranks of `{name}` belong into the framework's own section, not into its hints"
            findings.append(error("PW121", name, message, ranks.span, help="move them there"))
    merged_components = tuple(_with_framework_role(component, components, findings) for component in merged_components)
    names_left = {component.name for component in merged_components}
    links = tuple(link for link in links if {link.source, link.target} <= names_left)
    preference = read_preference(block.get(OBJECTIVE), findings, f"{NAME}.{OBJECTIVE}")
    with_times = with_estimated_times(merged_components, choices, cluster, block.get(PLAN), findings)
    merged_components, phase_notes = with_usual_phases(with_times, block.get(PLAN))
    workload = read_plan(block.get(PLAN), merged_components, findings, f"{NAME}.{PLAN}", faulty, cluster)
    workload = workload and replace(workload, assumed=(*workload.assumed, *phase_notes))
    return HintedJob(merged_components, relations, choices, links, preference, workload)


def _with_framework_role(component: Component, components: tuple[Component, ...], findings: list[Finding]) -> Component:
    """Return the component with the framework's role; warn if hints state another role."""
    before = next((candidate for candidate in components if candidate.name == component.name), None)
    role = role_of(before) if before is not None else ""
    if before is None or not role or role_of(component) == role:
        return component
    message = f"`role` of `{component.name}` is `{component.role}`, but the file's own framework runs it as `{role}`: the hint is ignored"
    findings.append(warning(IGNORED, component.name, message, component.spans.get("role"), help="drop `role`"))
    return replace(component, role=before.role)
