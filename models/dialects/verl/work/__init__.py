"""The arithmetic of degrees and batches: what verl, its engines and Megatron demand, and when they would notice."""

from __future__ import annotations

from ...dialect import TRAINING
from ..job.setup import Setup
from .degrees import mend_degrees
from .engine import judge_engines
from .meshes import judge_meshes
from .models import read_models
from .training.batches import judge_batches
from .training.chain import derive_batches
from .training.modes import judge_modes
from .training.start import judge_start
from .training.streamed import judge_streams
from .training.tuning import judge_ranks_of_tuning, judge_tuning
from .training.updates import judge_updates
from .work import Work


def judge(setup: Setup, level: str, models: bool = True) -> None:
    """Adds to a job what its degrees and batches demand; `level` as in `Dialect.read`.

    Without `models` only what is refused: no models that rules or estimates are about later, and not how numbers come about.
    """
    work = Work(setup)
    mend_degrees(work)
    judge_meshes(work)
    judge_engines(work)
    judge_ranks_of_tuning(work)
    if models:
        derive_batches(work)
        read_models(work)
    if level == TRAINING:
        judge_modes(work)
        judge_start(work)
        judge_batches(work)
        judge_updates(work)
        judge_streams(work)
        judge_tuning(work)
