"""Further worker interface of verl. Sent with base.py: standard library only."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

ENVIRONMENT = ("WORLD_SIZE", "RANK", "LOCAL_WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")
VISIBLE = ("CUDA_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES")
"""Variables of visible devices: CUDA and compatible ones, Ascend."""


class VerlsOwn:
    """Environment and node of a worker under verl's names.

    Source: verl, single_controller/base/worker.py.
    """

    master_address: object

    @classmethod
    def env_keys(cls) -> list[str]:
        """Return the variables with a worker's identity; the last shows its accelerators.

        A subclass may name more.
        """
        return [*ENVIRONMENT, next((name for name in reversed(VISIBLE) if os.environ.get(name)), VISIBLE[0])]

    def get_available_master_addr_port(self) -> tuple[str, str]:
        """Return (address of this node as the group's master reaches it, free port)."""
        return self._get_node_ip(), str(self._get_free_port())

    get_availale_master_addr_port = get_available_master_addr_port

    def _get_node_ip(self) -> str:
        family, kind, _, _, master = socket.getaddrinfo(str(self.master_address), 9, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind) as probe:
            probe.connect(master)  # sends nothing: the system only chooses the local address
            return str(probe.getsockname()[0])

    def _get_free_port(self) -> int:
        return self.acquire_free_port()

    if TYPE_CHECKING:

        def acquire_free_port(self) -> int:
            """Return a free TCP port; implemented by the derived class."""
