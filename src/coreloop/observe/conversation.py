"""What a model had read up to each call of a request, kept in a private folder if coreloop.yaml asks for it.

Records hold no results. Measurements on whole conversations need them: ``measure: {contexts: true}``.
Imports only what the collector does, because it runs in users' servers.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import orjson

from coreloop.base.record_lines import text_of, to_plain
from coreloop.base.records import encodable
from coreloop.observe.record_parts import error_text

FOLDER: Final = "contexts"
"""Beside the folder of the records; day files, whose lines have the records' ids."""
MAX_TEXT_CHARS: Final = 8_000
"""Of a question, a result or a user's message: some 2,000 tokens, which every question to a model repeats."""


def kept_call(
    name: str,
    args: Mapping[str, Any],
    result: object,
    error: object = None,
    *,
    user_texts: Iterable[str] = (),
) -> dict[str, Any]:
    """A call as a conversation keeps it.

    Parameters
    ----------
    args : mapping
        Plain values.
    result : object
        What the model received; ``...`` if that is not known.
    error : object
        Received instead, if the call failed.
    user_texts : iterable of str
        What the user said before it, since the call before.
    """
    said = error_text(error) if result is ... else result
    return {
        "name": name,
        "args": args,
        "result": None if said is None and result is ... else _cut(said),
        "said": [_cut(text) for text in user_texts],
    }


def keep_conversation(
    append: Callable[[bytes, str, int], None], record: Mapping[str, Any], calls: Iterable[Mapping[str, Any]]
) -> None:
    """Append the conversation of a record to the file of its day, with a function of a journal."""
    line = {"request_id": record["request_id"], "question": _cut(record["question"]), "calls": list(calls)}
    append(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE), record["ts"][:10], 0)


def _cut(value: object) -> str:
    if isinstance(value, str):
        return encodable(value[:MAX_TEXT_CHARS])
    try:
        return orjson.dumps(to_plain(value)).decode()[:MAX_TEXT_CHARS]
    except (TypeError, ValueError, RecursionError):
        return text_of(value)[:MAX_TEXT_CHARS]
