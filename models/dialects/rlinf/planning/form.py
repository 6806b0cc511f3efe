"""Keys of RLinf's hints besides the general ones; the source of the schema for editors."""

from __future__ import annotations

from ....hints.block import BlockForm, FileForm
from ....hints.forms import HintForm
from ....text.form import Form, form_of, key, map_of
from ....text.values import Count


class MeasuredOnForm(Form):
    """The key about a cost of a component; see hints.py."""

    measured_on = key(
        Count,
        default=None,
        title="on how many accelerators its cost in `profile_data` was measured, if not on those of its ranks",
        description="a whole number such as `16`",
    )


class RLinfHintForm(HintForm, MeasuredOnForm):
    """Hints about one component of an RLinf job."""


class RLinfBlockForm(BlockForm):
    """Hints about the components of the file, which RLinf ignores."""

    components = key(
        map_of(form_of(RLinfHintForm)), default={}, description="name -> its hints, such as `{actor: {seconds: {8: 120, 16: 66}}}`"
    )


class RLinfFileForm(FileForm):
    """A file of RLinf; all of its keys but one are RLinf's own."""

    placewright = key(
        form_of(RLinfBlockForm), default=RLinfBlockForm(), description="hints such as `{components: {actor: {seconds: {8: 120}}}}`"
    )
