"""The `profiling` of a cluster: what RLinf refuses to start with.

Source: RLinf, rlinf/scheduler/cluster/config.py and its profiling backends (commit a3816b59).
"""

from __future__ import annotations

from ...text.nearest import nearest
from ...text.tree import Mapping, Scalar, Sequence, Value, kind_of
from .notes import Notes, is_unknown

_COMMON = ("backend", "enabled", "worker_groups", "steps", "output_dir")
_BACKENDS = {"nsight": ("options", "flags"), "rocprof_sys": ("args", "env")}
_EXCLUSIVE = (("stop-on-range-end", "capture-range-end"), ("o", "output"))
_SUBJECT = "profiling"


def read_profiling(notes: Notes, value: Value | None) -> None:
    """Note every fault of the section."""
    if value is None or is_unknown(value) or (isinstance(value, Scalar) and value.is_null):
        return
    if not isinstance(value, Mapping):
        notes.error("PW117", _SUBJECT, "`profiling` must be a map", value, kind_of(value), "write `backend: nsight` below it")
        return
    backend = value.get("backend")
    known = " or ".join(f"`{name}`" for name in _BACKENDS)
    if backend is None:
        notes.missing(_SUBJECT, "backend", value.span, f"add `backend:` with {known}")
        return
    if is_unknown(backend):
        return
    name = backend.text if isinstance(backend, Scalar) else kind_of(backend)
    if name not in _BACKENDS:
        close = nearest(name, _BACKENDS)
        notes.error(
            "PW117", _SUBJECT, f"`{name}` is no profiling backend", backend, "not known", f"write `{close}`" if close else f"write {known}"
        )
        return
    notes.unknown_keys(value, _SUBJECT, (*_COMMON, *_BACKENDS[name]), True, f"`profiling` with {name}")
    _steps(notes, value.get("steps"))
    for key in ("options", "args", "env"):
        _map(notes, key, value.get(key))
    if name == "nsight":
        _nsight(notes, value)


def _map(notes: Notes, key: str, value: Value | None) -> None:
    absent = value is None or is_unknown(value) or (isinstance(value, Scalar) and value.is_null)
    if not absent and value is not None and not isinstance(value, Mapping):
        notes.error(
            "PW117", _SUBJECT, f"`{key}` must be a map, but it is {kind_of(value)}", value, kind_of(value), "write `name: value` lines"
        )


def _steps(notes: Notes, value: Value | None) -> None:
    for item in value.items if isinstance(value, Sequence) else ():
        number = item.value if isinstance(item, Scalar) and not is_unknown(item) else 0
        if not isinstance(number, int) or isinstance(number, bool) or number < 0:
            notes.error("PW117", _SUBJECT, "`steps` must be whole numbers from 0", item, kind_of(item), "write numbers such as `5`")


def _nsight(notes: Notes, value: Mapping) -> None:
    options = value.get("options")
    if not isinstance(options, Mapping):
        return
    for one, other in _EXCLUSIVE:
        entry = options.entry(other)
        if options.entry(one) and entry:
            message = f"nsight's options `{one}` and `{other}` exclude each other"
            notes.error("PW117", _SUBJECT, message, entry.key.span, f"with `{one}`", "remove one of the two")
    flags = value.get("flags")
    items = flags.items if isinstance(flags, Sequence) else (flags,) if isinstance(flags, Scalar) else ()
    for item in items:
        if isinstance(item, Scalar) and options.entry(item.text):
            message = f"`{item.text}` is both a flag and an option of nsight"
            notes.error("PW117", _SUBJECT, message, item, "also an option", "remove one of the two")
