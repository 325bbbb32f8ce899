"""Message lists of OpenAI's chat API, or of any of the `message_forms`: one request per list.

``{"messages": […], "request_id": …, "model": …, "reward": …, "ts": …}``; only ``messages`` is required. A
list of messages may stand alone, and a list or an object may hold many; a request to a model and its response
are a list, too. A result belongs to the call of its id, else of its name and place where that is unambiguous.
"""

from collections.abc import Container, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b, sha256
from typing import Any, Final, TypeAlias

from coreloop.observe.calls import AskedCalls
from coreloop.observe.importers import message_forms as forms
from coreloop.observe.importers import trace_values as values
from coreloop.observe.importers.files import UNREADABLE, TraceFile, TracePart, read_documents, read_each
from coreloop.observe.importers.traced_request import FOREIGN, UNDATED, SkippedTrace, TracedRequest
from coreloop.observe.record_parts import TracedCall
from coreloop.observe.scores import scores_in

NAME: Final = forms.CHAT
SUFFIXES: Final = (".jsonl", ".json", ".ndjson")
_MAX_SEARCHED: Final = 10  # messages, for one of a known form, with a model or a session
_MAX_DEPTH: Final = 3  # an object, its list, and the envelope of each chat in it
_Steps: TypeAlias = Iterable[tuple[str, list[forms.Step]]]
_TOLD: Final = ("name", "arguments", "content")  # of a call or a result, but its id
_LEAST_REWARD: Final = -1e9  # any finite number does: JSON has no infinity
# Keys in snake case, of a chat, its metadata or a message; ``createdAt`` is ``created_at``.
_TIMES: Final = ("ts", "timestamp", "created_at", "created", "ended_at", "end_time", "time", "start_time")
_SESSIONS: Final = ("session_id", "conversation_id", "thread_id", "chat_id")
_MODELS: Final = ("model", "model_name", "model_id", "model_version")
# What a model was sent and its reply, and keys in which both hold messages, or else a text.
_SENT: Final = ("input", "messages", "request")
_REPLIES: Final = ("output", "response")
_HOLDERS: Final = (
    *("messages", "input", "inputs", "contents", "output", "outputs", "choices", "candidates", "message"),
    *("content", "kwargs", "generations", "inputBodyJson", "outputBodyJson"),
)
_TASKS: Final = ("question", "query", "task", "prompt", "user_input", "input", "message", "text", "content")
_ANSWERS: Final = ("answer", "output", "response", "final_output", "result", "message", "text", "content")
# Keys of a step in the trace of a run: its input and output are no conversation.
_OF_A_RUN: Final = frozenset({"traceId", "span_id", "spanId", "run_type", "parent_run_id", "observations"})
_OF_A_STEP: Final = ("input", "inputs", "output", "outputs", "request", "response", "prompt", "attributes")


@dataclass(slots=True)
class Chat:
    """The content of the messages read so far.

    Attributes
    ----------
    answer_chars : int or None
        Length of the answer; None if the messages end before one.
    n_earlier : int
        Calls before the user's last message.
    unknown_kinds : list of str
        Of blocks and messages that no form has.
    n_unpaired : int
        Results that belong to no call, or may belong to several.
    """

    question: str | None = None
    last_question: str = ""
    n_earlier: int = 0
    calls: AskedCalls = field(default_factory=AskedCalls)
    answer: str = ""
    answer_chars: int | None = None
    rounds: int = 0
    unknown_kinds: list[str] = field(default_factory=list)
    n_unpaired: int = 0
    _waiting: list[tuple[str, TracedCall]] = field(default_factory=list)  # calls since the last results
    results: list[dict[str, Any]] = field(default_factory=list)  # since the last other message

    def add(self, role: str, steps: list[forms.Step]) -> None:
        """Add a message."""
        if role != "tool":
            self.pair()
        body = "\n".join(value for what, value in steps if what == forms.TEXT and value)
        kinds = [what for what, _ in steps]
        if role == "user" and {forms.TEXT, forms.OTHER} & {*kinds} and (body or forms.RESULT not in kinds):
            self.last_question = body or self.last_question
            if self.question is None:
                self.question = body
            elif body:
                self.calls.hear(body)
                self.n_earlier = len(self.calls.all)
        elif role == "assistant" and {*kinds} != {forms.RESULT}:
            self.rounds += 1
            self.answer = body or self.answer
            is_answer = forms.CALL not in kinds or kinds[-1] == forms.TEXT  # else said beside a call
            self.answer_chars = len(self.answer) if is_answer else None
        for what, value in steps:
            if what == forms.CALL:
                id = value["id"] or f"call {len(self.calls.all)}"
                self.calls.ask(id, value["name"], values.arguments(value["arguments"]))
                self._waiting.append((id, self.calls.all[-1]))
            elif what == forms.RESULT:
                self.results.append(value)
            else:
                self.pair()
                self.unknown_kinds += [value] if what == forms.UNKNOWN else []

    def pair(self) -> None:
        """Give the results to their calls; a result that may belong to several calls stays with none."""
        if not self.results:
            return
        by_place: dict[str | None, list[dict[str, Any]]] = {}
        names = {call.name for _, call in self._waiting}
        for result in self.results:
            id, name = result["id"], result["name"]
            if id in self.calls.open:
                forms.give(self.calls, id, result)
            elif id is None:
                by_place.setdefault(name if name in names else None, []).append(result)
            else:
                self.n_unpaired += 1
        for name, given in by_place.items():
            asked = [id for id, call in self._waiting if call.answered is None and name in (None, call.name)]
            if len(given) == len(asked):
                for id, result in zip(asked, given, strict=True):
                    forms.give(self.calls, id, result)
            else:
                self.n_unpaired += len(given)
        self._waiting, self.results = [], []


def read(files: Iterable[TraceFile]) -> Iterator[TracePart]:
    """Read the message lists of files: JSON lines, or documents with one message list or several."""
    known, saved = list(files), set[int]()
    for file in known:
        with suppress(*UNREADABLE):  # reported below
            for chat in _read_file(file):
                saved.update(_beginnings(forms.steps_in(_messages_of(chat) or ()))[:-1])

    def read(file: TraceFile) -> Iterator[TracedRequest | SkippedTrace]:
        for chat in _read_file(file):
            yield from parts_of(chat, saved=saved)

    yield from read_each(known, read)


def _messages_of(chat: Any) -> list[Any] | None:
    messages = values.decoded(chat.get("messages")) if isinstance(chat, dict) else None
    if not isinstance(messages, list):
        return None
    return [one for one in messages if isinstance(one, dict) and one.get("from_history") is not True]


def _beginnings(chat: _Steps) -> list[int]:
    """Hash a list of messages up to each, without what an API may give anew: ids, times, empty fields."""
    digest, hashes = blake2b(digest_size=8), []
    for role, steps in chat:
        told = [[value.get(key) for key in _TOLD] if isinstance(value, dict) else value for _, value in steps]
        digest.update(forms.plain_json([role, told]))
        hashes.append(int.from_bytes(digest.digest()))
    return hashes


def _read_file(file: TraceFile) -> Iterator[Any]:
    """Read the chats of a file; those of its lines that are messages are a chat for each session."""
    lines: dict[str | None, list[dict[str, Any]]] = {}
    with file.open() as opened:
        for document in read_documents(opened):
            if isinstance(document, dict) and forms.form_of(document):
                lines.setdefault(_named([document], _SESSIONS), []).append(document)
            else:
                yield from _chats(document)
    for messages in lines.values():
        yield {"messages": messages}


def _chats(document: Any, depth: int = _MAX_DEPTH) -> Iterator[Any]:
    """Yield the chats of a document, each with its ``messages``; what holds none is yielded as it is."""
    document = values.decoded(document)
    if _is_messages(document):
        document = {"messages": document}
    elif isinstance(document, list) and depth:
        for part in document:
            yield from _chats(part, depth - 1)
        return
    is_open = isinstance(document, dict) and depth and not _OF_A_RUN & document.keys()
    if is_open and (exchanged := _exchanged(document)):
        document = {**document, "messages": exchanged}
    is_searched = is_open and not _is_chat(document)
    names = [key for key in document if depth == _MAX_DEPTH or key not in _OF_A_STEP] if is_searched else []
    inner = [(document[key], list(_chats(document[key], depth - 1))) for key in names]
    held = [(value, chats) for value, chats in inner if any(map(_is_chat, chats))]
    if len(held) != 1:  # with several, it is a log of a model's input and output, not a conversation
        yield document
        return
    [(value, chats)] = held
    about = document if not isinstance(value, list) or _is_messages(value) else {}
    for chat in chats:
        yield {**about, **chat} if isinstance(chat, dict) else chat


def _is_messages(value: Any) -> bool:
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        return False
    return any(forms.form_of(item) for item in value[:_MAX_SEARCHED])


def _is_chat(value: Any) -> bool:
    messages = values.decoded(value.get("messages")) if isinstance(value, dict) else None
    return isinstance(messages, list) and not (messages and all(isinstance(item, list) for item in messages))


def _exchanged(value: dict[str, Any]) -> list[Any]:
    """The messages of a request to a model and of its response; empty if it is none."""
    asked, given = values.first(value, *_SENT), values.first(value, *_REPLIES)
    sent, replies = messages_in(given and asked), messages_in(given)
    if replies and not sent and values.text(asked):
        sent = [{"role": "user", "content": asked}]
    if sent and not replies and values.text(given):
        replies = [{"role": "assistant", "content": given}]
    is_reply = bool(replies and (sent or value.get("object") == "response"))
    return [*sent, *replies] if is_reply and sent[-len(replies) :] != replies else []


def messages_in(value: Any, depth: int = _MAX_SEARCHED) -> list[Any]:
    """Return the messages of a request or a reply of any API."""
    value = values.decoded(value)
    if value and _is_messages(value):
        return list(value)
    if isinstance(value, list) and value and depth:
        return messages_in(value[0], depth - 1)  # the first choice
    if not isinstance(value, dict) or not depth:
        return []
    if forms.form_of(value):
        return [value]
    held = (messages_in(value.get(key), depth - 1) for key in _HOLDERS)
    return next(filter(None, held), [])


def parts_of(
    chat: Any, *, source: str | None = None, saved: Container[int] = ()
) -> Iterator[TracedRequest | SkippedTrace]:
    """Yield the request of a chat, `UNDATED` if it has no time, and what could not be read of it.

    Parameters
    ----------
    chat : object
        What is known of a request, and its ``messages``.
    source : str, optional
        The format's name. Default: that of the messages' form.
    saved : container of int
        Hashes of the beginnings of other chats: such a beginning is skipped.
    """
    messages = _messages_of(chat)
    known = [form for message in messages or () if (form := forms.form_of(message))]
    if messages is None or (messages and not known):
        yield chat if isinstance(chat, SkippedTrace) else FOREIGN
        return
    steps = list(forms.steps_in(messages))
    content = _read_steps(steps)
    error, violation = _outcome(chat, is_empty=not messages)
    is_graded = bool({"reward", "success"} & chat.keys())  # as a whole
    if saved and steps and not is_graded and _beginnings(steps)[-1] in saved:
        yield SkippedTrace("beginning of a chat that was saved again later")
        return
    if content.question is None and not content.rounds and violation is None:
        yield SkippedTrace("list without a message")
        return
    times = map(values.read_time, _under([chat, *reversed(messages)], _TIMES))
    ended = next(filter(None, times), UNDATED)
    yield from [SkippedTrace("message or block of an unknown kind")] * len(content.unknown_kinds)
    is_unseen = content.n_unpaired or any(map(forms.OF_A_TOOL.search, content.unknown_kinds))
    if is_unseen and not content.calls.all:
        yield SkippedTrace("chat whose calls are of an unknown kind")
        return
    holders = [chat, *map(forms.opened, messages[:_MAX_SEARCHED])]
    given = values.first(chat, "request_id", "id")
    id = str(given) if type(given) is int else values.text(given)
    digest = sha256(forms.plain_json(messages)).hexdigest()
    yield TracedRequest(
        source=source or next((form for form in known if form != NAME), NAME),
        ids=(id,) if id is not None else (ended.isoformat(), digest),
        question=content.question or "",
        ended=ended,
        calls=tuple(content.calls.all),
        answer_chars=content.answer_chars,
        error=error,
        violation=violation,
        model=_named(holders, _MODELS),
        session_id=_named(holders, _SESSIONS),
        rounds=content.rounds,
        scores=scores_in(chat),
    )


def _named(holders: list[dict[str, Any]], keys: tuple[str, ...]) -> str | None:
    return next(filter(None, map(values.text, _under(holders, keys))), None)


def _under(holders: list[dict[str, Any]], keys: tuple[str, ...]) -> Iterator[Any]:
    """What is under keys, of a chat or a message, or of its metadata or last part."""
    return (held.get(key) for holder in holders for held in _holders(holder) for key in keys)


def _holders(holder: dict[str, Any]) -> Iterator[dict[str, Any]]:
    keys = ("metadata", "response_metadata", "request", "response")
    for held in (holder, *map(holder.get, keys), *values.listed(holder.get("parts"))[-1:]):
        if isinstance(held, dict):
            yield {forms.snake(key): value for key, value in held.items()}


def _outcome(chat: dict[str, Any], *, is_empty: bool) -> tuple[str | None, str | None]:
    """The error and the violation of a request that was graded as failed."""
    reward, success = chat.get("reward"), chat.get("success")
    violation = "success=false" if success is False else None
    if isinstance(reward, int | float) and not isinstance(reward, bool):
        violation = None if reward >= 1 else f"reward={float(max(reward, _LEAST_REWARD))}"
    if violation is None:
        return None, None
    return "no_trajectory" if is_empty else "task_failed", violation


def read_messages(messages: list[Any]) -> Chat:
    """Read the messages of a chat, of any form; anything else among them is passed over."""
    return _read_steps(forms.steps_in(messages))


def question_in(value: Any) -> str | None:
    """Return the user's question: the last user message of a chat, or the text of a usual key."""
    return read_messages(messages_in(value)).last_question or _text_in(value, _TASKS)


def answer_in(value: Any) -> str | None:
    """Return the answer: the last message of the assistant, or the text of a usual key."""
    return read_messages(messages_in(value)).answer or _text_in(value, _ANSWERS)


def _text_in(value: Any, keys: tuple[str, ...]) -> str | None:
    value = values.decoded(value)
    if not isinstance(value, dict):
        return values.text(value)
    holders = values.objects([value, value.get("kwargs"), value.get("inputs")])
    return next((text for holder in holders for key in keys if (text := values.text(holder.get(key)))), None)


def _read_steps(messages: _Steps) -> Chat:
    chat = Chat()
    for role, steps in messages:
        chat.add(role, steps)
    chat.pair()
    return chat
