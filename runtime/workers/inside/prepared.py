"""Preparations before the user's object is constructed, requested by variables. Source: RLinf."""

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
    """Print all threads' stacks on fatal signals (CATCH_SYSTEM_FAILURE=1); import RLINF_EXT_MODULE.

    `register()` of that module is called, if there is one; a failed import is logged, exceptions of
    `register` propagate. Sources: RLinf, rlinf/scheduler/worker/worker.py and
    rlinf/scheduler/cluster/utils.py, `load_user_extension_module`.
    """
    if os.environ.get(CATCH) == "1":
        show_stacks()
    name = os.environ.get(EXTENSION)
    if name:
        register(name)


def show_stacks() -> None:
    """Print every thread's stack to standard error before a signal ends the process.

    The previous handlers still run.
    """
    faulthandler.enable(file=STANDARD_ERROR, all_threads=True)
    if hasattr(faulthandler, "register"):  # not on Windows
        for name in ENDING:
            faulthandler.register(getattr(signal, name), file=STANDARD_ERROR, all_threads=True, chain=True)


def register(name: str) -> None:
    """Import a user's module and call `register()`, if there is one."""
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
