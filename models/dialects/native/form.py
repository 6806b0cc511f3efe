"""Keys of a native file with types; the source of the schema for editors."""

from __future__ import annotations

from ...hints.block import BlockForm
from ...hints.forms import ComponentForm
from ...hints.relations import Objective
from ...machines.cluster_file import ClusterForm
from ...machines.shorthand import SHORTHAND_PATTERN
from ...text.form import Form, ValueKind, as_items, form_of, key, list_of, map_of
from ...text.values import OneOfValues, or_list, word_or_map
from .sections import ALLOWED, WorkForm

_Allowed = OneOfValues("word", ALLOWED)
_Shorthand = ValueKind(str, {"type": "string", "pattern": SHORTHAND_PATTERN})
_Cluster = word_or_map(_Shorthand, ClusterForm)


class NativeForm(Form):
    """A native file of placewright: what machines there are, and what is to be placed on them."""

    cluster = key(_Cluster, default="", description="a shorthand such as `2x8xH100`, or nodes and node groups; `--cluster` wins")
    allow = key(
        list_of(_Allowed, unpack=as_items, schema=or_list(_Allowed.schema)),
        default=(),
        description="what given ranks may do besides: " + ", ".join(f"`{word}`" for word in ALLOWED),
    )
    components = key(map_of(form_of(ComponentForm)), description="name -> what it asks for, or where it is")
    relations, links = BlockForm.keys["relations"], BlockForm.keys["links"]
    objective = key(
        Objective,
        default=None,
        description="`lexicographic` (bytes across the widest level of the topology first), `weighted`, or `{order: weighted, weights: {rack: 10}}`",
    )
    work = key(list_of(form_of(WorkForm)), default=(), description="what is dealt out evenly to the processes of components")
    plan = BlockForm.keys["plan"]
