"""Model as one component runs it: how it is divided, what trains it.

Source: PyTorch, init_device_mesh (a mesh has as many ranks as its sides multiplied).
"""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cached_property

from ..component import Component
from ..estimate import BITS, FSDP, NONE, ZERO3, Estimate
from ..findings.wording import do, with_noun
from ..parallel import Parallel
from ..record import dataclass
from ..roles import ACTOR, CRITIC, STUDENT, role_of
from .shape import Shape

TRAINED = (ACTOR, CRITIC, STUDENT)
_KEYS = tuple(each.name for each in fields(Estimate) if each.compare)


def whole_groups(shards: int, accelerators: int, parallel: Parallel) -> bool:
    """Do the ranks of so many accelerators make whole groups? No more of them than a group has are one; of 0 shards, all are."""
    ranks = accelerators // (parallel.tp * parallel.pp)
    return not shards or ranks <= shards or ranks % shards == 0


def are_whole(component: Component) -> bool:
    """Does it ask only for counts that are whole groups: for one that is, or for no more ranks than one group has?"""
    shards, parallel = component.divided_among, component.parallel
    if component.least == component.most:
        return whole_groups(shards, component.most, parallel)
    return not shards or component.most // (parallel.tp * parallel.pp) <= shards


def not_whole(name: str, ranks: int, shards: int) -> str:
    """One sentence about ranks that make no whole groups."""
    return (
        f"the {with_noun(ranks, 'rank')} of `{name}` {do(ranks)} not divide into groups of {shards} shards: {ranks % shards} would be left"
    )


def fitting(ranks: int, shards: int) -> str:
    """What mends that: the nearest sizes of groups that divide these ranks."""
    fit = [each for each in range(1, ranks) if ranks % each == 0]
    below, above = max(each for each in fit if each < shards), min((each for each in fit if each > shards), default=0)
    return f"write {below} or {above}" if above else f"write {below}, or leave it out where all of them divide"


def optimizer_of(component: Component) -> str:
    """What trains it: Adam where its role is to be trained and nobody says otherwise; `NONE` for anything else."""
    said = component.estimate.optimizer if component.estimate else ""
    return said or ("adam" if role_of(component) in TRAINED else NONE)


def as_run(said: Estimate, run: Estimate | None) -> Estimate:
    """What the user says, and what the framework's settings say where the user says nothing."""
    if run is None:
        return said
    usual = Estimate()
    known = {key: value for key in _KEYS if (value := getattr(run, key)) != getattr(usual, key) and key not in said.written}
    return replace(said, written=(*said.written, *known), **known)


@dataclass(frozen=True, slots=True)
class Parts:
    """Parameters on an accelerator: those of routed experts, and all others."""

    dense: int
    experts: int

    @property
    def total(self) -> int:
        """All of them."""
        return self.dense + self.experts


@dataclass(frozen=True)
class Work:
    """One component on so many accelerators.

    Attributes
    ----------
    optimizer : one of `OPTIMIZERS`.
    serves : does it generate, with a cache?
    accelerators : of all its replicas together.
    capacity : MiB of each; None where that is not known.
    """

    shape: Shape
    estimate: Estimate
    parallel: Parallel
    optimizer: str
    serves: bool
    accelerators: int
    capacity: int | None = None

    @property
    def ranks(self) -> int:
        """Among how many each part of the model may be divided further: the data and context parallel ranks, or `shards` of them."""
        return self._of_those_that_divide(self.accelerators // (self.parallel.tp * self.parallel.pp))

    @property
    def expert_ranks(self) -> int:
        """Among how many a routed expert may be divided further: fewer, as ep ranks hold different experts.

        Source: Megatron-LM, megatron/core/parallel_state.py (expert data parallel ranks are all / (tp x ep x pp)).
        """
        return self._of_those_that_divide(self.accelerators // (self.expert_degree * self.parallel.pp))

    def _of_those_that_divide(self, ranks: int) -> int:
        """Where weights are divided inside of groups, each group has them all: PyTorch FSDP, arXiv 2304.11277, section 3.2.2."""
        return max(1, min(ranks, self.estimate.shards or ranks))

    @property
    def expert_degree(self) -> int:
        """Among how many the experts of a layer are divided.

        In training that is ep and, as for everything else, tp (Megatron-LM, megatron/core/parallel_state.py, where tp of experts is that of
        the model if nobody says otherwise). In an engine tp x dp ranks share the experts, whole or in parts (vLLM,
        docs/serving/data_parallel_deployment.md and expert_parallel_deployment.md).
        """
        parallel = self.parallel
        return max(parallel.ep, parallel.tp * parallel.dp) if self.serves else parallel.ep * parallel.tp

    @property
    def whole(self) -> bool:
        """Does each data parallel rank hold its weights whole?"""
        return self.estimate.sharding not in (ZERO3, FSDP)

    def bytes_of(self, numbers: int) -> int:
        """Bytes of so many numbers in the precision of the weights."""
        return -(-numbers * BITS[self.estimate.precision] // 8)

    @cached_property
    def stage_layers(self) -> int:
        """Layers of a pipeline stage, of the one with the most."""
        return -(-self.shape.layers // self.parallel.pp)

    @cached_property
    def experts(self) -> int:
        """Parameters of routed experts on an accelerator."""
        its = self.shape.expert_parameters
        return -(-its * self.stage_layers // (self.shape.layers * self.expert_degree)) if its else 0

    @cached_property
    def dense(self) -> int:
        """All other parameters on an accelerator: those of a stage with the embedding, divided by tp.

        With several stages the head lies on another one than the embedding. Source: Megatron-LM, megatron/training/theoretical_memory_usage.py.
        """
        shape, parallel = self.shape, self.parallel
        rest = shape.parameters - shape.expert_parameters
        if parallel.pp == 1:
            return -(-rest // parallel.tp)
        if not shape.layers:
            return -(-rest // (parallel.pp * parallel.tp))
        layers = max(0, rest - shape.embedding - shape.head)
        return -(-(layers * self.stage_layers + shape.embedding * shape.layers) // (shape.layers * parallel.tp))

    @property
    def parameters(self) -> Parts:
        """Parameters on an accelerator, before data parallel ranks divide them."""
        return Parts(self.dense, self.experts)

    @property
    def trained(self) -> Parts:
        """Of these, those that are trained: all where nobody says how many, nor that there are adapters."""
        every, estimate = self.shape.parameters, self.estimate
        if not (estimate.trainable or estimate.lora_rank):
            return self.parameters
        some = min(estimate.trainable or self.shape.adapters(estimate.lora_rank), every)
        return Parts(-(-some * self.dense // every), -(-some * self.experts // every))

    @property
    def tokens(self) -> int:
        """Tokens of a micro batch on one accelerator; context parallel ranks divide each sequence."""
        return -(-self.estimate.sequence * self.estimate.micro_batch // self.parallel.cp)
