"""Entry point of the command `placewright`.

From here on a Ctrl-C ends the command without a traceback, also while its modules are loaded.
"""

from __future__ import annotations

import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` takes as long to load as all of this file
    from types import FrameType
    from typing import NoReturn


def main() -> NoReturn:
    """Run the command line of this process and exit with its code.

    A Ctrl-C that the shell makes the process ignore stays ignored.
    """
    handles_ctrl_c = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if handles_ctrl_c:
        signal.signal(signal.SIGINT, _end)
    try:
        from .exit_codes import INTERRUPTED
        from .main import main as command

        if handles_ctrl_c:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        command()
    except KeyboardInterrupt:  # before or after the command line runs
        _report_interrupt()
        sys.exit(INTERRUPTED)


def _end(number: int, frame: FrameType | None) -> None:
    """Exit at once, without an exception.

    An exception could rise in the middle of an import, and some imports only report it and go on.
    """
    _report_interrupt()
    os._exit(128 + number)


def _report_interrupt() -> None:
    try:
        os.write(2, b"interrupted\n")
    except OSError:  # the reader of the output is gone
        return
