"""A cluster as YAML or JSON: nodes with their accelerators, hardware, CPUs, labels and place in the topology."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Literal, Sequence

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PositiveInt, model_validator

from .accelerators import accelerators
from .cluster import Cluster
from .node import Hardware, Node
from .node_group import CLUSTER_LABEL, NODE, NODE_LABEL, EnvConfig, NodeGroup
from .nodes import Alike, Nodes, numbered_nodes
from .quantity import read_memory
from .ranks import RankError, parse_ranks
from .shorthand import MAX_ACCELERATORS_PER_NODE, MAX_NODES


def _memory(value: object) -> object:
    if not isinstance(value, (str, int, float)) or isinstance(value, bool):
        raise ValueError(f"{value!r} is no amount of memory")
    return read_memory(str(value))


Mebibytes = Annotated[int, BeforeValidator(_memory)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:-]{1,64}$", coerce_numbers_to_str=True)]
Word = Annotated[str, Field(max_length=256, coerce_numbers_to_str=True)]
Level = Literal["rack", "nvlink_domain"]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class AcceleratorsForm(_Strict):
    """The accelerators of one node: `count` of one `model`; `memory` each; physical `ids`; local indices that are `taken`."""

    count: int = Field(ge=0, le=MAX_ACCELERATORS_PER_NODE)
    model: Name = "GPU"
    memory: Mebibytes | None = None
    ids: tuple[Name, ...] = ()
    taken: tuple[int, ...] = ()

    @model_validator(mode="after")
    def _agree(self) -> AcceleratorsForm:
        if self.ids and len(self.ids) != self.count:
            raise ValueError(f"{len(self.ids)} ids are given for {self.count} accelerators")
        if len(set(self.ids)) != len(self.ids):
            raise ValueError("two accelerators of one node have the same id")
        if any(not 0 <= index < self.count for index in self.taken):
            raise ValueError(f"`taken` names an index outside 0-{self.count - 1}")
        return self


class HardwareForm(_Strict):
    """A device that is not an accelerator: its type and any further settings."""

    model_config = ConfigDict(extra="allow", frozen=True)
    type: Name


class NodeForm(_Strict):
    """One node, or `repeat` equal nodes (then `name` is a prefix)."""

    name: Name | None = None
    repeat: int = Field(1, ge=1, le=MAX_NODES)
    accelerators: AcceleratorsForm = AcceleratorsForm(count=0)
    hardware: tuple[HardwareForm, ...] = ()
    cpus: PositiveInt | None = None
    memory: Mebibytes | None = None
    labels: dict[Word, Word] = {}
    topology: dict[Level, Name] = {}


class EnvConfigForm(_Strict):
    """The software of some nodes of a group."""

    node_ranks: Word
    env_vars: dict[Word, str] = {}
    python_interpreter_path: str | None = None


class GroupForm(_Strict):
    """A labelled set of nodes; `kind` is what counts as its resource, found out by itself if not said."""

    label: Word
    node_ranks: Word
    kind: Name | None = None
    env_configs: tuple[EnvConfigForm, ...] = ()


class ClusterForm(_Strict):
    """The whole cluster: what a cluster file holds."""

    nodes: tuple[NodeForm, ...] = Field(min_length=1)
    node_groups: tuple[GroupForm, ...] = ()

    def build(self) -> Cluster:
        """The Cluster. Raises ValueError with a sentence for a person."""
        found: list[Alike] = []
        for form in self.nodes:
            found.append(_nodes(form, found[-1].stop if found else 0))
        if found[-1].stop > MAX_NODES:
            raise ValueError(f"{found[-1].stop:,} nodes are more than {MAX_NODES:,}")
        nodes = Nodes(found)
        names = [node.name for node in nodes]
        if len(set(names)) != len(names):
            raise ValueError(f"two nodes are called `{next(name for name, count in Counter(names).items() if count > 1)}`")
        bare = Cluster(nodes)
        return bare.with_groups(_group(bare, form) for form in self.node_groups)


def _nodes(form: NodeForm, first: int) -> Alike:
    devices = accelerators(form.accelerators.count, form.accelerators.model, form.accelerators.memory, form.accelerators.ids)
    hardware = tuple(
        Hardware(device.type, tuple((key, str(value)) for key, value in (device.model_extra or {}).items())) for device in form.hardware
    )
    taken = sum(1 << index for index in set(form.accelerators.taken))
    topology: dict[str, str] = {level: form.topology[level] for level in form.topology}
    node = Node(first, form.name or "", devices, hardware, form.cpus, form.memory, form.labels, topology, taken)
    if form.name is None:
        return numbered_nodes(node, form.repeat)
    return Alike(node) if form.repeat == 1 else numbered_nodes(node, form.repeat, form.name, 0)


def _group(cluster: Cluster, form: GroupForm) -> NodeGroup:
    if form.label in (CLUSTER_LABEL, NODE_LABEL):
        raise ValueError(f"the label `{form.label}` is reserved")
    members = _ranks(cluster, form.node_ranks)
    software = tuple(
        EnvConfig(tuple(_ranks(cluster, each.node_ranks)), tuple(each.env_vars.items()), each.python_interpreter_path)
        for each in form.env_configs
    )
    return NodeGroup(form.label, members, form.kind or _kind(cluster, members), software)


def _ranks(cluster: Cluster, text: str) -> Sequence[int]:
    try:
        found = parse_ranks(text, len(cluster.nodes), "node")
        return found.ranges[0] if found.solid else tuple(found)
    except RankError as problem:
        raise ValueError(str(problem)) from None


def _kind(cluster: Cluster, members: Sequence[int]) -> str:
    """The only type of hardware of nodes without accelerators; else what counts by default."""
    types = {device.type for its, _ in cluster.alike_among(members) for device in its.node.hardware}
    default = cluster.default_kind(members)
    return types.pop() if default == NODE and len(types) == 1 else default
