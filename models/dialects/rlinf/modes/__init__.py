"""Modes of RLinf: demands of its placement classes on components.

Sources in RLinf:

- rlinf/utils/placement.py: ModelParallelComponentPlacement, ModelParallelEvalComponentPlacement
  (examples/agent/searchr1/eval.py), MultiAgentModelParallelComponentPlacement and its Eval
  (examples/agent/wideseek_r1); rlinf/workers/rollout/utils.py.
- rlinf/config.py (validate_embodied_cfg, validate_offline_cfg, validate_cfg); the programs in
  examples/embodiment, examples/sft, examples/reward, examples/offline_rl and evaluations.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations
from typing import Callable, Mapping

from ....component import COLOCATED, DISJOINT, IN_ORDER, SUBSET
from ....configuration.notes import is_unknown
from ....findings.finding import Severity
from ....findings.span import Edit
from ....findings.wording import list_words
from ....parallel import UNDIVIDED
from ....planning.arrangement import ProcessShape
from ....problem import AMOUNT
from ....ranks import write_range
from ....text.nearest import nearest
from ....text.tree import MapNode
from ..known import CRITICS_INFERENCE, DEGREE, FOLDER, FSDP, INFERENCE, INFERRING, MEGATRON, SETTING, facts
from .arrangement import (
    APART,
    CRITIC,
    Arrangement,
    arrangement,
    arrangements,
    check_arrangement,
    check_engine_tp,
    check_engine_weights,
    check_inference,
    check_inference_weights,
    clear_degrees,
    relate,
    sections_of_inference,
    shapes_of_choices,
)
from .packing import engine_degrees, fits_in, fits_whole, pack, raise_minimum, runs_in_mode, shape_of_rollout, take_for_accelerators
from .state import Mode, Placer, placing_tp

__all__ = ["Mode", "Placer", "apply_mode"]


def _model_parallel(mode: Mode) -> None:
    """Apply the reasoning mode: actor and rollout share accelerators, are apart or take turns."""
    need_sections(mode, "actor.model", "rollout")
    for name in ("actor", "rollout"):  # faults of their degrees are noted first
        mode.degrees(name)
    current = arrangement(mode)
    relate(mode, current)
    if mode.plans_both:
        mode.ways += arrangements(mode)
    check_arrangement(mode, current)
    clear_degrees(mode)
    _actor(mode)
    shape = _rollout(mode, current)
    pack(mode, "rollout", shape, engine_degrees(mode, shape))
    raise_minimum(mode, "rollout", mode.degrees("rollout").tp)
    if current is Arrangement.DISAGGREGATED and "actor" not in mode.planned:
        check_engine_weights(mode)
    if current in APART:
        _inference(mode, current)
    pack(mode, "reward", ProcessShape(), fills=True)
    if mode.has("critic"):
        _pack_trained(mode, "critic")
    if current is Arrangement.AUTO:  # all in order over the cluster; the file has the initial shares
        mode.relate(IN_ORDER, *filter(None, ("actor", "rollout", mode.first_of(*INFERRING))))
        actor, total = mode.extent("actor"), mode.cluster.total()
        if actor and (mode.count("actor") or 0) < total:
            mode.report("auto starts on all", "actor", total=total, share=write_range(actor))


def _pack_trained(mode: Mode, name: str) -> None:
    pack(mode, name, ProcessShape(), mode.degrees(name).parallel if mode.backend(name) == MEGATRON else None)


def _actor(mode: Mode) -> None:
    """Pack the actor: its tensor parallel group must fit; Megatron needs whole replicas."""
    backend, count, degrees = mode.backend("actor"), mode.count("actor"), mode.degrees("actor")
    component = mode.components.get("actor")
    # A plan keeps the stated tp of fsdp, which may be a choice.
    keeps = backend == FSDP and component is not None and component.timed and mode.is_open("actor") and "actor" in mode.choices
    pack(mode, "actor", ProcessShape(), degrees.parallel if backend == MEGATRON or keeps else None)
    if backend == MEGATRON:
        _count_samples(mode, "actor")
    raise_minimum(mode, "actor", degrees.tp)
    if backend != MEGATRON and count is not None:
        fits_in(mode, "actor", degrees.tp, count)


def _rollout(mode: Mode, current: Arrangement) -> ProcessShape | None:
    """Return the shape of rollout's processes; None if unknown or refused.

    In auto mode rollout starts on the accelerators of the actor too, so it must also be launchable
    there, and its own share must consist of whole engines.
    """
    rollout, count, extent = mode.degrees("rollout"), mode.count("rollout"), mode.extent("rollout")
    shares = current is Arrangement.COLLOCATED
    if count is not None and not fits_in(mode, "rollout", rollout.tp, count, mode.degrees("actor").tp):
        return None
    if current is Arrangement.AUTO and extent and count and mode.settings.flag("cluster.use_pre_process_policy", DEGREE):
        actors = mode.count("actor") or 0
        if rollout.tp and not fits_whole(mode, "actor", actors, ProcessShape(rollout.tp.value), rollout.tp):
            return None
        shape = shape_of_rollout(mode, False, count + actors)
        if shape is None or not runs_in_mode(mode, mode.components["rollout"], range(extent.stop), shape):
            return None
        if count % shape.block:
            mode.report("auto starts at zero", "rollout", last=extent.stop - 1, share=write_range(extent))
        return None if count % shape.block else shape
    if shares and rollout.pp and rollout.pp.value > 1:
        mode.report("pp ignored", "rollout", rollout.pp.span, pp=rollout.pp.text)
    return None if current is Arrangement.NONE else shape_of_rollout(mode, shares, count)


def _inference(mode: Mode, current: Arrangement) -> None:
    """Pack the inference components; in auto mode RLinf does not check their tp."""
    is_separate = current is Arrangement.DISAGGREGATED
    if is_separate and "actor" not in mode.planned:
        need_sections(mode, *sections_of_inference(mode))
        check_inference_weights(mode)
    idle = {name for variant in mode.ways for name in variant.without}
    for name, role in INFERENCE.items():
        count = mode.count(name)
        is_judged = is_separate and mode.has(name) and not (name == "actor_inference" and mode.has("inference"))
        tp = placing_tp(mode.settings, name) if is_judged else None
        fits = count is None or fits_in(mode, name, tp, count)
        is_divided = is_judged and fits and mode.backend(role) == MEGATRON
        pack(mode, name, ProcessShape(), mode.degrees(name).parallel if is_divided else None)
        if is_divided:
            _count_samples(mode, name)
        # The trained component does the work in that arrangement, on its own accelerators.
        if not (name in idle and mode.has(role)):
            raise_minimum(mode, name, tp)


def _count_samples(mode: Mode, name: str) -> None:
    """Store the samples per step of a planned component, which divide among its replicas."""
    component = mode.components.get(name)
    if name not in mode.planned or not component or not component.timed or component.timed.samples:
        return
    prompts, group = (mode.settings.whole(path, DEGREE) for path in ("data.rollout_batch_size", "algorithm.group_size"))
    if prompts and group:
        mode.components[name] = replace(component, timed=replace(component.timed, samples=prompts.value * group.value))


def _evaluation(mode: Mode) -> None:
    """Apply reasoning evaluation: rollout and reward; other components stay as written."""
    need_sections(mode, "rollout")
    tp, count = mode.degrees("rollout").tp, mode.count("rollout")
    shape = ProcessShape(tp.value) if tp else None
    if count and not (fits_in(mode, "rollout", tp, count) and shape and fits_whole(mode, "rollout", count, shape, tp)):
        shape = None
    pack(mode, "rollout", shape, engine_degrees(mode, shape))
    pack(mode, "reward", ProcessShape(), fills=True)


SHARED = ("actor", "rollout", "reward", "inference")
"""Components that may share accelerators with others; all others are pairwise disjoint."""
JUDGE = "rollout_judge"


def _multi_agent(mode: Mode) -> None:
    """Apply the multi-agent mode: several engines on the actor's accelerators."""
    need_sections(mode, "actor.model", "rollout")
    check_inference(mode, Arrangement.COLLOCATED)
    actor, rollout = mode.degrees("actor").tp, mode.degrees("rollout").tp
    count, trains = mode.count("rollout"), mode.count("actor")
    check_engine_tp(mode, True, partly=count is not None and trains is not None and count < trains)
    mode.relate(COLOCATED, "actor", "reward")
    names = list(dict.fromkeys([*mode.written, *mode.components]))
    for name in names:
        if name.startswith("rollout"):
            mode.relate(SUBSET, name, "actor")
    for pair in combinations([name for name in names if name not in SHARED], 2):
        mode.relate(DISJOINT, *pair)
    _pack_trained(mode, "actor")
    shape = None
    if count is None or fits_in(mode, "rollout", rollout, count, actor):
        shape = shape_of_rollout(mode, True, count)
    pack(mode, "rollout", shape, engine_degrees(mode, shape))
    reward = mode.extent("reward")
    if reward is None or len(reward) == mode.count("reward"):  # with holes it does not match the actor's accelerators
        pack(mode, "reward", ProcessShape())
    _judge(mode, shape)


def _multi_agent_evaluation(mode: Mode) -> None:
    """Apply multi-agent evaluation: planner and fixed workers get one half of rollout each."""
    _evaluation(mode)
    rollout, count = mode.find_on_accelerators("rollout"), mode.count("rollout")
    _judge(mode, ProcessShape(rollout.per_process) if rollout else None)
    if not count or not mode.flag("rollout.use_fixed_worker"):
        return
    for section, usual in (("rollout", 1), ("rollout_fixed_worker", None)):
        tp = mode.settings.whole(f"{section}.tensor_parallel_size", DEGREE, usual)
        if tp and not fits_whole(mode, "rollout", count, ProcessShape(2 * tp.value), tp):
            return


def _judge(mode: Mode, shape: ProcessShape | None) -> None:
    """Pack the judge's engines like rollout's; the judge's degrees must divide its share."""
    if not mode.flag("agentloop.use_local_judge"):
        return
    need_components(mode, JUDGE)
    keys, extent = ("tensor_parallel_size", "pipeline_parallel_size", "dp_size"), mode.extent(JUDGE)
    degrees = [degree for key in keys if (degree := mode.settings.whole(f"{JUDGE}.{key}", DEGREE))]
    blocks = [(shape, None), *((ProcessShape(degree.value), degree) for degree in degrees)] if shape and extent else []
    fits = all(fits_whole(mode, JUDGE, len(extent or ()), *block) for block in blocks)
    pack(mode, JUDGE, shape if fits else None, fills=True)


def _hybrid(mode: Mode) -> None:
    clear_degrees(mode, "actor")
    for name in mode.merged.choices:  # RLinf reads no degrees here: explicit ranks have none
        if (component := mode.components.get(name)) and component.runs is not None:
            mode.components[name] = replace(component, parallel=UNDIVIDED)
    if mode.written or not any(finding.severity is Severity.ERROR for finding in mode.notes.findings):
        need_programs(mode)


_APPLY: Mapping[Placer, Callable[[Mode], None]] = {
    Placer.HYBRID: _hybrid,
    Placer.MODEL_PARALLEL: _model_parallel,
    Placer.MODEL_PARALLEL_EVAL: _evaluation,
    Placer.MULTI_AGENT: _multi_agent,
    Placer.MULTI_AGENT_EVAL: _multi_agent_evaluation,
}


def apply_mode(mode: Mode) -> None:
    """Apply the rules of the task's placement class to the components; see `Mode`."""
    notes, settings = mode.notes, mode.settings
    if mode.placer is Placer.MODEL_PARALLEL:
        drop_critics(mode)
    wrong = {finding.subject for finding in notes.findings if finding.severity is Severity.ERROR}
    hints = settings.at("placewright.components")
    mode.faulty = frozenset(entry.key.text for entry in (hints if isinstance(hints, MapNode) else ())) & wrong - mode.components.keys()
    check_names(mode)
    if mode.packs and mode.cluster.counted and not mode.cluster.total():
        if not any(finding.severity is Severity.ERROR for finding in notes.findings):
            mode.report("cluster without accelerators", "cluster", mode.owner)
        return
    if mode.packs:
        take_for_accelerators(mode)
        need_components(mode, *mode.facts["needs"])
    _APPLY[mode.placer](mode)
    if mode.ways or not mode.packs:
        mode.shapes = shapes_of_choices(mode)


ELSEWHERE = "`{}` is not placed in this file; it may come from `defaults`"
TRAINED: tuple[str, ...] = ("actor", "rollout")
"""Further components that embodied programs look up. Source: RLinf, examples/embodiment/train_{embodied_agent,async}.py."""


def need_components(mode: Mode, *names: str) -> None:
    """Note an error per required component without a placement."""
    for name in (candidate for candidate in names if not mode.has(candidate)):
        strange = nearest(name, [candidate for candidate in mode.components if candidate not in mode.written])
        if mode.notes.partial:
            mode.notes.unsure(SETTING, name, ELSEWHERE.format(name), True, FOLDER)
        elif strange is not None:
            mode.report("hint names another", strange, mode.components[strange].span(AMOUNT) or mode.owner, name=name)
        else:
            partner = next((mode.components[role] for role in TRAINED if role != name and mode.find_placed(role)), None)
            ranks = partner.span("placement") if partner and not partner.spans.get("node_group") else None
            help = f"add a line for `{name}`, such as `{name}: {mode.notes.document.excerpt(ranks) if ranks else 'all'}`"
            if name == "rollout" and mode.first_of(*INFERRING, CRITICS_INFERENCE):
                help = "add a line for `rollout`, with ranks of its own"
            mode.report("component needed", name, mode.owner, names=names, help=help)


def need_sections(mode: Mode, *paths: str) -> None:
    """Note errors for missing sections, and for sections that are no maps."""
    sections = {path: mode.settings.at(path) for path in paths}
    missing = [] if mode.notes.partial else [path for path, value in sections.items() if value is None]
    if missing:
        mode.report("sections needed", "cluster", mode.owner, names=" and ".join(f"`{path}`" for path in missing))
    for path, value in sections.items():
        if value is not None and not isinstance(value, MapNode) and not is_unknown(value):
            mode.notes.report_type(path, path, value, "a map", f"write the settings of `{path}` below it")


def need_programs(mode: Mode) -> None:
    """Note unplaced components: an error if the program starts them, incomplete if it only may."""
    settings, task, program = mode.settings, mode.task, mode.notes.document.program
    names = [*mode.facts["needs"], *(("env", "rollout") if task == "offline" and "eval" in mode.phases else ())]
    training = TRAINED if task == "embodied" and settings.has("actor.training_backend") and not mode.flag("runner.only_eval") else ()
    if settings.since("0.3") and mode.flag("reward.use_reward_model") and mode.flag("reward.standalone_realworld") is False:
        training = (*training, "reward") if training else ()
    is_own = program is not None and re.search(r"\btrain_(embodied_agent|async)(\.py)?$", program.name)
    needs = {**dict.fromkeys(names, Severity.ERROR), **dict.fromkeys(training, Severity.ERROR if is_own else Severity.WARNING)}
    for name, severity in ((name, severity) for name, severity in needs.items() if not mode.has(name)):
        if mode.notes.partial:
            mode.notes.unsure(SETTING, name, ELSEWHERE.format(name), True, FOLDER)
            continue
        mode.report("program needs component", name, mode.owner, severity=severity, task=task)
        if severity is Severity.WARNING:
            why = f"the program is not known, and `{name}` is not placed"
            mode.notes.unsure(SETTING, name, why, True, f"Add a line for `{name}`, or verify the script that starts it")


def check_names(mode: Mode) -> None:
    """Correct misspelt names of needed components, and note components that no program starts.

    A misspelling is an error; components of other tasks are one note, all others warnings.
    """
    known_names = frozenset(name for task in facts("tasks").values() for name in task["starts"])
    starts, is_whole = mode.facts["starts"], bool(mode.task) and not mode.notes.partial
    foreign = [name for name in mode.written if name not in starts and mode.settings.at(name) is None]
    for name in (candidate for candidate in foreign if candidate not in known_names):
        span, missing_name = mode.written[name], nearest(name, [candidate for candidate in mode.facts["needs"] if not mode.has(candidate)])
        close = missing_name or nearest(name, [candidate for candidate in starts if not mode.has(candidate)])
        edit = Edit(span, close) if close and span.length == len(name) else None
        if missing_name:
            mode.written[missing_name] = mode.written.pop(name)
            mode.report("component misspelt", name, span, edit, task=mode.task, name=missing_name)
            if name in mode.components:
                mode.components[missing_name] = replace(mode.components.pop(name), name=missing_name)
        elif is_whole:
            help = f"write `{close}`" if close else f"drop it; components of this task are {list_words(starts)}"
            mode.report("component unknown", name, span, edit, task=mode.task, help=help)
    if idle := [name for name in foreign if name in known_names and is_whole]:
        mode.report("components idle", idle[0], mode.written[idle[0]], task=mode.task, names=idle)


def drop_critics(mode: Mode) -> None:
    """Note and remove critics and role inference that RLinf never starts.

    The release or the settings decide. A critic that is not started still keeps actor and rollout off its accelerators where they are
    apart. Source: RLinf, examples/reasoning/main_grpo.py (`cfg.critic.use_critic_model`) and rlinf/utils/placement.py
    (_is_disaggregated).
    """
    if "critic" in mode.written and mode.settings.has(CRITIC) and mode.flag(CRITIC) is False:
        mode.report("critic off", "critic", mode.written["critic"])
        if arrangement(mode) is Arrangement.COLLOCATED:
            mode.components.pop("critic", None)
    for name in [critic for critic in ("critic", CRITICS_INFERENCE, "actor_inference") if critic in mode.written]:
        mode.report("critic before 0.2", name, mode.written[name])
        if mode.settings.is_older_than("0.2"):
            mode.components.pop(name, None)
            del mode.written[name]
