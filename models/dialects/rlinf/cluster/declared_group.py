"""One of the `node_groups`, as the file declares it."""

from __future__ import annotations

from dataclasses import dataclass

from ....machines.node_group import EnvConfig
from ....ranks import Ranks
from .hardware import GroupHardware


@dataclass(frozen=True)
class DeclaredGroup:
    """A group as the file declares it. `kind` is set where it does not depend on what the nodes have."""

    label: str
    ranks: Ranks
    kind: str | None = None
    ignores_hardware: bool = False
    hardware: GroupHardware | None = None
    env_configs: tuple[EnvConfig, ...] = ()
