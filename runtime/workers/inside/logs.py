"""What workers log, under their own names."""

from __future__ import annotations

import logging
import os


class _OfThisProcess:
    """A logger with the name of the worker that this process is; an attribute that was assigned is what was assigned."""

    def __get__(self, instance: object | None, owner: type) -> logging.Logger:
        name = os.environ.get("WORKER_NAME")
        logger = logging.getLogger(name or owner.__name__)
        if name and not logger.hasHandlers():
            handler = logging.StreamHandler()
            handler.setFormatter(logging.Formatter("[%(levelname)s %(asctime)s %(name)s] %(message)s"))
            logger.addHandler(handler)
            level = os.environ.get("RLINF_LOG_LEVEL", "INFO").upper()
            logger.setLevel(level if level in logging._nameToLevel else logging.INFO)
        return logger


class Logged:
    """Workers that log to standard error, if the program set up no other way, from RLINF_LOG_LEVEL on (INFO if not set).

    Source of the form: RLinf, rlinf/scheduler/worker/worker.py.
    """

    rank: object
    world_size: object
    logger = _OfThisProcess()
    _logger = _OfThisProcess()

    def log_debug(self, msg: object) -> None:
        """Logs for whoever looks for a fault."""
        self._logger.debug(msg, stacklevel=2)

    def log_info(self, msg: object) -> None:
        """Logs what is worth knowing."""
        self._logger.info(msg, stacklevel=2)

    def log_warning(self, msg: object) -> None:
        """Logs what may be wrong."""
        self._logger.warning(msg, stacklevel=2)

    def log_error(self, msg: object) -> None:
        """Logs what is wrong."""
        self._logger.error(msg, stacklevel=2)

    def log_on_first_rank(self, msg: object) -> None:
        """Logs it once in a group: in rank 0."""
        if int(os.environ["RANK"]) == 0:
            self._logger.info(msg, stacklevel=2)

    def log_on_last_rank(self, msg: object) -> None:
        """Logs it once in a group: in the last rank."""
        if int(os.environ["RANK"]) == int(os.environ["WORLD_SIZE"]) - 1:
            self._logger.info(msg, stacklevel=2)
