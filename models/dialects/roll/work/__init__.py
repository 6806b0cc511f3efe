"""The arithmetic of the work of ROLL's roles: batches dealt out to ranks, environments."""

from __future__ import annotations

from ..roles.setup import Setup
from .chains import chains
from .models import models
from .preferences import preferences, taught
from .prompts import prompts
from .trajectories import trajectories


def read_work(setup: Setup, training: bool) -> None:
    """Add to the setup what is dealt out to the processes of its components, and their models; `training` judges the batches too."""
    prompts(setup, training)
    trajectories(setup, training)
    preferences(setup)
    if training:
        taught(setup)
    chains(setup)
    models(setup)


__all__ = ["read_work"]
