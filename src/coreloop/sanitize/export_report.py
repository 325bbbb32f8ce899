"""The report of an export or a check: counts and places, without any content."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from coreloop.sanitize.chunks import MAX_LISTED, ChunkOutcome
from coreloop.sanitize.sanitize_record import Mode


class Report:
    """Counts of lines and findings, by file.

    Attributes
    ----------
    mode : str or None
        None for a check.
    n_in, n_out : int
        Lines that are not blank, and lines that were written (checked, without a mode). An empty file and the
        damaged part of a compressed file count as one line.
    findings : Counter
        Findings by kind.
    reasons : Counter
        Rejected lines by reason.
    unread : list of str
        Files in the folder that are not records by their name, and links to folders; the first `MAX_LISTED`.
    n_unread : int
        Number of all such files.
    """

    def __init__(self, mode: Mode | None, *, unread: Iterable[str] = (), n_unread: int = 0) -> None:
        self.mode = mode
        self.unread = list(unread)
        self.n_unread = n_unread
        self.n_in = 0
        self.n_out = 0
        self.findings: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self.files: dict[str, dict[str, Any]] = {}
        self.rejected: list[dict[str, Any]] = []
        self.places: list[dict[str, Any]] = []

    @property
    def n_rejected(self) -> int:
        return self.reasons.total()

    def add(self, file: str, outcome: ChunkOutcome) -> None:
        """Add the outcome of a chunk; the chunks of a file must come in order."""
        counts = self.files.setdefault(file, {"file": file, "lines": 0, "in": 0, "out": 0, "rejected": 0})
        offset = counts["lines"]
        counts["lines"] += outcome.n_lines
        counts["in"] += outcome.n_in
        counts["out"] += outcome.n_out
        counts["rejected"] += outcome.reasons.total()
        self.n_in += outcome.n_in
        self.n_out += outcome.n_out
        self.findings.update(outcome.findings)
        self.reasons.update(outcome.reasons)
        for line, reason, size_bytes in outcome.rejected[: MAX_LISTED - len(self.rejected)]:
            self.rejected.append({"file": file, "line": offset + line, "reason": reason, "bytes": size_bytes})
        for place in outcome.places[: MAX_LISTED - len(self.places)]:
            self.places.append(
                {"file": file, "line": offset + place.line, "path": place.path, "kind": place.kind}
            )

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON values; it lists at most `MAX_LISTED` rejected lines and places."""
        return {
            "mode": self.mode or "check",
            "in": self.n_in,
            "out": self.n_out,
            "rejected": self.n_rejected,
            "found": dict(sorted(self.findings.items())),
            "rejected_by_reason": dict(sorted(self.reasons.items())),
            "files": list(self.files.values()),
            "unread": self.n_unread,
            "unread_files": self.unread,
            "rejected_lines": self.rejected,
            "places": self.places,
        }
