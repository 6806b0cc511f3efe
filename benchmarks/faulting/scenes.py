"""What goes wrong, and when: each scene is played on a real Ray cluster, and what came of it is told with its seconds."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, Callable, Mapping

from placewright.models.machines.node_group import EnvConfig, NodeGroup
from placewright.models.placements.assignment import Assignment
from placewright.models.placements.plan_file import plan_to_json
from placewright.runtime.failure import LaunchFailed
from placewright.runtime.port.on_ray import RayPort
from placewright.runtime.progress import Step
from placewright.runtime.reserving.reservation import Reservation, node_demand
from placewright.runtime.workers.group import Gang, WorkerGroup
from placewright.runtime.workers.member import members_of
from placewright.runtime.world.inventory import inventory
from placewright.runtime.world.matching import match_machines

from .stage import LIMIT, PATIENCE, Stage, wait_for
from .workers import Crowded, Sleeper, Trainer, Unconstructible

LOSABLE = 2
COMMAND = "import sys; sys.argv[0] = 'placewright'; from placewright.cli.main import main; main()"


def killed_before_ready(stage: Stage) -> str:
    with stage.killing(1, Sleeper):
        return stage.failed(stage.plan(), Sleeper)


def killed_in_a_call(stage: Stage) -> str:
    with stage.killing(1, Trainer):
        return stage.failed(stage.plan(), Trainer, lambda running: running.call_all("train"))


def killed_while_idle(stage: Stage) -> str:
    def kill(running: Any) -> None:
        os.kill(running.audit[1].pid, signal.SIGKILL)
        running.watch(PATIENCE)

    return stage.failed(stage.plan(), Trainer, kill)


def constructor_raises(stage: Stage) -> str:
    return stage.failed(stage.plan(), Unconstructible)


def method_raises(stage: Stage) -> str:
    return stage.failed(stage.plan(), Trainer, lambda running: running.call_all("fail"))


def port_is_taken(stage: Stage) -> str:
    return stage.failed(stage.plan(), Crowded)


def interpreter_is_bad(stage: Stage) -> str:
    plan = stage.plan()
    group = NodeGroup("all", (0, 1, 2), "Accelerator", (EnvConfig((1,), (), "/nowhere/python"),))
    runs = {"actor": (replace(plan.assignment.of("actor")[0], node_group="all"),)}
    return stage.failed(
        replace(plan, cluster=plan.cluster.with_groups([group]), assignment=Assignment(runs)), Trainer, trusted=["python_interpreter_path"]
    )


def name_is_taken(stage: Stage) -> str:
    """Two gangs whose workers have the same names."""
    port = RayPort()
    with ExitStack() as stack:
        for node in (0, 1):
            plan = stage.plan(node)
            ((rank, found),) = match_machines(plan, inventory(port)).items()
            reservation = Reservation(port, f"taken-{node}", [node_demand(found)])
            stack.callback(reservation.release)
            reservation.acquire()
            gang = Gang(port, reservation, {rank: 0}, [WorkerGroup(port, "actor", members_of(plan, "actor", "taken", ""), Trainer)])
            stack.callback(gang.kill)
            stage.began = time.monotonic()
            try:
                gang.start(LIMIT)
            except LaunchFailed as problem:
                return f"{problem.findings[0].code}: {problem.findings[0].message}"
    return "nothing"


def driver_killed(stage: Stage) -> str:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "plan.json").write_text(plan_to_json(stage.plan()), "utf-8")
        arguments = [
            "launch",
            str(Path(folder, "plan.json")),
            "--address",
            stage.address,
            "--keep",
            "--progress",
            "none",
            "--timeout",
            str(LIMIT),
        ]
        environment = {**os.environ, "XDG_RUNTIME_DIR": folder}
        command = subprocess.Popen([sys.executable, "-c", COMMAND, *arguments], stdout=subprocess.PIPE, env=environment)
        if command.stdout is not None:
            while not command.stdout.readline().startswith(b"running"):
                pass
        stage.began = time.monotonic()
        command.kill()
        command.communicate()
        wait_for(lambda: stage.held() == 0)
    return "its workers end with it"


def interrupted_at(number: int) -> Callable[[Stage], str]:
    """Ctrl-C at one of STEPS."""

    def scene(stage: Stage) -> str:
        words, part = STEPS[number]
        told = ""

        def interrupt(step: Step) -> None:
            nonlocal told
            told = str(step).replace(stage.address, "HOST:PORT")
            if told == words.format(round(part * stage.workers), stage.workers):
                stage.began = time.monotonic()
                raise KeyboardInterrupt

        said = stage.failed(stage.plan(), Trainer, progress=interrupt)
        return f"{said} at `{told}`"

    return scene


def node_lost_while_reserving(stage: Stage) -> str:
    def lose(step: Step) -> None:
        if step.words == "reserving":
            stage.began = time.monotonic()
            stage.cluster.remove_node(LOSABLE)

    return _and_back(stage, lambda: stage.failed(stage.plan(LOSABLE), Trainer, progress=lose))


def node_lost_while_running(stage: Stage) -> str:
    def lose(running: Any) -> None:
        stage.cluster.remove_node(LOSABLE)
        running.watch(PATIENCE)

    return _and_back(stage, lambda: stage.failed(stage.plan(LOSABLE), Trainer, lose))


def _and_back(stage: Stage, scene: Callable[[], str]) -> str:
    """The node is there again after the scene; that takes no part in its seconds."""
    said = scene()
    took = time.monotonic() - stage.began
    stage.cluster.add_node(stage.plan().cluster.nodes[LOSABLE], stage.workers)
    stage.began = time.monotonic() - took
    return said


STARTING, CONSTRUCTING = "starting: actor {}/{}", "constructing: actor {}/{}"
STEPS = [
    ("checking the worker class", 0.0),
    ("connecting to HOST:PORT", 0.0),
    ("reserving", 0.0),
    *((words, part) for words in (STARTING, CONSTRUCTING) for part in (0.0, 0.5, 1.0)),
]
"""Steps of a launch on a cluster that is there, and the part of the workers that have taken it."""
Scenes = Mapping[tuple[str, str], Callable[[Stage], str]]
"""(fault, when) -> the scene."""
QUICK: Scenes = {
    ("kill -9 of a worker", "before it is ready"): killed_before_ready,
    ("kill -9 of a worker", "in a call"): killed_in_a_call,
    ("kill -9 of a worker", "while nobody calls"): killed_while_idle,
    ("a constructor raises", "at the start"): constructor_raises,
    ("a method raises", "while others do not return"): method_raises,
    ("the name is taken", "at the start"): name_is_taken,
    ("the port is taken", "before rank 0 uses it"): port_is_taken,
    ("a bad interpreter", "at the start"): interpreter_is_bad,
    ("kill -9 of the command", "while workers run"): driver_killed,
}
FULL: Scenes = {
    **QUICK,
    **{("Ctrl-C", f"step {number} of {len(STEPS)}"): interrupted_at(number - 1) for number in range(1, len(STEPS) + 1)},
    ("a node is lost", "while it is reserved"): node_lost_while_reserving,
    ("a node is lost", "while workers run"): node_lost_while_running,
}
