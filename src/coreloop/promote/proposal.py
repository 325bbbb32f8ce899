"""What a promotion starts from: one entry of a candidates file, read anew and trusted with nothing."""

from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Literal

import msgspec

from coreloop.errors import RefusedError, UsageError, WorkspaceError
from coreloop.records import is_category, join_steps, step
from coreloop.text import is_tool_name, refuse_line

Phase = Literal["R", "F"]


class StepFields(msgspec.Struct, frozen=True):
    """A step, as candidates.json has it."""

    name: str
    selectors: dict[str, str]

    @property
    def text(self) -> str:
        """The step as sequences write it."""
        return step(self.name, self.selectors, self.selectors)


class SuggestedFields(msgspec.Struct, frozen=True):
    """The proposed text."""

    target_file: str | None
    target_symbol: str | None
    section: str
    body: str


class CandidateFields(msgspec.Struct, frozen=True):
    """A candidate, as far as a promotion needs it."""

    id: str
    key: str
    engine: str
    axis: str | None
    cat_hash: str
    tool_pattern: tuple[StepFields, ...]
    n_observed: int
    n_unique_questions: int
    success_rate: float
    success_low: float
    base_rate: float
    first_seen: datetime
    last_seen: datetime
    example_questions: tuple[str, ...]
    providers: dict[str, int]
    suggested_append: SuggestedFields | None
    refused: str | None = None


class _File(msgspec.Struct, frozen=True):
    schema_version: int
    generated_at: datetime
    candidates: tuple[CandidateFields, ...]


@dataclass(frozen=True, slots=True)
class Proposal:
    """One text for one docstring, with what speaks for it.

    Attributes
    ----------
    file, symbol : str
        Where the docstring is: a path below the project's folder, a qualname (``name:LINE`` where one is
        defined twice).
    section, lines : str and tuple of str
        What is appended where.
    day : date
        Of the candidates file; it names the branch.
    """

    phase: Phase
    fields: CandidateFields
    file: str
    symbol: str
    section: str
    lines: tuple[str, ...]
    day: date

    @property
    def sequence(self) -> str:
        """The pattern's steps, joined."""
        return join_steps(one.text for one in self.fields.tool_pattern)


def read_proposal(path: Path, wanted: str) -> Proposal:
    """Read one candidate of a file and check every text that will be shown to others.

    Raises
    ------
    WorkspaceError
        The file is not there or is no candidates file.
    UsageError
        It has no such id.
    RefusedError
        The candidate has no text or no target, or a text is not of the closed vocabulary.
    """
    try:
        document = msgspec.json.decode(path.read_bytes(), type=_File)
    except OSError as error:
        raise WorkspaceError(f"cannot be read ({error.strerror})", path=path) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise WorkspaceError(f"is no candidates file ({error})", path=path) from error
    found = next((one for one in document.candidates if one.id == wanted), None)
    if found is None:
        ids = ", ".join(one.id for one in document.candidates[:3]) or "none at all"
        raise UsageError(f"{path.name} has no {wanted}; it has {ids}")
    return _checked(found, document.generated_at.date())


def _checked(found: CandidateFields, day: date) -> Proposal:
    suggested = found.suggested_append
    if suggested is None:
        raise RefusedError(f"{found.id} has no text: {found.refused or 'none was drafted'}")
    if suggested.target_file is None or suggested.target_symbol is None:
        raise RefusedError(
            f"{found.id} has no target: name {found.engine} under tools: and run pattern again"
        )
    lines = tuple(suggested.body.splitlines())
    for line in lines:
        reason = refuse_line(line)
        if reason is not None:
            raise RefusedError(f"{found.id} is refused: {reason}")
    strange = not (is_tool_name(found.engine) and is_category(found.cat_hash) and found.key.isalnum())
    if strange or suggested.section not in {"Guide", "Caveats"} or not lines:
        raise RefusedError(f"{found.id} is refused: its engine, category, key or section is not a plain name")
    return Proposal("R", found, suggested.target_file, suggested.target_symbol, suggested.section, lines, day)
