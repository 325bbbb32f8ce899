"""The program that reads an HTML page: ``stdin`` -> title, date and text as JSON. A process can be ended."""

import json
import sys
from contextlib import suppress
from typing import Final

_MEMORY_BYTES: Final = 1 << 30
_SECONDS: Final = 20  # of processor time, as long as the reader waits


def main() -> None:
    """Read the page from stdin."""
    _limit()
    from trafilatura import bare_extraction

    page = sys.stdin.buffer.read().decode("utf-8", "replace")
    document = bare_extraction(page, with_metadata=True, include_comments=False)
    if document is None:
        facts = {"title": "", "date": "", "text": ""}
    else:
        facts = {name: getattr(document, name) or "" for name in ("title", "date", "text")}
        facts["text"] = facts["text"].replace("\n", "\n\n")  # each line is a block
    sys.stdout.write(json.dumps(facts))


def _limit() -> None:
    with suppress(ImportError):  # Windows
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))


if __name__ == "__main__":
    main()
