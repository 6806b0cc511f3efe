"""verl's programs, run up to their first step: their own code, with stand-ins for what it starts, loads and sends."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import Any, Callable, Iterator

import numpy as np
from groups import Answer, reach
from replacements import patch
from stand_ins import Here, Remote


def _run_remote(module: str, name: str) -> Callable[[Any], None]:
    def run(config: Any) -> None:
        found = getattr(import_module(module), name)
        made = found.__ray_actor_class__ if isinstance(found, Remote) else found
        if isinstance(made, type):
            actor = made()
            getattr(actor, "run" if name != "FullyAsyncTaskRunner" else "_initialize_components")(config)
        else:
            made(config)

    return run


def _serve(config: Any) -> None:
    from omegaconf import OmegaConf
    from verl.trainer.main_generation_server import generate, start_server

    OmegaConf.resolve(config)
    servers, addresses = asyncio.run(start_server(config))
    Answer.said["replicas"] = len(servers)
    if not addresses:
        reach("step")
        asyncio.run(generate(addresses, "", 1, {}, np.zeros(8, dtype=object)))


PROGRAMS: dict[str, Callable[[Any], None]] = {
    "main_ppo": _run_remote("verl.trainer.main_ppo", "TaskRunner"),
    "one_step_off": _run_remote("verl.experimental.one_step_off_policy.main_ppo", "OneStepTaskRunner"),
    "fully_async": _run_remote("verl.experimental.fully_async_policy.fully_async_main", "FullyAsyncTaskRunner"),
    "vla": _run_remote("verl.experimental.vla.main_ppo", "main_task"),
    "split": _run_remote("main_ppo_split", "main_task"),
    "server": _serve,
}


def run(program: str, config: Any, nodes: list[int], answer: dict[str, Any]) -> None:
    """Runs a program; the answer is filled as it goes."""
    if not hasattr(run, "patched"):
        patch()
        run.patched = True  # type: ignore[attr-defined]
    Answer.said, Answer.parts = answer, {}
    answer.update(stage="start", strange=False)
    Here.available, Here.taken, Here.left, Here.placed = sum(nodes), 0, list(nodes), {}
    try:
        PROGRAMS[program](config)
    finally:
        answer["waits"] = not fits(sorted((size for sizes in Answer.parts.values() for size in sizes), reverse=True), nodes)


def fits(parts: list[int], nodes: list[int]) -> bool:
    """Is there a node for every part? Ray puts a part onto one node, and waits for ever if none has room (tried in all ways)."""
    states = {tuple(sorted(nodes))}
    for part in parts:
        states = {tuple(sorted((*state[:at], state[at] - part, *state[at + 1 :]))) for state in states for at in _rooms(state, part)}
    return bool(states)


def _rooms(state: tuple[int, ...], part: int) -> Iterator[int]:
    firsts = dict(zip(reversed(state), range(len(state) - 1, -1, -1)))
    return (at for size, at in firsts.items() if size >= part)
