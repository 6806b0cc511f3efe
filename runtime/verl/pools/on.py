"""Cluster of a pool: this process's connection, or a named cluster."""

from __future__ import annotations

from typing import Any

from ...failure import failed
from ...port.connection import Connection
from ...port.on_ray import RayPort
from ...port.port import Port
from ...port.ray_compat import need_ray, send_by_value
from ...reserving import probe
from ...workers.travelling import send_code


def port_of(on: Any = None) -> Port:
    """Return the port of HOST:PORT, a cluster object or a Port; None: that of `ray.init`.

    An address is connected to until this process ends or calls `ray.shutdown`. Raises LaunchFailed
    (PW701) if no Ray cluster answers there, or if none is named and this process is not connected.
    """
    if on is not None and not isinstance(on, str):
        port: Port = getattr(on, "port", on)
        return port
    ray = need_ray()
    if isinstance(on, str):
        Connection(on).open()
    elif not ray.is_initialized():
        help = "call `ray.init()` first, or name the cluster: `on='HOST:PORT'`"
        raise failed("PW701", "", "this process is connected to no Ray cluster", help)
    send_code()
    send_by_value(probe)
    return RayPort(str(ray.get_runtime_context().namespace))
