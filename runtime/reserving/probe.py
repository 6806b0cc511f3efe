"""Code that reports a bundle's accelerators; sent by value to nodes that need only Ray."""

from __future__ import annotations


def accelerator_ids(resource: str) -> list[str]:
    """Return the physical ids of this task's accelerators."""
    import ray

    return [str(id) for id in ray.get_runtime_context().get_accelerator_ids().get(resource, [])]
