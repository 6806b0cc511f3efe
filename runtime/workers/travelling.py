"""Transfer of our code to worker processes, whose nodes need not have placewright."""

from __future__ import annotations

from ..port.ray_compat import send_by_value
from . import inside


def send_code() -> None:
    """Pickle the modules of `inside` by value from now on. Requires Ray; see `need_ray`.

    The modules import only the standard library, Ray and each other, except in functions that need
    placewright anyway.
    """
    send_by_value(inside)
