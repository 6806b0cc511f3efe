"""Which share of the data of a mesh a worker gets, and whether its answer counts: what verl's dispatch asks for."""

from __future__ import annotations

from typing import Any


class OnMeshes:
    """Workers that have a place in meshes. Source of the form: verl, verl/single_controller/base/worker.py."""

    def _register_dispatch_collect_info(self, mesh_name: str, dp_rank: int, is_collect: bool) -> None:
        """Says which share of the data of a mesh this process gets, and whether its answer counts. Raises ValueError for a second time."""
        if mesh_name in self._meshes:
            raise ValueError(f"mesh_name {mesh_name} has been registered")
        self._meshes[mesh_name] = dp_rank, is_collect

    def _query_dispatch_info(self, mesh_name: str) -> int:
        """Which share of the data of a mesh this process gets. Raises ValueError for a mesh that was not registered."""
        return self._mesh(mesh_name)[0]

    def _query_collect_info(self, mesh_name: str) -> bool:
        """Does the answer of this process count, for a mesh? Raises ValueError for a mesh that was not registered."""
        return self._mesh(mesh_name)[1]

    query_collect_info = _query_collect_info

    def get_dispatch_collect(self) -> dict[str, dict[str, Any]]:
        """What was registered of every mesh, in the form that set_dispatch_collect takes: verl's form."""
        return {
            "dispatch_dp_rank": {name: dp_rank for name, (dp_rank, _) in self._meshes.items()},
            "collect_dp_rank": {name: is_collect for name, (_, is_collect) in self._meshes.items()},
        }

    def set_dispatch_collect(self, mesh_name: str, dispatch_dp_rank: dict[str, int], collect_dp_rank: dict[str, bool]) -> None:
        """Registers what another worker registered of its one mesh, under this name. Raises ValueError for a second time."""
        for name, dp_rank in dispatch_dp_rank.items():
            self._register_dispatch_collect_info(mesh_name, dp_rank, collect_dp_rank[name])

    @property
    def _meshes(self) -> dict[str, tuple[int, bool]]:
        found: dict[str, tuple[int, bool]] = self.__dict__.setdefault("_dispatch_and_collect", {})
        return found

    def _mesh(self, name: str) -> tuple[int, bool]:
        if name not in self._meshes:
            known = ", ".join(self._meshes) or "none"
            raise ValueError(f"mesh_name {name} is not registered in {type(self).__name__}: registered are {known}")
        return self._meshes[name]
