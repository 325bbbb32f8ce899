"""The two files of a night: candidates.json for promote, and the draft that a person reads."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from pathlib import Path
from typing import Final

import msgspec
import orjson

from coreloop.errors import WorkspaceError
from coreloop.mine.window import Days
from coreloop.pattern.candidates import Candidate, Step
from coreloop.pattern.draft import declared_value, is_known_tool
from coreloop.records import is_category
from coreloop.settings import Settings
from coreloop.text import printable
from coreloop.tools import Tool, Unresolved

SCHEMA_VERSION: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidatesFile:
    """``candidates/{YYYY-MM-DD}-candidates.json``.

    Attributes
    ----------
    ids : dict of str to str
        Candidate key -> id, of every run of the day: a key keeps its id.
    """

    schema_version: int = SCHEMA_VERSION
    generated_at: datetime
    window: Days
    candidates: tuple[Candidate, ...]
    ids: dict[str, str] = field(default_factory=dict)


def number(
    candidates: Sequence[Candidate], known: Mapping[str, str], day: date
) -> tuple[tuple[Candidate, ...], dict[str, str]]:
    """Give each candidate its readable id.

    Parameters
    ----------
    candidates : sequence of Candidate
        Best first.
    known : mapping of key to id
        Ids that earlier runs of the day gave.
    day : date
        Day of the run.

    Returns
    -------
    candidates, ids
        ``cand-YYYY-MM-DD-NNN``; new keys go on from the highest number.
    """
    ids = dict(known)
    numbers = (id.rpartition("-")[2] for id in ids.values())
    highest = max((int(number) for number in numbers if number.isdecimal()), default=0)
    new = [candidate.key for candidate in candidates if candidate.key not in ids]
    ids |= {key: f"cand-{day}-{place:03d}" for place, key in enumerate(dict.fromkeys(new), highest + 1)}
    return tuple(replace(candidate, id=ids[candidate.key]) for candidate in candidates), ids


def read_document(path: Path) -> CandidatesFile:
    """Read a candidates file.

    Raises
    ------
    WorkspaceError
        It is not there, or not one that this version can read.
    """
    try:
        document = msgspec.json.decode(path.read_bytes(), type=CandidatesFile)
    except OSError as error:
        raise WorkspaceError(f"cannot be read ({error.strerror})", path=path) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise WorkspaceError(f"is no candidates file ({error}); run pattern again", path=path) from error
    if document.schema_version > SCHEMA_VERSION:
        raise WorkspaceError(f"has schema version {document.schema_version}; upgrade coreloop", path=path)
    return document


def to_json(document: CandidatesFile) -> bytes:
    """The file's bytes: indented JSON, UTF-8."""
    return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def redact(candidate: Candidate, tools: Mapping[str, Tool | Unresolved], settings: Settings) -> Candidate:
    """Replace every text that is not from a closed vocabulary by ``[REDACTED n]``, n its length."""
    steps = tuple(_redact_step(step, tools, settings) for step in candidate.tool_pattern)
    target = tools.get(candidate.engine)
    axis = candidate.axis
    withheld = candidate.refused is not None or any(
        not is_known_tool(step.name, tools, settings) for step in candidate.tool_pattern
    )
    return replace(
        candidate,
        suggested_append=None if withheld else candidate.suggested_append,
        refused="withheld, since a name in it is from no closed vocabulary" if withheld else None,
        engine=_unless(is_known_tool(candidate.engine, tools, settings), candidate.engine),
        axis=None if axis is None else _unless(declared_value(axis, target, settings), axis),
        cat_hash=_unless(is_category(candidate.cat_hash), candidate.cat_hash),
        tool_pattern=steps,
        example_questions=tuple(_unless(False, text) for text in candidate.example_questions),
        providers={_unless(is_category(name), name): n for name, n in candidate.providers.items()},
    )


def _redact_step(step: Step, tools: Mapping[str, Tool | Unresolved], settings: Settings) -> Step:
    tool = tools.get(step.name)
    parameters = tool.parameters if isinstance(tool, Tool) else ()
    return Step(
        name=_unless(is_known_tool(step.name, tools, settings), step.name),
        selectors={
            key: _unless(declared_value(value, tool, settings), value)
            for key, value in step.selectors.items()
        },
        arg_keys=tuple(_unless(key in parameters or key in step.selectors, key) for key in step.arg_keys),
    )


def _unless(is_known: bool, text: str) -> str:
    return text if is_known else f"[REDACTED {len(text)}]"


def to_markdown(document: CandidatesFile, tools: Mapping[str, Tool | Unresolved]) -> str:
    """The draft: per candidate its figures, the proposed lines and the raw questions, escaped."""
    window = document.window
    head = f"# Candidates, {window.since} to {window.until}\n\nProposals only: nothing was changed.\n"
    if not document.candidates:
        head += "\nNothing passed the gates.\n"
    return head + "".join(_section(candidate, tools) for candidate in document.candidates)


def _section(candidate: Candidate, tools: Mapping[str, Tool | Unresolved]) -> str:
    suggested = candidate.suggested_append
    title = f"## {candidate.id}: {_inline(' > '.join(map(str, candidate.tool_pattern)))}"
    figures = (
        f"- category {candidate.cat_hash}, key `{candidate.key}`\n"
        f"- {candidate.n_observed} requests, {candidate.n_unique_questions} distinct questions, "
        f"{candidate.n_sessions} sessions, "
        f"{candidate.first_seen:%Y-%m-%d} to {candidate.last_seen:%Y-%m-%d}\n"
        f"- success rate {candidate.success_rate:.2f}, lower bound {candidate.success_low:.2f}, "
        f"category {candidate.base_rate:.2f}; mean answer {candidate.avg_chunk_len:.0f} characters\n"
        f"- target: {_target(candidate, tools)}"
    )
    text = (
        f"Refused: {candidate.refused}." if suggested is None else _block(suggested.section, suggested.body)
    )
    asked = "\n".join("    " + printable(question) for question in candidate.example_questions)
    asked = asked or "    (no text recorded)"
    return f"\n{title}\n\n{figures}\n\n{text}\n\nAsked, for example:\n\n{asked}\n"


def _block(section: str, body: str) -> str:
    lines = [section, "-" * len(section), *body.splitlines()]
    return "\n".join("    " + line for line in lines)


def _target(candidate: Candidate, tools: Mapping[str, Tool | Unresolved]) -> str:
    suggested = candidate.suggested_append
    if suggested is not None and suggested.target_file is not None:
        return f"{suggested.target_file}::{suggested.target_symbol}"
    tool = tools.get(candidate.engine)
    return f"not known: {tool.reason}" if isinstance(tool, Unresolved) else "none"


def _inline(text: str) -> str:
    """Markdown's own signs escaped, so that a recorded name cannot be markup."""
    return re.sub(r"([\\`*_{}\[\]<>#|!&])", r"\\\1", printable(text))
