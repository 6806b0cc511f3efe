"""Dataclasses that cannot be changed, as those of the standard library, made in a third of the time.

A command loads some hundred and fifty classes before it reads its file. The standard decorator compiles each of their methods apart,
half a millisecond a class, which was a quarter of `verify`. Here what is made for a class is compiled at once, and `__repr__` and
what refuses changes are the same functions for all.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Callable, Iterator

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass  # which type checkers know
else:

    def dataclass(*, frozen: bool, slots: bool = False, eq: bool = True, order: bool = False) -> Callable[[type], type]:
        """What `dataclasses.dataclass` with these arguments does. All fields can be given to `__init__`, in order or by name."""
        if not frozen:
            raise TypeError("classes that can be changed are made by the standard library")
        return lambda cls: _made(cls, slots, eq, order)


class _Factory:
    """The default that is shown where a value is made anew."""

    def __repr__(self) -> str:
        return "<factory>"


_ANEW = _Factory()


def _made(cls: type, slots: bool, eq: bool, order: bool) -> type:
    if any(map(dataclasses.is_dataclass, cls.__mro__[1:])):
        return dataclasses.dataclass(frozen=True, slots=slots, eq=eq, order=order)(cls)
    made: type[Any] = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots)(cls)
    made.__dataclass_params__.frozen = True  # which classes that inherit from it are asked for
    fields = dataclasses.fields(made)
    known: dict[str, Any] = {"_put": object.__setattr__, "_anew": _ANEW}
    names = ["__init__", *(("__eq__", "__hash__") if eq else ()), *(_SIGNS if order else ())]
    lines = [*_init(fields, hasattr(made, "__post_init__"), known), *(_compared(fields, order) if eq else ())]
    found: dict[str, Any] = {}
    # Nothing that a user wrote is in this text: the names of the fields are in our own modules.
    exec("\n ".join([f"def make({', '.join(known)}):", *lines, f"return {', '.join(names)},"]), {}, found)
    methods = dict(zip(names, found["make"](**known)))
    methods["__init__"].__annotations__ = {**{each.name: each.type for each in fields}, "return": None}
    for name, method in methods.items():
        method.__qualname__ = f"{cls.__qualname__}.{name}"
    for name, method in {**_SHARED, **(_STATE if slots else {}), **methods}.items():
        if cls.__dict__.get(name) is None:  # a class that says what equal means has None for `__hash__`
            setattr(made, name, method)
    return made


_SIGNS = {"__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">="}


def _init(fields: tuple[dataclasses.Field[Any], ...], further: bool, known: dict[str, Any]) -> Iterator[str]:
    """The lines of `__init__`; the defaults that it names become `known`."""
    taken, put = ["self"], list[str]()
    for number, field in enumerate(fields):
        if not field.init or field.kw_only:
            raise TypeError(f"`{field.name}` could not be given in order")
        name, default, value = field.name, f"_default{number}", field.name
        if field.default_factory is not dataclasses.MISSING:
            known[default], value = field.default_factory, f"{default}() if {name} is _anew else {name}"
            taken.append(f"{name}=_anew")
        elif field.default is not dataclasses.MISSING:
            known[default] = field.default
            taken.append(f"{name}={default}")
        else:
            taken.append(name)
        put.append(f" _put(self, {name!r}, {value})")
    yield f"def __init__({', '.join(taken)}):"
    yield from put
    yield " self.__post_init__()" if further else " pass"


def _compared(fields: tuple[dataclasses.Field[Any], ...], order: bool) -> Iterator[str]:
    """The lines of `__eq__`, `__hash__` and, with `order`, of the other comparisons."""
    mine, theirs = ("".join(f"{who}.{each.name}, " for each in fields if each.compare) for who in ("self", "other"))
    for name, sign in {"__eq__": "==", **(_SIGNS if order else {})}.items():
        yield f"def {name}(self, other):"
        yield f" return ({mine}) {sign} ({theirs}) if other.__class__ is self.__class__ else NotImplemented"
    yield "def __hash__(self):"
    yield f" return hash(({mine}))"


def _repr(self: Any) -> str:
    shown = (f"{each.name}={getattr(self, each.name)!r}" for each in dataclasses.fields(self) if each.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _set(self: object, name: str, value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _delete(self: object, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    """What is pickled of a class with slots."""
    return [getattr(self, each.name) for each in dataclasses.fields(self)]


def _restored(self: Any, state: list[Any]) -> None:
    for each, value in zip(dataclasses.fields(self), state):
        object.__setattr__(self, each.name, value)


_SHARED = {"__repr__": _repr, "__setattr__": _set, "__delattr__": _delete}
_STATE = {"__getstate__": _state, "__setstate__": _restored}
