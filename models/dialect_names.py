"""Names of the dialects. A new dialect is its folder and one line here."""

from __future__ import annotations

from typing import Mapping, NamedTuple


class DialectEntry(NamedTuple):
    """Facts about a dialect that are needed before it is loaded.

    Attributes
    ----------
    packages : first parts of the names of its programs' modules.
    keys : top-level keys; every file of the dialect has at least one. Empty if unknown.
    text : text in every file of the dialect.
    resolvers : resolvers of interpolations that its programs register; None if any.
    defaults : its configurations, as a list of `defaults` names them.
    variables : environment variable -> folder of the repository that the framework's launchers set it to.
    """

    framework: str
    packages: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    text: str = ""
    resolvers: tuple[str, ...] | None = None
    defaults: tuple[str, ...] = ()
    variables: Mapping[str, str] = {}


DIALECTS = {
    "rlinf": DialectEntry(
        "RLinf",
        ("rlinf",),
        ("cluster",),
        resolvers=("multiply", "subtract", "int_div", "not", "torch.dtype"),
        variables={"REPO_PATH": ".", "EMBODIED_PATH": "examples/embodiment"},
    ),
    "roll": DialectEntry("ROLL", packages=("roll",), text="device_mapping", resolvers=()),
    "verl": DialectEntry(
        "verl",
        ("verl", "recipe"),
        ("actor_rollout_ref", "resource_pool_spec", "topology", "trainer"),
        resolvers=(),
        defaults=("ppo_trainer", "ppo_megatron_trainer"),
    ),
    "native": DialectEntry("", keys=("components",)),
}
"""Name -> facts of every dialect, in the order of recognition."""

FRAMEWORKS = tuple(name for name, entry in DIALECTS.items() if entry.framework)
"""Dialects of frameworks, which have releases."""
