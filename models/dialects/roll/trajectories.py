"""Environments of agentic pipelines: groups of them, trajectories per batch, and batches that ROLL fills up or cuts.

Source: ROLL, roll/pipeline/agentic/agentic_config.py (AgenticConfig.__post_init__, make_env_configs);
roll/pipeline/agentic/agentic_pipeline.py (adjust_batch).
"""

from __future__ import annotations

from math import lcm

from ...configuration.settings import Amount
from ...findings.wording import with_noun
from ...releases.release import Range
from ...text.tree import Mapping, Scalar, Sequence
from ..checks import AtLeast, Divides, Facts, Number
from .batches import ANY, INFERRED, RULE, amount, batches_of, nearest, of_role, prompts_of
from .job import Setup, amount_of, number
from .names import ACTOR_TRAIN, AT_LOAD, CRITICS, NEVER, REFERENCES, TRAIN_ENV, VAL_ENV
from .strategies import data_parallel

DIVIDE = {TRAIN_ENV: Range(since="0.2.0"), VAL_ENV: Range(since="0.1.3")}
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
    batch, validated = prompts_of(setup), amount(setup.settings, "val_batch_size", 128, "ROLL, roll/configs/base_config.py", ANY)
    for env, total in ((TRAIN_ENV, batch), (VAL_ENV, validated)):
        is_settled = _check_partition(setup, env, total)
        group, groups = _size(setup, env, "group_size", 1), _size(setup, env, "num_env_groups", 128)
        if total is not None and group is not None and groups is not None and group.value and groups.value:
            _check_groups(setup, env, total, group, groups, is_settled)
            _check_rounds(setup, env, total, group.value * groups.value)
    if training and batch is not None and batch.value > 0 and setup.pipeline.updates_models:
        _adjusted(setup, batch)


def _size(setup: Setup, env: str, name: str, default: int) -> Amount | None:
    return amount(setup.settings, f"{env}.{name}", default, _CONFIG, 0)


def _check_groups(setup: Setup, env: str, total: Amount, group: Amount, groups: Amount, is_settled: bool) -> None:
    """A batch is whole groups; one for validation is whole rounds of all environments.

    `is_settled`: nothing else changes how many environments there are.
    """
    step, what = group.value, f"{group.value}, the environments of a group ({group.name})"
    if env == VAL_ENV:
        step = group.value * groups.value
        what = f"{with_noun(groups.value, 'group')} x {group.value} = {with_noun(step, 'environment')} of {env}"
    if total.value > 0 or (env == VAL_ENV and total.value == 0):
        facts = Facts(setup.notes, setup.settings, env)
        Divides(
            code=RULE, source=_CONFIG, when=AT_LOAD, releases=DIVIDE[env], left=amount_of(facts, total), right=Number(step, what, group),
            suggest=nearest(total.value, step), edits=is_settled,
        ).run(facts)  # fmt: skip


def _check_rounds(setup: Setup, env: str, total: Amount, environments: int) -> None:
    """No fewer trajectories per environment than a batch needs; negative ones, and those of asynchronous training, are computed."""
    most = amount(setup.settings, f"{env}.max_traj_per_env", -1, _CONFIG, ANY)
    its = number(setup.settings, "async_generation_ratio", RULE, 0)
    needed = -(-total.value // environments)
    if most is None or its is None or most.value < 0 or (env == TRAIN_ENV and its > 0) or (env == VAL_ENV and total.value < 0):
        return
    facts = Facts(setup.notes, setup.settings, env)
    right = Number(needed, f"{needed}: {with_noun(environments, 'environment')} run a batch of {total.value}")
    AtLeast(code=RULE, source=_CONFIG, when=AT_LOAD, left=amount_of(facts, most), right=right).run(facts)


def _check_partition(setup: Setup, env: str, total: Amount | None) -> bool:
    """True if the groups of all tags are the groups that there are, or that is not known; else an error."""
    settings = setup.settings
    tags, parts = settings.at(f"{env}.tags"), settings.at(f"{env}.num_groups_partition")
    groups = _size(setup, env, "num_env_groups", 128)
    is_known = isinstance(tags, (Sequence, type(None))) and (isinstance(parts, Sequence) or (parts is None and not setup.notes.partial))
    if groups is None or not is_known:
        return True
    values = [item.value if isinstance(item, Scalar) else None for item in parts.items] if isinstance(parts, Sequence) else [128]
    numbers = [value for value in values if type(value) is int]
    names = len(tags.items) if isinstance(tags, Sequence) else 1
    used = sum(numbers[:names])  # one number for each tag
    if len(numbers) < len(values) or used == groups.value:
        return True
    message = f"`{env}.num_groups_partition`{'' if parts else ', by default,'} gives {with_noun(used, 'group')}, but {groups.said}"
    meant = [groups.value // names + (place < groups.value % names) for place in range(names)]
    help, edit = f"write `{env}.num_groups_partition: {meant}`", None
    group = _size(setup, VAL_ENV, "group_size", 1)
    round_ = used * group.value if group is not None else 0
    fits = total is not None and (total.value < 0 or (round_ > 0 and total.value % round_ == 0))
    if parts and used > 0 and (env != VAL_ENV or fits):
        help, edit = f"set `{groups.name}: {used}`", groups.becomes(used)
    at = parts or groups.scalar or settings.top
    setup.notes.error(RULE, env, message, at, with_noun(used, "group"), help, edit, AT_LOAD)
    return False


def _adjusted(setup: Setup, batch: Amount) -> None:
    """Every batch becomes a multiple of what all roles take at once: ROLL copies or drops trajectories for that."""
    sizes = _taken(setup) if not setup.short else None
    mode = setup.settings.word("batch_adjust_mode", RULE)
    if sizes is None or mode is None or (mode or "copy") not in WAYS or not _one_sample_each(setup):
        return
    size = lcm(*(taken for _, taken in sizes))
    left = batch.value % size
    if left:
        does = WAYS[mode or "copy"].format(missing=size - left, left=left, size=size)
        message = f"{batch.said} is no multiple of {size}, what the roles take at once, so in every step ROLL {does}"
        help = f"set `{batch.name}` to {' or '.join(map(str, nearest(batch.value, size)))}"
        why = (*(name for name, taken in sizes if taken > 1), f"where every trajectory is one sample; {NEVER}")
        setup.notes.warn(RULE, ACTOR_TRAIN, message, batch.span or setup.top, f"no multiple of {size}", help, None, *why)


def _taken(setup: Setup) -> list[tuple[str, int]] | None:
    """(what, how many samples it takes at once), whose least common multiple every batch becomes."""
    found: list[tuple[str, int]] = []
    for role in (role for part in (ACTOR_TRAIN, REFERENCES, CRITICS) for role in setup.all(part)):
        ranks, inferred = data_parallel(setup, role), of_role(setup, role, INFERRED)
        its = batches_of(setup, role) if role.part != REFERENCES else None
        if ranks is None or inferred is None or (its is None and role.part != REFERENCES):
            return None
        if its is not None:
            found.append((f"{role.key} trains on {its.said}", its.of_all))
        size = inferred.value * ranks
        found.append((f"{role.key} infers {INFERRED} {inferred.value} on {with_noun(ranks, 'rank')} = {size}", size))
    return found or None


def _one_sample_each(setup: Setup) -> bool:
    """True if all environments make one sample of a trajectory, as ROLL's own default manager does."""
    environments = setup.settings.at("custom_envs")
    if not isinstance(environments, Mapping):
        return False
    managers = [setup.settings.at(f"custom_envs.{entry.key.text}.env_manager_cls") for entry in environments]
    return all(manager is None or (isinstance(manager, Scalar) and str(manager.value).endswith(".TrajEnvManager")) for manager in managers)
