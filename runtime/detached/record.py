"""What is written down of a launch: plain data, checked when it is read."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ...models.findings.finding import Finding, Unchecked, error
from ...models.placements.plan_file import write_whole
from ..failure import LaunchFailed
from ..launched import Launch
from .directory import unusable

MAX_BYTES = 64 << 20
FILE = "launch.json"
State = Literal["starting", "running", "recovering", "ended", "failed"]
STARTING: State = "starting"
RUNNING: State = "running"
RECOVERING: State = "recovering"
ENDED: State = "ended"
FAILED: State = "failed"
ALIVE = (STARTING, RUNNING, RECOVERING)
"""The states in which somebody holds the launch."""


class _Plain(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Trouble(_Plain):
    """A finding, as it crosses from one process to another."""

    code: str
    subject: str
    message: str
    help: str
    witnesses: tuple[int | str, ...] = ()
    amount: int = 0

    @classmethod
    def of(cls, finding: Finding) -> Trouble:
        """The finding's plain part."""
        return cls(
            code=finding.code, subject=finding.subject, message=finding.message, help=finding.help, witnesses=finding.witnesses,
            amount=finding.amount,
        )  # fmt: skip

    def finding(self) -> Finding:
        """The finding again."""
        return error(self.code, self.subject, self.message, help=self.help, witnesses=self.witnesses, amount=self.amount)


class Unseen(_Plain):
    """What the plan asks of its nodes that the launch neither brings about nor can see, as it is written down."""

    rule: str
    subject: str
    why: str

    def unchecked(self) -> Unchecked:
        """The same, in the words of all that was not checked."""
        return Unchecked(self.rule, self.subject, self.why)


class Worker(_Plain):
    """A worker as the audit found it; `actor` is its name in the Ray cluster."""

    component: str
    rank: int
    world_size: int
    node_rank: int
    node: str
    ray_node: str
    pid: int
    local_rank: int
    local_world_size: int
    sees: tuple[str, ...]
    actor: str


class Record(_Plain):
    """A launch: since when (seconds of the epoch) it is in its state, who holds it, where, and all its workers.

    `given` says where others stand for the accelerators that its plan named, because it shares nodes. `restarts` is how often it
    was started again after a loss, of `allowed` times; `recoveries` say what each came to, and each growth. While it recovers,
    `findings` are what was lost, and `workers` those that ran before. `unchecked` is what the plan asks of its nodes and nobody could see,
    and what nobody looks at where it is placed anew.
    """

    schema_: Literal[1] = Field(default=1, alias="schema")
    name: str
    state: State
    since: float
    pid: int
    file: str
    simulated: bool
    address: str = ""
    digest: str = ""
    workers: tuple[Worker, ...] = ()
    given: tuple[str, ...] = ()
    restarts: int = 0
    allowed: int = 0
    recoveries: tuple[str, ...] = ()
    findings: tuple[Trouble, ...] = ()
    unchecked: tuple[Unseen, ...] = ()

    def recovering(self, failure: LaunchFailed) -> Record:
        """The record from now on, while what was lost is replaced."""
        its = {
            "state": RECOVERING,
            "since": time.time(),
            "findings": tuple(map(Trouble.of, failure.findings)),
            "restarts": self.restarts + 1,
        }
        return self.model_copy(update=its)

    def written(self, directory: Path) -> None:
        """Writes it down, whole or not at all. Raises OSError."""
        write_whole(directory / FILE, self.to_json())

    def to_json(self) -> str:
        """The record on one line."""
        return json.dumps(self.model_dump(mode="json", by_alias=True)) + "\n"


def read_record(directory: Path) -> Record | None:
    """What is written down in a directory; None if nothing is yet. Raises LaunchFailed (PW732) for what is no record."""
    try:
        with open(directory / FILE, "rb") as file:
            data = file.read(MAX_BYTES)
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise unusable(directory, problem.strerror or str(problem)) from None
    try:
        return Record.model_validate_json(data)
    except ValidationError as problem:
        raise unusable(directory, f"{FILE}: {problem.errors()[0]['msg']}") from None


def workers_of(running: Launch) -> tuple[Worker, ...]:
    """The workers of a launch, as its audit found them."""
    return tuple(
        Worker(
            component=row.component, rank=row.rank, world_size=row.world_size, node_rank=row.node_rank, node=row.node, ray_node=row.ray_node,
            pid=row.pid, local_rank=row.local_rank, local_world_size=row.local_world_size, sees=row.visible,
            actor=running.groups[row.component].members[row.rank].name,
        )
        for row in running.audit
    )  # fmt: skip


def record_of(name: str, file: str, running: Launch, simulated: bool) -> Record:
    """The record of a launch that this process holds and that runs now."""
    return Record(
        name=name, state=RUNNING, since=time.time(), pid=os.getpid(), file=file, simulated=simulated, address=running.address,
        digest=running.plan.digest, workers=workers_of(running), given=tuple(map(str, running.given)),
        restarts=running.restarts.used, allowed=running.restarts.allowed, recoveries=tuple(map(str, running.recoveries)),
        unchecked=tuple(Unseen(rule=each.rule, subject=each.subject, why=each.why) for each in running.unchecked),
    )  # fmt: skip
