"""What ROLL's placement can say, and when ROLL itself notices what is wrong with it."""

from __future__ import annotations

from ...job import Capabilities
from .mapping.written import range_text
from .modes.notices import NOTICES

CAPABILITIES = Capabilities(
    shares_accelerators=True,
    groups_may_cross=True,
    processes_may_cross=True,
    reserves_nodes=True,
    range_text=range_text,
    notices=NOTICES,
)
"""Overlapping `device_mapping`s are how ROLL says colocation; there is no order of nodes, and nothing keeps a group or a worker on
one node. Source: ROLL, roll/distributed/scheduler/resource_manager.py, roll/distributed/executor/cluster.py."""
