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
    """A plan, made of `file`, and how it is to be launched; `reading` is how `file` was read if it is not the plan itself."""

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
        """What the file asks for; None where it is the plan."""
        return self.reading.problem if self.reading is not None else None

    @property
    def simulated(self) -> bool:
        """Is it for a simulated cluster?"""
        return self.address is None

    @property
    def methods(self) -> tuple[str, ...]:
        """What will be called."""
        return (self.method,) if self.method else ()

    @property
    def stem(self) -> str:
        """What it is called after its file."""
        return re.sub(r"[^A-Za-z0-9_.-]", "-", Path(self.file).stem)[:32].strip(".-") or "launch"

    def fresh_name(self) -> str:
        """A name for this launch that no other has."""
        return f"{self.stem}-{secrets.token_hex(2)}"
