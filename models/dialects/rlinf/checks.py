"""Demands of RLinf on the settings of a job.

facts/demands.json has those on single settings, with the RLinf code behind them and conditions:
tasks, placement classes, phases with environments, placed components, and settings. `kind`: the
words are names of this kind in the release at hand, judged only for names of the kind `of`;
`proved_by`: programs that refuse others for sure. Numbers that are computed, and named in it,
stand here.
"""

from __future__ import annotations

from functools import partial
from math import lcm
from typing import Any

from ...configuration.settings import Amount, Settings
from ...findings.finding import Severity
from ...findings.wording import with_noun
from ...text.nearest import SLIP, closest
from ..checks import Facts, Number, Term
from ..demands import Demand, check_of, is_for, releases_of
from . import known
from .known import DEGREE, SETTING, facts
from .modes.state import DEMANDS, Mode

REASONING = ("reasoning", "coding_online_rl")
"""Tasks whose batch is a number of prompts."""
KEYS, RESOLVES = "Keys", "Resolves"
"""Demand of keys that RLinf reads without a default; jobs whose programs resolve every interpolation."""


def _samples(facts: Facts) -> Number | None:
    """Return the samples per step of a reasoning job."""
    prompts, group = (facts.number(path, DEMANDS) for path in ("data.rollout_batch_size", "algorithm.group_size"))
    if prompts is None or group is None:
        return None
    samples = prompts.value * group.value
    noun = with_noun(samples, "sample")
    return Number(samples, noun, note=f"{noun}: `data.rollout_batch_size` x `algorithm.group_size`")


def _count(name: str, noun: str, facts: Mode) -> Number | None:
    count = facts.processes(name) if noun == "process" else facts.count(name)
    return Number(count, f"the {with_noun(count, noun)} of {name}") if count else None


def _server(facts: Facts) -> Number | None:
    """Return the accelerators per server of an evaluation, out of those of rollout."""
    if facts.settings.word("rollout.rollout_backend", DEGREE) != "sglang":
        return None
    per_server = facts.settings.whole("rollout.sglang.server.num_gpus", DEGREE, 0, minimum=0)
    if per_server is None:
        return None
    if per_server.value:
        return Number(per_server.value, f"the {per_server.value} of a server", per_server)
    tp, pp = (facts.number(f"rollout.sglang.{key}", DEGREE) for key in ("tensor_parallel_size", "pipeline_parallel_size"))
    return Number(tp.value * pp.value, f"the {tp.value * pp.value} of a server", tp.amount) if tp and pp else None


def epochs_of(settings: Settings) -> Amount | None:
    """Return the rollouts per step of an embodied job."""
    is_own_key = settings.at("env.train.rollout_epoch") is not None and not settings.is_older_than("0.3")
    return settings.whole("env.train.rollout_epoch" if is_own_key else "algorithm.rollout_epoch", DEMANDS, 1)


def trajectories(facts: Mode) -> Number | None:
    """Return the trajectories of an actor's rank, if all processes get equally many environments."""
    counts, epochs = [facts.processes(name) or 0 for name in ("env", "rollout", "actor")], epochs_of(facts.settings)
    total, stages = (facts.settings.whole(path, DEMANDS) for path in ("env.train.total_num_envs", "rollout.pipeline_stage_num"))
    if not total or not stages or not epochs or not all(counts) or total.value % lcm(*(count * stages.value for count in counts)):
        return None
    share, ranks = total.value * epochs.value // counts[2], with_noun(counts[2], "rank")
    note = f"{with_noun(total.value, 'environment')} x {with_noun(epochs.value, 'epoch')} / {ranks}"
    return Number(share, f"the {with_noun(share, 'trajectory')} of an actor's rank", note=note)


_TERMS: dict[str, Term] = {
    "samples": _samples, "trajectories of a rank": trajectories, "accelerators of a server": _server,
    **{f"accelerators of {name}": partial(_count, name, "accelerator") for name in ("actor", "rollout")},
    **{f"processes of {name}": partial(_count, name, "process") for name in ("env", "rollout")},
}  # fmt: skip
"""Numbers that demands compare beside settings."""


def _applies(mode: Mode, demand: Demand) -> bool:
    """Return True if a demand is for the job as it is placed and set."""
    settings, has, phase = mode.settings, demand.get, demand.get("phase", "")
    return (
        mode.task in has("tasks", (mode.task,))
        and mode.task not in has("not_tasks", ())
        and bool(mode.task or not has("task"))
        and mode.placer.value in has("placers", (mode.placer.value,))
        and not (has("whole_text") and mode.notes.partial)
        and (not phase or (bool(mode.phases) if phase == "any" else phase in mode.phases))
        and ("placed" not in demand or mode.has(demand["placed"]))
        and not (has("chosen") and not mode.settings.is_older_than(demand["until"]))
        and has("whole", is_whole(mode)) is is_whole(mode)
        and not (has("trains") and mode.flag("runner.only_eval") is not False)
        and not (has("of") and (settings.word(demand["key"], SETTING) or "") not in known.names(demand["of"], mode.notes.choice))
        and not (has("near") and not closest(settings.word(demand["key"], SETTING) or "", demand["values"], SLIP))
        and all(settings.has(demand[key]) for key in ("has", "section") if key in demand)
        and is_for(settings, demand, SETTING)
    )


def is_whole(mode: Mode) -> bool:
    """Return True for a whole configuration, which names its groups of workers and its logs."""
    names_group = any(mode.settings.has(f"{name}.group_name") for name in ("actor", "rollout", "env"))
    return not mode.notes.partial and names_group and mode.settings.has("runner.logger")


def resolves_all(mode: Mode) -> bool:
    """Return True if the program of the job resolves every interpolation."""
    return any(demand["check"] == RESOLVES and _applies(mode, demand) for demand in facts("demands"))


def missing_keys(mode: Mode) -> dict[str, str]:
    """Return missing keys that RLinf reads without a default, with their sources.

    Those that its workers and runners read count where its checks miss none.
    """
    return {} if mode.notes.partial else _missing(mode, False) or _missing(mode, True)


def _missing(mode: Mode, late: bool) -> dict[str, str]:
    choice = mode.notes.choice
    demands = (demand for demand in facts("demands") if demand["check"] == KEYS and demand.get("late", False) is late)
    read = (demand for demand in demands if _applies(mode, demand) and (choice is None or choice.has(releases_of(demand))))
    return {key: demand["source"] for demand in read for key in demand["keys"] if mode.settings.at(key) is None}


def _of_kind(mode: Mode, demand: Demand) -> dict[str, Any]:
    """Return the known names of a kind; with message and help for newer ones."""
    values: dict[str, Any] = {"values": known.names(demand["kind"], mode.notes.choice)}
    if newer := known.releases_before(demand["kind"], mode.settings.word(demand["key"], SETTING) or ""):
        message = f"{{left}} is `{{right}}`, which RLinf before {newer.until} does not know"
        return {**values, "message": message, "help": f"run RLinf {newer.until}"}
    return values


def check_settings(mode: Mode, level: str = "") -> None:
    """Run the checks of a level: `training`, or "" for those of every level."""
    program = mode.notes.document.program.name.rpartition("/")[2] if mode.notes.document.program else ""
    for demand in facts("demands"):
        if demand["check"] not in (KEYS, RESOLVES) and demand.get("level", "") == level and _applies(mode, demand):
            when: str = getattr(known, demand.get("when", "CHECKED"), "")
            overrides: dict[str, Any] = {"code": demand.get("code", SETTING), "source": f"RLinf, {demand['source']}", "when": when}
            overrides |= {
                side: _TERMS[demand[side]] for side in ("left", "right") if isinstance(demand.get(side), str) and demand[side] in _TERMS
            }
            overrides |= _of_kind(mode, demand) if "kind" in demand else {}
            overrides |= {"severity": Severity.ERROR} if program in demand.get("proved_by", ()) else {}
            mode.subject = demand["subject"]
            check_of(demand, **overrides).run(mode)
