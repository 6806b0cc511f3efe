"""Request limits and time limits of a replica, settable in its `config`."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

from ..failure import refused


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a replica's servers, with defaults.

    Attributes
    ----------
    max_body_bytes : of a request; a larger one is refused with 413.
    max_choices : answers per request, its prompts times `n`.
    default_max_tokens : of a chat answer limited by neither the request nor the model's context.
    call_seconds : for the workers to answer a call of their server, after which the replica has
        failed.
    join_seconds : for the servers of the other nodes to find the first one.
    load_seconds : for the engine to load its model.
    start_seconds : for the processes of the servers to start.
    """

    max_body_bytes: int = 16 << 20
    max_choices: int = 128
    default_max_tokens: int = 4096
    call_seconds: float = 60.0
    join_seconds: float = 30.0
    load_seconds: float = 1800.0
    start_seconds: float = 300.0

    @classmethod
    def of(cls, setting: Any, subject: str) -> Limits:
        """Read the limits of a replica; `setting(name, default)` returns a configured value.

        Raises a ValueError (PW741) for an invalid limit.
        """
        limits = {field.name: setting(field.name, field.default) for field in fields(cls)}
        for name, value in limits.items():
            whole = not name.endswith("_seconds")
            if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)) or not 0 < value < math.inf:
                kind = "a whole number" if whole else "a number of seconds"
                raise refused("PW741", subject, f"`{name}` of {subject} is {value!r}", f"give {kind} above 0", name)
        return cls(**limits)
