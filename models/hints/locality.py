"""The keys of a component about the topology: what of it stays together, over what it is spread, which of its ranks are where."""

from __future__ import annotations

from typing import Annotated, Union

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, StrictBool, Tag

from ..machines.topology import ALL_LEVELS
from ..text.values import ALONE, MAP, WORD, Count, OneOf, Percent, RankText, RankTexts, Word, several, word_or_map
from .levels import DOMAINS, RACK

Level = Annotated[str, OneOf("level of the topology", ALL_LEVELS)]
Domain = Annotated[str, OneOf("level of nodes", DOMAINS)]
_LEVELS = ", ".join(f"`{level}`" for level in ALL_LEVELS)
_DOMAINS = ", ".join(f"`{level}`" for level in DOMAINS)


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class KeptForm(_Strict):
    """What lies inside one domain of a level, or inside so many."""

    level: Level = Field(description=f"one of {_LEVELS}")
    domains: Count = Field(default=1, description="in how many domains it may lie, such as `2`; of the whole component only")
    required: StrictBool = Field(default=True, description="`false` where it is only preferred")


class SpreadForm(_Strict):
    """Over what a component is spread, so that a failure leaves some of it."""

    level: Domain = Field(default=RACK, description=f"one of {_DOMAINS}")
    domains: Count | None = Field(default=None, description="in how many domains it lies at least, such as `2`")
    percent: Percent = Field(default=100, description="how much of it one domain may hold at most, in percent, such as `60`")


class PinForm(_Strict):
    """Processes that must be on certain nodes."""

    ranks: RankText = Field(description="process ranks such as `0-7`")
    nodes: RankTexts = Field(description="ranks of nodes such as `3` or `0-1`, names of nodes, or a list of them")


class OtherForm(_Strict):
    """Another component, and the level of the topology whose domains are compared."""

    component: Word = Field(description="the name of a component such as `actor`")
    level: Domain = Field(default=RACK, description=f"one of {_DOMAINS}")


_Kept = Annotated[Union[Annotated[Level, Tag(WORD)], Annotated[KeptForm, Tag(MAP)]], Discriminator(word_or_map)]
_Spread = Annotated[Union[Annotated[Domain, Tag(WORD)], Annotated[SpreadForm, Tag(MAP)]], Discriminator(word_or_map)]
_Other = Annotated[Union[Annotated[Word, Tag(WORD)], Annotated[OtherForm, Tag(MAP)]], Discriminator(word_or_map)]
Kept = Annotated[tuple[_Kept, ...], BeforeValidator(several), ALONE]
Spreads = Annotated[tuple[_Spread, ...], BeforeValidator(several), ALONE]
Pins = Annotated[tuple[PinForm, ...], BeforeValidator(several), ALONE]
Others = Annotated[tuple[_Other, ...], BeforeValidator(several), ALONE]


class KeepForm(_Strict):
    """What stays together, each with a level of the topology, one domain of which holds all of it; or a list of levels."""

    tp: Kept = Field(default=(), title="a tensor parallel group", description="a level such as `nvlink_domain`, or a map")
    ep: Kept = Field(default=(), title="an expert parallel group", description="a level such as `node`, or a map")
    replica: Kept = Field(default=(), title="a replica", description="a level such as `rack`, or `{level: node, required: false}`")
    component: Kept = Field(
        default=(), title="the whole component", description="a level such as `rack`, or `{level: rack, domains: 2, required: false}`"
    )
