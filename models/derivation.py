"""How a number of the job comes about: the formula, and where each number in it stands."""

from __future__ import annotations

from typing import Union

from .findings.span import Span
from .record import dataclass

WORLD_SIZE, PROCESSES_PER_NODE, REPLICA_SIZE = "world size", "processes per node", "replica size"
DATA_PARALLEL_SIZE, REPLICAS, CPUS = "data parallel size", "replicas", "CPUs"
"""Names of numbers that follow from any problem (see solver/explaining/numbers.py). A dialect that derives one of them itself,
by the framework's own formula, uses its name: then that is shown instead."""

NOT_KNOWN = "not known"
"""The value of a number that cannot be told here, such as a world size that follows from a setting which is not there; the formula
says why. What would follow from it is not told either."""

ACCELERATORS_PER_NODE = "accelerators per node"
"""The name of a number of the job as a whole: how many each node must have at the least, where nobody said how many it has."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One value that the framework reads.

    Attributes
    ----------
    name : its key as the framework writes it, such as ``actor_infer.num_gpus_per_worker``.
    value : what it is.
    span : where it is written; None where nobody wrote it.
    default : where the framework's own default comes from, such as ``verl, verl/trainer/config/rollout/rollout.yaml``; "" if it is written.
    """

    name: str
    value: Union[int, str]
    span: Span | None = None
    default: str = ""


@dataclass(frozen=True, slots=True)
class Derivation:
    """A number that follows from others.

    Attributes
    ----------
    component : whose number it is; "" for one of the job as a whole.
    name : what it is, such as ``world size``, ``data parallel size``, ``replicas``, ``samples per rank``.
    value : the number.
    formula : how it comes about, with its numbers: ``16 device ids // 2 per worker``.
    figures : the values that it comes from.
    """

    component: str
    name: str
    value: Union[int, str]
    formula: str
    figures: tuple[Figure, ...] = ()
