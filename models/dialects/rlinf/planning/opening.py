"""File as it is planned: ranks of components with times are left open.

Inference components have the degrees of what trains where the file says none of theirs. Source: RLinf, rlinf/utils/placement.py
(inference_tp_size, inference_pp_size) and rlinf/workers/inference/megatron_inference_worker.py (_build_inference_cfg).
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Callable, Collection, Iterable, Sequence
from typing import Mapping as MappingType

from ....component import COLOCATED, UNBOUNDED, Component, Parallel, Relation
from ....configuration.notes import Notes
from ....configuration.settings import Settings
from ....findings.finding import Finding, Severity, Unchecked, UnusableInput
from ....findings.span import Span
from ....findings.wording import with_noun
from ....hints.said import timed_names
from ....hints.without import without
from ....job import Job
from ....machines.cluster import Cluster
from ....machines.node_group import ACCELERATOR
from ....placements.assignment import Assignment
from ....planning.workload import Timed
from ....problem import Problem
from ....reading import Reading
from ....roles import ROLES
from ....text.changed import with_value
from ....text.document import Document
from ....text.nearest import nearest
from ....text.tree import Entry, Mapping, Scalar, Value, find, kind_of
from ...all_refused import Chosen, all_refused
from ...following import following, interpolates, with_hint
from ..known import COST, INFERENCE, KEY, PLANS, saying
from ..modes.parts import SECTIONS, TASKS, Placer, placer_of
from .hints import Opened
from .tables import BY_ENVIRONMENTS, Profile, read_profile
from .times import (
    BATCH,
    CRITICS,
    OF_ACTOR,
    Lost,
    along,
    batch_of,
    besides,
    embodied,
    infers,
    measured_on,
    of_environments,
    of_rows,
    of_updates,
    reasoning,
    unstarted,
)

NEEDED = {"reasoning": ("rollout", "actor"), "coding_online_rl": ("rollout", "actor"), "embodied": ("env", "rollout", "actor")}
"""Task -> the components whose times a plan is chosen by; the others of a file have one, or go along, or stay."""


def opened(
    notes: Notes, settings: Settings, cluster: Cluster, components: tuple[Component, ...], hints: Value | None,
    counts: MappingType[str, int],
) -> Opened:  # fmt: skip
    """The file as it is planned; as it is, with a warning that says why, where that cannot be.

    `counts`: on how many accelerators costs were measured, where the hints say it.
    """
    task = settings.word("runner.task_type", PLANS) or ""
    faults = len(notes.findings)
    profile, hinted = read_profile(notes, settings), timed_names(hints)
    if len(notes.findings) > faults:
        return Opened(components)
    placed = {
        each.name: _in_group(each, cluster, hints) for each in components if each.runs and cluster.kind(each.node_groups) == ACCELERATOR
    }
    if why := _not_planned(settings, task, profile, hinted, placed):
        span = next(iter(profile.costs.values())).span if profile.costs else settings.top
        notes.warn(PLANS, KEY, f"the times of the file choose no ranks: {why[0]}", span, "", why[1])
        return Opened(components)
    asked = len(notes.unchecked)
    if task == "embodied":
        times = embodied(settings, cluster, placed, profile, counts)
    else:
        times = reasoning(settings, cluster, placed, profile, counts, _choices(hints, profile.costs))
    if times is None:
        _not_known(notes, settings, profile, notes.unchecked[asked:])
        return Opened(components)
    if task == "embodied":
        if profile.shares:
            of_environments(notes, settings)
        of_rows(notes, settings, cluster, placed, profile, times, hinted)
    elif profile.costs:
        of_updates(notes, settings)
    if task != "embodied" and profile.costs.keys() - counts.keys() and (taken := measured_on(cluster, placed)[1]):
        notes.info(
            PLANS,
            KEY,
            taken,
            next(iter(profile.costs.values())).span,
            "",
            "give other times as `seconds`, by count, in `placewright.components`",
        )
    planned = {name: placed[name] for name in placed if name in times or name in hinted}
    for name, each in planned.items():
        processes, held = _world_size(each), Assignment({name: each.runs or ()}).held(name)
        if processes > held:
            message = f"`{name}` has {processes} processes on {with_noun(held, 'accelerator')}; it is planned with one on each"
            notes.info(PLANS, name, message, each.span("placement") or settings.top, "", "give it more environments or samples a process")
    inferring = _inferring(notes, settings, placed, times, hints) if task != "embodied" else []
    own = {name: its.runs for name, its in planned.items() if its.runs}
    found = [_open(each, times.get(each.name)) if each.name in planned else each for each in components]
    for name in inferring:  # where actor and rollout share accelerators, RLinf does not start it
        role = INFERENCE[name]
        own[name] = own[role]
        found.append(_open(replace(placed[role], name=name, spans=_spans(profile, name)), times.get(name)))
    followers = dict(along(placed, planned, {} if task == "embodied" else _lost(settings, cluster, planned, times)))
    own |= {name: its for name in followers if (its := placed[name].runs)}
    found = [_open(each, None) if each.name in followers else each for each in found]
    relations = tuple(
        Relation(COLOCATED, (leader, name), None, f"`{name}` goes along with `{leader}`", proposed=True)
        for name, leader in followers.items()
    )
    return Opened(tuple(_with_span(each, profile) for each in found), own, relations)


def _choices(hints: Value | None, names: Iterable[str]) -> dict[str, tuple[Parallel, ...]]:
    """The degrees that hints leave open, of these components; what is wrong with them is told where they are read."""
    found = dict[str, tuple[Parallel, ...]]()
    for name in names:
        value = find(hints, f"components.{name}.parallel") if hints is not None else None
        if not isinstance(value, Mapping):
            continue
        from ....hints.forms import ParallelForm
        from ....text.forms import fill

        with suppress(UnusableInput):
            its = fill(ParallelForm, value, name, "").choices()
            found |= {name: its} if len(its) > 1 else {}
    return found


def _in_group(component: Component, cluster: Cluster, hints: Value | None) -> Component:
    """The component on the node group of its hints, where they name one: RLinf's own entries cannot always (see writing/groups.py)."""
    named = find(hints, f"components.{component.name}.node_group") if hints is not None else None
    label = named.text if isinstance(named, Scalar) else ""
    known = label in cluster.groups and cluster.kind((label,)) == ACCELERATOR
    return replace(component, node_groups=(label,)) if known else component


def _inferring(
    notes: Notes, settings: Settings, placed: MappingType[str, Component], times: MappingType[str, Timed], hints: Value | None
) -> list[str]:
    """The components that infer where actor and rollout are apart and that the file does not place: those with times, and those of the hints.

    It is said of those of the hints that are started nowhere.
    """
    found = [name for name in times if name not in placed]
    nowhere = unstarted(settings, {*placed, *found}, timed_names(hints))
    for name in sorted(timed_names(hints).intersection(INFERENCE).difference(placed, found)):
        if besides(settings, name, placed, found):
            found.append(name)
        elif name in nowhere:
            at = find(hints, f"components.{name}.seconds") or settings.top
            why = "there is no critic whose values it computes" if name == CRITICS else "`algorithm.recompute_logprobs` is not true"
            notes.info(PLANS, name, f"`{name}` is not started: {why}; its seconds count nowhere", at)
    return found


def _not_known(notes: Notes, settings: Settings, profile: Profile, asked: Sequence[Unchecked]) -> None:
    """A warning that a setting is not known on which times depend: the last that was asked for, without which nothing more was."""
    lacking = next(
        (f"`{path}` is not in this file" for path in BATCH if not settings.has(path)), "settings that they depend on are not known"
    )
    why = asked[-1].why if asked else lacking
    span = next(iter(profile.costs.values())).span if profile.costs else settings.top
    allowed = next((each.help for each in notes.document.findings if each.code == "PW122" and each.help), "")
    unread = allowed or "name the folder of its `defaults` with `--config-root`"
    advice = "write it into this file" + (f", or {unread}" if notes.partial else "")
    notes.warn(PLANS, KEY, f"the times of the file choose no ranks: {why}", span, "", advice)


def _lost(settings: Settings, cluster: Cluster, planned: MappingType[str, Component], times: MappingType[str, Timed]) -> dict[str, Lost]:
    """Of `reward`, whose processes the prompts of a step divide among: how many counts of a planned component do not suit it."""
    batch = batch_of(settings)
    if batch is None:
        return {}

    def lost(name: str) -> int:
        total = cluster.numbering(planned[name].node_groups).size
        counts = {each.accelerators for each in times[name].measured} if name in times else range(1, total + 1)
        return sum(batch.prompts % count > 0 for count in counts)

    return {"reward": lost}


def _world_size(component: Component) -> int:
    """How many processes its ranks are."""
    return Assignment({component.name: component.runs or ()}).world_size(component.name)


def _not_planned(
    settings: Settings, task: str, profile: Profile, hinted: frozenset[str], placed: MappingType[str, Component]
) -> tuple[str, str] | None:
    """Why nothing is planned, and what helps; None if something is."""
    if task in NEEDED and (placer := placer_of(settings, task)) not in (Placer.HYBRID, Placer.MODEL_PARALLEL):
        return f"of programs that place by RLinf's {placer.value} nothing is planned", f"drop `{KEY}` and `seconds`"
    if task not in NEEDED:
        return f"of task `{task or 'unknown'}` nothing is planned", f"tasks that are planned: {', '.join(f'`{each}`' for each in NEEDED)}"
    if settings.flag("cluster.auto_scheduler", PLANS):
        return "RLinf's own scheduler moves the accelerators while it runs", "drop `cluster.auto_scheduler`, or the times"
    known = {*profile.costs, *hinted} | (set(profile.shares) if task == "embodied" else set())
    timed = (*NEEDED[task], *(name for name in INFERENCE if infers(settings) or name not in OF_ACTOR), "critic")
    lacking = [name for name in timed if name in placed and name not in known]
    missing = [name for name in NEEDED[task] if name not in placed and task != "embodied"]
    if missing or not any(name in placed for name in NEEDED[task]):
        return f"`{(missing or NEEDED[task])[0]}` is on no accelerators of the file", "give it the ranks of a run that was measured"
    if lacking:
        return f"nobody says how long `{lacking[0]}` takes", saying(lacking[0], _key(task, lacking[0]), settings.has(KEY))
    return None


def _key(task: str, name: str) -> str:
    return f"{name}_profile_data" if task == "embodied" and name in ("env", "rollout") else f"{name}_cost"


def _open(component: Component, timed: Timed | None) -> Component:
    """The component without its ranks: as many accelerators as are found best."""
    spans = {name: span for name, span in component.spans.items() if name != "placement"}
    return replace(component, least=component.per_process, most=UNBOUNDED, counts=(), runs=None, fixes={}, spans=spans, timed=timed)


def _spans(profile: Profile, name: str) -> dict[str, Span]:
    cost = profile.costs.get(name)
    return {"name": cost.span} if cost else {}


def _with_span(component: Component, profile: Profile) -> Component:
    """With the place of its times."""
    its = profile.shares.get(component.name) or profile.costs.get(component.name)
    return replace(component, spans={**component.spans, "timed": its.span}) if its and component.timed else component


_KNOWN = frozenset((*ROLES, *OF_ACTOR, CRITICS))
"""Components that RLinf's programs may have, besides those that a file places."""
_BY_KEY = {key: name for name, key in BY_ENVIRONMENTS.items()}


def misspelt_times(notes: Notes, profile: Value | None, hints: Value | None, placed: Collection[str], task: str) -> Value | None:
    """The hints, without those of names that are nearly those of components; what is nearly one, there or in `profile_data`, is told, and what is no map there.

    RLinf's own programs, which a `task` of theirs tells of, have no component of such a name: nothing follows from its hints. Other
    programs may have one, which is searched.
    """
    entries = list(profile) if isinstance(profile, Mapping) else []
    _no_map(notes, profile, KEY, "{actor_cost: 95.7, rollout_cost: 59.9}")
    for each in entries:
        if each.key.text in _BY_KEY:
            _no_map(notes, each.value, f"{KEY}.{each.key.text}", "{16: 2.46, 32: 4.66}")
    known = [f"{name}{COST}" for name in dict.fromkeys((*placed, *OF_ACTOR, CRITICS))] + list(BY_ENVIRONMENTS.values())
    for entry in entries:
        name = entry.key.text
        whose = name.removesuffix(COST) if name.endswith(COST) else _BY_KEY.get(name, "")
        if whose in _KNOWN and whose not in placed and whose not in (*OF_ACTOR, CRITICS):
            message = f"`{KEY}.{name}` is not used: the file places no `{whose}`"
            notes.info("PW104", KEY, message, entry.key.span, "", f"place `{whose}`, or drop it; a profile may serve several files")
        if name in known or whose in _KNOWN:
            continue
        close = nearest(name, known)
        message = f"`{KEY}.{name}` belongs to no component of the file: it is ignored"
        advice = f"write `{close}`" if close else "its keys are " + ", ".join(f"`{each}`" for each in known)
        notes.warn("PW104", KEY, message, entry.key.span, "not known", advice, notes.renamed(entry, close) if close else None)
    inner = hints.get("components") if isinstance(hints, Mapping) else None
    nobody: list[Entry] = []
    for entry in inner if isinstance(inner, Mapping) else ():
        name = entry.key.text
        close = nearest(name, placed) if name not in placed and name not in _KNOWN else None
        if close and task in TASKS:
            message = f"`{name}` is no component of this job"
            notes.error("PW104", name, message, entry.key.span, "not placed", f"write `{close}`", notes.renamed(entry, close))
            nobody.append(entry)
        elif close:
            message = f"`{name}` is no component that the file places: it is searched as one of its own"
            notes.warn(
                "PW104", name, message, entry.key.span, "not placed", f"write `{close}`, if that is meant", notes.renamed(entry, close)
            )
    return without(hints, nobody) if nobody else hints


def _no_map(notes: Notes, value: Value | None, path: str, example: str) -> None:
    """A warning where something else stands where a map of seconds belongs: RLinf trains all the same, and nothing is planned by it."""
    if value is None or isinstance(value, Mapping) or (isinstance(value, Scalar) and (value.is_null or "${" in value.text)):
        return
    message = f"`{path}` is {kind_of(value)}, not a map of seconds: it is ignored"
    notes.warn("PW105", KEY, message, value.span, "ignored", f"write a map such as `{example}`")


def leaders(job: Job, root: Mapping) -> list[str]:
    """The components with open degrees from which those of others may follow."""
    roles = {role for name, role in INFERENCE.items() if name in job.own}
    return [name for name in job.choices if name in roles or interpolates(root)]


def with_degrees(root: Mapping, degrees: MappingType[str, Parallel]) -> Mapping:
    """The tree with these degrees, where writing/degrees.py writes them."""
    for name, parallel in degrees.items():
        root = with_hint(root, name, parallel)
        path, keys = SECTIONS.get(name, ("", {}))
        section = find(root, path) if path else None
        for degree, key in keys.items() if isinstance(section, Mapping) else ():
            value, here = int(getattr(parallel, degree)), section.get(key) if isinstance(section, Mapping) else None
            if (isinstance(here, Scalar) and here.value != value) or (here is None and value > 1):
                root = with_value(root, f"{path}.{key}", value)
    return root


Read = Callable[[Document], Reading]
"""Reads a file with these ranks left open."""


def anew(read: Read, document: Document, written: Problem | None) -> Reading:
    """The file as it is planned; the own ranks of what is open are as RLinf would have them of what is `written`."""
    found = read(document)
    if found.problem is None or written is None:
        return found
    placed = {each.name: each.runs for each in written.components if each.runs}
    own = {name: placed.get(name, runs) for name, runs in found.problem.job.own.items()}
    job, refused = _with_followers(replace(found.problem.job, own=own), read, document)
    findings = (*found.findings, *(refused if not found.failed else ()))
    return replace(found, problem=replace(found.problem, job=job), findings=findings)


def choices_refused(read: Read, document: Document) -> tuple[Finding, ...]:
    """An error where RLinf refuses every choice of degrees that hints leave open."""
    found = read(document)
    if found.problem is None or found.failed or not found.problem.job.choices:
        return ()
    return all_refused(found.problem.job, lambda degrees: _job_with(read, document, degrees))


def _with_followers(job: Job, read: Read, document: Document) -> tuple[Job, tuple[Finding, ...]]:
    """With what follows from the choices of degrees that hints leave open; an error where RLinf refuses all of them."""
    if not job.choices:
        return job, ()
    if refused := choices_refused(read, document):
        return job, refused
    return following(job, leaders(job, document.root), lambda degrees: _job_with(read, document, degrees))


def _job_with(read: Read, document: Document, degrees: Chosen) -> Job | str:
    """The job of the file with these degrees; why, where RLinf refuses it."""
    reading = read(replace(document, root=with_degrees(document.root, degrees)))
    if reading.problem is not None and not reading.failed:
        return reading.problem.job
    return next((each.message for each in reading.findings if each.severity is Severity.ERROR), "the file cannot be read")
