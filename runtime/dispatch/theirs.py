"""Methods that verl's own `register` has marked, as ours marks them: verl's classes of workers run in our groups as they are.

Source of the mark and of its keys: verl, single_controller/base/decorator.py, `MAGIC_ATTR`, `register`.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Mapping

from ..refusal import refused
from .mesh import make_nd_compute_dataproto_dispatch_fn
from .modes import Dispatch, Execute

THEIR_MARK = "attrs_3141562937"
OVER_MESH = "dispatch_lazy_compute_data_proto"
"""verl's function that dispatches over a mesh, with the mesh as its first argument; it takes groups of verl's own class alone."""


def their_modes(method: object) -> tuple[Dispatch | Mapping[str, Any], Execute, bool] | None:
    """(dispatch mode, execute mode, whether it waits) of a method that verl marked; None if it did not.

    Raises a ValueError (PW718) for a mode that verl's users have added there and not here.
    """
    said = getattr(method, THEIR_MARK, None)
    if not isinstance(said, Mapping):
        return None
    mode = said["dispatch_mode"]
    return _over_mesh(mode) if isinstance(mode, Mapping) else _same(Dispatch, mode), _same(Execute, said["execute_mode"]), said["blocking"]


def _over_mesh(mode: Mapping[str, Any]) -> Mapping[str, Any]:
    """The mode of a mesh as ours; any other pair of functions as it is."""
    dispatch = mode.get("dispatch_fn")
    if isinstance(dispatch, partial) and dispatch.func.__name__ == OVER_MESH:
        return make_nd_compute_dataproto_dispatch_fn(dispatch.args[0])
    return mode


def _same(modes: type[Any], theirs: object) -> Any:
    name = str(getattr(theirs, "name", theirs))
    if name not in modes.members:
        raise refused(
            "PW718", "", f"`{theirs}` of verl is no {modes.__name__.lower()} mode here", "add it with register_dispatch_mode", name
        )
    return modes.members[name]
