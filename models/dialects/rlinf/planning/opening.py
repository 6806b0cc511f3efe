"""File as planned: the ranks of components with times are left open.

Inference components without degrees in the file have those of the trained component. Source: RLinf,
rlinf/utils/placement.py (inference_tp_size, inference_pp_size) and
rlinf/workers/inference/megatron_inference_worker.py (_build_inference_cfg).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Callable, Collection, Mapping, Sequence

from ....component import COLOCATED, UNBOUNDED, Component, Relation
from ....configuration.notes import Notes
from ....configuration.settings import Settings
from ....findings.finding import Finding, Severity
from ....findings.wording import list_words
from ....hints.block import hinted_entries, timed_names, without
from ....job import HintedJob, Job
from ....machines.cluster import Cluster
from ....machines.node_group import ACCELERATOR
from ....placements.run import Run
from ....planning.workload import TimedComponent
from ....problem import Problem
from ....reading import Reading
from ....record import dataclass
from ....roles import ROLES
from ....text.document import Document
from ....text.nearest import nearest
from ....text.tree import MapNode, Value, find, with_value
from ...following import ChosenDegrees, report_all_refused, with_dependent_degrees, with_hint
from ..known import (
    COST,
    CRITICS_INFERENCE,
    INFERENCE,
    INFERRING,
    KEY,
    PLANS,
    facts,
    find_placed,
    report,
    task_facts,
    time_advice,
)
from ..modes.state import TASKS, Placer, degree_keys, masks, placer_of
from .times import BATCH, BY_ENVIRONMENTS, TimedFile, infers, is_separate, is_started, read_profile


def open_ranks(
    notes: Notes, settings: Settings, cluster: Cluster, components: tuple[Component, ...], hints: Value | None
) -> tuple[HintedJob, Mapping[str, Sequence[Run]]]:  # fmt: skip
    """Return the file with open planned ranks, and these ranks.

    It is unchanged, with a warning, if nothing can be planned. Components without times follow the
    planned ones on their accelerators; `inference` may be new.
    """
    task = settings.word("runner.task_type", PLANS) or ""
    faults, unchecked_before = len(notes.findings), len(notes.unchecked)
    profile = read_profile(notes, settings)
    if len(notes.findings) > faults:
        return HintedJob(components), {}
    on_accelerators = [member for member in components if member.runs and cluster.kind(member.node_groups) == ACCELERATOR]
    with_ranks = {component.name: component for component in on_accelerators}
    file = TimedFile(notes, settings, cluster, task, with_ranks, profile, hints)
    why = _explain_closed(file)
    times = None if why else file.times()
    if times is None:
        lacking = next((f"`{path}` is not in this file" for path in BATCH if not settings.has(path)), "a setting is unknown")
        unread = ", or name the folder of its `defaults` with `--config-root`" if notes.partial else ""
        unknown = next((item.why for item in reversed(notes.unchecked[unchecked_before:])), lacking)
        why = why or (unknown, f"write it into this file{unread}")
        report(notes, "times choose nothing", KEY, profile.span() or settings.top, why=why[0], help=why[1])
        return HintedJob(components), {}
    file.check({name: component_times for name, component_times in times.items() if name not in file.hinted})
    open_components = {name: with_ranks[name] for name in with_ranks if name in times or name in file.hinted}
    if task != "embodied" and (span := profile.span()) and (texts := file.find_measured_on()[1]):
        report(notes, "costs measured", KEY, span, assumption=texts[0], further=texts[1:])
    followers = file.followers(open_components, times)
    # RLinf does not start inference where actor and rollout share accelerators.
    inference_names = _inference(file, times) if task != "embodied" else ()
    new_components = {name: replace(with_ranks[INFERENCE[name]], name=name, spans={}) for name in inference_names}
    baseline = {name: with_ranks[name].runs or () for name in (*open_components, *followers) if with_ranks[name].runs}
    baseline |= {name: component.runs or () for name, component in new_components.items()}
    by_name = {component.name: component for component in components} | open_components | new_components
    for name in baseline:
        component, span = by_name[name], profile.spans.get(name)
        spans = {key: place for key, place in component.spans.items() if key != "placement"}
        spans |= {"name": span} if span and name in new_components else {}
        spans |= {"timed": span} if span and name in times else {}
        by_name[name] = replace(
            component, least=component.per_process, most=UNBOUNDED, counts=(), runs=None, fixes={}, spans=spans, timed=times.get(name)
        )
    relations = tuple(
        Relation(COLOCATED, (leader, name), None, f"`{name}` goes along with `{leader}`", proposed=True)
        for name, leader in followers.items()
    )
    return HintedJob(tuple(by_name.values()), relations), baseline


def hints_of_started(
    settings: Settings, root: MapNode, block: Value, components: tuple[Component, ...], planned_names: Collection[str]
) -> Value | None:
    """Return the hints of a file with times, without components that RLinf does not start.

    None if nothing remains. Where actor and rollout share accelerators, inference without ranks is
    not started; elsewhere it is left to solve. Explicit ranks use no `plan`. `planned_names`: planned components.
    """
    names = find_placed(root).union(planned_names)
    idle = [name for name in INFERENCE if name not in names]
    if planned_names:
        return without(block, idle)
    actor, rollout = (next((masks(component) for component in components if component.name == name), {}) for name in ("actor", "rollout"))
    shares = actor and actor == rollout
    hints = without(block, idle if shares else unstarted_inference(settings, names, timed_names(block)))
    result = with_value(hints, "plan", None) if isinstance(hints, MapNode) else None
    return result if result and result.entries else None


def unstarted_inference(settings: Settings, names: Collection[str], candidates: Collection[str]) -> list[str]:
    """Return inference components with hinted seconds that no program starts."""
    return [name for name in INFERENCE if name in candidates and name not in names and not is_started(settings, name, names)]


def _inference(file: TimedFile, times: Mapping[str, TimedComponent]) -> list[str]:
    """Return inference components without a placement: with times, or hinted and started."""
    settings, with_ranks, new_names = file.settings, file.placed, [name for name in times if name not in file.placed]
    unstarted_names = unstarted_inference(settings, {*with_ranks, *new_names}, file.hinted)
    for name in sorted(file.hinted.intersection(INFERENCE).difference(with_ranks, new_names)):
        if is_separate(settings, name, with_ranks, new_names):
            new_names.append(name)
        elif name in unstarted_names:
            span = find(file.hints, f"components.{name}.seconds")
            is_critic = name == CRITICS_INFERENCE
            why = "there is no critic whose values it computes" if is_critic else "`algorithm.recompute_logprobs` is not true"
            report(file.notes, "inference not started", name, span or settings.top, why=why)
    return new_names


def _explain_closed(file: TimedFile) -> tuple[str, str] | None:
    """Return why nothing is planned, and help; None if a plan is possible."""
    settings, task, with_ranks = file.settings, file.task, file.placed
    required_names, is_embodied = task_facts(task)["timed"], task == "embodied"
    if not required_names:
        planned_tasks = [name for name in facts("tasks") if task_facts(name)["timed"]]
        return f"of task `{task or 'unknown'}` nothing is planned", f"tasks that are planned: {list_words(planned_tasks)}"
    if (placer := placer_of(settings, task)) not in (Placer.HYBRID, Placer.MODEL_PARALLEL):
        return f"of programs that place by RLinf's {placer.value} nothing is planned", f"drop `{KEY}` and `seconds`"
    if settings.flag("cluster.auto_scheduler", PLANS):
        return "RLinf's own scheduler moves the accelerators while it runs", "drop `cluster.auto_scheduler`, or the times"
    with_times = {*file.profile.costs, *file.hinted, *(file.profile.shares if is_embodied else ())}
    candidates = (*required_names, *(name for name in INFERENCE if infers(settings) or name not in INFERRING), "critic")
    missing = [name for name in required_names if name not in with_ranks]
    if missing and (not is_embodied or len(missing) == len(required_names)):
        return f"`{missing[0]}` is on no accelerators of the file", "give it the ranks of a run that was measured"
    for name in candidates:
        if name in with_ranks and name not in with_times:
            key = BY_ENVIRONMENTS.get(name, "") if is_embodied else ""
            return f"the time of `{name}` is unknown", time_advice(settings, name, key)
    return None


_KNOWN = frozenset((*ROLES, *INFERENCE))
"""Possible components of RLinf's programs, in addition to those of a file."""


def misspelt_times(notes: Notes, profile: Value | None, hints: Value | None, names: Collection[str], task: str) -> Value | None:
    """Return the hints without misspelt components; note unknown keys of `profile_data`."""
    keys = [*(f"{name}{COST}" for name in dict.fromkeys((*names, *INFERENCE))), *BY_ENVIRONMENTS.values()]
    for entry in profile.entries if isinstance(profile, MapNode) else ():
        if (name := entry.key.text) not in keys and name.removesuffix(COST) not in _KNOWN:
            close = nearest(name, keys)
            edit, help = (notes.rename(entry, close), f"write `{close}`") if close else (None, f"its keys are {list_words(keys)}")
            report(notes, "profile key unknown", KEY, entry.key.span, edit, name=name, help=help)
    misspelt: list[str] = []
    for name, entry in hinted_entries(hints).items() if task in TASKS else ():
        if name not in names and name not in _KNOWN and (close := nearest(name, names)):
            report(notes, "hinted name misspelt", name, entry.key.span, notes.rename(entry, close), close=close)
            misspelt.append(name)
    return without(hints, misspelt)


@dataclass(frozen=True)
class RlinfOpening:
    """File with times; implements `Opening`.

    `read` reads a document with its planned ranks left open; `written` is the problem as it stands.
    `leaves_degrees`: True if hints may leave degrees open.
    """

    read: Callable[[Document], Reading]
    document: Document
    written: Problem | None
    leaves_degrees: bool

    def open_ranks(self) -> Reading:
        """See `Opening.open_ranks`."""
        reading, original = self.read(self.document), self.written
        if reading.problem is None or original is None:
            return reading
        own_runs, job = {component.name: component.runs for component in original.components if component.runs}, reading.problem.job
        job = replace(job, planning=replace(job.planning, own={name: own_runs.get(name, runs) for name, runs in job.planning.own.items()}))
        refusals: tuple[Finding, ...] = ()
        if job.choices:
            job, refusals = with_dependent_degrees(job, list(job.choices), self._job_with, is_joint=True)
            every = [*(arrangement for choice in job.planning.followed for arrangement in choice.ways), *job.planning.ways]
            by_name = {arrangement.name: arrangement for arrangement in every}
            job = replace(job, planning=replace(job.planning, ways=tuple(by_name[name] for name in sorted(by_name))))
        findings = (*reading.findings, *(refusals if not reading.failed else ()))
        return replace(reading, problem=replace(reading.problem, job=job), findings=findings)

    def find_refusals(self) -> tuple[Finding, ...]:
        """See `Opening.find_refusals`."""
        reading = self.read(self.document) if self.leaves_degrees else None
        if reading is None or reading.problem is None or reading.failed:
            return ()
        return report_all_refused(reading.problem.job, self._job_with)

    def _job_with(self, degrees: ChosenDegrees) -> Job | str:
        """Return the job of the file with these degrees, or the reason of RLinf's refusal."""
        root = self.document.root
        for name, parallel in degrees.items():
            root = with_hint(root, name, parallel)
            for path, degree in degree_keys(root, name, parallel).items():
                root = with_value(root, path, degree)
        reading = self.read(replace(self.document, root=root))
        if reading.problem is not None and not reading.failed:
            return reading.problem.job
        return next((finding.message for finding in reading.findings if finding.severity is Severity.ERROR), "the file cannot be read")
