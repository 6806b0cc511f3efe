"""Worker classes for the tests: they fail, sleep or leave children, each in its own way."""

from __future__ import annotations

import os
import signal
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
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)

    def children(self) -> None:
        """Answers, so that it is known to have started."""


class Blind:
    """Makes itself see another accelerator than it was given."""

    def __init__(self) -> None:
        os.environ["CUDA_VISIBLE_DEVICES"] = "3"


NotAClass = 3
