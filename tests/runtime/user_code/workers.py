"""Worker classes for the tests: they fail, sleep or leave children, each in its own way."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path


class Counter:
    """Answers calls."""

    def __init__(self) -> None:
        self.environment_at_birth = dict(os.environ)

    def add(self, one: int, *, other: int = 0) -> int:
        return one + other + int(os.environ["RANK"])

    def fail(self) -> None:
        if os.environ["RANK"] == "1":
            raise RuntimeError("rank 1 has had enough")
        time.sleep(600)

    def sleep(self) -> None:
        time.sleep(600)

    def variable(self, name: str) -> str | None:
        return self.environment_at_birth.get(name)


class RefusesOne:
    """Rank 1 cannot be constructed, the others take their time."""

    def __init__(self) -> None:
        if os.environ["RANK"] == "1":
            raise ValueError("no weights for rank 1")
        time.sleep(600)


class Sleeper:
    """Never ready; its process id is in a file of the directory TEST_DIRECTORY."""

    def __init__(self) -> None:
        directory = Path(os.environ["TEST_DIRECTORY"])
        (directory / f"{os.environ['GROUP_NAME']}-{os.environ['RANK']}").write_text(str(os.getpid()))
        time.sleep(600)


class KilledFirst:
    """Rank 0 dies as one that runs out of memory does, the others wait."""

    def __init__(self) -> None:
        if os.environ["RANK"] == "0":
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(600)


class Parent:
    """Leaves a child in a session of its own."""

    def __init__(self) -> None:
        self.child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)

    def children(self) -> int:
        """Process id of the child, so that it is known to have started."""
        return self.child.pid


class Detacher:
    """Detaches a process, as daemons do: its parent ends at once."""

    def detach(self) -> int:
        shell = subprocess.run(
            ["sh", "-c", "sleep 600 > /dev/null 2>&1 & echo $!"], stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        return int(shell.stdout)

    def code(self) -> int:
        return subprocess.run(["sh", "-c", "exit 3"]).returncode


class Blind:
    """Makes itself see another accelerator than it was given."""

    def __init__(self) -> None:
        os.environ["CUDA_VISIBLE_DEVICES"] = "3"


NotAClass = 3


class Crowded:
    """Somebody else takes the port of rank 0 before it does."""

    def __init__(self) -> None:
        if os.environ["RANK"] == "0":
            with socket.socket() as intruder, socket.socket() as own:
                intruder.bind(("", int(os.environ["MASTER_PORT"])))
                intruder.listen()
                own.bind(("", int(os.environ["MASTER_PORT"])))


class Meeting:
    """Rank 0 listens where all others go, as torch.distributed does."""

    def __init__(self) -> None:
        where = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
        self.count = int(os.environ["WORLD_SIZE"])
        if os.environ["RANK"] == "0":
            with socket.create_server(("", where[1])) as server:
                for _ in range(self.count - 1):
                    server.accept()[0].close()
        else:
            for _ in range(600):
                with contextlib.suppress(ConnectionRefusedError):
                    socket.create_connection(where, timeout=30).close()
                    break
                time.sleep(0.05)

    def met(self) -> int:
        """How many have met."""
        return self.count
