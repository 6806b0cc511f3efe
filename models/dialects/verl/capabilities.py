"""What verl can say and what it refuses."""

from __future__ import annotations

from ...job import Capabilities

CAPABILITIES = Capabilities(
    groups_may_cross=True,
    whole_replicas=True,
    notices={
        "PW214": "verl never notices this: the server is started with the accelerators of other nodes",
    },
)
"""All roles of a pool are one process on each accelerator, so nothing overlaps that is not colocated; groups that cross nodes
are slow, but nothing refuses them. Source: verl, verl/single_controller/ray/base.py; verl/workers/rollout/replica.py."""

ENVIRONMENT = ("NNODES", "NUM_NODES", "SLURM_NNODES", "SLURM_JOB_NUM_NODES", "N_GPUS_PER_NODE")
"""The environment variables that an interpolation may read: the size of the job, nothing that is secret."""
