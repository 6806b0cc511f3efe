"""Names of dispatch and execute modes; users may add dispatch modes."""

from __future__ import annotations

from typing import Any, ClassVar, Iterator


class _Names(type):
    """Metaclass of enumerable, searchable classes of members."""

    members: dict[str, Any]

    def __iter__(cls) -> Iterator[Any]:
        return iter(cls.members.values())

    def __len__(cls) -> int:
        return len(cls.members)

    def __contains__(cls, name: object) -> bool:
        return name in cls.members or name in cls.members.values()

    def __getitem__(cls, name: str) -> Any:
        return cls.members[name]


def _member(cls: Any, name: str) -> Any:
    """Return the member of a name; add an unknown member, which a user registered elsewhere."""
    return cls.members[name] if name in cls.members else cls.register(name)


class _Name(metaclass=_Names):
    """Mode by name; unpickles to the same object."""

    members: ClassVar[dict[str, Any]]

    def __init__(self, name: str) -> None:
        self.name = name

    def __init_subclass__(cls) -> None:
        cls.members = {}

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        return _member, (type(self), self.name)

    @classmethod
    def register(cls, name: str) -> Any:
        """Add a member and return it. Raises ValueError for a duplicate."""
        name = name.upper()
        if name in cls.members:
            raise ValueError(f"{name} is registered already")
        member = cls.members[name] = cls(name)
        setattr(cls, name, member)
        return member

    @classmethod
    def remove(cls, name: str) -> Any:
        """Remove a member and return it. Raises KeyError for an unknown name."""
        removed = cls.members.pop(name.upper())
        delattr(cls, removed.name)
        return removed


class Dispatch(_Name):
    """Distribution of arguments and collection of answers; see table.py."""

    RANK_ZERO: ClassVar[Dispatch]
    ONE_TO_ALL: ClassVar[Dispatch]
    ALL_TO_ALL: ClassVar[Dispatch]
    DP_COMPUTE: ClassVar[Dispatch]
    DP_COMPUTE_PROTO: ClassVar[Dispatch]
    DP_COMPUTE_PROTO_WITH_FUNC: ClassVar[Dispatch]
    DP_COMPUTE_METRIC: ClassVar[Dispatch]
    DIRECT_ROLLOUT_METHOD: ClassVar[Dispatch]


class Execute(_Name):
    """Choice of called workers."""

    ALL: ClassVar[Execute]
    RANK_ZERO: ClassVar[Execute]


for _name in (
    "RANK_ZERO", "ONE_TO_ALL", "ALL_TO_ALL", "DP_COMPUTE", "DP_COMPUTE_PROTO", "DP_COMPUTE_PROTO_WITH_FUNC", "DP_COMPUTE_METRIC",
    "DIRECT_ROLLOUT_METHOD",
):  # fmt: skip
    Dispatch.register(_name)
for _name in ("ALL", "RANK_ZERO"):
    Execute.register(_name)
