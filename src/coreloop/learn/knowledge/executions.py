"""Executions: requests that an agent answered, with a hash instead of the question."""

import sqlite3
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime

from coreloop.base.records import hash_question
from coreloop.learn.knowledge.schema import utc_text
from coreloop.learn.knowledge.store import storable


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """A request that was answered.

    Attributes
    ----------
    question : str
        Only its hash is stored, the same as in the audit log.
    stock_code : str or None
        The company concerned.
    question_type, mode : str
        The caller's names for kinds of questions and of answers.
    result_summary : str
        Summary of the answer; stored unchanged, so it must not repeat the question.
    grade : str
        P, T, C or V; "" if there is no verdict.
    key_metrics : mapping of str to float or str
        Figures of the answer by name.
    duration_s : float or None
        Seconds.
    rounds : int
        Number of model calls.
    has_error : bool
        Whether the request failed.
    provider, model : str
        Model that answered, and its provider.
    """

    question: str = field(repr=False)
    stock_code: str | None = None
    question_type: str = ""
    mode: str = ""
    result_summary: str = ""
    grade: str = ""
    key_metrics: Mapping[str, float | str] = field(default_factory=dict)
    duration_s: float | None = None
    rounds: int = 0
    has_error: bool = False
    provider: str = ""
    model: str = ""


def record_execution(connection: sqlite3.Connection, execution: Execution, *, now: datetime) -> None:
    """Store an answered request without its question."""
    values = asdict(execution) | {
        "question_hash": hash_question(execution.question),
        "created_at": utc_text(now),
    }
    del values["question"]
    row = storable(values)
    names, marks = ", ".join(row), ", ".join(f":{name}" for name in row)
    connection.execute(f"INSERT INTO executions ({names}) VALUES ({marks})", row)
