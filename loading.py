"""Reading of configurations and machines, in any form that a program may have them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Mapping, Sequence, Union

from .models.composition import Composer
from .models.dialects import load as loading
from .models.dialects.released import known_framework
from .models.level import DEFAULT_LEVEL
from .models.machines.cluster import Cluster
from .models.machines.reading import read_machines
from .models.machines.shorthand import DeclaredNodes
from .models.reading import Reading
from .models.text.source import Source

Machines = Union[str, Path, Cluster, DeclaredNodes, None]
Readable = Union[str, Path, Reading, Mapping[str, Any]]
"""Path, text (a string of several lines), mapping, or a Reading."""
PASTED = "<text>"
"""Name of a configuration that is not a file."""


def cluster(text: str | Path) -> Cluster | DeclaredNodes:
    """Read the machines of a shorthand, like ``2x8xH100``, or of a cluster file.

    Raises ValueError for an unreadable shorthand, UnusableInput for an unreadable file.
    """
    return read_machines(str(text))


def load(
    file: Readable,
    cluster: Machines = None,
    dialect: str = "auto",
    *,
    level: str = DEFAULT_LEVEL,
    settings: Sequence[str] = (),
    config_roots: Sequence[str | Path] = (),
    allow_env: Sequence[str] = (),
    framework: str | Sequence[str] = (),
    model_config: str | Path | None = None,
    **older: Any,
) -> Reading:
    """Read a configuration; a bad file raises nothing, its faults are in `findings`.

    Parameters
    ----------
    file : a path, a text of several lines, a mapping, or a Reading, which is returned unchanged.
    cluster : the machines, as an object, as a shorthand or as the path of a cluster file; None if the file is complete.
    dialect : ``auto``, ``native``, ``rlinf``, ``roll`` or ``verl``.
    level : ``training``, or ``placement``, which leaves out the batch arithmetic.
    settings : overrides, as on the command line of Hydra: ``cluster.num_nodes=4``.
    config_roots : folders to search for the groups of `defaults`, besides that of the file.
    allow_env : environment variables that interpolations may read; their text is never shown.
    framework : the release of the file's framework, such as ``verl==0.6.1``, or several of them. Raises ValueError for
        an unknown framework.
    model_config : the `config.json` of the policy's model. Raises UnusableInput for an unusable one.
    older : the older names `set` and `roots`, with a DeprecationWarning. Raises TypeError for others.
    """
    every = load_every(file, cluster, dialect, level, settings, config_roots, allow_env, framework, model_config, **older)
    return file if isinstance(file, Reading) else loading.take_first(every)


def load_every(
    file: Readable, cluster: Machines, dialect: str, level: str = DEFAULT_LEVEL, settings: Sequence[str] = (),
    config_roots: Sequence[str | Path] = (), allow_env: Sequence[str] = (), framework: str | Sequence[str] = (),
    model_config: str | Path | None = None, **older: Any,
) -> list[Reading]:  # fmt: skip
    """Read a configuration, or every program of a script; see `load`."""
    if isinstance(file, Reading):
        return [file]
    renamed_options = _rename(older)
    frameworks = (framework,) if isinstance(framework, str) else tuple(framework)
    roots, overrides = renamed_options.get("config_roots", config_roots), renamed_options.get("settings", settings)
    overrides = (overrides,) if isinstance(overrides, str) else tuple(overrides)
    composer = Composer(tuple(map(str, roots)), overrides, tuple(allow_env), tuple(map(known_framework, frameworks)))
    how = (machines_of(cluster), dialect, level, composer)
    text = text_of(file)
    readings = loading.load_all(str(file), *how) if text is None else loading.read_all(Source(PASTED, text), *how)
    if model_config is None:
        return readings
    from .models.dialects.agreement import with_policy
    from .models.model_cards.card import read_model_config

    card = read_model_config(str(model_config))
    return [with_policy(reading, card) for reading in readings]


def text_of(file: str | Path | Mapping[str, Any]) -> str | None:
    """Return the text of a configuration that is not a path; None for a path.

    Raises TypeError for a mapping with values that YAML has not.
    """
    if isinstance(file, Mapping):
        import yaml

        try:
            return yaml.safe_dump(dict(file), sort_keys=False, allow_unicode=True, width=1 << 16)
        except yaml.representer.RepresenterError as problem:
            raise TypeError(f"a configuration has maps, lists, numbers and texts, not {problem.args[-1]!r}") from None
    return file if isinstance(file, str) and "\n" in file else None


RENAMED = {"set": "settings", "roots": "config_roots"}
"""Older argument -> its name."""


def _rename(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options under their names of today. Raises TypeError for an unknown one."""
    if not options:
        return {}
    import warnings

    if unknown := sorted(set(options) - set(RENAMED)):
        raise TypeError(f"there is no argument `{unknown[0]}`")
    for name in options:
        warnings.warn(f"`{name}` is called `{RENAMED[name]}`", DeprecationWarning, stacklevel=4)
    return {RENAMED[name]: value for name, value in options.items()}


def machines_of(machines: Machines) -> Cluster | DeclaredNodes | None:
    """Convert any form of machines. Raises TypeError for any other type."""
    if isinstance(machines, (str, Path)):
        return cluster(machines)
    if machines is None or isinstance(machines, (Cluster, DeclaredNodes)):
        return machines
    raise TypeError(f"a cluster is a shorthand, the path of a cluster file or a Cluster, not {type(machines).__name__}")
