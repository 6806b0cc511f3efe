"""Arguments as options of a command line."""

from __future__ import annotations

import json
from typing import Any, Mapping


def options(arguments: Mapping[str, Any], no: str = "") -> list[str]:
    """``--name=value`` for each argument; dicts as JSON, lists as several values, None not at all.

    True is ``--name`` alone; False is the name behind the prefix `no`, or nothing at all where the program has no such option.
    """
    found: list[str] = []
    for name, value in arguments.items():
        option = name.replace("_", "-")
        if value is None:
            continue
        if isinstance(value, bool):
            found += [f"--{option}"] if value else [f"--{no}{option}"] if no else []
        elif isinstance(value, (list, tuple)):
            found += [f"--{option}", *map(str, value)]
        else:
            found.append(f"--{option}={json.dumps(value) if isinstance(value, Mapping) else value}")
    return found
