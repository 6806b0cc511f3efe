"""The table of dispatch modes: what each worker gets, and what becomes of the answers.

Every `dispatch_fn(group, *arguments, **named)` returns arguments for `execute_all` (see sharding.py), every
`collect_fn(group, answers)` one answer. Source: verl, verl/single_controller/base/decorator.py.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any, Callable, Mapping, Sequence

from ...models.findings.wording import with_noun
from ..refusal import refused
from .batches import DataProtoFuture, chunked, is_padded, joined, padded
from .modes import Dispatch
from .register import FUNCTIONS, check_dispatch_mode

Pair = Mapping[str, Callable[..., Any]]
PADDING = "_placewright_padding"
"""The key under which a dispatch function says by how many rows it padded; it is taken out before the workers are called."""


def dispatch_one_to_all(group: Any, *arguments: Any, **named: Any) -> tuple[Any, dict[str, Any]]:
    """Every worker gets the same."""
    count = group.world_size
    return tuple([each] * count for each in arguments), {name: [each] * count for name, each in named.items()}


def dispatch_all_to_all(group: Any, *arguments: Any, **named: Any) -> tuple[Any, dict[str, Any]]:
    """As they are: the rule of sharding alone decides."""
    return arguments, named


def collect_all_to_all(group: Any, output: Any) -> Any:
    """A list, one answer a worker."""
    return output


def dispatch_dp_compute(group: Any, *arguments: Any, **named: Any) -> tuple[Any, dict[str, Any]]:
    """Every argument is a list or a tuple with one element for each worker. Raises a ValueError for another.

    They are passed on as they are, as verl does it: by the rule of sharding a tuple goes whole to every worker.
    """
    for name, each in [*enumerate(arguments), *named.items()]:
        if not isinstance(each, (list, tuple)) or len(each) != group.world_size:
            has = f"has {len(each)}" if isinstance(each, (list, tuple)) else f"is a {type(each).__name__}"
            message = f"argument {name} must have one element for each of {with_noun(group.world_size, 'worker')}, it {has}"
            raise refused("PW718", "", message, "give a list with one element for each worker")
    return arguments, named


def collect_dp_compute(group: Any, output: Any) -> Any:
    """A list, one answer a worker."""
    return output


def dispatch_dp_compute_data_proto(group: Any, *arguments: Any, **named: Any) -> tuple[Any, dict[str, Any]]:
    """Each batch in as many chunks as there are workers, padded before if it allows that."""
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

    cuts, named_cuts = tuple(cut(each) for each in arguments), {name: cut(each) for name, each in named.items()}
    return cuts, named_cuts if padding is None else {**named_cuts, PADDING: padding}


def dispatch_dp_compute_data_proto_with_func(group: Any, *arguments: Any, **named: Any) -> tuple[Any, dict[str, Any]]:
    """The first argument is a function, which every worker gets; the others are batches, cut into a chunk for each."""
    if not arguments or not isinstance(arguments[0], FunctionType):
        raise refused("PW718", "", "the first argument must be a function", "give the function that every worker shall call")
    count = group.world_size
    cuts = [chunked(each, count) for each in arguments[1:]]
    return ([arguments[0]] * count, *cuts), {name: chunked(each, count) for name, each in named.items()}


def collect_dp_compute_data_proto(group: Any, output: Any) -> Any:
    """One batch of all answers, in rank order."""
    return joined(group, output, range(len(output)))


def forbidden(group: Any, *arguments: Any, **named: Any) -> Any:
    """A method of a rollout that is called at its workers directly. Raises a ValueError (PW718)."""
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
    """Both functions of a mode. Raises a ValueError for one that has none, which is RANK_ZERO."""
    if dispatch_mode not in DISPATCH_MODE_FN_REGISTRY:
        help = "register it with register_dispatch_mode; for rank 0 alone, give execute_mode=Execute.RANK_ZERO"
        raise refused("PW718", "", f"nothing is said of how {dispatch_mode} dispatches", help)
    return DISPATCH_MODE_FN_REGISTRY[dispatch_mode]


def functions_of(mode: Dispatch | Pair) -> Sequence[Callable[..., Any]]:
    """(dispatch_fn, collect_fn) of a mode or of a dict of both."""
    pair = get_predefined_dispatch_fn(mode) if isinstance(mode, Dispatch) else mode
    return [pair[key] for key in FUNCTIONS]


def register_dispatch_mode(dispatch_mode_name: str, dispatch_fn: Callable[..., Any], collect_fn: Callable[..., Any]) -> None:
    """Adds a mode, then a member of Dispatch. Raises ValueError if there is one of that name."""
    DISPATCH_MODE_FN_REGISTRY[Dispatch.register(dispatch_mode_name)] = {"dispatch_fn": dispatch_fn, "collect_fn": collect_fn}


def update_dispatch_mode(dispatch_mode: Dispatch, dispatch_fn: Callable[..., Any], collect_fn: Callable[..., Any]) -> None:
    """Gives a mode other functions. Raises a ValueError for one that has none."""
    check_dispatch_mode(dispatch_mode)
    get_predefined_dispatch_fn(dispatch_mode)
    DISPATCH_MODE_FN_REGISTRY[dispatch_mode] = {"dispatch_fn": dispatch_fn, "collect_fn": collect_fn}
