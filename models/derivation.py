"""Derivation of a job's number: the formula and the places of the inputs."""

from __future__ import annotations

from typing import Union

from .findings.span import Span
from .record import dataclass

WORLD_SIZE, PROCESSES_PER_NODE, REPLICA_SIZE = "world size", "processes per node", "replica size"
DATA_PARALLEL_SIZE, REPLICAS, CPUS = "data parallel size", "replicas", "CPUs"
"""Names of numbers derived for every problem (see solver/explaining/needs.py).

A dialect with the framework's own formula for a number uses the same name; its derivation is then
shown instead.
"""

NOT_KNOWN = "not known"
"""Value of an unknown number; the formula gives the reason, dependent numbers are omitted."""

ACCELERATORS_PER_NODE = "accelerators per node"
"""Name of a job-wide number: the minimum per node if the cluster leaves it open."""


@dataclass(frozen=True, slots=True)
class Figure:
    """Input of a derivation: a value of the framework's configuration.

    Attributes
    ----------
    name : key as the framework writes it, such as ``actor_infer.num_gpus_per_worker``.
    default : source of the framework's default, such as ``verl,
        verl/trainer/config/rollout/rollout.yaml``; "" if the value is written.
    """

    name: str
    value: Union[int, str]
    span: Span | None = None
    default: str = ""


@dataclass(frozen=True, slots=True)
class Derivation:
    """Number computed from other numbers.

    Attributes
    ----------
    component : owner of the number; "" for the job as a whole.
    name : name, such as ``world size``, ``data parallel size``, ``replicas``, ``samples per rank``.
    formula : formula with its numbers: ``16 device ids // 2 per worker``.
    """

    component: str
    name: str
    value: Union[int, str]
    formula: str
    figures: tuple[Figure, ...] = ()
