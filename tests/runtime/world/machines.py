"""Nodes of Ray for tests, and what a look at them would tell."""

from __future__ import annotations

from typing import Any

from placewright.runtime.port.port import RayNode


def ray_node(name: str, gpus: float = 8, free: float | None = None, address: str = "10.0.0.1", **more: Any) -> RayNode:
    """A node; `labels` and `resources` may be given."""
    total = {"GPU": float(gpus), "CPU": 16.0, "memory": 1e9, f"node:{address}": 1.0, **more.get("resources", {})}
    left = total if free is None else {**total, "GPU": float(free)}
    return RayNode(f"id-{name}", name, address, more.get("labels", {}), total, left)


def report(count: int = 0, name: str = "NVIDIA H100 80GB HBM3", memory: int = 81_559, used: int = 4, **environment: str) -> dict[str, Any]:
    """What is seen on a node of so many equal accelerators with these variables."""
    devices = [
        {"uuid": f"GPU-{index}abc", "name": name, "memory": memory, "used": used, "numa": str(index * 2 // count)} for index in range(count)
    ]
    return {"host": "h", "environment": environment, "memory": 1024, "devices": devices, "fabric": "", "matrix": ""}
