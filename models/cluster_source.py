"""A cluster file, read: every fault a Finding at its place in the text."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Sequence

from .finding import Finding, UnusableInput, error
from .source import Source
from .span import Span
from .tree import Mapping, Value, find, plain

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic_core import ErrorDetails

    from .cluster import Cluster

_CODE = "PW011"
_HELP = "a cluster file is `nodes: [{repeat: 2, accelerators: {count: 8, model: H100}}]`"


def read_cluster(path: str | Path) -> Cluster:
    """The cluster that a YAML or JSON file describes. Raises UnusableInput with every fault of the file."""
    return cluster_of(Source.read(path))


def cluster_of(source: Source) -> Cluster:
    """The cluster that a text describes. Raises UnusableInput with every fault of the text."""
    from pydantic import ValidationError

    from .cluster_file import ClusterForm

    try:
        return ClusterForm.model_validate(plain(source.root)).build()
    except ValidationError as problem:
        raise UnusableInput(_finding(source, details) for details in problem.errors(include_url=False)) from None
    except ValueError as problem:
        raise UnusableInput([error(_CODE, "", f"the cluster cannot be: {problem}", source.whole(), help=_HELP)]) from None


def _finding(source: Source, details: ErrorDetails) -> Finding:
    """One of pydantic's errors in our words, at the value that it is about."""
    place = details["loc"]
    path = ".".join(map(str, place))
    if details["type"] == "extra_forbidden":
        known = _keys()
        close = get_close_matches(str(place[-1]), known, n=1)
        advice = f"write `{close[0]}`" if close else "known keys are " + ", ".join(known)
        return error(_CODE, "", f"`{path}` is no key of a cluster file", _key(source.root, place), label="not known", help=advice)
    if details["type"] == "missing":
        return error(_CODE, "", f"`{path}` is missing", _deepest(source.root, place), label="not given here", help=_HELP)
    reason = details["msg"].removeprefix("Value error, ")
    return error(_CODE, "", f"`{path}`: {reason[:1].lower()}{reason[1:]}", _deepest(source.root, place), help=_HELP)


def _deepest(root: Value, place: Sequence[int | str]) -> Span:
    """The span of the value at a place, or of the nearest one around it that was written."""
    value = root
    for position in range(1, len(place) + 1):
        inner = find(root, ".".join(map(str, place[:position])))
        if inner is None:
            break
        value = inner
    return value.span


def _key(root: Value, place: Sequence[int | str]) -> Span:
    """The span of the key that ends a place."""
    holder = find(root, ".".join(map(str, place[:-1])))
    entry = holder.entry(str(place[-1])) if isinstance(holder, Mapping) else None
    return entry.key.span if entry else _deepest(root, place)


def _keys() -> list[str]:
    from .cluster_file import AcceleratorsForm, ClusterForm, GroupForm, NodeForm

    forms: tuple[type[BaseModel], ...] = (ClusterForm, NodeForm, AcceleratorsForm, GroupForm)
    return list(dict.fromkeys(name for form in forms for name in form.model_fields))
