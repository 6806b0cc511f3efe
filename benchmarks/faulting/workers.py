"""Worker classes that meet with an accident, each in its own way; `directory` is where they leave word."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path

HOURS = 10_000.0


class Sleeper:
    """Never ready; its process id is in a file."""

    directory = ""

    def __init__(self) -> None:
        Path(self.directory, os.environ["RANK"]).write_text(str(os.getpid()))
        time.sleep(HOURS)


class Trainer:
    """Ready at once; its methods take their time."""

    directory = ""

    def train(self) -> None:
        """Does not return."""
        Path(self.directory, os.environ["RANK"]).write_text(str(os.getpid()))
        time.sleep(HOURS)

    def fail(self) -> None:
        """Rank 1 raises, the others do not return."""
        if os.environ["RANK"] == "1":
            raise RuntimeError("no more batches")
        time.sleep(HOURS)


class Unconstructible:
    """Rank 1 raises, the others take their time."""

    def __init__(self) -> None:
        if os.environ["RANK"] == "1":
            raise ValueError("no weights")
        time.sleep(HOURS)


class Crowded:
    """Another process takes the port of rank 0 before it does."""

    def __init__(self) -> None:
        if os.environ["RANK"] == "0":
            with socket.socket() as intruder, socket.socket() as own:
                address = ("", int(os.environ["MASTER_PORT"]))
                intruder.bind(address)
                intruder.listen()
                own.bind(address)
        time.sleep(HOURS)
