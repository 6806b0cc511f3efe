"""What a worker says of its share of a mesh, and how several workers in one process share that."""

from __future__ import annotations

import pytest
from placewright.runtime import Worker


def test_shares_are_handed_from_worker_to_worker() -> None:
    reference, actor, both = Worker(), Worker(), Worker()
    reference._register_dispatch_collect_info(mesh_name="actor", dp_rank=0, is_collect=True)
    actor._register_dispatch_collect_info(mesh_name="actor", dp_rank=1, is_collect=False)
    both.set_dispatch_collect(mesh_name="ref", **reference.get_dispatch_collect())
    both.set_dispatch_collect(mesh_name="actor", **actor.get_dispatch_collect())
    assert (both._query_dispatch_info("ref"), both._query_collect_info("ref")) == (0, True)
    assert (both._query_dispatch_info("actor"), both._query_collect_info("actor")) == (1, False)
    with pytest.raises(ValueError, match="mesh_name actor has been registered"):
        both.set_dispatch_collect(mesh_name="actor", **actor.get_dispatch_collect())
