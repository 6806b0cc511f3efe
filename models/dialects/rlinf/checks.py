"""Demands of RLinf on the settings of a job.

facts/demands.json has those on single settings, with the RLinf code behind them and conditions:
tasks, placement classes, phases with environments, placed components, and settings. Numbers that
are computed stand here.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any, Sequence

from ...findings.finding import Severity
from ...findings.wording import with_noun
from ...releases.release import Range
from ...text.nearest import SLIP, closest
from ..checks import MULTIPLE, AtLeast, Check, Divides, Facts, Number, run_checks
from ..demands import Demand, check_of, is_for, releases_of
from . import known
from .known import CHECKED, DEGREE, FACTS, LATE, SETTING
from .modes.state import DEMANDS, Mode

REASONING = ("reasoning", "coding_online_rl")
KEYS = "Keys"
"""Demand of keys that RLinf reads without a default."""
_CONFIG = "RLinf, rlinf/config.py"


def _prompt(facts: Facts) -> Number | None:
    """Return one token more than the longest prompt."""
    longest = facts.number("data.max_prompt_length", DEMANDS)
    return longest and Number(longest.value + 1, longest.text, longest.amount)


def _samples(facts: Facts) -> Number | None:
    """Return the samples per step of a reasoning job."""
    prompts, group = (facts.number(path, DEMANDS) for path in ("data.rollout_batch_size", "algorithm.group_size"))
    if prompts is None or group is None:
        return None
    samples = prompts.value * group.value
    noun = with_noun(samples, "sample")
    return Number(samples, noun, note=f"{noun}: `data.rollout_batch_size` x `algorithm.group_size`")


def _rollout_accelerators(facts: Mode) -> Number | None:
    count = facts.count("rollout")
    return None if count is None else Number(count, f"the {with_noun(count, 'accelerator')} of rollout")


def _server(facts: Facts) -> Number | None:
    """Return the accelerators per server of an evaluation, out of those of rollout."""
    per_server = facts.settings.whole("rollout.sglang.server.num_gpus", DEGREE, 0, least=0)
    if per_server is None:
        return None
    if per_server.value:
        return Number(per_server.value, f"the {per_server.value} of a server", per_server)
    tp, pp = (facts.number(f"rollout.sglang.{key}", DEGREE) for key in ("tensor_parallel_size", "pipeline_parallel_size"))
    return Number(tp.value * pp.value, f"the {tp.value * pp.value} of a server", tp.amount) if tp and pp else None


_COMPUTED: dict[str, Sequence[tuple[str, Check]]] = {
    "": (
        ("runner", AtLeast(
            code=DEMANDS, source=f"{_CONFIG}, validate_reasoning_cfg", when=CHECKED, left="runner.seq_length", right=_prompt, edits=False,
            message="{left} holds the prompt and the answer, so it must be greater than {right}", help="make it longer than the prompt",
            only_if=lambda facts: facts.task in (*REASONING, "reasoning_eval") and facts.settings.at("data.max_prompt_length") is not None,
        )),
        ("rollout", Divides(
            code=DEGREE, source="RLinf, rlinf/workers/rollout/sglang_server/launcher.py; evaluations/eval_embodied_agent.py", when=LATE,
            releases=Range(since="0.3"), left=_rollout_accelerators, right=_server, change="right",
            only_if=lambda facts: facts.task == "embodied_eval" and facts.settings.word("rollout.rollout_backend", DEGREE) == "sglang",
        )),
    ),
    "training": (
        ("actor", AtLeast(
            code=DEMANDS, source=f"{_CONFIG}, validate_reasoning_cfg", when=CHECKED, left=_samples, right="algorithm.n_minibatches",
            message="{left} make no {right}", edits=False, help="write fewer minibatches",
            only_if=lambda facts: facts.task in REASONING and facts.settings.at("algorithm.n_minibatches") is not None,
        )),
        ("actor", Divides(
            code=DEMANDS, source=f"{_CONFIG}, validate_reasoning_cfg", severity=Severity.WARNING, left=_samples, right="algorithm.n_minibatches",
            change="right", message=MULTIPLE,
            only_if=lambda facts: facts.task in REASONING and facts.settings.at("algorithm.n_minibatches") is not None,
        )),
    ),
}  # fmt: skip
"""Level -> (subject, check)."""


@cache
def _demands() -> tuple[Demand, ...]:
    return tuple(json.loads((FACTS / "demands.json").read_text("utf-8")))


def _applies(mode: Mode, demand: Demand) -> bool:
    """Return True if a demand is for the job as it is placed and set."""
    settings, phase = mode.settings, demand.get("phase", "")
    if (
        mode.task not in demand.get("tasks", (mode.task,))
        or mode.task in demand.get("not_tasks", ())
        or not (mode.task or "task" not in demand)
    ):
        return False
    if mode.placer.value not in demand.get("placers", (mode.placer.value,)) or (demand.get("whole_text") and mode.notes.partial):
        return False
    if phase and not (mode.phases if phase == "any" else phase in mode.phases):
        return False
    if not mode.has(demand["placed"]) if "placed" in demand else False:
        return False
    if demand.get("chosen") and not mode.until(demand["until"]):
        return False
    if demand.get("whole", is_whole(mode)) is not is_whole(mode) or (demand.get("trains") and mode.flag("runner.only_eval") is not False):
        return False
    if demand.get("near") and not closest(settings.word(demand["key"], SETTING) or "", demand["values"], SLIP):
        return False
    sections = [demand[key] for key in ("has", "section") if key in demand]
    return all(map(settings.has, sections)) and is_for(settings, demand, SETTING)


def is_whole(mode: Mode) -> bool:
    """Return True for a whole configuration, which names its groups of workers and its logs."""
    names_group = any(mode.settings.has(f"{name}.group_name") for name in ("actor", "rollout", "env"))
    return not mode.notes.partial and names_group and mode.settings.has("runner.logger")


def missing_keys(mode: Mode) -> dict[str, str]:
    """Return missing keys that RLinf reads without a default, with their sources."""
    choice, missing = mode.notes.choice, dict[str, str]()
    for demand in _demands() if not mode.notes.partial else ():
        if demand["check"] == KEYS and _applies(mode, demand) and (choice is None or choice.has(releases_of(demand))):
            missing |= {key: demand["source"] for key in demand["keys"] if mode.settings.at(key) is None}
    return missing


def check_settings(mode: Mode, level: str = "") -> None:
    """Run the checks of a level: `training`, or "" for those of every level."""
    for demand in _demands():
        if demand["check"] != KEYS and demand.get("level", "") == level and _applies(mode, demand):
            when: str = getattr(known, demand.get("when", "CHECKED"), "")
            given: dict[str, Any] = {"code": demand.get("code", SETTING), "source": f"RLinf, {demand['source']}", "when": when}
            mode.subject = demand["subject"]
            check_of(demand, **given).run(mode)
    for mode.subject, check in _COMPUTED[level]:
        run_checks((check,), mode)
