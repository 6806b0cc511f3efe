"""What is to be launched, and how, as the command line says it."""

from __future__ import annotations

import re
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from ...models.record import dataclass

if TYPE_CHECKING:
    from ...models.placements.plan import Plan
    from ...models.problem import Problem
    from ...models.reading import Reading


@dataclass(frozen=True)
class LaunchOptions:
    """Plan from `file`, and the options of its launch.

    `reading` : the Reading of `file`; None if `file` is a plan.
    """

    plan: Plan
    file: str
    address: str | None
    worker: str | None
    method: str | None
    timeout: float
    wait: float
    restarts: int
    share_nodes: bool
    elastic: bool
    trusted_env: tuple[str, ...]
    progress: str
    reading: Reading | None = None

    @property
    def problem(self) -> Problem | None:
        """Problem of the file; None for a plan file."""
        return self.reading.problem if self.reading is not None else None

    @property
    def simulated(self) -> bool:
        """True for a simulated cluster."""
        return self.address is None

    @property
    def methods(self) -> tuple[str, ...]:
        """Names of called methods."""
        return (self.method,) if self.method else ()

    @property
    def stem(self) -> str:
        """Name of the launch by its file."""
        return re.sub(r"[^A-Za-z0-9_.-]", "-", Path(self.file).stem)[:32].strip(".-") or "launch"

    def fresh_name(self) -> str:
        """Return an unused name for this launch."""
        return f"{self.stem}-{secrets.token_hex(2)}"
