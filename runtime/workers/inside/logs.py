"""Logging of workers under their own names."""

from __future__ import annotations

import logging
import os


class _OfThisProcess:
    """Logger named after the worker, unless a value was assigned."""

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
    """Logging to standard error from RLINF_LOG_LEVEL (default INFO).

    A program's own logging setup takes precedence.

    Source of the form: RLinf, rlinf/scheduler/worker/worker.py.
    """

    rank: object
    world_size: object
    logger = _OfThisProcess()
    _logger = _OfThisProcess()

    def log_debug(self, msg: object) -> None:
        """Log at level DEBUG."""
        self._logger.debug(msg, stacklevel=2)

    def log_info(self, msg: object) -> None:
        """Log at level INFO."""
        self._logger.info(msg, stacklevel=2)

    def log_warning(self, msg: object) -> None:
        """Log at level WARNING."""
        self._logger.warning(msg, stacklevel=2)

    def log_error(self, msg: object) -> None:
        """Log at level ERROR."""
        self._logger.error(msg, stacklevel=2)

    def log_on_first_rank(self, msg: object) -> None:
        """Log once per group, in rank 0."""
        if int(os.environ["RANK"]) == 0:
            self._logger.info(msg, stacklevel=2)

    def log_on_last_rank(self, msg: object) -> None:
        """Log once per group, in the last rank."""
        if int(os.environ["RANK"]) == int(os.environ["WORLD_SIZE"]) - 1:
            self._logger.info(msg, stacklevel=2)
