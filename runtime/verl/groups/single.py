"""Single actor outside any group: in a bundle, or beside another actor."""

from __future__ import annotations

import os
from typing import Any, Mapping

from ...failure import failed
from ...port.ray_compat import need_ray
from ...refusal import refused
from ...workers.travelling import send_code
from ..pools.devices import resource_of

SHARE_LIMIT = 60.0
"""Time limit, in seconds, for an actor to report its accelerators."""


def in_bundle(cls: Any, options: Mapping[str, Any], hold: Any, bundle: int, accelerators: float, device_name: str) -> Any:
    """Build an actor class that starts in a placement group's bundle with accelerators.

    Actors end with their last handle.
    """
    from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

    amounts: dict[str, Any] = {}
    if accelerators:
        resource = resource_of(device_name)
        amounts = {"num_gpus": accelerators} if resource == "GPU" else {"resources": {resource: accelerators}}
    return _actor_class(cls).options(**{**options, **amounts, "scheduling_strategy": PlacementGroupSchedulingStrategy(hold, bundle)})


def beside(cls: Any, name: str, options: Mapping[str, Any], neighbour: Any) -> tuple[Any, str]:
    """Return (an actor class on the node of `neighbour`, the devices visible to `neighbour`).

    The new actor requests no resources from Ray. Raises LaunchFailed (PW704, PW705) if the other
    actor does not answer, and a ValueError (PW718) for anything but an actor.
    """
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    ray = need_ray()

    def seen(_: object) -> tuple[str, str]:
        return ray.get_runtime_context().get_node_id(), os.environ.get("CUDA_VISIBLE_DEVICES", "")

    if not isinstance(neighbour, ray.actor.ActorHandle):
        raise refused("PW718", name, f"`sharing_with` is {neighbour!r}", "give the handle of an actor, such as one of `group.workers`")
    try:
        node, devices = ray.get(neighbour.__ray_call__.remote(seen), timeout=SHARE_LIMIT)
    except ray.exceptions.GetTimeoutError:
        message = f"the actor that {name} is to share with has not answered within {SHARE_LIMIT:g} s"
        raise failed("PW705", name, message, "see what it does") from None
    except ray.exceptions.RayActorError as problem:
        raise failed("PW704", name, f"the actor that {name} is to share with is dead", "share with one that is alive") from problem
    nothing = {"num_cpus": 0, "num_gpus": 0, "resources": {}}
    strategy = NodeAffinitySchedulingStrategy(node, soft=False)
    return _actor_class(cls).options(**{**options, **nothing, "scheduling_strategy": strategy}), devices


def _actor_class(cls: Any) -> Any:
    send_code()
    return need_ray().remote(cls) if isinstance(cls, type) else cls
