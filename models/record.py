"""`dataclass` of the standard library, made in a quarter of the time: making classes was half of what loading `verify` took.

The standard library compiles six functions for each class (1.2 ms of CPU for five fields, 0.3 ms here). Here `__init__` alone is
compiled, at the first instance; the others are shared. `fields`, `replace`, `asdict`, `field` and `__post_init__` work as ever. To type
checkers it is the standard library's own.
"""

from __future__ import annotations

import dataclasses
import operator
from dataclasses import MISSING, Field, FrozenInstanceError, fields
from inspect import get_annotations
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, Callable

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls: type | None = None, /, **options: bool) -> Any:
        """As `dataclasses.dataclass`, with the options `frozen`, `slots`, `order`, `eq` and `kw_only`."""
        return _made(cls, **options) if cls is not None else lambda cls: _made(cls, **options)


def _made(cls: type, frozen: bool = False, slots: bool = False, order: bool = False, eq: bool = True, kw_only: bool = False) -> type:
    if not cls.__doc__:
        cls.__doc__ = cls.__name__  # else the standard library derives one from the signature, which is slow
    extends = any(_params(base).frozen for base in cls.__mro__[1:] if _params(base) is not None)
    if extends and not frozen:
        raise TypeError("cannot inherit non-frozen dataclass from a frozen one")
    every = _fields_of(cls, kw_only, frozen=extends)
    if frozen:
        _params(cls).frozen = True  # what extends it must be frozen too
    compared = _values([each.name for each in every if each.compare])
    added: dict[str, Any] = {"__repr__": _repr(every)}
    if frozen:
        added |= {"__setattr__": _refuse_assignment, "__delattr__": _refuse_deletion}
    if eq:
        added |= {"__eq__": _comparison(compared, operator.eq), "__hash__": _hash(every) if frozen else None}
    if order:
        added |= {f"__{name}__": _comparison(compared, getattr(operator, name)) for name in ("lt", "le", "gt", "ge")}
    has_hash = cls.__dict__.get("__hash__") is not None
    for name, function in added.items():
        if name not in cls.__dict__ or (name == "__hash__" and not has_hash):
            setattr(cls, name, function)
    made = _slotted(cls, every, frozen) if slots else cls
    if "__init__" not in made.__dict__:
        setattr(made, "__init__", _Uncompiled(made, every, frozen))  # noqa: B010 (mypy refuses the plain form)
    return made


def _fields_of(cls: type, kw_only: bool, frozen: bool) -> tuple[Field[Any], ...]:
    """Fields of the class, found by the standard library, which parses every annotation that is a string: 0.1 ms a class."""
    annotations = get_annotations(cls)
    cls.__annotations__ = {name: said if str(said).startswith("ClassVar") else object for name, said in annotations.items()}
    dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=kw_only, frozen=frozen)(cls)
    cls.__annotations__ = annotations
    every = fields(cls)
    for each in every:
        each.type = annotations.get(each.name, each.type)
    return every


def _params(cls: type) -> Any:
    """Options that a dataclass was made with; None for another class."""
    return cls.__dict__.get("__dataclass_params__")


class _Uncompiled:
    """`__init__` of a class until it is first looked up, when the compiled one replaces it: most classes that a command loads have no instance."""

    def __init__(self, cls: type, every: tuple[Field[Any], ...], frozen: bool) -> None:
        self.compile: Callable[[], tuple[type, Callable[..., None]]] = lambda: (cls, _init(cls, every, frozen))

    def __get__(self, instance: Any, owner: type) -> Any:
        cls, compiled = self.compile()
        setattr(cls, "__init__", compiled)  # noqa: B010 (mypy refuses the plain form)
        return compiled.__get__(instance, owner)


def _init(cls: type, every: tuple[Field[Any], ...], frozen: bool) -> Callable[..., None]:
    """`__init__` that assigns every field and calls `__post_init__`; the only function that is compiled."""
    known: dict[str, Any] = {"_missing": MISSING, "_set": object.__setattr__}
    plain, by_key, body = list[str](), list[str](), list[str]()
    for each in every:
        name = each.name
        value = name
        if each.default is not MISSING:
            known[f"_default_{name}"] = each.default
            argument = f"{name}=_default_{name}"
        elif each.default_factory is not MISSING:
            known[f"_make_{name}"] = each.default_factory
            argument = f"{name}=_missing"
            value = f"_make_{name}() if {name} is _missing else {name}" if each.init else f"_make_{name}()"
        else:
            argument = name
        if each.init:
            (by_key if each.kw_only else plain).append(argument)
        elif each.default_factory is MISSING:
            continue
        body.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    arguments = ", ".join(["self", *plain, *(["*", *by_key] if by_key else [])])
    text = f"def __init__({arguments}):\n " + "\n ".join(body or ["pass"])
    found: dict[str, Any] = {}
    exec(text, known, found)  # names of the class's own fields alone, as the standard library does
    init: Callable[..., None] = found["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    return init


def _values(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    """Function from an instance to the values of these fields."""
    if len(names) > 1:
        return operator.attrgetter(*names)
    return lambda self: tuple(getattr(self, name) for name in names)


def _comparison(values: Callable[[Any], tuple[Any, ...]], compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], Any]:
    def compared(self: Any, other: Any) -> Any:
        return compare(values(self), values(other)) if other.__class__ is self.__class__ else NotImplemented

    return compared


def _hash(every: tuple[Field[Any], ...]) -> Callable[[Any], int]:
    values = _values([each.name for each in every if (each.compare if each.hash is None else each.hash)])
    return lambda self: hash(values(self))


def _repr(every: tuple[Field[Any], ...]) -> Callable[[Any], str]:
    names = [each.name for each in every if each.repr]

    @recursive_repr()
    def text(self: Any) -> str:
        return f"{self.__class__.__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    return text


def _refuse_assignment(self: Any, name: str, value: Any) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deletion(self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _slotted(cls: type, every: tuple[Field[Any], ...], frozen: bool) -> type:
    """The class made anew with `__slots__`, as they cannot be added to one."""
    inherited = {name for base in cls.__mro__[1:-1] for name in getattr(base, "__slots__", ())}
    content = dict(cls.__dict__)
    names = tuple(each.name for each in every)
    content["__slots__"] = tuple(name for name in names if name not in inherited)
    for name in (*names, "__dict__", "__weakref__"):
        content.pop(name, None)
    if frozen:
        content |= {"__getstate__": _state, "__setstate__": _restore}
    made = type(cls)(cls.__name__, cls.__bases__, content)
    made.__qualname__ = cls.__qualname__
    return made


def _state(self: Any) -> list[Any]:
    return [getattr(self, each.name) for each in fields(self)]


def _restore(self: Any, state: list[Any]) -> None:
    for each, value in zip(fields(self), state):
        object.__setattr__(self, each.name, value)
