"""What a repair reads and puts before a question: likely files, passages of them, links to schemas."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from hashlib import sha256
from itertools import product
from math import fsum, log
from pathlib import Path
from typing import Final

from coreloop.answer.repair.tables import Evidence
from coreloop.answer.search.extract.decode import decode_text
from coreloop.answer.search.extract.document import Unreadable
from coreloop.answer.search.extract.kinds import extractor_of
from coreloop.answer.search.extract.split_passages import Passage, split_passages
from coreloop.answer.search.index.tree import MAX_FILE_BYTES, File
from coreloop.answer.search.source import Source
from coreloop.answer.text.terms import keys, term_set
from coreloop.base.files import open_regular

MAX_FILES: Final = 5
_MAX_LOOKED_AT: Final = 2_000
"""Files whose beginning is read; of more, those whose names fit best."""
_HEAD_BYTES: Final = 16_000
_HEAD_CHARS: Final = 2_000
_LEAST_SHARE: Final = 0.3
"""Of what a question asks for, rare words counting more; a file with less of it is no target."""
_SPEAKS: Final = re.compile(r"\b(?:columns?|fields?|tables?)\b|컬럼|필드|테이블", re.IGNORECASE)
"""Without such a word, a docstring that has a column's words rarely means the column."""
_PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")  # getPage_2 -> get Page 2
_SYMBOL: Final = re.compile(r"^[^\S\n]*(?:async[^\S\n]+)?(?:def|class)[^\S\n]+(\w+)", re.MULTILINE)


def question_key(question: str) -> str:
    """Return the key under which evidence for a question is kept: of its words, whatever their case."""
    words = " ".join(question.split()).casefold()
    return _hash(words.encode("utf-8", "replace"))[:32]


def evidence_of_file(root: Path, location: str, question: str, *, now: datetime) -> Evidence | None:
    """Return a file's best passage for a question; None if the file has no text.

    Parameters
    ----------
    root : Path
        Of the project.
    location : str
        Of the file, see `coreloop.answer.search.source.Source`.
    question : str
        Text of a user: only compared.
    now : datetime
        With a time zone.
    """
    data, extract = _read(root / location, MAX_FILE_BYTES), extractor_of(location)
    document = extract(data) if extract and data else Unreadable("absent")
    if isinstance(document, Unreadable):
        return None
    asked = term_set(question)

    def fit(passage: Passage) -> int:
        return len(asked & term_set(f"{passage.heading}\n{passage.text}"))

    best = max(split_passages(document), key=fit, default=None)
    if best is None:
        return None
    return Evidence(
        question=question_key(question),
        location=location,
        symbol=best.heading,
        content=best.text,
        content_hash=_hash(data),
        created_at=now,
    )


def fresh_sources(root: Path, kept: Sequence[Evidence]) -> Iterator[Source]:
    """Yield evidence as sources; what came from a file that changed since is left out."""
    for evidence in kept:
        if _hash(_read(root / evidence.location, MAX_FILE_BYTES)) == evidence.content_hash:
            yield Source(
                title=evidence.symbol or evidence.location,
                location=evidence.location,
                type="python" if evidence.location.endswith((".py", ".pyi")) else "text",
                text=evidence.content,
                retrieved_at=evidence.created_at,
                provider="repair",
            )


def likely_files(question: str, files: Sequence[File], root: Path) -> list[File]:
    """Return the files that most likely answer a question, at most `MAX_FILES`, the likeliest first.

    Compared are their names, symbols and first lines, as `coreloop.answer.text.terms.terms` reads them.

    Parameters
    ----------
    question : str
        Text of a user: only compared.
    files : sequence of File
        Files that are stale or not indexed.
    root : Path
        Of the project.
    """
    asked = term_set(question)
    by_name = sorted(files, key=lambda file: -len(asked & term_set(file.location)))[:_MAX_LOOKED_AT]
    words = {file: asked & term_set(_beginning(root, file.location)) for file in by_name}
    counts = {word: sum(word in own for own in words.values()) for word in asked}
    rarity = {word: log(1 + (len(words) + 1) / (counts[word] + 0.5)) for word in asked}
    least = _LEAST_SHARE * fsum(rarity.values())
    weights = {file: fsum(rarity[word] for word in own) for file, own in words.items() if own}
    likely = [file for file, weight in weights.items() if weight >= least]
    return sorted(likely, key=lambda file: (-weights[file], file.location))[:MAX_FILES]


def suggested_links(symbols: Sequence[Source], fields: Sequence[Source]) -> Iterator[Mapping[str, str]]:
    """Yield links between symbols and parts of schemas that are named alike, or that the symbol speaks of.

    ``customer_rate`` is ``customers.rate``; a docstring that has the words of a table and of its column
    speaks of the column.
    """
    for symbol, field in product(symbols, fields):
        owner, _, last = field.title.rpartition(".")
        name, whole = _words(last), _words(f"{owner.rpartition('.')[2]} {last}")
        if _words(symbol.title.rpartition(".")[2]) in (name, whole):
            reason = f"both are named {last.strip('#')}"
        elif whole > name and _SPEAKS.search(symbol.text) and whole <= keys(symbol.text):
            reason = f"{symbol.title} speaks of {last}"
        else:
            continue
        yield {"code_symbol": reference(symbol), "schema_ref": reference(field), "reason": reason}


def reference(source: Source) -> str:
    """Return how a symbol or a part of a schema is named: ``src/shop.py::Order.total``, ``a.sql#t.total``."""
    return f"{source.location}{'' if source.type == 'schema' else '::'}{source.title}"


def _words(name: str) -> frozenset[str]:
    return keys(" ".join(_PART.findall(name)))


def _beginning(root: Path, location: str) -> str:
    """The name, symbols and first lines of a file."""
    data = _read(root / location, _HEAD_BYTES)
    text = decode_text(data if len(data) < _HEAD_BYTES else data[: data.rfind(b"\n") + 1])
    read = text if isinstance(text, str) else ""
    return "\n".join([location, *_SYMBOL.findall(read), read[:_HEAD_CHARS]])


def _read(path: Path, most: int) -> bytes:
    with suppress(OSError), open_regular(path) as file:
        return file.read(most)
    return b""


def _hash(data: bytes) -> str:
    return sha256(data).hexdigest()
