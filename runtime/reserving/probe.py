"""What runs inside a bundle to tell which accelerators Ray gave it; sent as it is to nodes that need Ray alone."""

from __future__ import annotations


def accelerator_ids(resource: str) -> list[str]:
    """The physical ids of the accelerators that this task was given."""
    import ray

    return [str(each) for each in ray.get_runtime_context().get_accelerator_ids().get(resource, [])]
