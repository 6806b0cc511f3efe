"""Model card in the block `placewright:` of a file."""

from __future__ import annotations

from ..findings.finding import Finding, error, warning
from ..text.nearest import nearest
from ..text.tree import MapNode, Scalar, find, kind_of
from .card import NUMBERS, ModelCard

MODEL = "model"
PLACE = f"placewright.{MODEL}"


def model_of_block(root: MapNode, findings: list[Finding]) -> ModelCard | None:
    """Return the model that a file describes; None without a description.

    `findings` gets every fault of the block.
    """
    block = find(root, PLACE)
    if block is None:
        return None
    if not isinstance(block, MapNode):
        message = f"`{PLACE}` must be a map, but it is {kind_of(block)}"
        findings.append(error("PW105", "", message, block.span, label=kind_of(block), help="write `{heads: 28, kv_heads: 4, layers: 28}`"))
        return None
    numbers: dict[str, int] = {}
    for entry in block:
        name, value = entry.key.text, entry.value
        number = value.value if isinstance(value, Scalar) else None
        if name not in NUMBERS:
            meant = nearest(name, NUMBERS)
            advice = f"write `{meant}`" if meant else f"keys are {', '.join(f'`{key}`' for key in NUMBERS)}"
            findings.append(warning("PW104", "", f"`{PLACE}` has no key `{name}`", entry.key.span, label="not known", help=advice))
        elif not isinstance(number, int) or isinstance(number, bool) or number < 1:
            message = f"`{PLACE}.{name}` must be a whole number of at least 1, but it is {kind_of(value) if number is None else number}"
            findings.append(error("PW105", "", message, value.span, help="write a number such as `28`"))
        else:
            numbers[name] = number
    return ModelCard.of(PLACE, numbers) if numbers else None
