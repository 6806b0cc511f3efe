"""Keys of a component on the topology: keep, spread, pin, exclude."""

from __future__ import annotations

from ..machines.topology import ALL_LEVELS, LEVELS, NODE_LEVEL
from ..text.form import Form, form_of, key, one_or_list_of
from ..text.values import Boolean, Count, OneOfValues, Percent, RankText, RankTexts, Word, word_or_map

DOMAINS = (*LEVELS, NODE_LEVEL)
"""Levels with domains of whole nodes: units of failure."""
RACK = LEVELS[1]
"""Default level."""
OVER_NODES = "keep: {tp: {level: node, required: false}}"
"""Hint that allows tp groups over nodes."""
LET_OVER_NODES = f"let its tp groups lie over nodes: `{OVER_NODES}`"
"""Help text for `OVER_NODES`."""


Level = OneOfValues("level of the topology", ALL_LEVELS)
Domain = OneOfValues("level of nodes", DOMAINS)
_LEVELS = ", ".join(f"`{level}`" for level in ALL_LEVELS)
_DOMAINS = ", ".join(f"`{level}`" for level in DOMAINS)


class KeptForm(Form):
    """Level of the topology, and in how many of its domains a unit may lie."""

    level = key(Level, description=f"one of {_LEVELS}")
    domains = key(Count, default=1, description="in how many domains it may lie, such as `2`; of the whole component only")
    required = key(Boolean, default=True, description="`false` where it is only preferred")


class SpreadForm(Form):
    """Spread of a component over failure domains."""

    level = key(Domain, default=RACK, description=f"one of {_DOMAINS}")
    domains = key(Count, default=None, description="in how many domains it lies at least, such as `2`")
    percent = key(Percent, default=100, description="how much of it one domain may hold at most, in percent, such as `60`")


class PinForm(Form):
    """Processes with a fixed set of nodes."""

    ranks = key(RankText, description="process ranks such as `0-7`")
    nodes = key(RankTexts, description="ranks of nodes such as `3` or `0-1`, names of nodes, or a list of them")


class OtherForm(Form):
    """Another component, and the topology level of the comparison."""

    component = key(Word, description="the name of a component such as `actor`")
    level = key(Domain, default=RACK, description=f"one of {_DOMAINS}")


Kept = one_or_list_of(word_or_map(Level, KeptForm))
Spreads = one_or_list_of(word_or_map(Domain, SpreadForm))
Pins = one_or_list_of(form_of(PinForm))
Others = one_or_list_of(word_or_map(Word, OtherForm))


class KeepForm(Form):
    """Units to keep together, with a topology level, a map, or a list of them."""

    tp = key(Kept, default=(), title="a tensor parallel group", description="a level such as `nvlink_domain`, or a map")
    ep = key(Kept, default=(), title="an expert parallel group", description="a level such as `node`, or a map")
    replica = key(Kept, default=(), title="a replica", description="a level such as `rack`, or `{level: node, required: false}`")
    component = key(
        Kept, default=(), title="the whole component", description="a level such as `rack`, or `{level: rack, domains: 2, required: false}`"
    )
