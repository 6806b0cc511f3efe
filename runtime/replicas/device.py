"""Choice of accelerators for a replica."""

from __future__ import annotations

from ..port.port import Port
from ..verl.pools.devices import DEVICES, resource_of


def device_there(port: Port) -> str:
    """Return the first device (``cuda`` before ``npu``) with accelerators on some node.

    ``cuda`` without any; PyTorch uses that name for AMD's too.
    """
    resources = {name for node in port.nodes() for name, amount in node.total.items() if amount}
    return next((device for device in DEVICES if resource_of(device) in resources), "cuda")
