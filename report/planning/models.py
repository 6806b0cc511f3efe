"""On which models of accelerators components are, of those that may be on several at once."""

from __future__ import annotations

from typing import Mapping, Sequence

from ...models.planning.design import Design
from ...models.planning.option import Option
from ...models.planning.question import Question


def models_of(questions: Sequence[Question], design: Design, scaled: str = "") -> Mapping[str, tuple[str, ...]]:
    """Component -> its models, by the questions that a design is of, where these agree; of the component `scaled` its times may be others."""
    its = [each for each in questions if all(_is_of(each, name, option, scaled == name) for name, option in design.options.items())]
    names = dict.fromkeys(name for each in its for name in each.on_models)
    found = {name: {each.on_models.get(name, ()) for each in its} for name in names}
    return {name: models.pop() for name, models in found.items() if len(models) == 1}


def _is_of(question: Question, name: str, option: Option, scaled: bool) -> bool:
    if not scaled:
        return option in question.options[name]
    mine = option.kind, option.amount, option.parallel
    return any((each.kind, each.amount, each.parallel) == mine for each in question.options[name])
