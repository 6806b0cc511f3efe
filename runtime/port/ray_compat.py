"""Ray as it is used here: the calls that are not public, or differ between versions, behind names of our own.

Only calls that the head node itself answers are used; Ray's state API needs the dashboard, which may not run.
"""

from __future__ import annotations

import importlib
import signal
from typing import Any, Mapping

from ..failure import failed


def need_ray() -> Any:
    """The module `ray`. Raises LaunchFailed (PW708) if it is not installed."""
    try:
        import ray
    except ModuleNotFoundError as problem:
        if problem.name != "ray":
            raise
        raise failed("PW708", "", "launching needs Ray, which is not installed", "run `pip install 'placewright[ray]'`") from None
    return ray


def connect(address: str, namespace: str) -> None:
    """Connects this process to a cluster. Ray prints nothing here until `disconnect`: what matters becomes a Finding.

    Ray passes on a cluster's messages to standard output by default, and has no public switch for it. Nor has it one for its
    handler of SIGTERM, which would leave `ray.init` in the middle: what is left then crashes when the process ends.
    """
    ray = need_ray()
    ray._private.worker._worker_logs_enabled = False
    utils = ray._private.utils
    handle = getattr(utils, "set_sigterm_handler", None)
    utils.set_sigterm_handler = lambda handler: None
    try:
        ray.init(address=address, namespace=namespace, log_to_driver=False, logging_level="CRITICAL")
    finally:
        utils.set_sigterm_handler = handle


def is_another_service(address: str, limit: float) -> bool:
    """Does a gRPC server answer there that is not Ray's head, such as the raylet of a node, or Ray's own for remote clients?

    False as well where nobody can tell: what else may be wrong Ray says itself. Source: Ray, protobuf/gcs_service.proto, NodeInfoGcsService.
    """
    try:
        grpc: Any = importlib.import_module("grpc")
    except ModuleNotFoundError:
        return False
    with grpc.insecure_channel(address, options=[("grpc.enable_http_proxy", 0)]) as channel:
        try:
            channel.unary_unary("/ray.rpc.NodeInfoGcsService/GetClusterId")(b"", timeout=limit)
        except grpc.RpcError as problem:
            return bool(problem.code() == grpc.StatusCode.UNIMPLEMENTED)
    return False


def disarm() -> None:
    """Takes back what Ray does about a signal that comes while it connects: an alarm that aborts this process 3 s later.

    Its core has a handler below Python's until `ray.init` returns. Source: abseil, debugging/failure_signal_handler.cc.
    """
    signal.alarm(0)
    handler = signal.getsignal(signal.SIGALRM)
    if handler is not None:
        signal.signal(signal.SIGALRM, handler)


def disconnect() -> None:
    """Ends the connection that `connect` made, if it did."""
    ray = need_ray()
    ray.shutdown()
    ray._private.worker._worker_logs_enabled = True


def connected_address() -> str:
    """HOST:PORT of the Ray cluster that this process is connected to."""
    return str(need_ray().get_runtime_context().gcs_address)


def alive_nodes() -> list[dict[str, Any]]:
    """The nodes that are alive, as `ray.nodes` tells them."""
    return [node for node in need_ray().nodes() if node["Alive"]]


def free_resources() -> Mapping[str, Mapping[str, float]]:
    """Ray's node id -> what no task, actor or placement group holds there. Private in Ray, with no public equal."""
    free: Mapping[str, Mapping[str, float]] = need_ray()._private.state.available_resources_per_node()
    return free


def group_state(group: Any) -> tuple[str, str]:
    """(state, scheduling state) of a placement group, such as ``PENDING`` and ``NO_RESOURCES``."""
    table = need_ray().util.placement_group_table(group)
    return str(table.get("state", "")), str(table.get("stats", {}).get("scheduling_state", ""))


def held_bundles() -> list[tuple[str, list[tuple[str, Mapping[str, float]]]]]:
    """(name, [(Ray's node id, resources)]) of every placement group that holds something."""
    held = []
    for group in need_ray().util.placement_group_table().values():
        if group.get("state") in ("CREATED", "RESCHEDULING"):
            nodes = group.get("bundles_to_node_id", {})
            held.append(
                (
                    str(group.get("name") or group["placement_group_id"][:8]),
                    [(nodes.get(number, ""), its) for number, its in group["bundles"].items()],
                )
            )
    return held


def actor_names(namespace: str) -> set[str]:
    """The names of all actors of a namespace that are not dead."""
    return {actor["name"] for actor in need_ray().util.list_named_actors(all_namespaces=True) if actor["namespace"] == namespace}


def actor_named(name: str, who: str) -> Any:
    """The handle of an actor of this process's namespace. Raises LaunchFailed (PW704) if nobody has that name."""
    try:
        return need_ray().get_actor(name)
    except ValueError:
        help = "look for its name in `ray.util.list_named_actors()`, in the namespace that it was started in"
        raise failed("PW704", who, f"there is no worker `{name}`", help, name) from None


def send_by_value(module: Any) -> None:
    """From now on, classes of this module travel as code: the workers' nodes need not have it."""
    need_ray().cloudpickle.register_pickle_by_value(module)
