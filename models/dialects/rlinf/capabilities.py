"""What RLinf's placement language can say and what its launcher refuses."""

from __future__ import annotations

from ...job import Capabilities

AT_LAUNCH = "RLinf notices this only at launch, after Ray is up and all nodes have joined"

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
