"""Known models by their official id on Hugging Face; they are data, facts/models.json."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from .card import ModelCard

_DATA = json.loads((Path(__file__).parent / "facts" / "models.json").read_text(encoding="utf-8"))
_POSITIONS = {name: row for row in _DATA["positions"] for name in row["names"]}
KNOWN = {
    name: ModelCard(
        name,
        dense="experts" not in row,
        **{field: value for field, value in {**row, **_POSITIONS.get(name, {})}.items() if field != "names"},
    )
    for row in _DATA["models"]
    for name in row["names"]
}
"""Official id -> card."""
_BY_LAST_PART = {name.rpartition("/")[2]: card for name, card in KNOWN.items()}


def known_model(path: str) -> ModelCard | None:
    """Return the card of an official id, or (assumed) of a path with that end. Else None."""
    if path in KNOWN:
        return KNOWN[path]
    card = _BY_LAST_PART.get(path.rstrip("/").rpartition("/")[2])
    return replace(card, assumed=True) if card else None
