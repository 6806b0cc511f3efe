"""Process of the service: reads a request per line, answers each with a line of JSON.

It runs in an empty folder with a limit on its memory, so that nothing but the posted text is read.
"""

from __future__ import annotations

import gc
import json
import resource
import sys
from typing import Any, Literal, Mapping

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ...api import solve
from ...loading import machines_of
from ...models.composition import Composer
from ...models.dialects.load import read
from ...models.dialects.released import known_framework
from ...models.findings.finding import UnusableInput
from ...models.reading import Reading
from ...models.text.source import MAX_BYTES, Source
from ...planner.verify import verify
from ...report.json import finding_to_data, report_to_data
from ...report.solution import to_json, without_plan
from ..options.shared import DIALECTS

MEMORY = 4 << 30
"""Bytes of a process."""
MOST_SECONDS = 60.0
_NAME = r"^[\w.-]{1,100}$"


class VerifyBody(BaseModel):
    """Text to verify, and how to read it."""

    model_config = ConfigDict(extra="forbid", strict=True)
    text: str = Field(max_length=MAX_BYTES, description="the configuration or the script")
    name: str = Field("train.yaml", pattern=_NAME, description="its file name; `.sh` for a script")
    cluster: str = Field("", max_length=1000, description="the machines, such as `2x8xH100` or `x8`; not the path of a file")
    dialect: str = Field("auto", pattern=f"^({'|'.join(DIALECTS)})$", description="how the file says placements")
    level: Literal["training", "placement"] = "training"
    settings: tuple[str, ...] = Field((), max_length=1000, description="overrides such as `cluster.num_nodes=4`")
    framework: tuple[str, ...] = Field((), max_length=10, description="releases such as `verl==0.6.1`")
    placements: bool = Field(False, description="list every process")


class SolveBody(VerifyBody):
    """Text to solve."""

    limit: float = Field(10.0, gt=0, le=MOST_SECONDS, description="deterministic seconds of search")
    seed: int = Field(1, ge=0, lt=2**31)


Answer = tuple[int, Any]
"""(HTTP status, body as JSON data)."""


def answer(path: str, body: bytes) -> Answer:
    """Return the answer to a request; never raises for a fault of the request."""
    try:
        if path == "/solve":
            return _solve(SolveBody.model_validate_json(body))
        request = VerifyBody.model_validate_json(body)
        return 200, {"schema": 1, **report_to_data(verify(_reading(request)), request.placements)}
    except ValidationError as problem:
        faults = [{"at": ".".join(map(str, fault["loc"])), "message": fault["msg"]} for fault in problem.errors()[:20]]
        return 422, {"detail": faults}
    except UnusableInput as problem:
        return 200, {"schema": 1, "verdict": "unusable", "findings": [finding_to_data(finding) for finding in problem.findings]}
    except ValueError as problem:
        return 422, {"detail": [{"at": "cluster or framework", "message": str(problem)}]}
    except MemoryError:
        return 413, {"detail": f"more than {MEMORY >> 30} GiB of memory"}


def _reading(request: VerifyBody) -> Reading:
    if "/" in request.cluster or request.cluster.endswith((".yaml", ".yml")):
        raise ValueError(f"`{request.cluster}` is a file; machines are named as `2x8xH100`, or in the text")
    composer = Composer((), request.settings, (), tuple(map(known_framework, request.framework)))
    return read(Source(request.name, request.text), machines_of(request.cluster or None), request.dialect, request.level, composer)


def _solve(request: SolveBody) -> Answer:
    answer = solve(_reading(request), limit=request.limit, seed=request.seed, sandbox=False)
    if answer.plan is None:
        return 200, json.loads(without_plan(request.name, answer.verdict, answer.findings))
    return 200, json.loads(to_json(answer.plan, None, None, answer.findings, answer.unchecked, request.name))


def main() -> None:
    """Answer requests from standard input until it ends: `PATH LENGTH` and the body each; an empty answer comes first."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    answer("/verify", b'{"text": "cluster: 1x1\\ncomponents: {actor: {placement: 0}}"}')  # loads what the first request would wait for
    gc.freeze()  # modules stay: collections look at what requests leave alone
    source, target = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr
    target.write(b"0 0\n")
    target.flush()
    encode = json.JSONEncoder(separators=(",", ":")).encode
    while head := source.readline():
        path, _, length = head.decode().partition(" ")
        status, data = answer(path, source.read(int(length)))
        body = encode(data).encode()
        target.write(b"%d %d\n" % (status, len(body)) + body)
        target.flush()


def schemas() -> Mapping[str, Mapping[str, Any]]:
    """Return path -> JSON Schema of its body."""
    return {"/verify": VerifyBody.model_json_schema(), "/solve": SolveBody.model_json_schema()}


if __name__ == "__main__":
    main()
