"""Our code that runs in the workers' processes, and travels there: their nodes need not have placewright."""

from __future__ import annotations

from ..port.ray_compat import send_by_value
from .inside import address, base, elsewhere, from_environment, host, information, locks, logs, meshes, prepared, timers, verls

MODULES = (host, base, address, elsewhere, from_environment, information, locks, logs, meshes, prepared, timers, verls)
"""Each imports the standard library, Ray and others of these alone."""


def send_code() -> None:
    """From now on, these modules travel with whatever uses them. Ray must be there; see `need_ray`."""
    for module in MODULES:
        send_by_value(module)
