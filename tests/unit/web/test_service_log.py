"""The log of a service, and what is left of it in the process that served."""

import logging
from pathlib import Path

from serving import Served


def test_a_service_that_cannot_start_leaves_no_log_behind(service: Served, entry_point, tmp_path: Path):
    loggers = [logging.getLogger(name) for name in ("coreloop.web", "coreloop.runs", "asyncio")]
    before = [(logger.handlers, logger.propagate, logger.level) for logger in loggers]
    code, _, errors = entry_point(tmp_path, "serve", "--port", str(service.port))
    assert (code, errors.count("\n")) == (2, 1)
    assert [(logger.handlers, logger.propagate, logger.level) for logger in loggers] == before
