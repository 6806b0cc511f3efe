"""Limits of a replica, settings of its servers, and sampling parameters."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import Any, Mapping

from ..engines.engine import ReplicaShape, Sampling
from ..failure import build_refusal


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
    join_seconds : for the workers and the servers of the other nodes to answer the first one.
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
        """Read the limits of a replica by `setting(name, default)`. Invalid: ValueError (PW741)."""
        limits = {field.name: setting(field.name, field.default) for field in fields(cls)}
        for name, value in limits.items():
            whole = not name.endswith("_seconds")
            if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)) or not 0 < value < math.inf:
                kind = "a whole number" if whole else "a number of seconds"
                raise build_refusal("PW741", subject, f"`{name}` of {subject} is {value!r}", f"give {kind} above 0", name)
        return cls(**limits)


NEUTRAL: Mapping[str, tuple[Any, ...]] = {
    "logprobs": (None, False, 0), "prompt_logprobs": (None, False, 0), "repetition_penalty": (None, 1, 1.0), "top_k": (None, -1, 0), "n": (None, 1),
    "min_p": (None, 0, 0.0), "presence_penalty": (None, 0, 0.0), "frequency_penalty": (None, 0, 0.0), "stop": (None, []),
}  # fmt: skip
"""Unsupported parameters, and neutral values of them."""
LENGTHS = ("max_tokens", "max_new_tokens")


def sampling(parameters: Mapping[str, Any], room: int) -> Sampling:
    """Read the sampling parameters; `room`: length limit without `max_tokens` or `max_new_tokens`.

    The length has vLLM's name or SGLang's; further parameters: `temperature`, `top_p`, `seed`.
    Raises ValueError for an unsupported parameter with a value that is not neutral.
    """
    remaining = dict(parameters)
    lengths = [remaining.pop(name) for name in LENGTHS if name in remaining]
    max_tokens = next((length for length in lengths if length is not None), room)
    values = {name: remaining.pop(name) for name in ("temperature", "top_p", "seed") if name in remaining}
    for name, value in remaining.items():
        if not any(value == neutral and type(value) is type(neutral) for neutral in NEUTRAL.get(name, ())):
            raise ValueError(f"the sampling parameter `{name}` = {value!r} is not supported here")
    return Sampling(int(max_tokens), **{name: value for name, value in values.items() if value is not None})


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Settings of a server, as plain data.

    Attributes
    ----------
    engine, model : name of the engine, and its settings.
    name : name of the served model.
    shape : tensor, data and pipeline parallelism.
    node_rank, nnodes : rank of this node in the replica, and number of nodes.
    workers : (address, key) of all workers, in rank order; for the first node alone.
    host : listening address; "": that of this node on the way to `towards`.
    port : listening port of the master; 0: any.
    api_key : key that clients must send; None: no key.
    limits : request limits and time limits.
    """

    engine: str
    model: Mapping[str, Any]
    name: str
    shape: ReplicaShape
    node_rank: int
    nnodes: int
    workers: tuple[tuple[str, str], ...] = ()
    host: str = ""
    towards: str = "127.0.0.1"
    port: int = 0
    api_key: str | None = None
    limits: Limits = field(default_factory=Limits)
