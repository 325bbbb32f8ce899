"""Candidates, and the file with those of a run: ``{day}-candidates.json``."""

from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Final

from coreloop.base.date_range import Days
from coreloop.base.git.trailers import SECTIONS
from coreloop.learn.proposals.entry import SCHEMA_VERSION, Count, Share, SuggestedAppend
from coreloop.learn.proposals.statements import Statement
from coreloop.learn.proposals.step import Step

SECTION: Final = SECTIONS["R"]
"""Docstring section for candidates."""
FROM_RECORDS: Final = 1
"""Evidence rank of the audit log itself, the best rank."""
FROM_PLAYBOOK: Final = 2
"""Evidence rank of a pattern that passed because the playbook has advice for its questions."""
FROM_NOTES: Final = 3
"""Evidence rank of what people wrote by hand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A sequence of tools that passed the gates.

    ``id``, ``suggested_append`` and ``refused`` come with the draft; ``bullets`` are those of the playbook
    that relaxed the gate for it.

    Attributes
    ----------
    rest_ok, rest_n : int
        Successes and number of the other requests of its category; without categories, of the other requests
        that begin with the same tool.
    q_value : float or None
        Of the difference from these by cases (Mann–Whitney), corrected for all tests of the run.
    """

    id: str = ""
    key: str
    engine: str
    axis: str | None
    cat_hash: str
    seq_hash: str
    tool_pattern: tuple[Step, ...]
    n_observed: Count
    n_unique_questions: Count
    n_sessions: Count
    success_rate: Share
    success_low: Share
    base_rate: Share
    rest_ok: Count = 0
    rest_n: Count = 0
    q_value: Share | None = None
    avg_chunk_len: float
    first_seen: datetime
    last_seen: datetime
    example_questions: tuple[str, ...]
    providers: dict[str, int]
    evidence_rank: int = FROM_RECORDS
    bullets: tuple[str, ...] = ()
    suggested_append: SuggestedAppend | None = None
    refused: str | None = None

    @property
    def n_succeeded(self) -> int:
        """Requests that succeeded."""
        return round(self.success_rate * self.n_observed)

    @property
    def n_behind(self) -> int:
        """Requests behind it; entries with few are not listed in a shared file."""
        return self.n_observed


@dataclass(frozen=True, slots=True)
class Note:
    """People's notes on a company: what the engine should do better. No text is proposed from them."""

    stock_code: str
    bullets: tuple[str, ...]
    evidence_rank: int = FROM_NOTES


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidatesFile:
    """``candidates/{YYYY-MM-DD}-candidates.json``.

    Attributes
    ----------
    statements : tuple of Statement
        Guide lines that somebody put there; ``pattern`` writes none.
    notes : tuple of Note
        Only with ``--include-audit-analysis``.
    ids : dict of str to str
        Candidate key -> id, of all runs of the day: a key keeps its id.
    n_folded : int
        Entries of too few requests to be listed in a shared file; 0 in a local one.
    draft_sha256 : str
        Digest of the draft that was written with it, 64 hex digits; empty in files of older versions.
    """

    schema_version: int = SCHEMA_VERSION
    generated_at: datetime
    window: Days
    candidates: tuple[Candidate, ...]
    statements: tuple[Statement, ...] = ()
    notes: tuple[Note, ...] = ()
    ids: dict[str, str] = field(default_factory=dict)
    n_folded: int = 0
    draft_sha256: str = ""

    @property
    def entries(self) -> tuple[Statement | Candidate, ...]:
        """The statements, then the candidates, each best first."""
        return (*self.statements, *self.candidates)


def candidate_key(category: str, sequence: str, section: str = SECTION) -> str:
    """A key that is stable across runs: 16 hex digits of SHA-256 of category, sequence and section."""
    return sha256(f"{category}\n{sequence}\n{section}".encode("utf-8", "replace")).hexdigest()[:16]
