"""How ROLL's roles lie to each other: what each pipeline demands of them."""

from __future__ import annotations

from ..roles.setup import Setup
from .asynchronous import asynchronous
from .backends import backends
from .logits_transfer import logits_transfer
from .model_update import model_update
from .notices import NOTICES
from .partial_gpu import partial_gpu


def read_modes(setup: Setup) -> None:
    """Add to the setup what the pipeline demands of its roles: degrees of parallelism, relations, findings."""
    for judge in (backends, model_update, asynchronous, partial_gpu, logits_transfer):
        judge(setup)


__all__ = ["NOTICES", "read_modes"]
