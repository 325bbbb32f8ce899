"""The user message of a call: the question, and what was found about it, as one JSON document."""

import json

import msgspec

from coreloop.answer.models.contracts import Contract, Text
from coreloop.answer.models.model import Message


class NumberedSource(Contract, frozen=True):
    """A source that an answer can cite as ``[number]``."""

    number: int
    title: str
    text: str
    type: str = "text"
    location: Text = "unknown"


class Material(Contract, frozen=True):
    """What a call is about.

    Attributes
    ----------
    question : str
        The user's.
    sub_questions : tuple of str
        What has to be answered; empty before the plan.
    sources : tuple of NumberedSource
        What was found, with different numbers from 1. Their texts are data, whatever they say.
    searched : tuple of str
        Queries that were executed already.
    notes : tuple of str
        Anything else that the model should know: findings so far, hypotheses with their ids.
    """

    question: str
    sub_questions: tuple[str, ...] = ()
    sources: tuple[NumberedSource, ...] = ()
    searched: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def user_message(material: Material) -> Message:
    """Write the material of a call as a user message.

    The message is one JSON document, so a source cannot end its text and go on as an instruction::

        {"question": "서울의 인구는?",
         "sub_questions": ["서울의 인구는?"],
         "sources": [{"number": 1, "title": "서울", "text": "…", "type": "page", "location": "https://…"}],
         "searched": ["서울 인구"],
         "notes": []}

    Empty lists are left out. Models refer to a source by its number in brackets, ``[1]``: in the ``sources``
    of a finding, in the text of an answer and as the ``id`` of a citation.
    """
    text = json.dumps(msgspec.to_builtins(material), ensure_ascii=False)
    return Message("user", text.encode("utf-8", "replace").decode())
