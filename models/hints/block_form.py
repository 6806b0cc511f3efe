"""The keys of the block `placewright:` of a framework's own file; the schemas for editors are made of them."""

from __future__ import annotations

from ..model_cards.card import NUMBERS
from ..text.form import Form, Kind, form_of, key, list_of, map_of
from ..text.values import whole_between
from .forms import HintForm
from .plan import PlanForm
from .preference import Objective
from .relations import LinkForm, RelationForm

_NUMBER = Kind(whole_between(1).read, {"type": "integer", "minimum": 1})


_MEANING = "What is known of the model that is trained."
_KEYS = {name: key(_NUMBER, default=1, description="a whole number such as `28`") for name in NUMBERS}
ModelForm: type[Form] = type("ModelForm", (Form,), {"__doc__": _MEANING, "is_open": True, **_KEYS})
"""Other keys are passed over, with a warning (see model_cards/of_block.py)."""


class BlockForm(Form):
    """Hints about the components of the file, which its framework ignores."""

    components = key(map_of(form_of(HintForm)), default={}, description="name -> its hints, such as `{actor: {seconds: {8: 120, 16: 66}}}`")
    relations = key(list_of(form_of(RelationForm)), default=(), description="what must hold between components")
    links = key(
        list_of(form_of(LinkForm)),
        default=(),
        description="what components send to each other in every step, such as `[{from: actor, to: rollout, weights: 16GiB}]`",
    )
    objective = key(Objective, default=None, description="what is kept low first: `lexicographic` or `weighted`")
    plan = key(
        form_of(PlanForm), default=PlanForm(), description="what counts and degrees are chosen by, such as `{workflow: rollout -> actor}`"
    )
    model = key(
        form_of(ModelForm), default=ModelForm(), description="what is known of the model, such as `{heads: 28, kv_heads: 4, layers: 28}`"
    )


class FileForm(Form):
    """A file of a framework; all of its keys but one are the framework's own."""

    is_open = True

    placewright = key(form_of(BlockForm), default=BlockForm(), description="hints such as `{components: {actor: {seconds: {8: 120}}}}`")
