"""The keys of the block `placewright:` of a framework's own file; the schemas for editors are made of them."""

from __future__ import annotations

from typing import Annotated, Any, Mapping

from pydantic import BaseModel, ConfigDict, Field, create_model

from ..model_cards.card import NUMBERS
from ..text.values import Word
from .forms import HintForm
from .plan import PlanForm
from .preference import Objective
from .relations import LinkForm, RelationForm

_NUMBER: Any = (Annotated[int, Field(strict=True, ge=1)], Field(default=1, description="a whole number such as `28`"))
ModelForm: type[BaseModel] = create_model(
    "ModelForm",
    __config__=ConfigDict(extra="allow"),
    __doc__="What is known of the model that is trained.",
    **dict.fromkeys(NUMBERS, _NUMBER),
)
"""Other keys are passed over, with a warning (see model_cards/of_block.py)."""


class BlockForm(BaseModel):
    """Hints about the components of the file, which its framework ignores."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    components: Mapping[Word, HintForm] = Field(default={}, description="name -> its hints, such as `{actor: {seconds: {8: 120, 16: 66}}}`")
    relations: tuple[RelationForm, ...] = Field(default=(), description="what must hold between components")
    links: tuple[LinkForm, ...] = Field(
        default=(), description="what components send to each other in every step, such as `[{from: actor, to: rollout, weights: 16GiB}]`"
    )
    objective: Objective | None = Field(default=None, description="what is kept low first: `lexicographic` or `weighted`")
    plan: PlanForm = Field(default=PlanForm(), description="what counts and degrees are chosen by, such as `{workflow: rollout -> actor}`")
    model: ModelForm = Field(default=ModelForm(), description="what is known of the model, such as `{heads: 28, kv_heads: 4, layers: 28}`")  # type: ignore[valid-type]


class FileForm(BaseModel):
    """A file of a framework; all of its keys but one are the framework's own."""

    model_config = ConfigDict(extra="allow", frozen=True, defer_build=True)

    placewright: BlockForm = Field(default=BlockForm(), description="hints such as `{components: {actor: {seconds: {8: 120}}}}`")
