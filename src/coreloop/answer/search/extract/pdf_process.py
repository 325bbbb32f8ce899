"""The process that reads a PDF: bytes on stdin; title and pages on stdout, each ended by a form feed."""

import io
import sys
from contextlib import suppress
from typing import Final

MAX_TEXT_CHARS: Final = 20_000_000
_MEMORY_BYTES: Final = 2 << 30
_CPU_S: Final = 30  # as long as the reader waits


def main() -> None:
    """Write the text of a PDF; exits with 1 if it cannot be read."""
    _limit()
    from pypdf import PdfReader

    data = sys.stdin.buffer.read()
    sys.stdin.close()
    parts, size = [], 0
    try:
        reader = PdfReader(io.BytesIO(data))
        parts.append((reader.metadata and reader.metadata.title) or "")
        for page in reader.pages:
            parts.append(page.extract_text())
            size += len(parts[-1])
            if size > MAX_TEXT_CHARS:
                break
    except Exception:  # pypdf raises whatever a damaged file leads it to
        sys.exit(1)
    text = "\f".join(part.replace("\f", " ") for part in parts)
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))


def _limit() -> None:
    with suppress(ImportError):  # Windows
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CPU, (_CPU_S, _CPU_S))


if __name__ == "__main__":
    main()
