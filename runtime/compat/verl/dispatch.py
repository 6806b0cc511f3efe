"""Dispatch of a group call to the workers, and collection of their answers.

Source: verl, single_controller/base/decorator.py.
"""

from __future__ import annotations

import functools
import inspect
from dataclasses import dataclass
from enum import Enum, auto
from functools import partial
from types import FunctionType
from typing import Any, Callable, Mapping, Sequence, TypeVar, cast

from ....models.findings.wording import with_noun
from ...failure import build_refusal
from .batches import DataProtoFuture, chunk, is_padded, join, pad


class Dispatch(Enum):
    """Distribution of arguments and collection of answers."""

    ONE_TO_ALL = auto()
    ALL_TO_ALL = auto()
    DP_COMPUTE = auto()
    DP_COMPUTE_PROTO = auto()
    DP_COMPUTE_PROTO_WITH_FUNC = auto()
    DP_COMPUTE_METRIC = auto()
    DIRECT_ROLLOUT_METHOD = auto()


class Execute(Enum):
    """Choice of called workers."""

    ALL = auto()
    RANK_ZERO = auto()


def make_nd_compute_dataproto_dispatch_fn(mesh_name: str) -> dict[str, Callable[..., Any]]:
    """Return the dispatch mode of a mesh, for `register`."""
    return {"dispatch_fn": partial(_dispatch, mesh_name), "collect_fn": partial(_collect, mesh_name)}


def _dispatch(mesh_name: str, group: Any, *arguments: Any, **keywords: Any) -> tuple[Any, dict[str, Any]]:
    """Cut batches into a chunk per data-parallel rank of a mesh."""
    dp_ranks = group.dispatch_info(mesh_name)
    size = max(dp_ranks) + 1

    def dealt(batch: Any) -> list[Any]:
        chunks = [group.port.share(chunk) for chunk in chunk(batch, size)]
        return [chunks[rank] for rank in dp_ranks]

    return tuple(map(dealt, arguments)), {name: dealt(batch) for name, batch in keywords.items()}


def _collect(mesh_name: str, group: Any, output: Sequence[Any]) -> Any:
    """Concatenate the answers that count on a mesh, in rank order."""
    ranks = [rank for rank, counts in enumerate(group.collect_info(mesh_name)) if counts]
    return join(group, [output[rank] for rank in ranks], ranks)


VERL_MARK = "attrs_3141562937"
OVER_MESH = "dispatch_lazy_compute_data_proto"
"""verl's mesh dispatch function, for verl's groups alone; the mesh is the first argument."""


def find_verl_modes(method: object) -> tuple[Dispatch | Mapping[str, Any], Execute, bool] | None:
    """Return the modes of a method marked by verl; None if unmarked. Unknown mode: PW718."""
    mark = getattr(method, VERL_MARK, None)
    if not isinstance(mark, Mapping):
        return None
    mode = mark["dispatch_mode"]
    return (
        _convert_mesh_mode(mode) if isinstance(mode, Mapping) else _find_same(Dispatch, mode),
        _find_same(Execute, mark["execute_mode"]),
        mark["blocking"],
    )


def _convert_mesh_mode(mode: Mapping[str, Any]) -> Mapping[str, Any]:
    """Convert a mesh mode to ours; return any other pair of functions unchanged."""
    dispatch = mode.get("dispatch_fn")
    if isinstance(dispatch, partial) and dispatch.func.__name__ == OVER_MESH:
        return make_nd_compute_dataproto_dispatch_fn(dispatch.args[0])
    return mode


def _find_same(modes: type[Enum], verl_mode: object) -> Any:
    name = str(getattr(verl_mode, "name", verl_mode))
    if name not in modes.__members__:
        message = f"`{verl_mode}` of verl is not a {modes.__name__.lower()} mode here"
        raise build_refusal("PW718", "", message, "give both functions: `dispatch_fn` and `collect_fn`", name)
    return modes[name]


Method = TypeVar("Method", bound=Callable[..., Any])
MARK = "_placewright_registered"
FUNCTIONS = ("dispatch_fn", "collect_fn")
"""Keys of a dispatch mode in dict form."""


@dataclass(frozen=True)
class CallMode:
    """Call mode of a method: dispatch mode, called workers, and blocking or not.

    The dispatch mode is a Dispatch or ``{"dispatch_fn": ..., "collect_fn": ...}``.
    `waits_for_arguments`: True if the group resolves a DataProtoFuture before the call, because the
    worker would not.
    """

    dispatch_mode: Dispatch | Mapping[str, Callable[..., Any]]
    execute_mode: Execute
    blocking: bool = True
    waits_for_arguments: bool = False


def register(
    dispatch_mode: Dispatch | Mapping[str, Callable[..., Any]] = Dispatch.ALL_TO_ALL, execute_mode: Execute = Execute.ALL,
    blocking: bool = True,
) -> Callable[[Method], Method]:  # fmt: skip
    """Decorate a worker's method to make it a method of the group too.

    `blocking`: the group's method returns answers, otherwise references. A DataProtoFuture among the
    arguments is resolved when the method runs. Source: verl, verl/single_controller/base/decorator.py,
    `register`.
    """
    how = CallMode(dispatch_mode, execute_mode, blocking)

    def mark(method: Method) -> Method:
        wrapper: Any
        if inspect.iscoroutinefunction(method):

            @functools.wraps(method)
            async def wrapped_async(*arguments: Any, **keywords: Any) -> Any:
                return await method(*map(value_of, arguments), **{name: value_of(value) for name, value in keywords.items()})

            wrapper = wrapped_async
        else:

            @functools.wraps(method)
            def wrapper(*arguments: Any, **keywords: Any) -> Any:
                return method(*map(value_of, arguments), **{name: value_of(value) for name, value in keywords.items()})

        setattr(wrapper, MARK, how)
        return cast(Method, wrapper)

    return mark


def find_registered(method: object) -> CallMode | None:
    """Return the call mode of a method registered here or by verl; None without one."""
    how = getattr(method, MARK, None)
    if isinstance(how, CallMode):
        return how
    verl_modes = find_verl_modes(method)
    return None if verl_modes is None else CallMode(*verl_modes, waits_for_arguments=True)


def value_of(argument: Any) -> Any:
    """Return the argument, or the awaited value of a DataProtoFuture."""
    return argument.get() if isinstance(argument, DataProtoFuture) else argument


Call = tuple[tuple[Any, ...], dict[str, Any]]
"""Arguments of a worker: positional and named."""


def shares(arguments: Sequence[Any], keywords: Mapping[str, Any], workers: int) -> list[Call]:
    """Return the arguments of every worker: split lists, or all arguments unchanged.

    Arguments are split if all of them are lists with an element per worker. Only lists count: a
    tuple, or any argument that is not a list or has another length, means that every worker gets
    everything. Source: verl, verl/single_controller/ray/base.py, `execute_all_async`.
    """
    values = [*arguments, *keywords.values()]
    if all(isinstance(value, list) and len(value) == workers for value in values):
        return [
            (tuple(value[rank] for value in arguments), {name: value[rank] for name, value in keywords.items()}) for rank in range(workers)
        ]
    return [(tuple(arguments), dict(keywords)) for _ in range(workers)]


Pair = Mapping[str, Callable[..., Any]]
PADDING = "_placewright_padding"
"""Key of the number of padded rows in a dispatch result; removed before the call."""


def dispatch_one_to_all(group: Any, *arguments: Any, **keywords: Any) -> tuple[Any, dict[str, Any]]:
    """Pass the same arguments to every worker."""
    count = group.world_size
    return tuple([value] * count for value in arguments), {name: [value] * count for name, value in keywords.items()}


def dispatch_all_to_all(group: Any, *arguments: Any, **keywords: Any) -> tuple[Any, dict[str, Any]]:
    """Pass the arguments unchanged: the rule of `shares` decides."""
    return arguments, keywords


def collect_all_to_all(group: Any, output: Any) -> Any:
    """Return a list with an answer per worker."""
    return output


def dispatch_dp_compute(group: Any, *arguments: Any, **keywords: Any) -> tuple[Any, dict[str, Any]]:
    """Check that every argument is a list or tuple with an element per worker.

    Raises a ValueError otherwise. They are passed on unchanged, as in verl: by the rule of
    `shares` a tuple goes whole to every worker.
    """
    for name, value in [*enumerate(arguments), *keywords.items()]:
        if not isinstance(value, (list, tuple)) or len(value) != group.world_size:
            actual = f"has {len(value)}" if isinstance(value, (list, tuple)) else f"is a {type(value).__name__}"
            message = f"argument {name} must have one element for each of {with_noun(group.world_size, 'worker')}, it {actual}"
            raise build_refusal("PW718", "", message, "give a list with one element for each worker")
    return arguments, keywords


def dispatch_dp_compute_data_proto(group: Any, *arguments: Any, **keywords: Any) -> tuple[Any, dict[str, Any]]:
    """Cut every batch into a chunk per worker, after padding if allowed."""
    count, padding, length = group.world_size, None, None

    def cut(batch: Any) -> list[Any]:
        nonlocal padding, length
        if isinstance(batch, DataProtoFuture):
            padding = max(padding or 0, batch.padding)
        elif is_padded(batch):
            if length not in (None, len(batch)):
                message = f"batches that are padded must have one length, these have {length} and {len(batch)}"
                raise build_refusal("PW718", "", message, "give batches of one length", len(batch))
            length = len(batch)
            batch, padding = pad(batch, count)
        return chunk(batch, count)

    cuts, named_cuts = tuple(cut(batch) for batch in arguments), {name: cut(batch) for name, batch in keywords.items()}
    return cuts, named_cuts if padding is None else {**named_cuts, PADDING: padding}


def dispatch_dp_compute_data_proto_with_func(group: Any, *arguments: Any, **keywords: Any) -> tuple[Any, dict[str, Any]]:
    """Pass the function in the first argument to every worker, and chunks of the batches."""
    if not arguments or not isinstance(arguments[0], FunctionType):
        raise build_refusal("PW718", "", "the first argument must be a function", "give the function that every worker shall call")
    count = group.world_size
    cuts = [chunk(batch, count) for batch in arguments[1:]]
    return ([arguments[0]] * count, *cuts), {name: chunk(batch, count) for name, batch in keywords.items()}


def collect_dp_compute_data_proto(group: Any, output: Any) -> Any:
    """Concatenate all answers in rank order."""
    return join(group, output, range(len(output)))


def forbidden(group: Any, *arguments: Any, **keywords: Any) -> Any:
    """Refuse a rollout method that must be called on its workers directly: ValueError (PW718)."""
    raise build_refusal("PW718", "", "Direct rollout call is forbidden", "call the method at the handles of the workers")


DISPATCH_MODE_FN_REGISTRY: dict[Dispatch, Pair] = {
    mode: {"dispatch_fn": dispatch, "collect_fn": collect}
    for mode, dispatch, collect in (
        (Dispatch.ONE_TO_ALL, dispatch_one_to_all, collect_all_to_all),
        (Dispatch.ALL_TO_ALL, dispatch_all_to_all, collect_all_to_all),
        (Dispatch.DP_COMPUTE, dispatch_dp_compute, collect_all_to_all),
        (Dispatch.DP_COMPUTE_PROTO, dispatch_dp_compute_data_proto, collect_dp_compute_data_proto),
        (Dispatch.DP_COMPUTE_PROTO_WITH_FUNC, dispatch_dp_compute_data_proto_with_func, collect_dp_compute_data_proto),
        (Dispatch.DP_COMPUTE_METRIC, dispatch_dp_compute_data_proto, collect_all_to_all),
        (Dispatch.DIRECT_ROLLOUT_METHOD, forbidden, forbidden),
    )
}


def functions_of(mode: Dispatch | Pair) -> Sequence[Callable[..., Any]]:
    """Return (dispatch_fn, collect_fn) of a mode or of a dict of both."""
    pair = DISPATCH_MODE_FN_REGISTRY[mode] if isinstance(mode, Dispatch) else mode
    return [pair[key] for key in FUNCTIONS]
