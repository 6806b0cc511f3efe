"""Environments of agentic pipelines: groups of them, trajectories per batch, and batches that ROLL fills up or cuts.

Source: ROLL, roll/pipeline/agentic/agentic_config.py (AgenticConfig.__post_init__, make_env_configs);
roll/pipeline/agentic/agentic_pipeline.py (adjust_batch).
"""

from __future__ import annotations

from math import lcm

from ...configuration.settings import Amount
from ...findings.finding import Severity
from ...findings.wording import with_noun
from ...releases.release import Range
from ...text.tree import Mapping, Scalar, Sequence
from .batches import INFERRED, amount, batches_of, either, nearest, of_role, prompts_of
from .job import Setup, number
from .names import ACTOR_TRAIN, CRITICS, REFERENCES, TRAIN_ENV, VAL_ENV
from .names import AT_LOAD, NEVER
from .strategies import data_parallel

DEMANDS = "PW403"
GROUPS_DIVIDE, ROUNDS_DIVIDE = Range(since="0.2.0"), Range(since="0.1.3")
"""Releases that assert that batches are whole groups, and batches for validation whole rounds."""
_CONFIG = "ROLL, roll/pipeline/agentic/agentic_config.py"
WAYS = {
    "copy": "copies {missing} of them at random to fill it",
    "delete": "drops {left} of them at random",
    "auto": "copies or drops some of them at random",
    "random_sample": "keeps {size} of them at random, or copies some",
}
"""`batch_adjust_mode` -> what ROLL does with a batch that does not divide."""


def trajectories(setup: Setup, training: bool) -> None:
    """What is checked as the configuration is read; with `training` also what is adjusted in silence."""
    if not setup.pipeline.agentic:
        return
    batch, validated = prompts_of(setup), amount(setup.settings, "val_batch_size", 128, "ROLL, roll/configs/base_config.py", -(10**9))
    for env, total in ((TRAIN_ENV, batch), (VAL_ENV, validated)):
        settled = _partition(setup, env, total)
        if total is not None:
            _groups(setup, env, total, settled)
    if training and batch is not None and batch.value > 0 and setup.pipeline.updates_models:
        _adjusted(setup, batch)


def _size(setup: Setup, env: str, name: str, default: int) -> Amount | None:
    return amount(setup.settings, f"{env}.{name}", default, _CONFIG, 0)


def _groups(setup: Setup, env: str, total: Amount, settled: bool) -> None:
    """A batch is whole groups; one for validation is whole rounds of all environments, and all fit in what each may run.

    `settled`: nothing else changes how many environments there are.
    """
    group, groups = _size(setup, env, "group_size", 1), _size(setup, env, "num_env_groups", 128)
    if group is None or groups is None or not group.value or not groups.value:
        return
    environments = group.value * groups.value
    if env == VAL_ENV:
        step, what = environments, f"{with_noun(groups.value, 'group')} x {group.value} = {with_noun(environments, 'environment')} of {env}"
    else:
        step, what = group.value, f"the environments of a group ({group.name})"
    checked = total.value > 0 if env == TRAIN_ENV else total.value >= 0
    if checked and total.value % step:
        values = nearest(total.value, step)
        message = f"{total.said}{'' if total.scalar else ', the default,'} is no multiple of {step}: {what}"
        edit = total.becomes(min(values, key=lambda value: abs(value - total.value))) if settled else None
        at = total.span or group.span or setup.top
        help = f"set `{total.name}` to {either(values)}"
        releases = GROUPS_DIVIDE if env == TRAIN_ENV else ROUNDS_DIVIDE
        setup.notes.judge(releases, Severity.ERROR, DEMANDS, env, message, at, f"no multiple of {step}", help, edit, AT_LOAD)
    _rounds(setup, env, total, environments)


def _rounds(setup: Setup, env: str, total: Amount, environments: int) -> None:
    """No fewer trajectories per environment than a batch needs; negative ones, and those of asynchronous training, are computed."""
    most = amount(setup.settings, f"{env}.max_traj_per_env", -1, _CONFIG, -(10**9))
    its = number(setup.settings, "async_generation_ratio", DEMANDS, 0)
    needed = -(-total.value // environments)
    if most is None or its is None or most.value < 0 or most.value >= needed or (env == TRAIN_ENV and its > 0):
        return
    if env == VAL_ENV and total.value < 0:
        return
    message = f"{most.said} lets {with_noun(environments, 'environment')} run {with_noun(most.value * environments, 'trajectory')}, fewer than `{total.name}: {total.value}`"
    help = f"write `{needed}`, or leave it out"
    setup.notes.error(DEMANDS, env, message, most.span or setup.top, f"{needed} needed", help, most.becomes(needed), AT_LOAD)


def _partition(setup: Setup, env: str, total: Amount | None) -> bool:
    """Are the groups of all tags the groups that there are? True too where that is not known."""
    settings = setup.settings
    tags, parts = settings.at(f"{env}.tags"), settings.at(f"{env}.num_groups_partition")
    groups = _size(setup, env, "num_env_groups", 128)
    names = len(tags.items) if isinstance(tags, Sequence) else 1
    if groups is None or (tags is not None and not isinstance(tags, Sequence)) or (parts is None and setup.notes.partial):
        return True
    numbers = [128] if parts is None else []
    for item in parts.items if isinstance(parts, Sequence) else ():
        value = item.value if isinstance(item, Scalar) else None
        if not isinstance(value, int) or isinstance(value, bool):
            return True
        numbers.append(value)
    if parts is not None and not isinstance(parts, Sequence):
        return True
    used = numbers[:names]
    if sum(used) == groups.value:
        return True
    unused = (
        f" (of {len(numbers)} numbers the first {f'{names} count' if names != 1 else 'counts'}, one for each tag)"
        if len(numbers) > names
        else ""
    )
    default = ", by default," if parts is None else ""
    message = f"`{env}.num_groups_partition`{default} gives {with_noun(sum(used), 'group')}{unused}, but {groups.said}"
    at = parts or groups.scalar or settings.top
    meant = [groups.value // names + (place < groups.value % names) for place in range(names)] if names else []
    help, edit = f"write `{env}.num_groups_partition: {meant}`", None
    if parts and sum(used) > 0 and (env != VAL_ENV or _whole_rounds(setup, total, sum(used))):
        help, edit = f"set `{groups.name}: {sum(used)}`", groups.becomes(sum(used))
    setup.notes.error(DEMANDS, env, message, at, with_noun(sum(used), "group"), help, edit, AT_LOAD)
    return False


def _whole_rounds(setup: Setup, total: Amount | None, groups: int) -> bool:
    """Would so many groups fit the batch for validation?"""
    group = _size(setup, VAL_ENV, "group_size", 1)
    return total is not None and group is not None and group.value > 0 and (total.value < 0 or total.value % (groups * group.value) == 0)


def _adjusted(setup: Setup, batch: Amount) -> None:
    """Every batch becomes a multiple of what all roles take at once: ROLL copies or drops trajectories for that."""
    sizes = _taken(setup) if not setup.short else None
    mode = setup.settings.word("batch_adjust_mode", DEMANDS)
    if sizes is None or mode is None or (mode or "copy") not in WAYS or not _one_sample_each(setup):
        return
    size = lcm(*(taken for _, taken in sizes))
    left = batch.value % size
    if not left:
        return
    does = WAYS[mode or "copy"].format(missing=size - left, left=left, size=size)
    message = f"{batch.said} is no multiple of {size}, what the roles take at once, so in every step ROLL {does}"
    values = nearest(batch.value, size)
    setup.notes.warn(
        DEMANDS, ACTOR_TRAIN, message, batch.span or setup.top, f"no multiple of {size}", f"set `{batch.name}` to {either(values)}", None,
        *(f"{name}: {taken}" for name, taken in sizes if taken > 1), f"where every trajectory is one sample; {NEVER}",
    )  # fmt: skip


def _taken(setup: Setup) -> list[tuple[str, int]] | None:
    """(what, how many samples it takes at once), whose least common multiple every batch becomes."""
    found: list[tuple[str, int]] = []
    for part in (ACTOR_TRAIN, REFERENCES, CRITICS):
        for role in setup.all(part):
            ranks, inferred = data_parallel(setup, role), of_role(setup, role, INFERRED)
            if ranks is None or inferred is None:
                return None
            if part != REFERENCES:
                its = batches_of(setup, role)
                if its is None:
                    return None
                found.append((f"{role.key} trains on {its.said} for each of {with_noun(its.ranks, 'rank')}", its.of_all))
            found.append((f"{role.key} infers {INFERRED} {inferred.value} for each of {with_noun(ranks, 'rank')}", inferred.value * ranks))
    return found or None


def _one_sample_each(setup: Setup) -> bool:
    """Do all environments make one sample of a trajectory, as ROLL's own default manager does?"""
    environments = setup.settings.at("custom_envs")
    if not isinstance(environments, Mapping):
        return False
    managers = [setup.settings.at(f"custom_envs.{entry.key.text}.env_manager_cls") for entry in environments]
    return all(manager is None or (isinstance(manager, Scalar) and str(manager.value).endswith(".TrajEnvManager")) for manager in managers)
