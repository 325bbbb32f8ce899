"""Reads the end times of requests from records, for message lists without times."""

import lzma
import zlib
from datetime import datetime
from pathlib import Path

from coreloop.base.errors import WorkspaceError
from coreloop.observe.importers.files import TraceFile, read_line_values
from coreloop.observe.importers.values import read_time


def read_times(path: Path) -> dict[str, datetime]:
    """Read the ``ts`` of the records in a file by ``request_id``.

    Raises
    ------
    WorkspaceError
        The file cannot be read, or no line has both fields.
    """
    times: dict[str, datetime] = {}
    try:
        with TraceFile(path, True, 0, 0.0).open() as lines:
            for line in read_line_values(lines):
                id = line.get("request_id") if isinstance(line, dict) else None
                ended = read_time(line.get("ts")) if id is not None else None
                if isinstance(id, str) and ended is not None:
                    times[id] = ended
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        reason = getattr(error, "strerror", None) or error
        raise WorkspaceError(f"cannot be read ({reason})", path=path) from error
    if not times:
        raise WorkspaceError("has no line with a request_id and a ts", path=path)
    return times
