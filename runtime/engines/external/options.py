"""Arguments as command-line options."""

from __future__ import annotations

import json
from typing import Any, Mapping


def options(arguments: Mapping[str, Any], no: str = "") -> list[str]:
    """Format arguments as ``--name=value``; dicts as JSON, lists as several values, None omitted.

    True is ``--name`` alone; False is the name with the prefix `no`, or omitted if the program has
    no such option.
    """
    words: list[str] = []
    for name, value in arguments.items():
        option = name.replace("_", "-")
        if value is None:
            continue
        if isinstance(value, bool):
            words += [f"--{option}"] if value else [f"--{no}{option}"] if no else []
        elif isinstance(value, (list, tuple)):
            words += [f"--{option}", *map(str, value)]
        else:
            words.append(f"--{option}={json.dumps(value) if isinstance(value, Mapping) else value}")
    return words
