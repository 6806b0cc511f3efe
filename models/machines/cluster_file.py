"""Cluster as YAML or JSON: reading with located faults, and writing in full or shortest."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Iterator, Sequence

from ..findings.finding import UnusableInput, error
from ..findings.wording import are, with_noun
from ..ranks import RankError, parse_ranks
from ..text.edit import ranks_to_data
from ..text.form import MAX_TEXT, Form, ValueKind, form_of, key, list_of, map_of, shown_value
from ..text.source import Source, read_yaml
from ..text.tree import plain
from ..text.values import Count, Index, Mebibytes, Name, RankText, Word, text_or_list, whole_between
from .cluster import Cluster
from .node import GENERIC, EqualNodes, Hardware, Node, Nodes, accelerators, numbered_nodes
from .node_group import CLUSTER_LABEL, NODE, NODE_LABEL, EnvConfig, NodeGroup
from .shorthand import MAX_ACCELERATORS_PER_NODE, MAX_NODES, SHORTHAND_PATTERN, DeclaredNodes, parts_of, read_shorthand, write_shorthand

_ADVICE = "name a cluster file, or write nodes x accelerators x model, such as `2x8xH100` (2 nodes with 8 H100 each) or `x8`"
_OF_JOBS = ("components", "cluster", "actor_rollout_ref", "actor_train", "actor_infer", "rollout", "trainer", "defaults", "placewright")
"""Keys of files that describe a job instead of a cluster."""
_HELP = "a cluster file is `nodes: [{repeat: 2, accelerators: {count: 8, model: H100}}]`"


def _figure(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1e9:
        raise ValueError(f"{shown_value(value)} is not a number above 0")
    return float(value)


_Figure = ValueKind(_figure, {"type": "number", "exclusiveMinimum": 0})


class SpeedForm(Form):
    """Figures of an accelerator in place of its data sheet's, for estimated times."""

    bf16 = key(_Figure, default=None, description="dense operations a second in 10^12, such as `989`")
    fp8 = key(_Figure, default=None, description="dense operations a second in 10^12, such as `1979`")
    bandwidth = key(_Figure, default=None, description="of the memory, in TB/s, such as `3.35`")
    link = key(_Figure, default=None, description="inside the node, both directions, in GB/s, such as `900`")
    host = key(_Figure, default=None, description="to the host's memory, both directions, in GB/s, such as `128`")
    network = key(_Figure, default=None, description="to other nodes for one accelerator, each direction, in GB/s, such as `50`")
    domain = key(Count, default=None, description="how many accelerators the link joins, such as `72`; those of a node if it is not said")

    def figures(self) -> tuple[tuple[str, float], ...]:
        """Return the written figures by name."""
        return tuple((name, float(value)) for name in self.keys if (value := getattr(self, name)) is not None)


class AcceleratorsForm(Form):
    """Accelerators of a node: `count` of a `model`, with `memory` each.

    `ids` are physical ids, `taken` the local indices that other jobs hold. In order the
    accelerators belong to `numa` NUMA domains, as evenly as can be.
    """

    count = key(whole_between(0, MAX_ACCELERATORS_PER_NODE), description="how many, such as `8`")
    model = key(Name, default=GENERIC, description="a model such as `H100`, or with its vendor `NV_GPU:H100`")
    memory = key(Mebibytes, default=None, description="memory of each, such as `80GiB`; known models need none")
    ids = key(list_of(Name), default=(), description="the ids that the visibility variable takes, one each, such as `[0, 1]`")
    taken = key(list_of(Index), default=(), description="local indices that other jobs hold, such as `[6, 7]`")

    speed = key(
        form_of(SpeedForm), default=SpeedForm(), description="figures of the accelerator, such as `{bf16: 989, bandwidth: 3.35, link: 900}`"
    )
    numa = key(Count, default=1, description="how many NUMA domains they are divided among, in order, such as `2`")

    def check(self) -> None:
        """Raise ValueError where the ids, taken indices or NUMA domains do not fit the count."""
        if self.ids and len(self.ids) != self.count:
            raise ValueError(f"{with_noun(len(self.ids), 'id')} {are(len(self.ids))} given for {with_noun(self.count, 'accelerator')}")
        if len(set(self.ids)) != len(self.ids):
            raise ValueError("two accelerators of one node have the same id")
        if any(not 0 <= index < self.count for index in self.taken):
            raise ValueError(f"`taken` names an index outside 0-{self.count - 1}")
        if self.numa > max(self.count, 1):
            raise ValueError(f"{with_noun(self.count, 'accelerator')} cannot be divided among {self.numa} NUMA domains")


class HardwareForm(Form):
    """Device other than an accelerator, like a robot: type and any further settings."""

    is_open = True

    type = key(Name, description="a type such as `Franka`")


class TopologyForm(Form):
    """Network location of a node; nodes without a domain of a level share one."""

    zone = key(Name, default=None, description="the name of its zone, a building or a part of one, such as `a`")
    rack = key(Name, default=None, description="the name of its rack, such as `r1`")
    nvlink_domain = key(Name, default=None, description="the name of its NVLink domain, such as `n1`")


class NodeForm(Form):
    """One node, or `repeat` equal nodes (then `name` is a prefix)."""

    name = key(Name, default=None, description="a name such as `gpu-a`; by default `node-` and the rank")
    repeat = key(whole_between(1, MAX_NODES), default=1, description="how many nodes are like this one, such as `4`")
    accelerators = key(form_of(AcceleratorsForm), default=AcceleratorsForm(count=0), description="such as `{count: 8, model: H100}`")
    hardware = key(list_of(form_of(HardwareForm)), default=(), description="a list such as `[{type: Franka, robot_ip: 10.0.0.1}]`")
    cpus = key(Count, default=None, description="how many CPUs it has, such as `96`")
    memory = key(Mebibytes, default=None, description="host memory, such as `1TiB`")
    labels = key(map_of(Word), default={}, description="any labels, such as `{zone: a}`")
    topology = key(
        form_of(TopologyForm), default=TopologyForm(), description="where it is, such as `{zone: a, rack: r1, nvlink_domain: n1}`"
    )


def _path(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{shown_value(value)} is not text")
    return value


class EnvConfigForm(Form):
    """The software of some nodes of a group."""

    node_ranks = key(RankText, description="ranks of nodes, such as `0-3`")
    env_vars = key(map_of(Word), default={}, description="environment variables, such as `{NCCL_DEBUG: INFO}`")
    python_interpreter_path = key(
        ValueKind(_path, {"type": "string"}), default=None, description="the Python of these nodes, such as `/opt/venv/bin/python`"
    )


class GroupForm(Form):
    """Labelled set of nodes; `kind` is the counted resource, derived if unspecified."""

    label = key(Word, description="a name such as `train`")
    node_ranks = key(RankText, description="ranks of nodes, such as `0-3`")
    kind = key(Name, default=None, description="`Accelerator`, `node` or a type of hardware such as `Franka`")
    env_configs = key(list_of(form_of(EnvConfigForm)), default=(), description="the software of its nodes")


def _shorthand(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{shown_value(value)} is neither a text nor a list")
    if len(value) > MAX_TEXT:
        raise ValueError(f"the text is longer than {MAX_TEXT} characters")
    return value


_Nodes = text_or_list(ValueKind(_shorthand, {"type": "string", "pattern": SHORTHAND_PATTERN}), list_of(form_of(NodeForm), 1))


class ClusterForm(Form):
    """Content of a cluster file: the whole cluster."""

    nodes = key(_Nodes, description="a list of nodes in the order of their ranks, or a shorthand such as `2x8xH100`")
    node_groups = key(list_of(form_of(GroupForm)), default=(), description="labelled sets of nodes")

    def build(self) -> Cluster:
        """Return the Cluster. Raises ValueError with a sentence for a person."""
        bare = read_shorthand(self.nodes) if isinstance(self.nodes, str) else Cluster(_nodes_of(self.nodes))
        if isinstance(bare, DeclaredNodes):
            raise ValueError(f"`{self.nodes}` does not say how many nodes there are")
        return bare.with_groups(_group(bare, form) for form in self.node_groups)


def _nodes_of(forms: Sequence[NodeForm]) -> Nodes:
    stretches: list[EqualNodes] = []
    count = sum(form.repeat for form in forms)
    if count > MAX_NODES:
        raise ValueError(f"{count:,} nodes are more than {MAX_NODES:,}")
    for form in forms:
        stretches.append(_nodes(form, stretches[-1].stop if stretches else 0))
    nodes = Nodes(stretches)
    names = [node.name for node in nodes]
    if len(set(names)) != len(names):
        raise ValueError(f"two nodes are called `{next(name for name, count in Counter(names).items() if count > 1)}`")
    return nodes


def _nodes(form: NodeForm, first: int) -> EqualNodes:
    spec = form.accelerators
    devices = accelerators(spec.count, spec.model, spec.memory, spec.ids, spec.numa, spec.speed.figures())
    hardware = tuple(Hardware(device.type, tuple((key, str(value)) for key, value in device.extra.items())) for device in form.hardware)
    occupied_mask = sum(1 << index for index in set(form.accelerators.taken))
    topology = {level: name for level in TopologyForm.keys if (name := getattr(form.topology, level))}
    node = Node(first, form.name or "", devices, hardware, form.cpus, form.memory, form.labels, topology, occupied_mask)
    if form.name is None:
        return numbered_nodes(node, form.repeat)
    return EqualNodes(node) if form.repeat == 1 else numbered_nodes(node, form.repeat, form.name, 0)


def _group(cluster: Cluster, form: GroupForm) -> NodeGroup:
    if form.label in (CLUSTER_LABEL, NODE_LABEL):
        raise ValueError(f"the label `{form.label}` is reserved")
    members = _ranks(cluster, form.node_ranks)
    software = tuple(
        EnvConfig(tuple(_ranks(cluster, config.node_ranks)), tuple(config.env_vars.items()), config.python_interpreter_path)
        for config in form.env_configs
    )
    return NodeGroup(form.label, members, form.kind or _kind(cluster, members), software)


def _ranks(cluster: Cluster, text: str) -> Sequence[int]:
    try:
        ranks = parse_ranks(text, len(cluster.nodes), "node")
        return ranks.ranges[0] if ranks.solid else tuple(ranks)
    except RankError as problem:
        raise ValueError(str(problem)) from None


def _kind(cluster: Cluster, members: Sequence[int]) -> str:
    """Return the only hardware type of nodes without accelerators; else the default."""
    types = {device.type for stretch, _ in cluster.alike_among(members) for device in stretch.node.hardware}
    default = cluster.default_kind(members)
    return types.pop() if default == NODE and len(types) == 1 else default


def read_cluster(path: str | Path) -> Cluster:
    """Return the cluster in a YAML or JSON file. Raises UnusableInput with every fault."""
    if not Path(path).exists():
        from .shorthand import correct_shorthand  # only a mistake needs it

        advice = f"write `{near}` (nodes x accelerators x model), or name a file" if (near := correct_shorthand(str(path))) else _ADVICE
        raise UnusableInput([error("PW001", "", f"`{path}` is not a shorthand, and there is no file of this name", help=advice)])
    return cluster_of(Source.read(path))


def cluster_of(source: Source) -> Cluster:
    """Return the cluster in a text. Raises UnusableInput with every fault of the text."""
    from ..text.form import fill

    job = next((entry.key for entry in source.root if entry.key.text in _OF_JOBS), None)
    if job is not None and source.root.get("nodes") is None:
        message = f"`{source.name}` is a configuration of a job, not a cluster file: it has `{job.text}`"
        raise UnusableInput([error("PW011", "", message, job.span, label="says what runs", help=f"{_ADVICE}; {_HELP}")])
    form = fill(ClusterForm, source.root, "", "a cluster file", "PW011")
    try:
        return form.build()
    except ValueError as problem:
        raise UnusableInput([error("PW011", "", f"the cluster cannot be: {problem}", source.whole(), help=_HELP)]) from None


def cluster_to_data(cluster: Cluster, as_named: bool = False) -> dict[str, object]:
    """Return the cluster as JSON data for ClusterForm; reading gives an equal cluster.

    With `as_named`, models are as a user names them: without the vendor that they imply, and left out where none is named.
    """
    nodes = [{**_node_to_data(node, True, as_named), "name": node.name} for node in cluster.nodes]
    return {"nodes": nodes, "node_groups": [_group_to_data(cluster, group, True) for group in cluster.declared]}


def _node_to_data(node: Node, full: bool, as_named: bool = False) -> dict[str, object]:
    """Return the data of a node without its name; `full`: also what a model or a count implies."""
    data: dict[str, object] = {}
    if node.accelerators:
        first, count = node.accelerators[0], len(node.accelerators)
        model = _model(node) if as_named or not full else f"{first.vendor}:{first.model}"
        entry: dict[str, object] = {"count": count} if as_named and model == GENERIC else {"count": count, "model": model}
        usual = accelerators(count, _model(node))
        if node.numa_domains > 1:
            entry["numa"] = node.numa_domains
        if first.memory is not None and (full or first.memory != usual[0].memory):
            entry["memory"] = f"{first.memory}MiB"
        ids = [device.physical_id for device in node.accelerators]
        if full or ids != [device.physical_id for device in usual]:
            entry["ids"] = ids
        if first.speed:
            entry["speed"] = dict(first.speed)
        if node.taken:
            entry["taken"] = [index for index in range(count) if node.taken >> index & 1]
        data["accelerators"] = entry
    if node.hardware:
        value = str if full else _setting
        data["hardware"] = [{"type": device.type, **{key: value(text) for key, text in device.config}} for device in node.hardware]
    if node.memory is not None:
        data["memory"] = f"{node.memory}MiB"
    plain_values = {"cpus": node.cpus, "labels": dict(node.labels), "topology": dict(node.topology)}
    return {**data, **{key: value for key, value in plain_values.items() if value}}


def _group_to_data(cluster: Cluster, group: NodeGroup, full: bool) -> dict[str, object]:
    data: dict[str, object] = {"label": group.label, "node_ranks": _ranks_to_data(group.node_ranks, full)}
    if full or group.kind != _kind(cluster, group.node_ranks):
        data["kind"] = group.kind
    if group.env_configs:
        data["env_configs"] = [software_to_data(config, full) for config in group.env_configs]
    return data


def software_to_data(config: EnvConfig, full: bool = False) -> dict[str, object]:
    """Return the software of some nodes as data; `full`: empty maps too."""
    data: dict[str, object] = {"node_ranks": _ranks_to_data(config.node_ranks, full)}
    if full or config.env_vars:
        data["env_vars"] = dict(config.env_vars)
    if config.python_interpreter_path is not None:
        data["python_interpreter_path"] = config.python_interpreter_path
    return data


def _ranks_to_data(ranks: Sequence[int], full: bool) -> object:
    return ",".join(map(str, ranks)) if full else ranks_to_data(ranks)


def shorthand_of(cluster: Cluster) -> str | None:
    """Return a shorthand such as ``2x8xH100+1x0``, or None if facts of nodes would be lost."""
    text = write_shorthand(parts_of(cluster, _model))
    try:
        reread = read_shorthand(text)
    except ValueError:
        return None
    return text if isinstance(reread, Cluster) and reread.nodes == cluster.nodes else None


def cluster_to_short_data(cluster: Cluster) -> dict[str, object] | str:
    """Return the cluster as shortest data of a file. Reading it gives an equal cluster."""
    text = shorthand_of(cluster)
    if text is not None and not cluster.declared:
        return text
    nodes = cluster.nodes if isinstance(cluster.nodes, Nodes) else Nodes(map(EqualNodes, cluster.nodes))
    data: dict[str, object] = {"nodes": text or [node for stretch in nodes.alike for node in _short_nodes(stretch)]}
    if cluster.declared:
        data["node_groups"] = [_group_to_data(cluster, group, False) for group in cluster.declared]
    return data


def _model(node: Node) -> str:
    """Return the model as `accelerators` takes it: with the vendor unless the model implies it."""
    if not node.accelerators:
        return ""
    first = node.accelerators[0]
    usual = accelerators(1, first.model)[0] if first.model else None
    return first.model if usual and usual.vendor == first.vendor else f"{first.vendor}:{first.model}"


def _short_nodes(stretch: EqualNodes) -> Iterator[dict[str, object]]:
    """Yield equal nodes: grouped if names are a prefix with a number, else singly."""
    node = stretch.node
    rest = _node_to_data(node, False)
    names = [stretch.name(offset) for offset in range(stretch.count)]
    if names == [f"node-{node.rank + offset}" for offset in range(stretch.count)]:
        yield {**({"repeat": stretch.count} if stretch.count > 1 else {}), **rest}
    elif stretch.count > 1 and names == [f"{names[0][:-1]}{offset}" for offset in range(stretch.count)]:
        yield {"name": names[0][:-1], "repeat": stretch.count, **rest}
    else:
        yield from ({"name": name, **rest} for name in names)


def _setting(text: str) -> object:
    """Parse a device setting, unless the value would print otherwise than the text."""
    if not text or "\n" in text:
        return text
    try:
        value = plain(read_yaml("", text))
    except UnusableInput:
        return text
    return value if str(value) == text else text
