"""The keys of a native file, each with what it takes; the schema for editors is made of them."""

from __future__ import annotations

from typing import Annotated, Union

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, StrictBool, Tag, WithJsonSchema

from ...component import IN_ORDER, RELATION_KINDS
from ...hints.forms import ComponentForm
from ...machines.cluster_file import ClusterForm
from ...machines.shorthand import SHORTHAND_PATTERN
from ...text.values import Count, Word, or_list, several
from ..dialect import LEVELS, PLACEMENT
from .allowed import ALLOWED

MAX_RELATED = 256


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def _one_of(what: str, *words: str) -> AfterValidator:
    def known(value: str) -> str:
        if value not in words:
            raise ValueError(f"`{value[:40]}` is no {what}")
        return value

    return AfterValidator(known)


_Kind = Annotated[str, _one_of("kind of relation", *RELATION_KINDS), WithJsonSchema({"enum": list(RELATION_KINDS)})]
_Level = Annotated[str, _one_of("level", *LEVELS), WithJsonSchema({"enum": list(LEVELS)})]
_Allowed = Annotated[str, _one_of("word", *ALLOWED), WithJsonSchema({"enum": list(ALLOWED)})]


class RelationForm(_Strict):
    """What must hold between components; what a key of one of them says need not be said again here.

    `colocated`: exactly the same accelerators. `disjoint`: none in common. `colocated or disjoint`: one of the two. `subset`:
    the first uses only what the second uses. `in order`: each a solid range, one after the other, over the whole cluster.
    `not fewer`: the first has at least as many processes as the second.
    """

    kind: _Kind = Field(description="one of " + ", ".join(f"`{kind}`" for kind in RELATION_KINDS))
    components: tuple[Word, ...] = Field(
        min_length=2, max_length=MAX_RELATED, description=f"two names such as `[actor, rollout]`; for `{IN_ORDER}` two or more"
    )
    reason: Word = Field(default="", description="who demands it, such as `RLinf's auto mode`")


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
    work: tuple[WorkForm, ...] = Field(default=(), description="what is dealt out evenly to the processes of components")
