"""Worker attributes read from environment variables. Standard library only."""

from __future__ import annotations

import os
from typing import Any, Callable, Generic, TypeVar, overload

Value = TypeVar("Value")


class FromEnvironment(Generic[Value]):
    """Attribute that reads an environment variable on access, unless a value was assigned.

    Raises AttributeError, which names the variable, if that is unset: outside a worker group.
    """

    def __init__(self, variable: str, read: Callable[[str], Value]) -> None:
        self.variable = variable
        self.read = read
        self.name = variable.lower()

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> FromEnvironment[Value]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...
    def __get__(self, instance: object | None, owner: type) -> FromEnvironment[Value] | Value:
        if instance is None:
            return self
        text = os.environ.get(self.variable)
        if text is None:
            raise AttributeError(
                f"`{owner.__name__}.{self.name}` is known only in a process of a worker group, and {self.variable} is not set here; "
                f"start the class with `{owner.__name__}.create_group().launch(...)`, `RayWorkerGroup` or `launch`"
            )
        return self.read(text)


class Told(Generic[Value]):
    """Method read as an attribute, until a value is assigned.

    Unlike a property, it lets a user's class assign an attribute of this name.
    """

    def __init__(self, told: Callable[[Any], Value]) -> None:
        self.told = told
        self.__doc__ = told.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> Told[Value]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...
    def __get__(self, instance: object | None, owner: type) -> Told[Value] | Value:
        return self if instance is None else self.told(instance)


def texts(text: str) -> tuple[str, ...]:
    """Split a text at commas."""
    return tuple(part for part in text.split(",") if part)


def numbers(text: str) -> list[int]:
    """Parse a comma-separated list of whole numbers."""
    return [int(part) for part in texts(text)]
