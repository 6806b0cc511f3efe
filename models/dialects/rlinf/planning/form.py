"""The keys that hints have in an RLinf file besides those which they have in any; the schema for editors is made of them."""

from __future__ import annotations

from typing import Mapping

from pydantic import BaseModel, ConfigDict, Field

from ....hints.block_form import BlockForm, FileForm
from ....hints.forms import HintForm
from ....text.values import Count, Word


class MeasuredOnForm(BaseModel):
    """The key about a cost of a component; see hints.py."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    measured_on: Count | None = Field(
        default=None,
        title="on how many accelerators its cost in `profile_data` was measured, if not on those of its ranks",
        description="a whole number such as `16`",
    )


class RLinfHintForm(HintForm, MeasuredOnForm):
    """Hints about one component of an RLinf job."""


class RLinfBlockForm(BlockForm):
    """Hints about the components of the file, which RLinf ignores."""

    components: Mapping[Word, RLinfHintForm] = Field(
        default={}, description="name -> its hints, such as `{actor: {seconds: {8: 120, 16: 66}}}`"
    )


class RLinfFileForm(FileForm):
    """A file of RLinf; all of its keys but one are RLinf's own."""

    placewright: RLinfBlockForm = Field(default=RLinfBlockForm(), description="hints such as `{components: {actor: {seconds: {8: 120}}}}`")
