"""The keys of a native file, each with what it takes; the schema for editors is made of them."""

from __future__ import annotations

from typing import Annotated, Union

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, StrictBool, Tag, WithJsonSchema

from ...hints.forms import ComponentForm
from ...hints.preference import Objective
from ...hints.relations import LinkForm, RelationForm
from ...machines.cluster_file import ClusterForm
from ...machines.shorthand import SHORTHAND_PATTERN
from ...text.values import Count, OneOf, Word, or_list, several
from ..dialect import LEVELS, PLACEMENT
from .allowed import ALLOWED


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


_Level = Annotated[str, OneOf("level", LEVELS)]
_Allowed = Annotated[str, OneOf("word", ALLOWED)]


class WorkForm(_Strict):
    """Work that is dealt out to the processes of a component, to each the same share: environments, samples of a batch."""

    component: Word = Field(description="the name of a component such as `env`")
    what: Word = Field(description="what is dealt out, in the plural, such as `environments`")
    amount: Count = Field(description="how many in all, such as `512`")
    multiple: Count = Field(default=1, description="what the share of one process must be a multiple of, such as `8`")
    required: StrictBool = Field(default=True, description="`false` to be only warned where given ranks do not divide it")
    level: _Level = Field(default=PLACEMENT, description="`training` to judge it with `--level training` only, else `placement`")
    reason: Word = Field(default="", description="who demands it, such as `the trainer drops what is left`")


_Cluster = Annotated[
    Union[
        Annotated[str, WithJsonSchema({"type": "string", "pattern": SHORTHAND_PATTERN}), Tag("word")], Annotated[ClusterForm, Tag("full")]
    ],
    Discriminator(lambda value: "word" if isinstance(value, str) else "full"),
]


class NativeForm(_Strict):
    """A native file of placewright: what machines there are, and what is to be placed on them."""

    cluster: _Cluster = Field(default="", description="a shorthand such as `2x8xH100`, or nodes and node groups; `--cluster` wins")
    allow: Annotated[tuple[_Allowed, ...], BeforeValidator(several), or_list({"enum": list(ALLOWED)})] = Field(
        default=(), description="what given ranks may do besides: " + ", ".join(f"`{word}`" for word in ALLOWED)
    )
    components: dict[Word, ComponentForm] = Field(description="name -> what it asks for, or where it is")
    relations: tuple[RelationForm, ...] = Field(default=(), description="what must hold between components")
    links: tuple[LinkForm, ...] = Field(default=(), description="what components send to each other in every step")
    objective: Objective | None = Field(
        default=None,
        description="`lexicographic` (bytes across the widest level of the topology first), `weighted`, or `{order: weighted, weights: {rack: 10}}`",
    )
    work: tuple[WorkForm, ...] = Field(default=(), description="what is dealt out evenly to the processes of components")
