"""The names of the ways to dispatch and to execute; users may add ways of their own to the first."""

from __future__ import annotations

from typing import Any, ClassVar, Iterator


class _Names(type):
    """A class whose members can be counted and looked for."""

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
    """The member of that name, in whatever process this is; one that a user added is added here too."""
    return cls.members[name] if name in cls.members else cls.register(name)


class _Name(metaclass=_Names):
    """One way, by its name; the same object wherever it is sent."""

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
        """Adds a member and returns it. Raises ValueError if there is one of that name."""
        name = name.upper()
        if name in cls.members:
            raise ValueError(f"{name} is registered already")
        made = cls.members[name] = cls(name)
        setattr(cls, name, made)
        return made

    @classmethod
    def remove(cls, name: str) -> Any:
        """Takes a member away and returns it. Raises KeyError if there is none of that name."""
        gone = cls.members.pop(name.upper())
        delattr(cls, gone.name)
        return gone


class Dispatch(_Name):
    """What each worker gets of the arguments, and what becomes of the answers; the table is in table.py."""

    RANK_ZERO: ClassVar[Dispatch]
    ONE_TO_ALL: ClassVar[Dispatch]
    ALL_TO_ALL: ClassVar[Dispatch]
    DP_COMPUTE: ClassVar[Dispatch]
    DP_COMPUTE_PROTO: ClassVar[Dispatch]
    DP_COMPUTE_PROTO_WITH_FUNC: ClassVar[Dispatch]
    DP_COMPUTE_METRIC: ClassVar[Dispatch]
    DIRECT_ROLLOUT_METHOD: ClassVar[Dispatch]


class Execute(_Name):
    """Which workers are called."""

    ALL: ClassVar[Execute]
    RANK_ZERO: ClassVar[Execute]


for _name in (
    "RANK_ZERO", "ONE_TO_ALL", "ALL_TO_ALL", "DP_COMPUTE", "DP_COMPUTE_PROTO", "DP_COMPUTE_PROTO_WITH_FUNC", "DP_COMPUTE_METRIC",
    "DIRECT_ROLLOUT_METHOD",
):  # fmt: skip
    Dispatch.register(_name)
for _name in ("ALL", "RANK_ZERO"):
    Execute.register(_name)
