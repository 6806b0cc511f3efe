"""Our code that runs in the workers' processes, and travels there: their nodes need not have placewright."""

from __future__ import annotations

from ..port.ray_compat import send_by_value
from . import inside


def send_code() -> None:
    """From now on, the modules of `inside` travel with whatever uses them. Ray must be there; see `need_ray`.

    Each imports the standard library, Ray and others of these alone, but for what only a process that has placewright asks of it.
    """
    send_by_value(inside)
