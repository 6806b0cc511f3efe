"""Dispatch and execute modes, and batches over the ranks of a mesh.

Every worker has registered its chunk and whether its answer counts
(`Worker._register_dispatch_collect_info`); the group queries that once. Source: verl,
verl/single_controller/base/decorator.py, `make_nd_compute_dataproto_dispatch_fn`.

Source of the mark and of its keys: verl, single_controller/base/decorator.py, `MAGIC_ATTR`,
`register`.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Callable, ClassVar, Iterator, Mapping, Sequence

from ....failure import refused
from .batches import chunked, joined


class _Names(type):
    """Metaclass of enumerable, searchable classes of members."""

    members: dict[str, Any]

    def __iter__(cls) -> Iterator[Any]:
        return iter(cls.members.values())

    def __len__(cls) -> int:
        return len(cls.members)

    def __contains__(cls, name: object) -> bool:
        return name in cls.members or name in cls.members.values()

    def __getitem__(cls, name: str) -> Any:
        return cls.members[name]


def _member(cls: Any, name: str) -> Any:
    """Return the member of a name; add an unknown member, which a user registered elsewhere."""
    return cls.members[name] if name in cls.members else cls.register(name)


class _Name(metaclass=_Names):
    """Mode by name; unpickles to the same object."""

    members: ClassVar[dict[str, Any]]

    def __init__(self, name: str) -> None:
        self.name = name

    def __init_subclass__(cls) -> None:
        cls.members = {}

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        return _member, (type(self), self.name)

    @classmethod
    def register(cls, name: str) -> Any:
        """Add a member and return it. Raises ValueError for a duplicate."""
        name = name.upper()
        if name in cls.members:
            raise ValueError(f"{name} is registered already")
        member = cls.members[name] = cls(name)
        setattr(cls, name, member)
        return member

    @classmethod
    def remove(cls, name: str) -> Any:
        """Remove a member and return it. Raises KeyError for an unknown name."""
        removed = cls.members.pop(name.upper())
        delattr(cls, removed.name)
        return removed


class Dispatch(_Name):
    """Distribution of arguments and collection of answers; see table.py."""

    RANK_ZERO: ClassVar[Dispatch]
    ONE_TO_ALL: ClassVar[Dispatch]
    ALL_TO_ALL: ClassVar[Dispatch]
    DP_COMPUTE: ClassVar[Dispatch]
    DP_COMPUTE_PROTO: ClassVar[Dispatch]
    DP_COMPUTE_PROTO_WITH_FUNC: ClassVar[Dispatch]
    DP_COMPUTE_METRIC: ClassVar[Dispatch]
    DIRECT_ROLLOUT_METHOD: ClassVar[Dispatch]


class Execute(_Name):
    """Choice of called workers."""

    ALL: ClassVar[Execute]
    RANK_ZERO: ClassVar[Execute]


for _name in (
    "RANK_ZERO", "ONE_TO_ALL", "ALL_TO_ALL", "DP_COMPUTE", "DP_COMPUTE_PROTO", "DP_COMPUTE_PROTO_WITH_FUNC", "DP_COMPUTE_METRIC",
    "DIRECT_ROLLOUT_METHOD",
):  # fmt: skip
    Dispatch.register(_name)
for _name in ("ALL", "RANK_ZERO"):
    Execute.register(_name)


def make_nd_compute_dataproto_dispatch_fn(mesh_name: str) -> dict[str, Callable[..., Any]]:
    """Return the dispatch mode of a mesh, for `register`."""
    return {"dispatch_fn": partial(_dispatch, mesh_name), "collect_fn": partial(_collect, mesh_name)}


def dispatch_nd_compute_dataproto(dp_ranks: Sequence[int], group: Any, *arguments: Any, **named: Any) -> tuple[Any, dict[str, Any]]:
    """Cut batches into a chunk per data-parallel rank; worker i gets chunk `dp_ranks[i]`."""
    size = max(dp_ranks) + 1

    def dealt(batch: Any) -> list[Any]:
        chunks = [group.port.share(chunk) for chunk in chunked(batch, size)]
        return [chunks[rank] for rank in dp_ranks]

    return tuple(map(dealt, arguments)), {name: dealt(batch) for name, batch in named.items()}


def collect_nd_compute_dataproto(collects: Sequence[bool], group: Any, output: Sequence[Any]) -> Any:
    """Concatenate the answers that count, in rank order."""
    ranks = [rank for rank, counts in enumerate(collects) if counts]
    return joined(group, [output[rank] for rank in ranks], ranks)


def _dispatch(mesh_name: str, group: Any, *arguments: Any, **named: Any) -> tuple[Any, dict[str, Any]]:
    return dispatch_nd_compute_dataproto(group.dispatch_info(mesh_name), group, *arguments, **named)


def _collect(mesh_name: str, group: Any, output: Sequence[Any]) -> Any:
    return collect_nd_compute_dataproto(group.collect_info(mesh_name), group, output)


VERL_MARK = "attrs_3141562937"
OVER_MESH = "dispatch_lazy_compute_data_proto"
"""verl's mesh dispatch function, for verl's groups alone; the mesh is the first argument."""


def their_modes(method: object) -> tuple[Dispatch | Mapping[str, Any], Execute, bool] | None:
    """Return (dispatch mode, execute mode, blocking) of a method marked by verl; None if unmarked.

    Raises a ValueError (PW718) for a mode that a user has added to verl but not here.
    """
    mark = getattr(method, VERL_MARK, None)
    if not isinstance(mark, Mapping):
        return None
    mode = mark["dispatch_mode"]
    return _over_mesh(mode) if isinstance(mode, Mapping) else _same(Dispatch, mode), _same(Execute, mark["execute_mode"]), mark["blocking"]


def _over_mesh(mode: Mapping[str, Any]) -> Mapping[str, Any]:
    """Convert a mesh mode to ours; return any other pair of functions unchanged."""
    dispatch = mode.get("dispatch_fn")
    if isinstance(dispatch, partial) and dispatch.func.__name__ == OVER_MESH:
        return make_nd_compute_dataproto_dispatch_fn(dispatch.args[0])
    return mode


def _same(modes: type[Any], verl_mode: object) -> Any:
    name = str(getattr(verl_mode, "name", verl_mode))
    if name not in modes.members:
        raise refused(
            "PW718", "", f"`{verl_mode}` of verl is no {modes.__name__.lower()} mode here", "add it with register_dispatch_mode", name
        )
    return modes.members[name]
