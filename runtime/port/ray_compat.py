"""Wrappers of Ray calls that are private or differ between versions.

Only calls that the head node answers are used; Ray's state API needs the dashboard, which may not
run.
"""

from __future__ import annotations

import importlib
import signal
from typing import Any, Mapping

from ..failure import failed


def need_ray() -> Any:
    """Return the module `ray`. Raises LaunchFailed (PW708) if it is not installed."""
    try:
        import ray
    except ModuleNotFoundError as problem:
        if problem.name != "ray":
            raise
        raise failed("PW708", "", "launching needs Ray, which is not installed", "run `pip install 'placewright[ray]'`") from None
    return ray


def connect(address: str, namespace: str) -> None:
    """Connect this process to a cluster; Ray prints nothing until `disconnect`.

    Findings replace Ray's messages. Ray forwards a cluster's messages to standard output by
    default, without a public switch. Nor is there one for its handler of SIGTERM, which would leave
    `ray.init` halfway: the process would then crash at its end.
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
    """Return True if a gRPC server other than Ray's head answers there.

    For example a node's raylet, or Ray's server for remote clients. False also if that is unknown:
    Ray itself reports other faults. Source: Ray, protobuf/gcs_service.proto, NodeInfoGcsService.
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
    """Undo Ray's reaction to a signal during connection: an alarm that aborts this process after 3
    s.

    Ray's core has a handler below Python's until `ray.init` returns. Source: abseil,
    debugging/failure_signal_handler.cc.
    """
    signal.alarm(0)
    handler = signal.getsignal(signal.SIGALRM)
    if handler is not None:
        signal.signal(signal.SIGALRM, handler)


def disconnect() -> None:
    """End the connection of `connect`, if any."""
    ray = need_ray()
    ray.shutdown()
    ray._private.worker._worker_logs_enabled = True


def connected_address() -> str:
    """Return HOST:PORT of the connected Ray cluster."""
    return str(need_ray().get_runtime_context().gcs_address)


def alive_nodes() -> list[dict[str, Any]]:
    """Return the live nodes in the form of `ray.nodes`."""
    return [node for node in need_ray().nodes() if node["Alive"]]


def free_resources() -> Mapping[str, Mapping[str, float]]:
    """Return Ray node id -> free resources; private in Ray, without public equivalent."""
    free: Mapping[str, Mapping[str, float]] = need_ray()._private.state.available_resources_per_node()
    return free


def group_state(group: Any) -> tuple[str, str]:
    """Return (state, scheduling state) of a group, like ``PENDING``, ``NO_RESOURCES``."""
    table = need_ray().util.placement_group_table(group)
    return str(table.get("state", "")), str(table.get("stats", {}).get("scheduling_state", ""))


def held_bundles() -> list[tuple[str, list[tuple[str, Mapping[str, float]]]]]:
    """Return (name, [(Ray node id, resources)]) of every active placement group."""
    groups = []
    for group in need_ray().util.placement_group_table().values():
        if group.get("state") in ("CREATED", "RESCHEDULING"):
            nodes = group.get("bundles_to_node_id", {})
            bundles = [(nodes.get(number, ""), resources) for number, resources in group["bundles"].items()]
            groups.append((str(group.get("name") or group["placement_group_id"][:8]), bundles))
    return groups


def actor_names(namespace: str) -> set[str]:
    """Return the names of all living actors of a namespace."""
    return {actor["name"] for actor in need_ray().util.list_named_actors(all_namespaces=True) if actor["namespace"] == namespace}


def actor_named(name: str, who: str) -> Any:
    """Return an actor of this process's namespace; LaunchFailed (PW704) if unknown."""
    try:
        return need_ray().get_actor(name)
    except ValueError:
        help = "look for its name in `ray.util.list_named_actors()`, in the namespace that it was started in"
        raise failed("PW704", who, f"there is no worker `{name}`", help, name) from None


def send_by_value(module: Any) -> None:
    """Pickle the module by value from now on: the workers' nodes need not have it."""
    need_ray().cloudpickle.register_pickle_by_value(module)
