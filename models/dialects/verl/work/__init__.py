"""Arithmetic of degrees and batches: demands of verl, engines and Megatron."""

from __future__ import annotations

from functools import partial
from typing import Callable

from ....level import TRAINING
from ..job import VerlSetup
from .batches import judge_batches, judge_shared, judge_start, judge_tokens
from .demands import judge_demands
from .engines import fix_degrees, judge_engines, judge_modes
from .machine import judge_machine
from .meshes import judge_meshes, read_lengths, read_models
from .updates import derive_batches, judge_streams, judge_tuning, judge_updates
from .work import VerlWork


def judge(setup: VerlSetup, level: str, models: bool = True) -> None:
    """Add the demands of degrees and batches to a job; `level` as in `Dialect.read`.

    Without `models` only refusals are added: no models for later rules or estimates, and no
    derivations.
    """
    work = VerlWork(setup)
    steps: list[Callable[[VerlWork], None]] = [fix_degrees, judge_meshes, judge_engines, partial(judge_demands, placement=True)]
    steps += [derive_batches, read_models, judge_machine] if models else []
    if level == TRAINING:
        steps += [judge_modes, judge_start, judge_shared, judge_tokens, judge_batches, judge_updates, judge_streams, judge_tuning]
        steps += [judge_demands, read_lengths] if models else []
    for step in steps:
        step(work)
