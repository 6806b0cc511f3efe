"""Table of dispatch modes: arguments of each worker, and the collected answer.

Every `dispatch_fn(group, *arguments, **named)` returns arguments for `execute_all` (see
sharding.py), every `collect_fn(group, answers)` a single answer. Source: verl,
verl/single_controller/base/decorator.py.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any, Callable, Mapping, Sequence

from .....models.findings.wording import with_noun
from ....failure import refused
from .batches import DataProtoFuture, chunked, is_padded, joined, padded
from .mesh import Dispatch
from .register import FUNCTIONS, check_dispatch_mode

Call = tuple[tuple[Any, ...], dict[str, Any]]
"""Arguments of a worker: positional and named."""


def shares(arguments: Sequence[Any], named: Mapping[str, Any], workers: int) -> list[Call]:
    """Return the arguments of every worker: split lists, or all arguments unchanged.

    Arguments are split if all of them are lists with an element per worker. Only lists count: a
    tuple, or any argument that is no list or has another length, means that every worker gets
    everything. Source: verl, verl/single_controller/ray/base.py, `execute_all_async`.
    """
    values = [*arguments, *named.values()]
    if all(isinstance(value, list) and len(value) == workers for value in values):
        return [
            (tuple(value[rank] for value in arguments), {name: value[rank] for name, value in named.items()}) for rank in range(workers)
        ]
    return [(tuple(arguments), dict(named)) for _ in range(workers)]


Pair = Mapping[str, Callable[..., Any]]
PADDING = "_placewright_padding"
"""Key of the number of padded rows in a dispatch result; removed before the call."""


def dispatch_one_to_all(group: Any, *arguments: Any, **named: Any) -> tuple[Any, dict[str, Any]]:
    """Pass the same arguments to every worker."""
    count = group.world_size
    return tuple([value] * count for value in arguments), {name: [value] * count for name, value in named.items()}


def dispatch_all_to_all(group: Any, *arguments: Any, **named: Any) -> tuple[Any, dict[str, Any]]:
    """Pass the arguments unchanged: the rule of sharding.py decides."""
    return arguments, named


def collect_all_to_all(group: Any, output: Any) -> Any:
    """Return a list with an answer per worker."""
    return output


def dispatch_dp_compute(group: Any, *arguments: Any, **named: Any) -> tuple[Any, dict[str, Any]]:
    """Check that every argument is a list or tuple with an element per worker.

    Raises a ValueError otherwise. They are passed on unchanged, as in verl: by the rule of
    sharding.py a tuple goes whole to every worker.
    """
    for name, value in [*enumerate(arguments), *named.items()]:
        if not isinstance(value, (list, tuple)) or len(value) != group.world_size:
            actual = f"has {len(value)}" if isinstance(value, (list, tuple)) else f"is a {type(value).__name__}"
            message = f"argument {name} must have one element for each of {with_noun(group.world_size, 'worker')}, it {actual}"
            raise refused("PW718", "", message, "give a list with one element for each worker")
    return arguments, named


def collect_dp_compute(group: Any, output: Any) -> Any:
    """Return a list with an answer per worker."""
    return output


def dispatch_dp_compute_data_proto(group: Any, *arguments: Any, **named: Any) -> tuple[Any, dict[str, Any]]:
    """Cut every batch into a chunk per worker, after padding if allowed."""
    count, padding, length = group.world_size, None, None

    def cut(batch: Any) -> list[Any]:
        nonlocal padding, length
        if isinstance(batch, DataProtoFuture):
            padding = max(padding or 0, batch.padding)
        elif is_padded(batch):
            if length not in (None, len(batch)):
                message = f"batches that are padded must have one length, these have {length} and {len(batch)}"
                raise refused("PW718", "", message, "give batches of one length", len(batch))
            length = len(batch)
            batch, padding = padded(batch, count)
        return chunked(batch, count)

    cuts, named_cuts = tuple(cut(batch) for batch in arguments), {name: cut(batch) for name, batch in named.items()}
    return cuts, named_cuts if padding is None else {**named_cuts, PADDING: padding}


def dispatch_dp_compute_data_proto_with_func(group: Any, *arguments: Any, **named: Any) -> tuple[Any, dict[str, Any]]:
    """Pass the function in the first argument to every worker, and chunks of the batches."""
    if not arguments or not isinstance(arguments[0], FunctionType):
        raise refused("PW718", "", "the first argument must be a function", "give the function that every worker shall call")
    count = group.world_size
    cuts = [chunked(batch, count) for batch in arguments[1:]]
    return ([arguments[0]] * count, *cuts), {name: chunked(batch, count) for name, batch in named.items()}


def collect_dp_compute_data_proto(group: Any, output: Any) -> Any:
    """Concatenate all answers in rank order."""
    return joined(group, output, range(len(output)))


def forbidden(group: Any, *arguments: Any, **named: Any) -> Any:
    """Refuse a rollout method that must be called on its workers directly: ValueError (PW718)."""
    raise refused("PW718", "", "Direct rollout call is forbidden", "call the method at the handles of the workers")


DISPATCH_MODE_FN_REGISTRY: dict[Dispatch, Pair] = {
    mode: {"dispatch_fn": dispatch, "collect_fn": collect}
    for mode, dispatch, collect in (
        (Dispatch.ONE_TO_ALL, dispatch_one_to_all, collect_all_to_all),
        (Dispatch.ALL_TO_ALL, dispatch_all_to_all, collect_all_to_all),
        (Dispatch.DP_COMPUTE, dispatch_dp_compute, collect_dp_compute),
        (Dispatch.DP_COMPUTE_PROTO, dispatch_dp_compute_data_proto, collect_dp_compute_data_proto),
        (Dispatch.DP_COMPUTE_PROTO_WITH_FUNC, dispatch_dp_compute_data_proto_with_func, collect_dp_compute_data_proto),
        (Dispatch.DP_COMPUTE_METRIC, dispatch_dp_compute_data_proto, collect_dp_compute),
        (Dispatch.DIRECT_ROLLOUT_METHOD, forbidden, forbidden),
    )
}


def get_predefined_dispatch_fn(dispatch_mode: Dispatch) -> Pair:
    """Return both functions of a mode. Raises a ValueError for RANK_ZERO, which has none."""
    if dispatch_mode not in DISPATCH_MODE_FN_REGISTRY:
        help = "register it with register_dispatch_mode; for rank 0 alone, give execute_mode=Execute.RANK_ZERO"
        raise refused("PW718", "", f"nothing is said of how {dispatch_mode} dispatches", help)
    return DISPATCH_MODE_FN_REGISTRY[dispatch_mode]


def functions_of(mode: Dispatch | Pair) -> Sequence[Callable[..., Any]]:
    """Return (dispatch_fn, collect_fn) of a mode or of a dict of both."""
    pair = get_predefined_dispatch_fn(mode) if isinstance(mode, Dispatch) else mode
    return [pair[key] for key in FUNCTIONS]


def register_dispatch_mode(dispatch_mode_name: str, dispatch_fn: Callable[..., Any], collect_fn: Callable[..., Any]) -> None:
    """Add a mode and a member of Dispatch. Raises ValueError for a duplicate name."""
    DISPATCH_MODE_FN_REGISTRY[Dispatch.register(dispatch_mode_name)] = {"dispatch_fn": dispatch_fn, "collect_fn": collect_fn}


def update_dispatch_mode(dispatch_mode: Dispatch, dispatch_fn: Callable[..., Any], collect_fn: Callable[..., Any]) -> None:
    """Replace the functions of a mode. Raises a ValueError for a mode without functions."""
    check_dispatch_mode(dispatch_mode)
    get_predefined_dispatch_fn(dispatch_mode)
    DISPATCH_MODE_FN_REGISTRY[dispatch_mode] = {"dispatch_fn": dispatch_fn, "collect_fn": collect_fn}
