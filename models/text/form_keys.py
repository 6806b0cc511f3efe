"""What a pydantic form knows at a place inside of it: its keys, the form there, and what it takes."""

from __future__ import annotations

from typing import Collection, Sequence, get_origin

from pydantic import BaseModel


def form_at(form: type[BaseModel], place: Sequence[int | str]) -> type[BaseModel]:
    """The form of the map that holds the last key of a place."""
    current: type[BaseModel] = form
    for name in place[:-1]:
        current = _inner(current, name) or current
    return current


def known_keys(form: type[BaseModel], place: Sequence[int | str]) -> list[str]:
    """The keys that the form knows at a place."""
    return [field.alias or name for name, field in form_at(form, place).model_fields.items()]


def holder_of(form: type[BaseModel], place: Sequence[int | str]) -> str:
    """The first key beside an unknown one whose own map knows it, as `parallel` knows `tp`; "" if there is none."""
    inner = (
        (field.alias or name, _form_in(field.annotation, (tuple, list, dict))) for name, field in form_at(form, place).model_fields.items()
    )
    return next((name for name, its in inner if its is not None and str(place[-1]) in its.model_fields), "")


def _inner(form: type[BaseModel], name: int | str) -> type[BaseModel] | None:
    """The form of a field, looked for inside unions, tuples and dicts."""
    field = form.model_fields.get(str(name))
    return _form_in(field.annotation) if field else None


def _form_in(annotation: object, closed: Collection[type] = ()) -> type[BaseModel] | None:
    """The first form in a type, but in none of the `closed` collections."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for argument in getattr(annotation, "__args__", ()) if get_origin(annotation) not in closed else ():
        if found := _form_in(argument, closed):
            return found
    return None


def described(form: type[BaseModel], place: Sequence[int | str]) -> str:
    """What the innermost described field at a place takes."""
    current: type[BaseModel] = form
    said = "write a value of the right kind" if place else f"write a map; its keys are {', '.join(known_keys(form, ('',)))}"
    for name in place:
        field = current.model_fields.get(str(name))
        if field is not None and field.description:
            said = f"write {field.description}"
        current = _inner(current, name) or current
    return said
