"""Feedback on answers of the project in the current folder, for programs that are not coreloop's own."""

import os
from pathlib import Path

from coreloop.answer.repair.desk import open_repair_desk
from coreloop.answer.repair.feedback import give_feedback
from coreloop.answer.repair.tables import Feedback
from coreloop.base.project.workspace import open_workspace
from coreloop.runs.stores.store import open_store


def feedback(id: str, value: str | float, reason: str | None = None) -> Feedback:
    """Say whether an answer was good.

    Parameters
    ----------
    id : str
        Of an answer, as `coreloop.answer.repair.answer` returns it, or of another request that has a record.
    value : {"up", "down"} or float
        A number is 0 to 1; below 0.5 it is ``down``.
    reason : str or None
        In the person's words. It is shown to people, and never part of a prompt.

    Returns
    -------
    Feedback
        Its ``mended_by`` is the id of the run that answers again as soon as a worker is free; "" for none.

    Raises
    ------
    UsageError
        The value is none of these, or the id is empty or too long.
    RunNotFoundError
        The id is neither of an answer nor of a request that has a record.
    RunStoreError
        A database cannot be used.

    Examples
    --------
    >>> import coreloop
    >>> coreloop.feedback("01M83NH9M8PTECSW0ERPZNDMBW", "down", reason="It is 60 days since May")
    """
    workspace = open_workspace(Path.cwd())
    with open_store(workspace) as store, open_repair_desk(workspace, store, os.environ) as desk:
        return give_feedback(desk, id, value, reason=reason or "")
