"""The figures of proposed lines in a commit's trailers."""

import re
from dataclasses import dataclass
from typing import Final, Literal

_COUNT: Final = r"[0-9]{1,10}"
_STATEMENT: Final = re.compile(rf"({_COUNT}) of ({_COUNT}) calls(?:, otherwise ({_COUNT}) of ({_COUNT}))?")


@dataclass(frozen=True, slots=True)
class StatementEvidence:
    """Both sides of a statement; the other side is 0 of 0 if a statement has only one."""

    n_ok: int
    n: int
    unit: Literal["calls"] = "calls"
    other_ok: int = 0
    other_n: int = 0

    def __str__(self) -> str:
        rest = f", otherwise {self.other_ok} of {self.other_n}" if self.other_n else ""
        return f"{self.n_ok} of {self.n} {self.unit}{rest}"


def trailer_figures(evidence: str, observed: int, questions: int) -> dict[str, str]:
    """Evidence, Observed and Unique-Questions."""
    return {"Evidence": evidence, "Observed": str(observed), "Unique-Questions": str(questions)}


def read_statement_evidence(written: str) -> StatementEvidence | None:
    """Parse a statement's Evidence trailer; None if it does not parse."""
    match = _STATEMENT.fullmatch(written)
    if match is None:
        return None
    n_ok, n, other_ok, other_n = (int(figure or 0) for figure in match.groups())
    is_sound = n_ok <= n > 0 and other_ok <= other_n
    return StatementEvidence(n_ok, n, "calls", other_ok, other_n) if is_sound else None
