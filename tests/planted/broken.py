"""Lines that no reader can take for a record; nearly all carry a mark to search for."""

import gzip
import json
from typing import Final

MARK: Final = "brokenCANARY"
_RECORD: Final = f'{{"ts": "2026-04-25T09:30:00+00:00", "tool_calls": [], "question": "{MARK} 010-2345-6789"'

LINES: Final[dict[str, bytes]] = {
    "torn": _RECORD.encode()[:-9],
    "torn after a comma": f"{_RECORD}, ".encode(),
    "invalid UTF-8": f"{_RECORD}, ".encode() + b'"memo": "\xff\xfe\x80"}',
    "UTF-16": f"{_RECORD}}}".encode("utf-16-le").replace(b"\n", b""),
    "NaN": f'{_RECORD}, "chunk_len": NaN}}'.encode(),
    "infinity": f'{_RECORD}, "chunk_len": -Infinity}}'.encode(),
    "5,000 digits": f'{_RECORD}, "chunk_len": {"7" * 5000}}}'.encode(),
    "100,000 deep": f"{_RECORD}, ".encode() + b'"args": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "100,000 deep objects": f"{_RECORD}, ".encode() + b'"a": ' + b'{"a":' * 100_000 + b"1" + b"}" * 100_001,
    "duplicate keys": f'{_RECORD}, "question": "{MARK} again"}}'.encode(),
    "lone surrogate": f'{_RECORD}, "memo": "{MARK} \\ud800"}}'.encode(),
    "list": json.dumps([MARK]).encode(),
    "string": json.dumps(MARK).encode(),
    "number": b"7",
    "null": b"null",
    "two objects": f'{_RECORD}}} {{"a": 1}}'.encode(),
    "no quotes": f"{{question: {MARK}}}".encode(),
    "NUL bytes": b"\x00" * 40 + MARK.encode(),
}
"""Without the newline; none of them is a record."""

ZIPPED: Final = gzip.compress(f"{_RECORD}\n".encode(), mtime=0)
"""A file's bytes: a day that somebody compressed and left under its old name. Its line is torn."""
