"""Methods that verl's dispatch asks of its workers."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING, Any


class OnMeshes:
    """Workers registered in meshes.

    Source of the form: verl, verl/single_controller/base/worker.py.
    """

    def _register_dispatch_collect_info(self, mesh_name: str, dp_rank: int, is_collect: bool) -> None:
        """Register this process's data share of a mesh, and whether its answer counts.

        Raises ValueError for a duplicate.
        """
        if mesh_name in self._meshes:
            raise ValueError(f"mesh_name {mesh_name} has been registered")
        self._meshes[mesh_name] = dp_rank, is_collect

    def _query_dispatch_info(self, mesh_name: str) -> int:
        """Return the data share of this process in a mesh.

        Raises ValueError for an unregistered mesh.
        """
        return self._mesh(mesh_name)[0]

    def _query_collect_info(self, mesh_name: str) -> bool:
        """Return True if the answer of this process counts, for a mesh.

        Raises ValueError for an unregistered mesh.
        """
        return self._mesh(mesh_name)[1]

    query_collect_info = _query_collect_info

    def get_dispatch_collect(self) -> dict[str, dict[str, Any]]:
        """Return all registrations in the form of set_dispatch_collect: verl's form."""
        return {
            "dispatch_dp_rank": {name: dp_rank for name, (dp_rank, _) in self._meshes.items()},
            "collect_dp_rank": {name: is_collect for name, (_, is_collect) in self._meshes.items()},
        }

    def set_dispatch_collect(self, mesh_name: str, dispatch_dp_rank: dict[str, int], collect_dp_rank: dict[str, bool]) -> None:
        """Register another worker's registration of a single mesh under this name.

        Raises ValueError for a duplicate.
        """
        for name, dp_rank in dispatch_dp_rank.items():
            self._register_dispatch_collect_info(mesh_name, dp_rank, collect_dp_rank[name])

    @property
    def _meshes(self) -> dict[str, tuple[int, bool]]:
        meshes: dict[str, tuple[int, bool]] = self.__dict__.setdefault("_dispatch_and_collect", {})
        return meshes

    def _mesh(self, name: str) -> tuple[int, bool]:
        if name not in self._meshes:
            known = ", ".join(self._meshes) or "none"
            raise ValueError(f"mesh_name {name} is not registered in {type(self).__name__}: registered are {known}")
        return self._meshes[name]


ENVIRONMENT = ("WORLD_SIZE", "RANK", "LOCAL_WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")
VISIBLE = ("CUDA_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES")
"""Variables of visible devices: CUDA and compatible ones, Ascend."""


class VerlIdentity:
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
