"""Roles that have devices, and that nothing starts."""

from __future__ import annotations

from ....configuration.notes import Notes
from ....findings.wording import with_noun
from ..roles.parts import CRITICS, VALIDATION
from ..roles.role import Role
from .blocks import NOT_STARTED
from .switches import BY_ESTIMATOR, NO_REFERENCE

CODE = "PW803"


def unused(notes: Notes, roles: tuple[Role, ...], per_node: int) -> None:
    """A warning for every role with devices that the pipeline does not start; ROLL reserves the nodes of its devices all the same."""
    used = max((role.ids.highest for role in roles if role.created and role.ids is not None), default=-1)
    for role in roles:
        if role.created is not False or role.mapping is None or not role.on_devices or role.ids is None:
            continue
        count = role.ids.distinct
        message = f"`{role.key}` has {with_noun(count, 'device')}, but ROLL never starts it: {role.reason}"
        if role.counts and role.ids.highest // per_node > max(used, 0) // per_node:
            message += f"; nodes up to {role.ids.highest // per_node} are reserved for it all the same"
        notes.warn(CODE, role.key, message, role.place, "not used", f"remove its `device_mapping`{_starting(role)}")


def _starting(role: Role) -> str:
    """What else would mend it: what makes the pipeline start the role, or another pipeline that does."""
    if role.part == VALIDATION:
        return ""
    if role.reason.endswith(NOT_STARTED):
        return ", or start the pipeline that uses it"
    if role.reason == NO_REFERENCE:
        return ", or write `use_kl_loss: true`"
    return ", or write `adv_estimator: gae`" if role.part == CRITICS and role.reason.startswith(BY_ESTIMATOR) else ""
