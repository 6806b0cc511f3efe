"""Keys of a component in a native file; hints in a framework's file lack `placement`."""

from __future__ import annotations

from itertools import product

from ..component import Parallel
from ..machines.node_group import CLUSTER_LABEL
from ..planning.measured import POWER, SCALINGS
from ..roles import ROLES
from ..text.form import Form, form_of, key, list_of
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
    RankText,
    RankTexts,
    Word,
    text_or_list,
)
from .estimate import EstimateForm
from .locality import KeepForm, Others, Pins, Spreads
from .seconds import Seconds

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

    def choices(self) -> tuple[Parallel, ...]:
        """Return every combination of degrees, preferred ones first."""
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
        "write `exclude` for nodes that it must not use; single accelerators that nobody may use are `taken` in `cluster`",
    ),
    "measured_on": "write `seconds` by count, such as `{8: 120}`; only a cost in `profile_data` of an RLinf file may need it",
    **dict.fromkeys(("nodes", "num_nodes", "hosts"), "write `accelerators`; on which nodes say `node_group`, `exclude` and `pin`"),
}


class HintForm(Form):
    """Hints about a component of the job; `accelerators` and `processes` may be ranges or lists."""

    other_words = _OTHER_WORDS

    role = key(
        _Role,
        default=None,
        description=f"one of {', '.join(f'`{role}`' for role in ROLES)}",
        title="what it does, if its name does not say it",
    )
    accelerators = key(
        Amounts,
        default=None,
        description="a number such as `16`, a range such as `8-32`, or a list of them such as `[2, 4, 8-16]`",
        title="how many accelerators it asks for",
    )
    processes = key(
        Amounts,
        default=None,
        description="a number such as `16`, a range such as `8-32`, or a list of them such as `[2, 4, 8-16]`",
        title="how many processes it has",
    )
    accelerators_per_process = key(Count, default=None, description="a whole number such as `1`")
    parallel = key(form_of(ParallelForm), default=ParallelForm(), description="degrees such as `{tp: 8, pp: 2}`")
    memory = key(Mebibytes, default=0, description="memory of one process on one accelerator, such as `70GiB`")
    estimate = key(
        form_of(EstimateForm),
        default=None,
        title="what its memory is estimated from, where nobody measured it",
        description="a map such as `{parameters: 7B, optimizer: adam, sharding: zero3, sequence: 8192, micro_batch: 1}`",
    )
    offloaded = key(
        Mebibytes,
        default=0,
        description="an amount such as `2GiB`",
        title="memory that one process keeps on each accelerator while another phase runs",
    )
    host_memory = key(Mebibytes, default=0, description="memory of its node that one process needs, such as `100GiB`")
    cpus = key(Count, default=None, description="a whole number such as `4`", title="CPUs that are reserved for one process")
    phase = key(
        Names,
        default=(),
        description="a name such as `generate`, or a list of them",
        title="when it needs its memory: components without a phase in common take turns",
    )
    node_group = key(Labels, default=(CLUSTER_LABEL,), description="the label of a node group such as `node`, or several with commas")
    accelerator = key(Name, default=None, description="a model such as `H100`", title="the only model that it may use")
    contiguous = key(
        Boolean, default=False, description="`true` or `false`", title="its accelerators are one solid range, in the order of its ranks"
    )
    any_order = key(
        Boolean,
        default=False,
        description="`true` or `false`",
        title="a contiguous component whose processes may lie in their range in any order",
    )
    stride = key(
        Count, default=1, description="a whole number such as `2`", title="tensor parallel groups interleave in blocks of so many groups"
    )
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
        Mebibytes,
        default=0,
        title="what its processes exchange in a step, for every further domain that they lie in",
        description="an amount such as `14GiB`",
    )
    seconds = key(
        Seconds,
        default=None,
        title="how long an iteration of it takes, where that was measured",
        description="a map such as `{8: 120, 16: 66}`, `{generate: {8: 95}, train: {8: 60}}` or `{H100: {8: 60}}`, or `59.9` where the count is fixed",
    )
    scaling = key(
        OneOfValues("scaling", SCALINGS),
        default=POWER,
        title="what is assumed between and beyond the measured counts",
        description="one of " + ", ".join(f"`{word}`" for word in SCALINGS),
    )
    samples = key(
        Count,
        default=None,
        description="a whole number such as `512`",
        title="what its data parallel ranks must divide evenly among themselves",
    )


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
        _Placement,
        default=None,
        description="ranks such as `0-7` or `0-7:0-3`, or a list such as `[{ranks: 0-3, node: 0, accelerators: [3, 2, 1, 0]}]`",
        title="where it is: resource ranks and process ranks, as RLinf writes them, or node by node",
    )
