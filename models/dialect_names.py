"""Names of the dialects. A new dialect is its folder and one line here."""

from __future__ import annotations

from typing import NamedTuple


class DialectEntry(NamedTuple):
    """Facts about a dialect that are needed before it is loaded.

    Attributes
    ----------
    packages : first parts of the names of its programs' modules.
    keys : top-level keys; every file of the dialect has at least one. Empty if unknown.
    text : text in every file of the dialect.
    resolvers : resolvers of interpolations that its programs register; None if any.
    """

    framework: str
    packages: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    text: str = ""
    resolvers: tuple[str, ...] | None = None


DIALECTS = {
    "rlinf": DialectEntry("RLinf", ("rlinf",), ("cluster",), resolvers=("multiply", "subtract", "int_div", "not", "torch.dtype")),
    "roll": DialectEntry("ROLL", packages=("roll",), text="device_mapping", resolvers=()),
    "verl": DialectEntry("verl", ("verl", "recipe"), ("actor_rollout_ref", "resource_pool_spec", "topology", "trainer"), resolvers=()),
    "native": DialectEntry("", keys=("components",)),
}
"""Name -> facts of every dialect, in the order of recognition."""

FRAMEWORKS = tuple(name for name, entry in DIALECTS.items() if entry.framework)
"""Dialects of frameworks, which have releases."""
