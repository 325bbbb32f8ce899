"""Sentence vectors of passages, by an embeddings endpoint or a local ONNX encoder."""

import os
import sqlite3
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import orjson

from coreloop.answer.models.ladder import endpoint_headers, endpoint_url, endpoints_of
from coreloop.base.errors import ModelError, UsageError
from coreloop.base.http import ExchangeError, HttpClient, HttpRequest
from coreloop.base.project.workspace import Workspace

_AT_ONCE: Final = 64  # texts of a request
_TIMEOUT_S, _MAX_BYTES, _MAX_TOKENS = 60.0, 50_000_000, 512
_MISSING: Final = """
    SELECT id, heading || char(10) || text FROM passages
    WHERE kind = 'text' AND id NOT IN (SELECT id FROM vectors)
"""


class Vectors:
    """Gives passages their vectors, and finds those that are nearest to a query; threads may share it.

    Parameters
    ----------
    workspace : Workspace
        Its setting ``search: encoder`` is ``PROVIDER:MODEL``, or a file .onnx beside its tokenizer.json.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._settings, self._name = workspace.settings, workspace.settings.search.encoder or ""
        self._file = workspace.root / self._name

    def add(self, connection: sqlite3.Connection) -> dict[str, list[str]]:
        """Give each passage without a vector one; returns why some have none."""
        rows = connection.execute(_MISSING).fetchall()
        try:
            for at in range(0, len(rows), _AT_ONCE):
                keys, texts = zip(*rows[at : at + _AT_ONCE], strict=True)
                pairs = zip(keys, (vector.tobytes() for vector in self._encode(texts)), strict=True)
                connection.executemany("INSERT INTO vectors VALUES (?, ?)", pairs)
        except ModelError as error:  # the next time completes the work
            return {str(error): [self._name]}
        return {}

    def nearest(self, connection: sqlite3.Connection, query: str, most: int) -> list[int]:
        """Return the ids of the passages that are nearest to a query, the nearest first."""
        rows = connection.execute("SELECT id, vector FROM vectors").fetchall()
        if not (rows and query.strip()):
            return []
        matrix = np.frombuffer(b"".join(row[1] for row in rows), np.float32).reshape(len(rows), -1)
        return [rows[at][0] for at in np.argsort(-(matrix @ self._encode([query])[0]))[:most]]

    def _encode(self, texts: Sequence[str]) -> Any:
        is_local = self._name.endswith(".onnx")
        found = np.asarray(_read(self._file, texts) if is_local else self._ask(texts), np.float32)
        return found / np.linalg.norm(found, axis=1, keepdims=True).clip(1e-9)

    def _ask(self, texts: Sequence[str]) -> list[Any]:
        provider, _, model = self._name.partition(":")
        endpoint = endpoints_of(self._settings).get(provider)
        if endpoint is None:
            raise UsageError(f"search: encoder {self._name[:80]!r} is no PROVIDER:MODEL and no file .onnx")
        url, headers = endpoint_url(endpoint, os.environ), endpoint_headers(endpoint, os.environ)
        body = {"model": model, "input": [*texts]}
        request = HttpRequest(method="POST", url=f"{url}/embeddings", headers=headers, json=body)
        try:
            with HttpClient() as client:
                answer = client.exchange(request, timeout_s=_TIMEOUT_S, max_bytes=_MAX_BYTES)
            return [row["embedding"] for row in orjson.loads(answer.content)["data"]]
        except (ExchangeError, ValueError, LookupError, TypeError) as error:
            raise ModelError(f"{self._name}: no sentence vectors came back", kind="unavailable") from error


def _read(path: Path, texts: Sequence[str]) -> Any:
    """Return the mean of the states of each text's tokens, or what the encoder gives for the whole text."""
    session, tokenizer = _session(path)
    read = tokenizer.encode_batch([*texts])
    ids, mask = np.array([one.ids for one in read]), np.array([one.attention_mask for one in read])
    known = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    states = session.run(None, {put.name: known[put.name] for put in session.get_inputs()})[0]
    return states if states.ndim == 2 else (states * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)


@cache
def _session(path: Path) -> tuple[Any, Any]:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(path.with_name("tokenizer.json")))
        session = InferenceSession(path, providers=["CPUExecutionProvider"])
    except Exception as error:  # whatever a damaged file leads the packages to
        raise UsageError(f"search: encoder {path.name} or its tokenizer.json cannot be loaded") from error
    tokenizer.enable_truncation(_MAX_TOKENS)
    tokenizer.enable_padding()
    return session, tokenizer
