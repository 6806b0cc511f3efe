"""The keys of a component: what is written of it in a native file, and as a hint in the block `placewright:` of any other."""

from __future__ import annotations

from itertools import product
from typing import Annotated, Union

from pydantic import AfterValidator, BaseModel, ConfigDict, Discriminator, Field, StrictBool, Tag, WithJsonSchema

from ..component import Parallel
from ..machines.node_group import CLUSTER_LABEL
from ..roles import ROLES
from ..text.values import LIST, TEXT, Amount, Count, Degrees, Labels, Mebibytes, Name, Names, Numbers, Word, text_or_list


def _known_role(value: str) -> str:
    if value not in ROLES:
        raise ValueError(f"`{value}` is no role")
    return value


_Role = Annotated[str, AfterValidator(_known_role), WithJsonSchema({"enum": list(ROLES)})]
_OTHERS = "the name of a component such as `actor`, or a list of names"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ParallelForm(_Strict):
    """Degrees of parallelism; a list leaves the choice open, the preferred one first."""

    tp: Degrees = Field(default=(1,), description="a whole number such as `8`, or a list such as `[2, 4]`", title="tensor parallel size")
    pp: Degrees = Field(default=(1,), description="a whole number such as `2`, or a list", title="pipeline parallel size")
    cp: Degrees = Field(default=(1,), description="a whole number such as `2`, or a list", title="context parallel size")
    ep: Degrees = Field(default=(1,), description="a whole number such as `8`, or a list", title="expert parallel size")
    dp: Degrees = Field(
        default=(1,), description="a whole number such as `2`, or a list", title="data parallel ranks inside one replica of an engine"
    )

    def choices(self) -> tuple[Parallel, ...]:
        """Every combination, the preferred ones first."""
        return tuple(Parallel(*degrees) for degrees in product(self.tp, self.pp, self.cp, self.ep, self.dp))


class PlacedForm(_Strict):
    """Some processes of a component: `ranks` hold equal shares, in order, of the `accelerators` (or `hardware`) of a `node`.

    With more ranks than accelerators, consecutive ranks share one. A rank that stands in several entries holds all of them,
    in order. Several nodes hold the same each, and the ranks go on from node to node.
    """

    ranks: Word = Field(description="process ranks such as `0-7`")
    node: Word = Field(description="the rank of a node, several such as `0-3`, or a node's name")
    accelerators: Numbers | None = Field(default=None, description="local indices in order, such as `0-7` or `[3, 2, 1, 0]`")
    hardware: Numbers | None = Field(default=None, description="local indices of robots and the like, such as `0-1`")
    node_group: Word | None = Field(
        default=None, description="the one that is used of several node groups of the component, such as `cluster`"
    )


_Placement = Annotated[
    Union[Annotated[Word, Tag(TEXT)], Annotated[tuple[PlacedForm, ...], Field(min_length=1), Tag(LIST)]], Discriminator(text_or_list)
]


class ComponentForm(_Strict):
    """One component of the job: how much it asks for, or where it is. `accelerators` and `processes` are a number or a range."""

    role: _Role | None = Field(
        default=None, description=f"one of {', '.join(f'`{role}`' for role in ROLES)}", title="what it does, if its name does not say it"
    )
    accelerators: Amount | None = Field(
        default=None, description="a number such as `16`, or a range such as `8-32`", title="how many accelerators it asks for"
    )
    processes: Amount | None = Field(
        default=None, description="a number such as `16`, or a range such as `8-32`", title="how many processes it has"
    )
    accelerators_per_process: Count | None = Field(default=None, description="a whole number such as `1`")
    parallel: ParallelForm = Field(default=ParallelForm(), description="degrees such as `{tp: 8, pp: 2}`")
    memory: Mebibytes = Field(default=0, description="memory of one process on one accelerator, such as `70GiB`")
    cpus: Count | None = Field(default=None, description="a whole number such as `4`", title="CPUs that are reserved for one process")
    phase: Word = Field(
        default="", description="a name such as `generate`", title="when it needs its memory: components of different phases take turns"
    )
    node_group: Labels = Field(default=(CLUSTER_LABEL,), description="the label of a node group such as `node`, or several with commas")
    accelerator: Name | None = Field(default=None, description="a model such as `H100`", title="the only model that it may use")
    contiguous: StrictBool = Field(
        default=False, description="`true` or `false`", title="its accelerators are one solid range, in the order of its ranks"
    )
    any_order: StrictBool = Field(
        default=False, description="`true` or `false`", title="a contiguous component whose processes may lie in their range in any order"
    )
    stride: Count = Field(
        default=1, description="a whole number such as `2`", title="tensor parallel groups interleave in blocks of so many groups"
    )
    colocate_with: Names = Field(default=(), description=_OTHERS, title="it uses exactly the accelerators of these")
    disjoint_from: Names = Field(default=(), description=_OTHERS, title="it shares no accelerator with these")
    within: Names = Field(default=(), description=_OTHERS, title="it uses only accelerators that these use")
    placement: _Placement | None = Field(
        default=None,
        description="ranks such as `0-7` or `0-7:0-3`, or a list such as `[{ranks: 0-3, node: 0, accelerators: [3, 2, 1, 0]}]`",
        title="where it is: resource ranks and process ranks, as RLinf writes them, or node by node",
    )
