"""Keys of a component in a native file; hints in a framework's file lack `placement`."""

from __future__ import annotations

import re
from functools import cached_property
from itertools import product

from ..component import Parallel
from ..estimate import BITS, FULL, LOGITS, NONE, OPTIMIZERS, RECOMPUTED, SHARDINGS, MemoryInput
from ..machines.node_group import CLUSTER_LABEL
from ..machines.topology import ALL_LEVELS, LEVELS, NODE_LEVEL
from ..planning.workload import POWER, SCALINGS
from ..roles import ROLES
from ..text.form import Form, ValueKind, form_of, key, list_of, one_or_list_of, shown_value
from ..text.values import (
    Amounts,
    Boolean,
    Count,
    Degrees,
    Labels,
    Mebibytes,
    Name,
    Names,
    Numbers,
    OneOfValues,
    Percent,
    RankText,
    RankTexts,
    Word,
    count_key,
    text_or_list,
    word_or_map,
)
from .seconds import Seconds

DOMAINS = (*LEVELS, NODE_LEVEL)
"""Levels with domains of whole nodes: units of failure."""
RACK = LEVELS[1]
"""Default level."""
OVER_NODES = "keep: {tp: {level: node, required: false}}"
"""Hint that allows tp groups over nodes."""
LET_OVER_NODES = f"let its tp groups span nodes: `{OVER_NODES}`"
"""Help text for `OVER_NODES`."""
Level = OneOfValues("level of the topology", ALL_LEVELS)
Domain = OneOfValues("level of nodes", DOMAINS)


class KeptForm(Form):
    """Level of the topology, and in how many of its domains a unit may lie."""

    level = key(Level)
    domains = key(Count, default=1, description="at most in how many domains, such as `2` (whole component only)")
    required = key(Boolean, default=True, description="`false` where it is only preferred")


class SpreadForm(Form):
    """Spread of a component over failure domains."""

    level = key(Domain, default=RACK)
    domains = key(Count, default=None, description="at least in how many domains, such as `2`")
    percent = key(Percent, default=100, description="how much of it one domain may hold at most, in percent, such as `60`")


class PinForm(Form):
    """Processes with a fixed set of nodes."""

    ranks = key(RankText, description="process ranks such as `0-7`")
    nodes = key(RankTexts, description="ranks of nodes such as `3` or `0-1`, names of nodes, or a list of them")


class OtherForm(Form):
    """Another component, and the topology level of the comparison."""

    component = key(Word, description="the name of a component such as `actor`")
    level = key(Domain, default=RACK)


Kept = one_or_list_of(word_or_map(Level, KeptForm))
Spreads = one_or_list_of(word_or_map(Domain, SpreadForm))
Pins = one_or_list_of(form_of(PinForm))
Others = one_or_list_of(word_or_map(Word, OtherForm))


class KeepForm(Form):
    """Units to keep together, with a topology level, a map, or a list of them."""

    tp = key(Kept, default=(), title="a tensor parallel group", description="a level such as `nvlink_domain`, or a map")
    ep = key(Kept, default=(), title="an expert parallel group", description="a level such as `node`, or a map")
    replica = key(Kept, default=(), title="a replica", description="a level such as `rack`, or `{level: node, required: false}`")
    component = key(
        Kept, default=(), title="the whole component", description="a level such as `rack`, or `{level: rack, domains: 2, required: false}`"
    )


MOST = 10**14
"""Maximum number of parameters: a hundred times what the largest models have."""
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "B": 10**9, "T": 10**12}
_PATTERN = r"^\s*[0-9]{1,15}(\.[0-9]{1,6})?\s*[KkMmBbTt]?\s*$"
_TEXT = re.compile(r"\s*(\d{1,15}(?:\.\d{1,6})?)\s*([KMBT]?)\s*", re.IGNORECASE | re.ASCII)


def _parameters(value: object) -> int:
    """Return the number in `7B`, `494M` or a plain number. Raises ValueError with a sentence."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError(f"{shown_value(value)} is not a number of parameters")
    from decimal import Decimal, InvalidOperation

    match = _TEXT.fullmatch(str(value))
    try:
        count = int(Decimal(match[1]) * _UNITS[match[2].upper()]) if match else 0
    except InvalidOperation:
        count = 0
    if not 1 <= count <= MOST:
        raise ValueError(f"{shown_value(value)} is not a number of parameters such as `7B`")
    return count


Parameters = ValueKind(_parameters, {"anyOf": [{"type": "number", "minimum": 1, "maximum": MOST}, {"type": "string", "pattern": _PATTERN}]})
"""Number of parameters like ``7B``."""


def _part(value: object) -> int:
    """Return percent of a share of at most 1.0, or of a whole number."""
    return max(1, round(100 * value)) if isinstance(value, float) and 0 < value <= 1 else Percent.read(value)


Part = ValueKind(_part, {"anyOf": [*Percent.schema["anyOf"], {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}]})
"""Percent: a whole number like ``60``, or a share, ``0.6``; ``1.0`` is all."""


class EstimateForm(Form):
    """Input of the memory estimate; numbers of a known model may be omitted."""

    model = key(Word, default="", title="the model, where its numbers are known", description="an id such as `Qwen/Qwen2.5-7B-Instruct`")
    parameters = key(Parameters, default=None, title="all weights of the model", description="a number such as `7B`")
    trainable = key(Parameters, default=None, title="how many weights are trained, where not all are", description="a number such as `40M`")
    lora_rank = count_key(32, "the rank of adapters, where these alone are trained")
    precision = key(OneOfValues("precision", tuple(BITS)), default="bf16", title="of the weights while they work")
    optimizer = key(OneOfValues("optimizer", tuple(OPTIMIZERS)), default=None, title="`adam` for what is trained by its role, else none")
    sharding = key(OneOfValues("sharding", SHARDINGS), default=NONE, title="what data parallel ranks divide")
    shards = count_key(8, "how many ranks divide, where not all do (hybrid sharding)")
    expert_tp = count_key(1, "tensor parallel size of experts in training, if not that of the model")
    sequence = count_key(8192, "tokens of one sequence, prompt and answer")
    micro_batch = count_key(1, "sequences that one data parallel rank works on at a time", default=1)
    micro_batches = count_key(4, "micro batches of one optimizer step on a rank")
    logits = key(
        OneOfValues("logits", LOGITS), default=None, title="how the loss works on logits: on all in 32 bits, or fused or in chunks"
    )
    recompute = key(OneOfValues("recomputation", RECOMPUTED), default=FULL, title="what is computed again in the backward pass")
    attention_scores = key(Boolean, default=False, title="scores of attention are stored, as without flash attention")
    sequences = count_key(64, "sequences that a replica of an engine caches at the same time")
    cache = key(
        OneOfValues("precision", ("bf16", "fp16", "fp8")), default=None, title="the precision of the cache", description="such as `fp8`"
    )
    utilization = key(
        Part, default=None, title="percent of each accelerator that an engine takes for itself",
        description="a whole number such as `60`, or a part such as `0.6`",
    )  # fmt: skip
    offload = key(Boolean, default=False, title="it leaves its accelerators while another phase runs")
    layers = count_key(28)
    hidden = count_key(3584, "the width of the model")
    heads = count_key(28, "attention heads of a layer")
    kv_heads = count_key(4, "heads of keys and values")
    head_size = count_key(128)
    intermediate = count_key(18944, "the width of the feed-forward part")
    vocabulary = count_key(152064)
    experts = count_key(128, "routed experts of a layer")
    expert_intermediate = count_key(768, "the width of one expert")
    active_experts = count_key(8, "routed experts that work on a token")
    shared_experts = count_key(1, "experts that work on every token")
    dense_layers = count_key(3, "first layers without experts")
    latent = count_key(576, "numbers that a layer caches of a token instead of keys and values")
    query_latent = count_key(1536, "numbers from which queries come")
    rope = count_key(64, "numbers of a latent that are for positions")
    value_size = count_key(128, "the width of a head's values")
    positions = count_key(32768, "tokens of the longest sequence that the model takes")

    def estimate(self) -> MemoryInput:
        """Return the estimate that the form states."""
        values = {
            name: value for name in MemoryInput.__dataclass_fields__ if name != "written" and (value := getattr(self, name)) is not None
        }
        return MemoryInput(**values, written=tuple(name for name in values if name in self.written_keys))


_Role = OneOfValues("role", ROLES)
_OTHERS = "the name of a component such as `actor`, or a list of names"
_FAR = "the name of a component such as `actor`, a map such as `{component: actor, level: rack}`, or a list of them"


class ParallelForm(Form):
    """Degrees of parallelism; a list leaves the choice open, the preferred one first."""

    tp = key(Degrees, default=(1,), description="a whole number such as `8`, or a list such as `[2, 4]`", title="tensor parallel size")
    pp = key(Degrees, default=(1,), description="a whole number such as `2`, or a list", title="pipeline parallel size")
    cp = key(Degrees, default=(1,), description="a whole number such as `2`, or a list", title="context parallel size")
    ep = key(Degrees, default=(1,), description="a whole number such as `8`, or a list", title="expert parallel size")
    dp = key(
        Degrees,
        default=(1,),
        description="a whole number such as `2`, or a list",
        title="data parallel ranks inside one replica of an engine; how many replicas there are follows from the accelerators",
    )

    @cached_property
    def choices(self) -> tuple[Parallel, ...]:
        """Every combination of degrees, preferred ones first."""
        return tuple(Parallel(*degrees) for degrees in product(self.tp, self.pp, self.cp, self.ep, self.dp))


_DEGREE_WORDS = {
    **dict.fromkeys(("tensor_parallel", "tensor_parallel_size", "tensor_model_parallel_size", "tp_size"), "tp"),
    **dict.fromkeys(("pipeline_parallel", "pipeline_parallel_size", "pipeline_model_parallel_size", "pp_size"), "pp"),
    **dict.fromkeys(("context_parallel", "context_parallel_size", "cp_size"), "cp"),
    **dict.fromkeys(("expert_parallel", "expert_parallel_size", "expert_model_parallel_size", "ep_size"), "ep"),
    **dict.fromkeys(("data_parallel", "data_parallel_size", "dp_size"), "dp"),
}
_OTHER_WORDS = {
    **{word: f"write `parallel: {{{degree}: ...}}`" for word, degree in _DEGREE_WORDS.items()},
    **dict.fromkeys(("time", "times", "duration", "profile", "iteration_time"), "write `seconds`"),
    **dict.fromkeys(
        ("min_accelerators", "max_accelerators", "min_gpus", "max_gpus", "least", "most", "min", "max"),
        "write a range, such as `accelerators: 2-8`",
    ),
    **dict.fromkeys(("count", "size", "world_size"), "write `accelerators`, or `processes`"),
    **dict.fromkeys(
        ("after", "before", "depends_on", "needs", "requires"), "write what works on what in `plan: {workflow: rollout -> actor}`"
    ),
    **dict.fromkeys(("must_colocate", "together", "together_with", "shares", "shares_with"), "write `colocate_with`"),
    **dict.fromkeys(("must_split", "split", "split_from", "separate", "separate_from"), "write `disjoint_from`"),
    "offload": "write `offloaded`, how much stays on an accelerator while another phase runs, or `estimate: {offload: true}`",
    "resident": "write `offloaded`: what is never offloaded keeps as much as its `memory`",
    **dict.fromkeys(
        ("taken", "unavailable", "unusable", "avoid", "not_on", "except", "excluded"),
        "write `exclude` for nodes that it must not use; single unusable accelerators are `taken` in `cluster`",
    ),
    "measured_on": "write `seconds` by count, such as `{8: 120}`",
    **dict.fromkeys(("nodes", "num_nodes", "hosts"), "write `accelerators`; choose nodes with `node_group`, `exclude` and `pin`"),
}


class HintForm(Form):
    """Hints about a component of the job; `accelerators` and `processes` may be ranges or lists."""

    other_words = _OTHER_WORDS

    role = key(_Role, default=None, title="what it does, if its name does not say it")
    accelerators = key(
        Amounts, default=None, title="how many accelerators it asks for; without times, ranges of several components are split evenly",
        description="a number such as `16`, a range such as `8-32`, or a list of them such as `[2, 4, 8-16]`",
    )  # fmt: skip
    processes = key(
        Amounts, default=None, title="how many processes it has",
        description="a number such as `16`, a range such as `8-32`, or a list of them such as `[2, 4, 8-16]`",
    )  # fmt: skip
    accelerators_per_process = count_key(1)
    parallel = key(form_of(ParallelForm), default=ParallelForm(), description="degrees such as `{tp: 8, pp: 2}`")
    memory = key(Mebibytes, default=0, description="memory of one process on one accelerator, such as `70GiB`")
    estimate = key(
        form_of(EstimateForm), default=None, title="what its memory is estimated from, where it is not measured",
        description="a map such as `{parameters: 7B, optimizer: adam, sharding: zero3, sequence: 8192, micro_batch: 1}`",
    )  # fmt: skip
    offloaded = key(
        Mebibytes, default=0, title="memory that one process keeps on each accelerator while another phase runs",
        description="an amount such as `2GiB`",
    )  # fmt: skip
    host_memory = key(Mebibytes, default=0, description="memory of its node that one process needs, such as `100GiB`")
    cpus = count_key(4, "CPUs that are reserved for one process")
    phase = key(
        Names, default=(), title="when it needs its memory: components without a phase in common take turns",
        description="a name such as `generate`, or a list of them",
    )  # fmt: skip
    node_group = key(Labels, default=(CLUSTER_LABEL,), description="the label of a node group such as `node`, or several with commas")
    accelerator = key(Name, default=None, description="a model such as `H100`", title="the only model that it may use")
    contiguous = key(Boolean, default=False, title="its accelerators are one solid range, in the order of its ranks")
    any_order = key(Boolean, default=False, title="a contiguous component whose processes may be in their range in any order")
    stride = count_key(2, "tensor parallel groups interleave in blocks of so many groups", default=1)
    colocate_with = key(Names, default=(), description=_OTHERS, title="it uses exactly the accelerators of these")
    disjoint_from = key(Names, default=(), description=_OTHERS, title="it shares no accelerator with these")
    within = key(Names, default=(), description=_OTHERS, title="it uses only accelerators that these use")
    rank_aligned_with = key(
        Names, default=(), description=_OTHERS, title="it uses exactly the accelerators of these, in the same order of ranks"
    )
    zero_copy_with = key(
        Names, default=(), description=_OTHERS, title="it uses the accelerators of these so that each finds its part of the weights at home"
    )
    apart_from = key(Others, default=(), description=_FAR, title="no rack, or other domain, holds some of it and some of these")
    near = key(Others, default=(), description=_FAR, title="every rack, or other domain, that holds some of it holds some of these")
    keep = key(
        form_of(KeepForm), default=None, title="what of it stays together", description="a map such as `{tp: nvlink_domain, replica: rack}`"
    )
    spread = key(Spreads,
        default=(), title="over what it is spread", description="a level such as `rack`, for at least two racks, a map such as "
        "`{level: rack, domains: 2, percent: 60}`, or a list of them",
    )  # fmt: skip
    pin = key(Pins, default=(), title="ranks that must be on certain nodes", description="a list such as `[{ranks: 0-7, nodes: 3}]`")
    exclude = key(
        RankTexts, default=None, title="nodes that it must not use", description="ranks or names of nodes, such as `[node-5, 7-9]`"
    )
    traffic = key(
        Mebibytes, default=0, title="what its processes exchange in a step, for every further domain that they use",
        description="an amount such as `14GiB`",
    )  # fmt: skip
    seconds = key(
        Seconds, default=None, title="how long an iteration of it takes, where that was measured",
        description="a map such as `{8: 120, 16: 66}`, `{generate: {8: 95}, train: {8: 60}}` or `{H100: {8: 60}}`, or `59.9` where the count is fixed",
    )  # fmt: skip
    scaling = key(OneOfValues("scaling", SCALINGS), default=POWER, title="what is assumed between and beyond the measured counts")
    samples = count_key(512, "what its data parallel ranks must divide evenly among themselves")


class PlacedForm(Form):
    """Some processes of a component: `ranks` hold equal shares, in order, of the `accelerators` (or `hardware`) of a `node`.

    With more ranks than accelerators, consecutive ranks share one. A rank that stands in several entries holds all of them,
    in order. Several nodes hold the same each, and the ranks go on from node to node.
    """

    ranks = key(Word, description="process ranks such as `0-7`")
    node = key(Word, description="the rank of a node, several such as `0-3`, or a node's name")
    accelerators = key(Numbers, default=None, description="local indices in order, such as `0-7` or `[3, 2, 1, 0]`")
    hardware = key(Numbers, default=None, description="local indices of robots and the like, such as `0-1`")
    node_group = key(Word, default=None, description="the one that is used of several node groups of the component, such as `cluster`")


_Placement = text_or_list(RankText, list_of(form_of(PlacedForm), 1))


class ComponentForm(HintForm):
    """Component of the job; `accelerators` and `processes` may be ranges or lists."""

    placement = key(
        _Placement, default=None, title="where it is: resource ranks and process ranks, as RLinf writes them, or node by node",
        description="ranks such as `0-7` or `0-7:0-3`, or a list such as `[{ranks: 0-3, node: 0, accelerators: [3, 2, 1, 0]}]`",
    )  # fmt: skip
