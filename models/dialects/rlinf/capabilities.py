"""Words and limits of RLinf: its capabilities, its names, and where a file says how long its components take."""

from __future__ import annotations

from ...hints.said import timed_names
from ...job import Capabilities
from ...text.tree import Mapping, Value

AT_LAUNCH = "RLinf notices this only at launch, after Ray is up and all nodes have joined"

LATE = "RLinf notices this only after workers have started"
CHECKED = "RLinf checks it once Ray is up and all nodes have joined"

AT_PLACEMENT = {"PW205": CHECKED, "PW211": CHECKED, "PW213": CHECKED}
"""What the classes that pack processes assert when they are constructed. Source: RLinf, rlinf/utils/placement.py."""

CAPABILITIES = Capabilities(
    shares_accelerators=True,
    nodes_in_order=True,
    groups_may_cross=True,
    notices={
        "PW203": AT_LAUNCH,
        "PW208": "RLinf notices this only when Megatron sets up its groups, after the workers have started",
        "PW210": AT_LAUNCH,
    },
)
"""Overlapping ranks of two components are how RLinf says colocation (there is no check between components); processes
whose nodes do not ascend are refused at launch ("Placements must be sorted by node_id", flexible.py and node.py). Tensor
parallel groups over several nodes are slow, but nothing refuses them. What rules find of given ranks and RLinf does not
check, or not before launch: PW208 is judged for degrees that only Megatron looks at; those that RLinf checks are read in modes/."""

SETTING, DEGREE, IDLE, PLANS = "PW123", "PW208", "PW803", "PW604"
"""Codes of settings that RLinf refuses, of degrees that do not fit, of what nothing starts, and of times."""

FSDP, MEGATRON = "fsdp", "megatron"
"""Training backends."""

INFERENCE = {"inference": "actor", "actor_inference": "actor", "critic_inference": "critic"}
"""Components that recompute probabilities, or values -> whose model they have.

Where actor and rollout share their accelerators, these do it themselves. Source: rlinf/utils/placement.py and rlinf/runners/reasoning_runner.py."""

RESERVED_LABELS = ("cluster", "node")
"""Labels of the groups that always exist. Source: rlinf/scheduler/cluster/config.py."""

MAX_PROCESSES = 1 << 20
"""The most processes of one component that are read; an own limit, no job is near it."""

MAX_RUNS = 1 << 21
"""After so many runs (nodes and segments of all components together) no more components are read; an own limit."""

NAMES = ("label", "node_group", "hardware", "hardware_type", "env_configs", "profiling")
"""The keys below which no value is taken from the environment: it would be shown as a name, or saved with a plan."""

ENVIRONMENT = ("NUM_NODES", "NNODES", "SLURM_NNODES", "SLURM_JOB_NUM_NODES")
"""The environment variables that an interpolation may read: the size of the job, nothing that is secret."""


KEY, COST = "profile_data", "_cost"


def saying(name: str, key: str, in_profile: bool) -> str:
    """What says how long a component takes, in the words of the file: under a key of its profile where it has one, else in hints."""
    return f"add `{key}` to `{KEY}`" if in_profile else f"say `seconds` of `{name}` in `placewright.components`"


def is_profiled(root: Mapping, hints: Value | None) -> bool:
    """Does it, so that other ranks may be chosen by that? Components without ranks are searched, whether or not they have times.

    Those that infer need no ranks: where actor and rollout share their accelerators, RLinf does not start them.
    """
    hinted, placed = timed_names(hints), placed_in(root)
    if not hinted - set(INFERENCE) <= placed:
        return False
    return isinstance(root.get(KEY), Mapping) or not hinted.isdisjoint(placed)


def placed_in(root: Mapping) -> frozenset[str]:
    """The components that have ranks."""
    cluster = root.get("cluster")
    placed = cluster.get("component_placement") if isinstance(cluster, Mapping) else None
    entries = placed if isinstance(placed, Mapping) else ()
    return frozenset(name.strip() for each in entries for name in each.key.text.split(","))
