"""What verl's own code asks of its workers beside the rest. Sent with base.py: it imports the standard library alone."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

ENVIRONMENT = ("WORLD_SIZE", "RANK", "LOCAL_WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")
VISIBLE = ("CUDA_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES")
"""Of CUDA and what speaks its language, and of Ascend."""


class VerlsOwn:
    """The environment and the node of a worker, under verl's names. Source: verl, single_controller/base/worker.py."""

    master_address: object

    @classmethod
    def env_keys(cls) -> list[str]:
        """The variables that tell a worker who it is; a subclass may name more. The last is the one that shows its accelerators."""
        return [*ENVIRONMENT, next((name for name in reversed(VISIBLE) if os.environ.get(name)), VISIBLE[0])]

    def get_available_master_addr_port(self) -> tuple[str, str]:
        """(address, port): the address at which the group's master reaches this node, and a port that is free right now."""
        return self._get_node_ip(), str(self._get_free_port())

    get_availale_master_addr_port = get_available_master_addr_port

    def _get_node_ip(self) -> str:
        family, kind, _, _, master = socket.getaddrinfo(str(self.master_address), 9, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind) as probe:
            probe.connect(master)  # nothing is sent: the system says from which of its addresses it would be
            return str(probe.getsockname()[0])

    def _get_free_port(self) -> int:
        return self.acquire_free_port()

    if TYPE_CHECKING:

        def acquire_free_port(self) -> int:
            """The class that derives from this one has it."""
