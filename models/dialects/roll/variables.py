"""The environment variables that an interpolation of a ROLL file may read."""

from __future__ import annotations

ENVIRONMENT = ("NUM_NODES", "NNODES", "WORLD_SIZE", "SLURM_NNODES", "SLURM_JOB_NUM_NODES")
"""They say the size of the job, nothing that is secret."""
