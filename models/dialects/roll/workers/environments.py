"""Environment managers of the agentic pipelines: how many of their workers there are follows from the environments.

Source: ROLL, roll/pipeline/agentic/agentic_config.py, EnvManagerConfig.__post_init__.
"""

from __future__ import annotations

from dataclasses import replace

from ....configuration.notes import Notes, is_unknown
from ....configuration.settings import Settings
from ....derivation import WORLD_SIZE, Derivation
from ....findings.wording import with_noun
from ....text.tree import Mapping, Scalar
from ..mapping.device_mapping import KEY
from ..mapping.evaluate import AT_LOAD
from ..roles.defaults import GROUPS, MOST, REDUNDANCY, SIZE
from ..roles.role import Role
from .limits import MAX_WORKERS

RULE = "PW403"


def read_environments(notes: Notes, settings: Settings, role: Role, derivations: list[Derivation]) -> Role:
    """The role with its number of workers: as many as the environments fill, `max_env_num_per_worker` on each."""
    _no_devices(notes, settings, role)
    groups, size, redundancy = (
        settings.whole(role.path(key), RULE, least=least) for key, least in ((GROUPS, 0), (SIZE, 0), (REDUNDANCY, 0))
    )
    most = settings.whole(role.path(MOST), RULE, least=-MAX_WORKERS)
    if groups is None or size is None or redundancy is None or most is None:
        return replace(role, readable=False)
    environments = groups.value * (size.value + redundancy.value)
    figures = (groups.figure, size.figure, redundancy.figure, most.figure)
    if most.value <= 0:
        workers, formula = 1 if environments else 0, f"all {with_noun(environments, 'environment')} in one worker"
    else:
        workers, formula = -(-environments // most.value), f"{with_noun(environments, 'environment')}, {most.value} a worker, rounded up"
    if not environments and most.value <= 0:
        message = f"`{role.key}` has no environments, and ROLL divides by their number: a ZeroDivisionError"
        notes.error(RULE, role.key, message, groups.scalar or role.span, "none", f"write a `{GROUPS}` of at least 1", None, AT_LOAD)
    if workers > MAX_WORKERS:
        message = f"`{role.key}` has {workers:,} workers; more than {MAX_WORKERS:,} are not read"
        notes.error("PW102", role.key, message, groups.scalar or role.span, "too many", "is this number meant?")
        return replace(role, readable=False)
    derivations.append(Derivation(role.key, WORLD_SIZE, workers, formula, figures))
    return replace(role, world_size=workers, world_span=groups.span or role.span)


def _no_devices(notes: Notes, settings: Settings, role: Role) -> None:
    """Environments run on CPUs: ROLL never reads a `device_mapping` of theirs, and compares its letters with device ids."""
    value = settings.at(role.path(KEY))
    if value is None or is_unknown(value) or (isinstance(value, Scalar) and value.is_null):
        return
    if isinstance(value, Scalar) and isinstance(value.value, str):
        owner = settings.at(role.key)
        entry = owner.entry(KEY) if isinstance(owner, Mapping) else None
        edit = notes.removed(owner, entry) if isinstance(owner, Mapping) and entry else None
        message = f"`{role.key}` has a `{KEY}`, but environments run on CPUs: ROLL compares this text with numbers, a TypeError"
        notes.error("PW123", role.key, message, value, "no devices here", f"remove `{KEY}`", edit, AT_LOAD)
    else:
        notes.unsure("PW123", role.key, f"`{KEY}` of environments is not judged: they run on CPUs")
