"""Evidence that a repair puts before a question: passages of the project's files alone."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from hashlib import sha256
from pathlib import Path

from coreloop.files import open_regular
from coreloop.models.ranking import text_letters
from coreloop.repair.tables import Evidence
from coreloop.search.extract.document import Unreadable
from coreloop.search.extract.kinds import extractor_of
from coreloop.search.extract.passages import Passage, split_passages
from coreloop.search.index.tree import MAX_FILE_BYTES
from coreloop.search.source import Source


def question_key(question: str) -> str:
    """Return the key under which evidence for a question is kept: of its words, whatever their case."""
    words = " ".join(question.split()).casefold()
    return sha256(words.encode("utf-8", "replace")).hexdigest()[:32]


def best_of_file(root: Path, location: str, question: str, *, now: datetime) -> Evidence | None:
    """Return the passage of a file that has most of a question; None if the file has no text.

    Parameters
    ----------
    root : Path
        Of the project.
    location : str
        Of the file, see `coreloop.search.source.Source`.
    question : str
        Text of a user: only compared.
    now : datetime
        With a time zone.
    """
    data = _read(root / location)
    extract = extractor_of(location)
    document = extract(data) if extract and data is not None else None
    if document is None or isinstance(document, Unreadable):
        return None
    asked = text_letters(question)
    best = max(split_passages(document), key=lambda passage: _fit(asked, passage), default=None)
    if best is None:
        return None
    return Evidence(
        question=question_key(question),
        kind="local_file",
        location=location,
        symbol=best.heading,
        content=best.text,
        content_hash=_hash(data),
        created_at=now,
    )


def fresh_sources(root: Path, kept: list[Evidence]) -> Iterator[Source]:
    """Yield evidence as sources; what came from a file that changed since is left out."""
    for evidence in kept:
        if _hash(_read(root / evidence.location)) == evidence.content_hash:
            yield Source(
                title=evidence.symbol or evidence.location,
                location=evidence.location,
                type="python" if evidence.location.endswith((".py", ".pyi")) else "text",
                text=evidence.content,
                retrieved_at=evidence.created_at,
                provider="repair",
            )


def _fit(asked: frozenset[str], passage: Passage) -> int:
    return len(asked & text_letters(f"{passage.heading}\n{passage.text}"))


def _read(path: Path) -> bytes | None:
    with suppress(OSError), open_regular(path) as file:
        return file.read(MAX_FILE_BYTES)
    return None


def _hash(data: bytes | None) -> str:
    return sha256(data).hexdigest() if data is not None else ""
