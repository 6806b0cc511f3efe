"""On which models of accelerators components are, of those that may be on several at once."""

from __future__ import annotations

from typing import Mapping, Sequence

from ....models.planning.design import Design
from ....models.planning.question import Question


def models_of(questions: Sequence[Question], design: Design) -> Mapping[str, tuple[str, ...]]:
    """Component -> its models, by the questions that a design is of, where these agree."""
    its = [each for each in questions if all(option in each.options[name] for name, option in design.options.items())]
    names = dict.fromkeys(name for each in its for name in each.on_models)
    found = {name: {each.on_models.get(name, ()) for each in its} for name in names}
    return {name: models.pop() for name, models in found.items() if len(models) == 1}
