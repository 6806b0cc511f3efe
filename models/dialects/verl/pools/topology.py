"""The block `topology:`, as it is proposed for verl: clusters, pools of devices in them, and the models that use them.

Source: verl, issue 7269 (a proposal; no release reads it yet).
"""

from __future__ import annotations

from ..configuration import Configuration
from ..entries import Entry
from .declared import Declared


def device_pools(settings: Configuration, entry: Entry) -> Declared:
    """The pools of the block."""
    return Declared(())
