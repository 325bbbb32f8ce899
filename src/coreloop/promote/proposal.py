"""What a promotion starts from: one entry of a candidates file, read anew and trusted with nothing."""

import re
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path, PurePosixPath
from typing import Annotated, Final, Literal

import msgspec

from coreloop.errors import RefusedError, UsageError, WorkspaceError
from coreloop.records import is_category, step
from coreloop.text import is_tool_name, printable, refuse_line

Phase = Literal["R", "F"]
_Count = Annotated[int, msgspec.Meta(ge=0, le=1_000_000_000)]
_Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
_SCHEMA_VERSION: Final = 1
_ID: Final = re.compile(r"[a-z]{2,16}-\d{4}-\d\d-\d\d-\d{3,6}", re.ASCII)
_KEY: Final = re.compile(r"[0-9a-f]{16}")
_SYMBOL: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*(:[0-9]{1,9})?")


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
    n_observed: _Count
    n_unique_questions: _Count
    success_rate: _Share
    success_low: _Share
    base_rate: _Share
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
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise WorkspaceError(f"is no candidates file ({error})", path=path) from error
    if document.schema_version > _SCHEMA_VERSION:
        raise WorkspaceError(f"has schema version {document.schema_version}; upgrade coreloop", path=path)
    found = next((one for one in document.candidates if one.id == wanted), None)
    if found is None:
        ids = ", ".join(printable(one.id) for one in document.candidates[:3]) or "none at all"
        raise UsageError(f"{path.name} has no {wanted}; it has {ids}")
    return _checked(found, document.generated_at.date())


def _checked(found: CandidateFields, day: date) -> Proposal:
    if not (_ID.fullmatch(found.id) and _KEY.fullmatch(found.key)):
        raise RefusedError("the candidate is refused: its id or key is not one that pattern gives")
    if not (is_tool_name(found.engine) and is_category(found.cat_hash)):
        raise RefusedError(f"{found.id} is refused: its engine or category is no plain name")
    suggested = found.suggested_append
    if suggested is None:
        raise RefusedError(f"{found.id} has no text: {printable(found.refused or 'none was drafted')}")
    if suggested.target_file is None or suggested.target_symbol is None:
        raise RefusedError(
            f"{found.id} has no target: name {found.engine} under tools: and run pattern again"
        )
    lines = tuple(suggested.body.splitlines())
    for line in lines:
        reason = refuse_line(line)
        if reason is not None:
            raise RefusedError(f"{found.id} is refused: {reason}")
    if suggested.section not in {"Guide", "Caveats"} or not lines:
        raise RefusedError(f"{found.id} is refused: it has no lines, or not for Guide or Caveats")
    file = PurePosixPath(suggested.target_file)
    if file.is_absolute() or ".." in file.parts or not _SYMBOL.fullmatch(suggested.target_symbol):
        raise RefusedError(f"{found.id} is refused: its target is no path.py::name below the project")
    return Proposal("R", found, file.as_posix(), suggested.target_symbol, suggested.section, lines, day)
