"""Labels of an export: replaces the keyed digests that the workers wrote with small numbers."""

import re
from pathlib import Path
from typing import BinaryIO, Final

MAX_NUMBERED: Final = 100_000
_BLOCK_BYTES: Final = 1 << 20


class Renumbering:
    """Numbers marks such as ``[EMAIL-<tag><digest>]`` in order of appearance.

    Beyond `MAX_NUMBERED` values of a kind, the number is derived from the digest to bound memory.

    Parameters
    ----------
    tag : str
        The tag of the export.
    """

    def __init__(self, tag: str) -> None:
        self._mark = re.compile(rb"\[([A-Z]+)-" + tag.encode() + rb"([a-p]{32})\]")
        self._numbers: dict[bytes, dict[bytes, int]] = {}

    def copy(self, part: Path, target: BinaryIO) -> None:
        """Append a part to a file, with numbered labels."""
        with part.open("rb") as source:
            while lines := source.readlines(_BLOCK_BYTES):
                target.write(self._mark.sub(self._label, b"".join(lines)))

    def _label(self, mark: re.Match[bytes]) -> bytes:
        kind, digest = mark[1], mark[2]
        numbers = self._numbers.setdefault(kind, {})
        number = numbers.get(digest)
        if number is None:
            if len(numbers) < MAX_NUMBERED:
                number = numbers[digest] = len(numbers) + 1
            else:
                number = MAX_NUMBERED + int(digest.translate(_FROM_LETTERS), 16)
        return b"[%s-%d]" % (kind, number)


_FROM_LETTERS: Final = bytes.maketrans(b"abcdefghijklmnop", b"0123456789abcdef")
