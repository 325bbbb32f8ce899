"""What a schema would enforce instead of a line: text for the pull request, tried on the recorded calls.

A human takes the patch or the line. coreloop changes nothing that runs.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, Final

from coreloop.base.errors import WorkspaceError
from coreloop.base.project.tools import bare_name
from coreloop.base.project.workspace import Workspace
from coreloop.base.record_lines import ELIDED
from coreloop.descriptions.keywords import Keyword, with_keyword
from coreloop.descriptions.schemas import schema_of
from coreloop.descriptions.texts import find_text
from coreloop.learn.line import parse_advice
from coreloop.learn.mine.folder import day_files
from coreloop.observe.reading.decode import RecordLine, read_lines
from coreloop.observe.reading.outcome import worked
from coreloop.promote.docstring_edit import diff_of
from coreloop.promote.measure.contexts import next_call
from coreloop.promote.proposal_entry import Proposal

_MAX_RECORDS: Final = 100_000  # the newest, read within seconds
_FORMS: Final = {
    "one_of": "enum",
    "at_most": "maximum",
    "at_least": "minimum",
    "items": "maxItems",
    "characters": "maxLength",
    "never_empty": "minLength",
    "always_pass": "required",
    "leave_out": "additionalProperties",
}
"""Keywords of JSON Schema by the forms of lines that they say."""


def alternatives(
    workspace: Workspace, path: str, raw: bytes, proposals: Sequence[Proposal]
) -> tuple[str, list[str]]:
    """What a schema can say instead of lines without refusing a recorded call that worked.

    Parameters
    ----------
    workspace : Workspace
        Its newest records are read.
    path, raw : str, bytes
        The file with the tool's texts, without the lines.
    proposals : sequence of Proposal
        The lines.

    Returns
    -------
    tuple of str and list of str
        A unified diff, and a sentence for each clause, with what to write where the diff cannot.
    """
    new, sentences = raw, list[str]()
    clauses = [(its.symbol, *pair) for its in proposals for line in its.lines for pair in _keywords_of(line)]
    calls = _working_calls(workspace, proposals[0].engine) if clauses else []
    for symbol, clause, keyword in clauses if calls else ():
        text = find_text(path, new, symbol)
        known = schema_of(text.schema)[0]
        if any(_refuses(keyword, arguments, known) for arguments in calls):
            continue
        patched, snippet = with_keyword(path, new, text, keyword)
        if patched != new or snippet:
            todo = f"; write `{snippet}`" if snippet else ""
            sentences.append(
                f"`{clause}`: refuses none of {len(calls):,} calls that worked, with retries{todo}"
            )
        new = patched
    return diff_of(path, raw, new), sentences


def _keywords_of(line: str) -> Iterator[tuple[str, Keyword]]:
    """What a schema can say of a line, with its clause; whether ``true`` is a text is unknown."""
    advice = parse_advice(line)
    for clause in advice.clauses() if advice is not None else ():
        values, names = clause.items("values"), clause.items("argument", "arguments")
        number = (*clause.items("number"), "1" if clause.form == "never_empty" else "null")[0]
        for name in names if clause.form in _FORMS and not {"true", "false"}.intersection(values) else ():
            about = f" ({name})" if len(names) > 1 else ""
            limit = [*values] or json.loads(number)
            yield f"{clause}{about}".removeprefix("- "), Keyword(name, _FORMS[clause.form], limit)


def _refuses(keyword: Keyword, arguments: Mapping[str, Any], known: Mapping[str, Any]) -> bool:
    """Whether a schema with a keyword would refuse a call; a value that was not recorded is refused."""
    if keyword.name == "additionalProperties":
        return not known.keys() >= arguments.keys()
    value = arguments.get(keyword.argument)
    if keyword.name == "required" or value is None:
        return keyword.name == "required" and value is None
    return value == ELIDED or keyword.refuses(value)


def _working_calls(workspace: Workspace, tool: str) -> list[dict[str, Any]]:
    """The arguments of recorded calls of a tool that worked, without null; none if the log is unreadable."""
    with suppress(WorkspaceError):
        paths = reversed(day_files(workspace.records_dir))
        lines = islice((line for path in paths for line in read_lines(path)), _MAX_RECORDS)
        calls = (call for line in lines if isinstance(line, RecordLine) for call in line.calls)
        own = (call for call in calls if tool in (call.name, bare_name(call.name)) and worked(call))
        return [next_call(call).arguments for call in own]
    return []
