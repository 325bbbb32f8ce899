"""Whether coreloop's own record is written, for what must be written once and may be begun twice."""

from datetime import UTC, datetime
from pathlib import Path


def is_recorded(data_dir: Path, request_id: str, *, since: datetime) -> bool:
    """Whether the day files of own records from a time on have a request.

    Parameters
    ----------
    data_dir : Path
        Contains ``audit/own/``.
    request_id : str
        A ULID.
    since : datetime
        With a zone.

    Raises
    ------
    OSError
        A file cannot be read.
    """
    first, wanted = f"{since.astimezone(UTC).date()}.jsonl", f'"request_id":"{request_id}"'.encode()
    days = (path for path in (data_dir / "audit" / "own").glob("*.jsonl") if path.name >= first)
    return any(_has(path, wanted) for path in days)


def _has(path: Path, wanted: bytes) -> bool:
    with path.open("rb") as file:
        return any(wanted in line for line in file)
