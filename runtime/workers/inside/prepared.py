"""What a process does before its user's object is constructed, if its variables ask for it. Source of these: RLinf."""

from __future__ import annotations

import faulthandler
import importlib
import logging
import os
import signal

EXTENSION, CATCH = "RLINF_EXT_MODULE", "CATCH_SYSTEM_FAILURE"
ENDING = ("SIGINT", "SIGTERM", "SIGQUIT", "SIGUSR1", "SIGUSR2")
STANDARD_ERROR = 2


def prepare() -> None:
    """Shows every thread's stack before a signal ends the process (CATCH_SYSTEM_FAILURE=1); imports RLINF_EXT_MODULE.

    Of that module `register()` is called, if it has one; that it cannot be imported is logged. Whatever `register` raises comes out.
    Sources: RLinf, rlinf/scheduler/worker/worker.py and rlinf/scheduler/cluster/utils.py, `load_user_extension_module`.
    """
    if os.environ.get(CATCH) == "1":
        show_stacks()
    name = os.environ.get(EXTENSION)
    if name:
        register(name)


def show_stacks() -> None:
    """From now on, signals that end the process first write every thread's stack to standard error; what they did before, they do then."""
    faulthandler.enable(file=STANDARD_ERROR, all_threads=True)
    if hasattr(faulthandler, "register"):  # not on Windows
        for name in ENDING:
            faulthandler.register(getattr(signal, name), file=STANDARD_ERROR, all_threads=True, chain=True)


def register(name: str) -> None:
    """Imports a module of the user's and calls its `register()`, if it has one."""
    log = logging.getLogger(os.environ.get("WORKER_NAME", EXTENSION))
    try:
        extension = importlib.import_module(name)
    except ImportError as problem:
        log.warning("%s names `%s`, which cannot be imported: %s", EXTENSION, name, problem)
        return
    if hasattr(extension, "register"):
        extension.register()
    else:
        log.warning("%s names `%s`, which has no register()", EXTENSION, name)
