"""Which accelerators a replica takes."""

from __future__ import annotations

from ..port.port import Port
from ..verl.pools.devices import DEVICES, resource_of


def device_there(port: Port) -> str:
    """The first device, ``cuda`` before ``npu``, of which some node has accelerators; ``cuda``, which PyTorch says for AMD's too, for none."""
    held = {name for node in port.nodes() for name, amount in node.total.items() if amount}
    return next((device for device in DEVICES if resource_of(device) in held), "cuda")
