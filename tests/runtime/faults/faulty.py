"""A port of which one call fails, whichever is wanted: before it takes effect or afterwards."""

from __future__ import annotations

from typing import Any

from placewright.runtime.port.port import Port

from ..fake import Fault

CALLS = frozenset(name for name in vars(Port) if not name.startswith("_")) - {"now"}


class FaultyPort:
    """Passes every call on; number `at` raises `kind`. `calls` are their names so far."""

    def __init__(self, port: Any, at: int, kind: type[BaseException] = Fault, after: bool = False) -> None:
        self.behind = port
        self.at = at
        self.kind = kind
        self.after = after
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        its = getattr(self.behind, name)
        if name not in CALLS:
            return its

        def passed_on(*arguments: Any, **named: Any) -> Any:
            self.calls.append(name)
            fails = len(self.calls) == self.at
            if fails and not self.after:
                raise self.kind(f"call {self.at}, `{name}`")
            answer = its(*arguments, **named)
            if fails:
                raise self.kind(f"call {self.at}, `{name}`, has taken effect")
            return answer

        return passed_on
