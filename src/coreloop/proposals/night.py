"""What proposals of both phases have in common: their target, their ids, the two files of a night."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Final, Protocol, TypeVar

import msgspec

from coreloop.errors import WorkspaceError
from coreloop.project.workspace import locked, write_private

SCHEMA_VERSION: Final = 1
MIN_PUBLISHED: Final = 5
"""Requests, or failures, behind an entry that others may read; what fewer people did is only counted."""


@dataclass(frozen=True, slots=True)
class SuggestedAppend:
    """The proposed text and where it goes; without a known definition the target is null."""

    target_file: str | None
    target_symbol: str | None
    section: str
    body: str


@dataclass(frozen=True, slots=True)
class _Known:
    schema_version: int
    ids: dict[str, str] = field(default_factory=dict)


class Keyed(Protocol):
    """A candidate or a counterexample."""

    @property
    def key(self) -> str: ...


_Keyed = TypeVar("_Keyed", bound=Keyed)


def new_keys(drafted: Iterable[_Keyed], known: Collection[str]) -> tuple[tuple[_Keyed, ...], dict[str, int]]:
    """The first of each key that is not known, and how many others there are, with the same text."""
    every = list(drafted)
    first = {one.key: one for one in reversed(every)}
    kept = tuple(one for one in every if first[one.key] is one and one.key not in known)
    return kept, {"same_text": len(every) - len(kept)} if len(kept) < len(every) else {}


def assign_ids(keys: Iterable[str], known: Mapping[str, str], *, prefix: str, day: date) -> dict[str, str]:
    """Readable ids for keys.

    Parameters
    ----------
    keys : iterable of str
        Best first.
    known : mapping of key to id
        Ids that earlier runs of the day gave; a key keeps its id.
    prefix : str
        ``cand`` or ``ce``.
    day : date
        Day of the run.

    Returns
    -------
    dict of str to str
        ``known`` and ``{prefix}-YYYY-MM-DD-NNN`` for each new key, from the highest number on.
    """
    numbers = (id.rpartition("-")[2] for id in known.values())
    highest = max((int(number) for number in numbers if number.isdecimal()), default=0)
    new = dict.fromkeys(key for key in keys if key not in known)
    return {**known, **{key: f"{prefix}-{day}-{place:03d}" for place, key in enumerate(new, highest + 1)}}


def shown_ids(ids: Mapping[str, str], withheld: Collection[str]) -> dict[str, str]:
    """The ids for a file that others read: of a withheld key only the number stays, so none comes twice."""
    return {f"withheld-{id}" if id in withheld else key: id for key, id in ids.items()}


def folded_note(count: int, noun: str) -> str:
    """What a draft says of the entries that have too few requests, or failures, to be listed for others."""
    return f"\nNot listed: {count} of fewer than {MIN_PUBLISHED} {noun}.\n" if count else ""


def write_night(
    folder: Path, day: date, name: str, build: Callable[[Mapping[str, str]], tuple[bytes, str]]
) -> tuple[Path, Path]:
    """Write ``{day}-{name}.json`` and its draft, ``{day}-{draft}.md``, one process at a time.

    Parameters
    ----------
    folder : Path
        Where they go.
    day : date
        Day of the run.
    name : str
        ``candidates`` or ``counterexamples``.
    build : callable
        From the ids that the day knows to the JSON and the Markdown.

    Returns
    -------
    tuple of Path
        The JSON file and the draft.

    Raises
    ------
    WorkspaceError
        The folder cannot be written, or the day's file is damaged. Nothing is half written.
    """
    path, draft = folder / f"{day}-{name}.json", folder / f"{day}-draft.md"
    with locked(folder):
        document, text = build(_known_ids(path))
        write_private(draft, text.encode("utf-8", "replace"))
        write_private(path, document)
    return path, draft


def _known_ids(path: Path) -> Mapping[str, str]:
    try:
        known = msgspec.json.decode(path.read_bytes(), type=_Known)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise WorkspaceError(f"cannot be read ({error.strerror})", path=path) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise WorkspaceError(f"is damaged ({error}); move it away and run again", path=path) from error
    if known.schema_version > SCHEMA_VERSION:
        raise WorkspaceError(f"has schema version {known.schema_version}; upgrade coreloop", path=path)
    return known.ids
