"""Evidence that a repair puts before a question: passages of the project's files alone."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Final

from coreloop.answer.models.ranking import text_letters
from coreloop.answer.repair.tables import Evidence, Kind
from coreloop.answer.search.extract.document import Document, Unreadable
from coreloop.answer.search.extract.kinds import extractor_of
from coreloop.answer.search.extract.split_passages import split_passages
from coreloop.answer.search.index.tree import MAX_FILE_BYTES
from coreloop.answer.search.source import Source
from coreloop.base.files import open_regular

_PARTS: Final[Mapping[Kind, str]] = {"params": "parameter ", "returns": "returns", "fields": "field "}
"""How the sentences of a symbol begin, see `coreloop.answer.search.extract.symbols`."""


def question_key(question: str) -> str:
    """Return the key under which evidence for a question is kept: of its words, whatever their case."""
    words = " ".join(question.split()).casefold()
    return sha256(words.encode("utf-8", "replace")).hexdigest()[:32]


def evidence_of_file(root: Path, location: str, question: str, *, now: datetime) -> list[Evidence]:
    """Return what a file says about a question: its best passage, and of Python its best symbol.

    Returns
    -------
    list of Evidence
        Empty if the file has no text.
    """
    data = _read(root / location)
    extract = extractor_of(location)
    document = extract(data) if extract and data is not None else None
    if document is None or isinstance(document, Unreadable):
        return []
    asked = text_letters(question)
    found = [*_symbol_parts(document, asked), *_best_passage(document, asked)]
    return [
        Evidence(
            question=question_key(question),
            kind=kind,
            location=location,
            symbol=symbol,
            content=content,
            content_hash=_hash(data),
            created_at=now,
        )
        for kind, symbol, content in found
    ]


def _best_passage(document: Document, asked: frozenset[str]) -> Iterator[tuple[Kind, str, str]]:
    passages = split_passages(document)
    best = max(passages, key=lambda passage: _fit(asked, f"{passage.heading}\n{passage.text}"), default=None)
    if best is not None:
        yield "local_file", best.heading, best.text


def _symbol_parts(document: Document, asked: frozenset[str]) -> Iterator[tuple[Kind, str, str]]:
    """Yield what the docstring of the best symbol says of parameters, return value and fields."""
    best = max(document.entries, key=lambda entry: _fit(asked, entry.text), default=None)
    if best is None:
        return
    for kind, words in _PARTS.items():
        start = f"{best.name} {words}"
        if said := [part for part in best.text.split("\n\n") if part.startswith(start)]:
            yield kind, best.name, "\n\n".join(said)


def fresh_sources(root: Path, kept: list[Evidence]) -> Iterator[Source]:
    """Yield evidence as sources; what came from a file that changed since is left out."""
    for evidence in kept:
        if _hash(_read(root / evidence.location)) == evidence.content_hash:
            yield Source(
                title=evidence.symbol or evidence.location,
                location=evidence.location,
                type=_type(evidence),
                text=evidence.content,
                retrieved_at=evidence.created_at,
                provider="repair",
            )


def _fit(asked: frozenset[str], text: str) -> int:
    return len(asked & text_letters(text))


def _type(evidence: Evidence) -> str:
    if evidence.kind != "local_file":
        return "symbol"
    return "python" if evidence.location.endswith((".py", ".pyi")) else "text"


def _read(path: Path) -> bytes | None:
    with suppress(OSError), open_regular(path) as file:
        return file.read(MAX_FILE_BYTES)
    return None


def _hash(data: bytes | None) -> str:
    return sha256(data).hexdigest() if data is not None else ""
