"""From a program to its pools."""

from __future__ import annotations

from typing import Callable, Mapping

from ..configuration import Configuration
from ..entries import Entry, Kind
from .declared import Declared
from .main_ppo import one_pool, single
from .processes import processes
from .separate import separate
from .server import servers
from .simulation import simulation
from .spec import listed
from .split import halves

_MAKERS: Mapping[Kind, Callable[[Configuration, Entry], Declared]] = {
    Kind.HYBRID: one_pool,
    Kind.SEPARATE: separate,
    Kind.SPLIT: halves,
    Kind.SIMULATION: simulation,
    Kind.SERVER: servers,
    Kind.GENERATION: single,
    Kind.TUNING: single,
    Kind.PROCESSES: processes,
    Kind.DECLARED: listed,
    Kind.NOTHING: lambda settings, entry: Declared(()),
}


def pools_of(settings: Configuration, entry: Entry) -> Declared:
    """The pools of a program; those whose size is not known are left out."""
    return _MAKERS[entry.kind](settings, entry)
