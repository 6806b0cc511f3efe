"""The `profiling` of a cluster: what RLinf refuses to start with.

Source: RLinf, rlinf/scheduler/cluster/config.py and its profiling backends in hardware/accelerators (commit a3816b59).
"""

from __future__ import annotations

from ....configuration.notes import Notes, is_unknown
from ....text.nearest import nearest
from ....text.reshape import without_item
from ....text.tree import Mapping, Scalar, Sequence, Value, kind_of

_COMMON = ("backend", "enabled", "worker_groups", "steps", "output_dir")
_BACKENDS = {"nsight": ("options", "flags"), "rocprof_sys": ("args", "env")}
_EXCLUSIVE = (("stop-on-range-end", "capture-range-end"), ("o", "output"))
_SUBJECT = "profiling"
_CODE = "PW117"


def read_profiling(notes: Notes, value: Value | None) -> None:
    """Note every fault of the section."""
    if _absent(value) or value is None:
        return
    if not isinstance(value, Mapping):
        notes.error(_CODE, _SUBJECT, "`profiling` must be a map", value, kind_of(value), "write `backend: nsight` below it")
        return
    backend = value.get("backend")
    known = " or ".join(f"`{name}`" for name in _BACKENDS)
    if backend is None:
        only = [name for name, keys in _BACKENDS.items() if any(value.get(key) is not None for key in keys)]
        added = (value, "backend", only[0]) if len(only) == 1 else None
        notes.missing(_SUBJECT, "backend", value.span, f"add `backend:` with {known}", added=added)
        return
    if is_unknown(backend):
        return
    name = backend.text if isinstance(backend, Scalar) else kind_of(backend)
    if name not in _BACKENDS:
        close = nearest(name, _BACKENDS)
        help, edit = (f"write `{close}`", notes.instead(backend, close)) if close else (f"write {known}", None)
        notes.error(_CODE, _SUBJECT, f"`{name}` is no profiling backend", backend, "not known", help, edit)
        return
    value = notes.unknown_keys(value, _SUBJECT, (*_COMMON, *_BACKENDS[name]), True, f"`profiling` with {name}")
    _steps(notes, value.get("steps"))
    for key in ("worker_groups", "flags"):
        _names(notes, key, value.get(key))
    for key in ("options", "args", "env"):
        _map(notes, key, value.get(key))
    if name == "nsight":
        _nsight(notes, value)


def _absent(value: Value | None) -> bool:
    return value is None or is_unknown(value) or (isinstance(value, Scalar) and value.is_null)


def _map(notes: Notes, key: str, value: Value | None) -> None:
    if value is not None and not _absent(value) and not isinstance(value, Mapping):
        message = f"`{key}` must be a map, but it is {kind_of(value)}"
        notes.error(_CODE, _SUBJECT, message, value, kind_of(value), "write `name: value` lines")


def _names(notes: Notes, key: str, value: Value | None) -> None:
    if value is None or _absent(value) or isinstance(value, Sequence):
        return
    if isinstance(value, Mapping) or not isinstance(value.value, str):
        edit = notes.instead(value, f"[{value.text}]") if isinstance(value, Scalar) else None
        help = f"write `{edit.text}`" if edit else "write names such as `[ActorGroup]`"
        notes.error(
            _CODE, _SUBJECT, f"`{key}` must be a name or a list of names, but it is {kind_of(value)}", value, kind_of(value), help, edit
        )


def _steps(notes: Notes, value: Value | None) -> None:
    """A list of whole numbers; RLinf takes what Python's int() takes."""
    if value is None or _absent(value):
        return
    if not isinstance(value, Sequence):
        edit = notes.instead(value, f"[{value.text}]") if isinstance(value, Scalar) and isinstance(value.value, int) else None
        help = f"write `{edit.text}`" if edit else "write numbers such as `[5, 10]`"
        notes.error(_CODE, _SUBJECT, f"`steps` must be a list, but it is {kind_of(value)}", value, kind_of(value), help, edit)
        return
    for item in value.items:
        if is_unknown(item):
            continue
        try:
            number = int(item.value) if isinstance(item, Scalar) and isinstance(item.value, (int, float, str)) else -1
        except (ValueError, OverflowError):
            number = -1
        if number < 0:
            edit = without_item(notes.document.text_of(value.span.file), value, item)
            notes.error(_CODE, _SUBJECT, "`steps` must be whole numbers from 0", item, kind_of(item), "write numbers such as `5`", edit)


def _nsight(notes: Notes, value: Mapping) -> None:
    options = value.get("options")
    if not isinstance(options, Mapping):
        return
    for one, other in _EXCLUSIVE:
        entry = options.entry(other)
        if options.entry(one) and entry:
            message = f"nsight's options `{one}` and `{other}` exclude each other"
            help = "remove one of the two"
            notes.error(_CODE, _SUBJECT, message, entry.key.span, f"with `{one}`", help, notes.removed(options, entry))
    flags = value.get("flags")
    items = flags.items if isinstance(flags, Sequence) else (flags,) if isinstance(flags, Scalar) else ()
    for item in items:
        if isinstance(item, Scalar) and options.entry(item.text):
            message = f"`{item.text}` is both a flag and an option of nsight"
            text = notes.document.text_of(item.span.file)
            edit = without_item(text, flags, item) if isinstance(flags, Sequence) else None
            notes.error(_CODE, _SUBJECT, message, item, "also an option", "remove one of the two", edit)
