"""Record of a launch: plain data, validated on reading."""

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
"""States in which a keeper holds the launch."""


class _Plain(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Trouble(_Plain):
    """Finding as plain data, for transfer between processes."""

    code: str
    subject: str
    message: str
    help: str
    witnesses: tuple[int | str, ...] = ()
    amount: int = 0

    @classmethod
    def of(cls, finding: Finding) -> Trouble:
        """Convert a finding to plain data."""
        return cls(
            code=finding.code, subject=finding.subject, message=finding.message, help=finding.help, witnesses=finding.witnesses,
            amount=finding.amount,
        )  # fmt: skip

    def finding(self) -> Finding:
        """Rebuild the finding."""
        return error(self.code, self.subject, self.message, help=self.help, witnesses=self.witnesses, amount=self.amount)


class Unseen(_Plain):
    """Unchecked demand of the plan on nodes, as plain data; the launch cannot observe it."""

    rule: str
    subject: str
    why: str

    def unchecked(self) -> Unchecked:
        """Rebuild the `Unchecked` object."""
        return Unchecked(self.rule, self.subject, self.why)


class Worker(_Plain):
    """Worker as audited; `actor` is its name in the Ray cluster."""

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
    """Launch: state, its start (`since`, seconds of the epoch), keeper, cluster, and all workers.

    `given` lists the replacements of accelerators named in the plan, because the launch shares
    nodes. `restarts` counts restarts after a loss, of `allowed`; `recoveries` describe the outcome
    of each, and each growth. During a recovery, `findings` are the losses, and `workers` those that
    ran before. `unchecked` lists demands on the nodes that cannot be seen, and those that
    re-placement does not check.
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
        """Return the record for the time of a recovery."""
        changes = {
            "state": RECOVERING,
            "since": time.time(),
            "findings": tuple(map(Trouble.of, failure.findings)),
            "restarts": self.restarts + 1,
        }
        return self.model_copy(update=changes)

    def written(self, directory: Path) -> None:
        """Write the record, whole or not at all. Raises OSError."""
        write_whole(directory / FILE, self.to_json())

    def to_json(self) -> str:
        """Serialize the record to a line of JSON."""
        return json.dumps(self.model_dump(mode="json", by_alias=True)) + "\n"


def read_record(directory: Path) -> Record | None:
    """Read the record of a directory; None if there is none yet.

    Raises LaunchFailed (PW732) for an invalid record.
    """
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
    """Return the audited workers of a launch."""
    return tuple(
        Worker(
            component=row.component, rank=row.rank, world_size=row.world_size, node_rank=row.node_rank, node=row.node, ray_node=row.ray_node,
            pid=row.pid, local_rank=row.local_rank, local_world_size=row.local_world_size, sees=row.visible,
            actor=running.groups[row.component].members[row.rank].name,
        )
        for row in running.audit
    )  # fmt: skip


def record_of(name: str, file: str, running: Launch, simulated: bool) -> Record:
    """Build the record of a running launch of this process."""
    return Record(
        name=name, state=RUNNING, since=time.time(), pid=os.getpid(), file=file, simulated=simulated, address=running.address,
        digest=running.plan.digest, workers=workers_of(running), given=tuple(map(str, running.given)),
        restarts=running.restarts.used, allowed=running.restarts.allowed, recoveries=tuple(map(str, running.recoveries)),
        unchecked=tuple(Unseen(rule=unchecked.rule, subject=unchecked.subject, why=unchecked.why) for unchecked in running.unchecked),
    )  # fmt: skip
