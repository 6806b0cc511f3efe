"""Where the command `placewright` begins: from here on a Ctrl-C ends it without a traceback, while its modules are loaded too."""

from __future__ import annotations

import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` takes as long to load as all of this file
    from types import FrameType
    from typing import NoReturn


def main() -> NoReturn:
    """Runs the command line of this process and exits with its code. A Ctrl-C that the shell has it ignore stays ignored."""
    loading = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if loading:
        signal.signal(signal.SIGINT, _end)
    try:
        from .exit_codes import INTERRUPTED
        from .main import main as command

        if loading:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        command()
    except KeyboardInterrupt:  # before the command line is run, or after it
        _tell()
        sys.exit(INTERRUPTED)


def _end(number: int, frame: FrameType | None) -> None:
    """Ends at once: an exception might come out in the middle of an import, some of which would only tell of it and go on."""
    _tell()
    os._exit(128 + number)


def _tell() -> None:
    try:
        os.write(2, b"interrupted\n")
    except OSError:  # nobody reads it any more
        return
