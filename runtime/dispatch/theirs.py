"""Call modes of methods marked by verl's own `register`: verl's worker classes run here unchanged.

Source of the mark and of its keys: verl, single_controller/base/decorator.py, `MAGIC_ATTR`,
`register`.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Mapping

from ..refusal import refused
from .mesh import make_nd_compute_dataproto_dispatch_fn
from .modes import Dispatch, Execute

THEIR_MARK = "attrs_3141562937"
OVER_MESH = "dispatch_lazy_compute_data_proto"
"""verl's mesh dispatch function, for verl's groups alone; the mesh is the first argument."""


def their_modes(method: object) -> tuple[Dispatch | Mapping[str, Any], Execute, bool] | None:
    """Return (dispatch mode, execute mode, blocking) of a method marked by verl; None if unmarked.

    Raises a ValueError (PW718) for a mode that a user has added to verl but not here.
    """
    mark = getattr(method, THEIR_MARK, None)
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
