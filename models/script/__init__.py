"""Shell scripts, read but never executed: from statements to the configuration of each program."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def facts(name: str) -> Any:
    """Return the content of a data file."""
    return json.loads((Path(__file__).parent / "facts" / f"{name}.json").read_text(encoding="utf-8"))
