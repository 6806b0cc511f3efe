"""The keys of a native file, each with what it takes; the schema for editors is made of them."""

from __future__ import annotations

from typing import Annotated, Union

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, WithJsonSchema

from ...hints.forms import ComponentForm
from ...hints.plan import PlanForm
from ...hints.preference import Objective
from ...hints.relations import LinkForm, RelationForm
from ...machines.cluster_file import ClusterForm
from ...machines.shorthand import SHORTHAND_PATTERN
from ...text.values import OneOf, Word, or_list, several
from .allowed import ALLOWED
from .sections import WorkForm


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


_Allowed = Annotated[str, OneOf("word", ALLOWED)]


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
    links: tuple[LinkForm, ...] = Field(
        default=(), description="what components send to each other in every step, such as `[{from: actor, to: rollout, weights: 16GiB}]`"
    )
    objective: Objective | None = Field(
        default=None,
        description="`lexicographic` (bytes across the widest level of the topology first), `weighted`, or `{order: weighted, weights: {rack: 10}}`",
    )
    work: tuple[WorkForm, ...] = Field(default=(), description="what is dealt out evenly to the processes of components")
    plan: PlanForm = Field(default=PlanForm(), description="what counts and degrees are chosen by, such as `{workflow: rollout -> actor}`")
