"""The figures of proposed lines in a commit's trailers."""

import re
from dataclasses import dataclass
from typing import Final, Literal

from coreloop.learn.proposals.sequence_lines import GuideEvidence

Unit = Literal["calls", "requests"]
_COUNT: Final = r"[0-9]{1,10}"
_STATEMENT: Final = re.compile(
    rf"({_COUNT}) of ({_COUNT}) (calls|requests)(?:, otherwise ({_COUNT}) of ({_COUNT}))?"
)


@dataclass(frozen=True, slots=True)
class StatementEvidence:
    """Both sides of a statement; the other side is 0 of 0 if a statement has only one."""

    n_ok: int
    n: int
    unit: Unit
    other_ok: int = 0
    other_n: int = 0

    def __str__(self) -> str:
        rest = f", otherwise {self.other_ok} of {self.other_n}" if self.other_n else ""
        return f"{self.n_ok} of {self.n} {self.unit}{rest}"


def guide_figures(evidence: GuideEvidence) -> dict[str, str]:
    """Evidence, Observed and Unique-Questions of a Guide."""
    return {
        "Evidence": f"{evidence.succeeded} of {evidence.requests} requests, lower bound {evidence.low}",
        "Observed": str(evidence.requests),
        "Unique-Questions": str(evidence.questions),
    }


def statement_figures(evidence: StatementEvidence, questions: int) -> dict[str, str]:
    """Evidence, Observed and Unique-Questions of a statement."""
    return {
        "Evidence": str(evidence),
        "Observed": str(evidence.n + evidence.other_n),
        "Unique-Questions": str(questions),
    }


def read_statement_evidence(written: str) -> StatementEvidence | None:
    """Parse a statement's Evidence trailer; None if it does not parse."""
    match = _STATEMENT.fullmatch(written)
    if match is None:
        return None
    n_ok, n, other_ok, other_n = (int(match[group] or 0) for group in (1, 2, 4, 5))
    unit: Unit = "calls" if match[3] == "calls" else "requests"
    evidence = StatementEvidence(n_ok, n, unit, other_ok, other_n)
    is_sound = n_ok <= n > 0 and other_ok <= other_n
    return evidence if is_sound and str(evidence) == written else None
