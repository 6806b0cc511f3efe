"""Wrappers of Ray calls that are private or differ between versions.

Only calls that the head node answers are used; Ray's state API needs the dashboard, which may not
run.
"""

from __future__ import annotations

import importlib
import os
import signal
from contextlib import contextmanager
from typing import Any, Collection, Iterator, Mapping, Sequence

from ..failure import build_failure

OLDEST, SELECTS_BY_LABEL = (2, 41), (2, 49)
"""Oldest Ray that was tried (benchmarks/ray_versions.py), and the first whose placement groups obey
labels.
"""


def need_ray() -> Any:
    """Return the module `ray`. Raises LaunchFailed (PW708) if it is missing or too old."""
    try:
        import ray
    except ModuleNotFoundError as problem:
        if problem.name != "ray":
            raise
        raise build_failure("PW708", "", "launching needs Ray, which is not installed", INSTALL_HELP) from None
    if _version(ray) < OLDEST:
        raise build_failure("PW708", "", f"launching needs Ray {OLDEST[0]}.{OLDEST[1]} or newer; this is {ray.__version__}", INSTALL_HELP)
    return ray


INSTALL_HELP = "run `pip install 'placewright[ray]'`"


def _version(ray: Any) -> tuple[int, int]:
    major, minor = ray.__version__.split(".")[:2]
    return int(major), int(minor)


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


# A gRPC server answers the opening of an HTTP/2 client with a SETTINGS frame. Source: RFC 9113,
# section 3.4.
OPENING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + b"\x04" + bytes(5)


def uses_tls() -> bool:
    """Return True if Ray encrypts its connections."""
    return os.environ.get("RAY_USE_TLS", "").lower() in ("1", "true")


OTHER_SERVICE, WRONG_TOKEN, NO_TOKEN = "UNIMPLEMENTED", "UNAUTHENTICATED", "NO_TOKEN"


def head_status(address: str, limit: float) -> str:
    """Return the gRPC status with which the head of a cluster answers there.

    OTHER_SERVICE is a node's raylet, or Ray's server for remote clients; NO_TOKEN: this process is to
    send a token and has none that it can send. "" if that is unknown: Ray itself reports other
    faults. Source: Ray, protobuf/gcs_service.proto, NodeInfoGcsService.
    """
    loader = _token_loader()
    try:
        metadata = tuple(loader.get_token_for_http_header().items()) if loader is not None else ()
    except need_ray().exceptions.RayError:
        return NO_TOKEN
    if not all(value.isascii() and value.isprintable() for _, value in metadata):
        return NO_TOKEN  # gRPC prints what it cannot send
    try:
        grpc: Any = importlib.import_module("grpc")
    except ModuleNotFoundError:
        return ""
    with grpc.insecure_channel(address, options=[("grpc.enable_http_proxy", 0)]) as channel:
        try:
            channel.unary_unary("/ray.rpc.NodeInfoGcsService/GetClusterId")(b"", timeout=limit, metadata=metadata)
        except grpc.RpcError as problem:
            return str(problem.code().name)
    return ""


def _token_loader() -> Any:
    """Return Ray's reader of the token; None before Ray 2.52, which has no tokens."""
    loader = getattr(need_ray()._raylet, "AuthenticationTokenLoader", None)
    return loader and loader.instance()


MODE, TOKEN, TOKEN_PATH, SEVERAL_MACHINES = "RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"


def knows_tokens() -> bool:
    """Return True if this Ray has token authentication."""
    return _token_loader() is not None


@contextmanager
def on_loopback(token: str) -> Iterator[None]:
    """Let Ray use a cluster on 127.0.0.1 in the block, here and in child processes.

    `token`: path of the file with its token; "": unchanged. Else Ray replaces 127.0.0.1 with the
    address of the machine. Source: Ray, _private/services.py, `get_node_ip_address`.
    """
    constants: Any = importlib.import_module("ray._private.ray_constants")
    settings = {SEVERAL_MACHINES: "0"} | ({MODE: "token", TOKEN: None, TOKEN_PATH: token} if token else {})
    before, several = {name: os.environ.get(name) for name in settings}, constants.ENABLE_RAY_CLUSTER
    constants.ENABLE_RAY_CLUSTER = False
    _set(settings)
    try:
        yield
    finally:
        constants.ENABLE_RAY_CLUSTER = several
        _set(before)


def _set(variables: Mapping[str, str | None]) -> None:
    """Set or remove variables; make Ray read its token again.

    Source: Ray, _private/authentication_test_utils.py.
    """
    for name, value in variables.items():
        os.environ.pop(name, None)
        if value is not None:
            os.environ[name] = value
    loader = _token_loader()
    if loader is not None and MODE in variables:
        need_ray()._raylet.Config.initialize("")
        loader.reset_cache()


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


def own_address() -> str:
    """Return the address of this machine that Ray uses in place of 127.0.0.1."""
    return str(need_ray().util.get_node_ip_address())


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


PRESENCE = 0.001
"""Amount of a node's resource `node:IP` that pins a bundle to it."""


def pin(bundles: Sequence[tuple[str, Mapping[str, float]]]) -> tuple[list[dict[str, float]], dict[str, Any]]:
    """Return the resources of bundles, and options that pin them to their nodes.

    `bundles`: (Ray node id, resources).

    Ray 2.48 and older place bundles wherever they fit, whatever their selector: there the resource
    that every node has by its IP pins them. Raises LaunchFailed (PW702) if nodes share an IP.
    """
    if selects_by_label():
        return [dict(resources) for _, resources in bundles], {"bundle_label_selector": [{NODE_LABEL: node_id} for node_id, _ in bundles]}
    presence = {node["NodeID"]: f"node:{node['NodeManagerAddress']}" for node in alive_nodes()}
    if len(set(presence.values())) < len(presence):
        message = f"nodes share an address, so that Ray {need_ray().__version__} cannot tell them apart"
        raise build_failure("PW702", "", message, "run Ray 2.49 or newer, or a single raylet on each machine")
    return [{presence[node_id]: PRESENCE, **resources} for node_id, resources in bundles], {}


NODE_LABEL = "ray.io/node-id"


def selects_by_label() -> bool:
    """Return True if placement groups obey labels."""
    return _version(need_ray()) >= SELECTS_BY_LABEL


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


def actor_addresses(names: Collection[str]) -> dict[str, tuple[str, int]]:
    """Return name -> (IP, port) of the living actors among these; private in Ray."""
    addresses = {}
    for actor in need_ray()._private.state.actors(actor_state_name="ALIVE").values():
        address = actor["Address"]
        if actor["Name"] in names and address["Port"]:
            addresses[str(actor["Name"])] = str(address["IPAddress"]), int(address["Port"])
    return addresses


def send_by_value(module: Any) -> None:
    """Pickle the module by value from now on: the workers' nodes need not have it."""
    need_ray().cloudpickle.register_pickle_by_value(module)
