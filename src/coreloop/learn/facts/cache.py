"""The facts of a folder's files, kept from run to run; the cached files are safe to delete."""

import zlib
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec

from coreloop.base.files import file_errors, write_private
from coreloop.learn.facts.read_lines import MineSettings
from coreloop.learn.facts.schema import Part

VERSION: Final = 30
"""Increase it when the facts of a line change."""
OWN_BYTES: Final = 1 << 20
"""A file of this size has a cached file of its own; the smaller ones of a month have one together."""
_TAIL_BYTES: Final = 1 << 20


class FileState(msgspec.Struct, array_like=True, frozen=True):
    """A file as it was read."""

    size: int
    mtime_ns: int
    inode: int

    @classmethod
    def of(cls, path: Path) -> "FileState":
        """As it is now."""
        with file_errors("cannot be read ({strerror})", path):
            status = path.stat()
        return cls(status.st_size, status.st_mtime_ns, status.st_ino)


class KeptFacts(msgspec.Struct, array_like=True):
    """The facts of a file; ``end`` is where reading can go on, or 0, and ``tail`` a checksum before it."""

    state: FileState
    parts: list[Part] = []
    end: int = 0
    tail: int = 0

    def is_begun_by(self, path: Path, state: FileState) -> bool:
        """Whether a file is this one, and only has grown."""
        is_longer = 0 < self.end <= self.state.size < state.size and state.inode == self.state.inode
        return is_longer and checksum(path, self.end) == self.tail


class FactsCache:
    """The cached facts of a folder's files.

    Parameters
    ----------
    cache : Path
        The folder of cached files; those of this folder that are of none of the files are removed.
    folder : Path
        The folder of the files.
    states : mapping of Path to FileState
        All of them whose facts are to be kept.

    Attributes
    ----------
    known : dict of Path to KeptFacts
        The facts of its files when they were last read.
    """

    def __init__(
        self, cache: Path, folder: Path, states: Mapping[Path, FileState], settings: MineSettings
    ) -> None:
        selectors = {tool: list(names) for tool, names in settings.selectors.items()}
        made_by = [VERSION, sha256(settings.case_key).hexdigest(), selectors, settings.categories.rules]
        self.known: dict[Path, KeptFacts] = {}
        self._bundles: dict[Path, dict[str, Path]] = {}
        self._held: dict[Path, dict[str, KeptFacts]] = {}
        prefix = sha256(ascii(f"{folder.absolute()}").encode()).hexdigest()[:16]
        made = sha256(msgspec.json.encode(made_by, order="sorted")).hexdigest()[:16]
        for path, state in states.items():
            number = zlib.crc32(ascii(path.name).encode())  # a name may hold bytes that are not UTF-8
            # a month's, or where names are no days, one of 64 parts: each cached file takes 3 ms to write
            shared = path.stem[:7] if path.stem[4:8:3] == "--" else f"{number % 64}"
            name = f"{path.stem[:40]}.{number:08x}" if state.size >= OWN_BYTES else shared
            self._bundles.setdefault(cache / f"{prefix}-{made}-{name}.facts", {})[ascii(path.name)] = path
        self._remove_others(cache, prefix)
        for bundle, paths in self._bundles.items():
            files = self._held[bundle] = self._read(bundle)
            self.known |= {path: files[name] for name, path in paths.items() if name in files}

    def write(self, facts: Mapping[Path, KeptFacts]) -> None:
        """Keep what was read.

        Raises
        ------
        WorkspaceError
            A file cannot be written; the others, and what it held, are as they were.
        """
        facts = {**self.known, **facts}
        for bundle, paths in self._bundles.items():
            own = {name: facts[path] for name, path in paths.items() if path in facts}
            if own != self._held[bundle]:
                write_private(bundle, zlib.compress(msgspec.msgpack.encode(own), 1))

    def _read(self, bundle: Path) -> dict[str, KeptFacts]:
        """What a cached file holds; nothing if it is absent or damaged."""
        with suppress(OSError, zlib.error, msgspec.MsgspecError):
            return msgspec.msgpack.decode(zlib.decompress(bundle.read_bytes()), type=dict[str, KeptFacts])
        return {}

    def _remove_others(self, cache: Path, prefix: str) -> None:
        """Remove the facts of files that are gone, and those of other settings."""
        with suppress(OSError):
            for path in cache.iterdir():
                if path not in self._bundles and path.name.startswith(f"{prefix}-"):
                    path.unlink(missing_ok=True)


def checksum(path: Path, end: int) -> int:
    """Of the last bytes before a place in a file."""
    with path.open("rb") as file:
        file.seek(max(0, end - _TAIL_BYTES))
        return zlib.crc32(file.read(min(end, _TAIL_BYTES)))
