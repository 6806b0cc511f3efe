"""All roles of a configuration, in the order in which ROLL starts them."""

from __future__ import annotations

from dataclasses import replace

from ....configuration.notes import Notes
from ....configuration.settings import Settings
from ....derivation import Derivation
from ....text.document import Document
from ..roles.parts import AGENTIC_REWARD, REWARD_MODEL, TRAIN_ENV, VAL_ENV
from ..roles.pipelines import Pipeline
from ..roles.role import Role
from .blocks import blocks_of
from .environments import read_environments
from .pipeline_of import pipeline_of
from .unknown import unknown_keys
from .worker import Workers


def read_roles(
    notes: Notes, settings: Settings, document: Document, hinted: frozenset[str], derivations: list[Derivation]
) -> tuple[Pipeline, tuple[Role, ...]]:
    """The pipeline and its roles; those that nothing starts come last. `hinted` are the roles whose place is left to solve."""
    pipeline = pipeline_of(notes, settings, document.program)
    blocks = blocks_of(notes, settings, pipeline, document.root)
    unknown_keys(notes, pipeline, document.root, blocks)
    workers = Workers(notes, settings, pipeline, hinted, derivations)
    roles = []
    for block in blocks:
        if block.part in (TRAIN_ENV, VAL_ENV):
            role = Role(block.key, block.part, block.cluster, block.created, block.reason, block.span, counts=False)
            roles.append(read_environments(notes, settings, role, derivations) if block.created else role)
            continue
        role = workers.read(block)
        if role.part in (AGENTIC_REWARD, REWARD_MODEL) and role.created and role.readable and not role.on_devices:
            role = replace(role, created=False, reason="it names no device")
        roles.append(role)
    return pipeline, tuple(roles)
