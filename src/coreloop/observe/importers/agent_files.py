"""Files that agents keep of their own runs: readers turn their JSON objects into messages as of a chat.

A reader yields the parts of requests: which request, what is known about it, and its next messages in the
form of OpenAI's, with an ``error`` where the file flags one. Lists in a file are taken apart.
"""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from json import JSONDecoder
from typing import Any, Final, TypeAlias

from coreloop.observe.calls import milliseconds
from coreloop.observe.importers.files import TraceFile, TracePart, read_documents, read_each
from coreloop.observe.importers.message_forms import result_of
from coreloop.observe.importers.openai_chat import SUFFIXES, parts_of
from coreloop.observe.importers.trace_values import body_text, decoded, first, objects, read_time, text
from coreloop.observe.importers.traced_request import FOREIGN, TORN, SkippedTrace, TracedRequest, request_id

Objects: TypeAlias = Iterable[dict[str, Any]]
Parts: TypeAlias = Iterator[tuple[Hashable, dict[str, Any], list[dict[str, Any]]]]


@dataclass(frozen=True, slots=True)
class AgentFormat:
    """The format of an agent's files, as a module of one.

    Attributes
    ----------
    marks : str
        What an object of the format has, see `has`.
    parts : callable
        Yields the parts of requests in the objects of a file. What is known about a request may have
        ``fields``: values of `TracedRequest` that count instead of those read from its messages.
    documents : callable
        Yields the JSON values of an open file.
    """

    NAME: str
    marks: str
    parts: Callable[[Objects], Parts]
    SUFFIXES: tuple[str, ...] = SUFFIXES
    documents: Callable[[Any], Iterator[Any]] = read_documents

    def read(self, files: Iterable[TraceFile]) -> Iterator[TracePart]:
        """Read the requests of files."""
        yield from read_each(files, self._read_file)

    def _read_file(self, file: TraceFile) -> Iterator[TracePart]:
        skipped: list[SkippedTrace] = []
        chats: dict[Hashable, dict[str, Any]] = {}
        with file.open() as opened:
            for key, about, messages in self.parts(self._objects(self.documents(opened), skipped)):
                chat = chats.setdefault(key, {"began": read_time(about.get("ts")), "messages": []})
                chat |= {name: value for name, value in about.items() if value is not None}
                chat["messages"] += messages
        for chat in chats.values():
            for part in parts_of(chat, source=self.NAME):
                yield self._completed(part, chat, file) if isinstance(part, TracedRequest) else part
        yield from skipped

    def _completed(self, request: TracedRequest, chat: dict[str, Any], file: TraceFile) -> TracePart:
        fields = chat.get("fields", {})
        if not request.rounds and "judgment" not in fields:
            return SkippedTrace("question without an answer")
        connection = text(chat.get("connection"))
        known = {
            "ids": request.ids if request.ended.timestamp() else (*request.ids, file.path.name),
            "error": text(chat.get("error")),
            "session_id": request.session_id or (connection and f"{file.path.name} {connection}"),
            "duration_ms": milliseconds(chat["began"], request.ended),
            "rounds": request.rounds or None,
        }
        return replace(request, **known | fields)

    def _objects(self, values: Iterable[Any], skipped: list[SkippedTrace]) -> Iterator[dict[str, Any]]:
        for value in values:
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, dict) and (isinstance(item.get("type"), str) or has(item, self.marks)):
                    yield item
                else:
                    skipped.append(item if isinstance(item, SkippedTrace) else FOREIGN)


def has(document: Any, marks: str) -> bool:
    """Whether a document has all paths of a mark, as ``type=result a.id|…``; of lists, the first item."""
    return any(all(_leads(document, path) for path in mark.split()) for mark in marks.split("|"))


def _leads(value: Any, path: str) -> bool:
    keys, _, wanted = path.partition("=")
    for key in keys.split("."):
        value = value[0] if isinstance(value, list) and value else value
        if not isinstance(value, dict) or key not in value:
            return False
        value = value[key]
    return value is not None if wanted == "*" else value == wanted or not wanted


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _asks(id: object, name: object, args: object) -> dict[str, Any]:
    return {"role": "assistant", "tool_calls": [{"id": id, "function": {"name": name, "arguments": args}}]}


def _gives(id: object, content: object, error: str | None = None) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": content, "error": error}


_INJECTED: Final = re.compile(
    r"\s*(?:<(?:environment_context|user_instructions|turn_aborted|skill|subagent_notification|INSTRUCTIONS"
    r"|user_shell_command)>|# AGENTS\.md instructions)"
)
# "Chunk ID: 1\nWall time: 2.0 seconds\nProcess exited with code 1\nOutput:\n…", of which the code stays.
_META: Final = r"(?:(?:Chunk ID|Wall time|Process running|Original token|Total output)\b.*\n)*+"
_RAN: Final = re.compile(rf"\A{_META}((?:Exit code|Process exited)\b.*\n)?{_META}(?:Output|Final output):\n?")
_LONG_ID: Final = 20  # characters of a call's id that an API made up; a shorter one may repeat


def _codex(lines: Objects) -> Parts:
    """One request per message that the user typed.

    A session that goes on in another file repeats its head and turns there; they keep their ids.
    """
    about: dict[str, Any] = {}
    errors: dict[str, str | None] = {}
    turn, n_turns, asked = None, 0, set[str]()
    head = None
    for line in lines:
        kind, item = line.get("type"), _dict(line.get("payload")) or line
        about["ts"], id = line.get("timestamp") or about.get("ts"), str(item.get("call_id"))
        if kind == "session_meta" or "instructions" in line:
            head, n_turns = text(item.get("id")), 0
            about.setdefault("session_id", head)
        elif kind == "turn_context":
            about["model"] = item.get("model")
        elif kind == "event_msg":
            result = _dict(item.get("result"))
            told = result_of({**_dict(result.get("Ok")), "error": result.get("Err")})  # of a call of MCP
            errors[id] = told["error"]
            if turn and item.get("type") in ("turn_aborted", "error"):
                yield turn, {"error": text(item.get("message")) or "interrupted by the user"}, []
            if turn and item.get("type") == "mcp_tool_call_end" and id not in asked:  # called by a script
                made = _dict(item.get("invocation"))
                asks = _asks(id, f"mcp__{made.get('server')}__{made.get('tool')}", made.get("arguments"))
                yield turn, about, [asks, _gives(id, told["content"], told["error"])]
        elif item.get("role") == "user" and not _INJECTED.match(question := body_text(item.get("content"))):
            n_turns, asked = n_turns + 1, set()
            turn = f"{head} {n_turns} {question}"
            yield turn, {**about, "id": turn}, [item]
        elif turn:
            is_first = not asked and len(id) >= _LONG_ID
            asked.add(id)
            yield turn, {**about, "id": id if is_first else None}, _codex_messages(item, errors.get(id))


def _codex_messages(item: dict[str, Any], error: str | None) -> list[dict[str, Any]]:
    kind, output = str(item.get("type")), item.get("output")
    if kind.endswith("_output"):
        output = _RAN.sub(r"\1", output) if isinstance(output, str) else output
        return [{**item, "output": output, "error": error}]
    return [item] if kind.endswith("_call") or item.get("role") == "assistant" else []


def _claude(lines: Objects) -> Parts:
    """One request per run of ``claude -p``, and per task of a sub-agent in it."""
    model, run, n_runs = None, None, 0
    for line in lines:
        model = text(line.get("model")) or model
        if has(line, "session_id message.role"):
            task = text(line.get("parent_tool_use_id"))
            run = run or f"{line['session_id']} {line.get('uuid')}"
            outer = task and {"parent_id": request_id("claude-stream-json", (run,))}
            id = run if task is None else f"{run} {task}"
            about = {"id": id, "ts": line.get("timestamp"), "model": model, "session_id": line["session_id"]}
            yield (n_runs, task), {**about, "fields": outer}, [line["message"]]
        elif line.get("type") == "result":
            failed = line.get("is_error") or str(line.get("subtype")).startswith("error")
            error = text(line.get("result")) or text(line.get("subtype")) if failed else None
            yield (n_runs, None), {"error": error}, []
            n_runs, run = n_runs + 1, None


def _atif(documents: Objects) -> Parts:
    """One request per trajectory, and per one of a sub-agent in it; copied steps are left out."""
    for document in documents:
        steps = [step for step in objects(document.get("steps")) if not step.get("is_copied_context")]
        session, began = text(document.get("session_id")), steps[0].get("timestamp") if steps else None
        about = {
            "id": text(document.get("trajectory_id")) or (session and f"{session} {began}"),
            "session_id": session,
            "model": _dict(document.get("agent")).get("model_name"),
        }
        key = object()
        for step in steps:
            role = {"user": "user", "agent": "assistant"}.get(str(step.get("source")), "system")
            results = objects(_dict(step.get("observation")).get("results"))
            more = {"extra": step.get("extra")}
            results = [{**more, "call_id": result.get("source_call_id"), **result} for result in results]
            message = {**step, "role": role, "results": results}
            yield key, {**about, "ts": step.get("timestamp")}, [message]
        yield from _atif(objects(document.get("subagent_trajectories")))


# What SWE-agent adds to an observation.
_PROMPT: Final = re.compile(
    r"\AOBSERVATION:\n|(?:\n\(Open file: .*\))?\n\(Current directory: .*\)\nbash-\$\s*\Z"
)


def _swe_agent(documents: Objects) -> Parts:
    """One request per trajectory; without ids of calls, the user's message after a command is its result."""
    for document in documents:
        status = text(_dict(document.get("info")).get("exit_status")) or "submitted"
        failed = None if status.lower().startswith(("submitted", "exit_command")) else status
        key, n, is_open = object(), 0, False
        for message in objects(first(document, "history", "messages")):
            extra, body = _dict(message.get("extra")), _PROMPT.sub("", body_text(message.get("content")))
            code, made = extra.get("returncode"), objects(extra.get("actions"))
            error = body or f"exit code {code}" if code not in (None, 0) else None
            command = message.get("action") or (made[0].get("command") if made else None)
            id = message.get("tool_call_ids") or message.get("tool_call_id")
            ids = id if isinstance(id, list) else [id]
            messages = [{**message, "content": body, "tool_call_id": id, "error": error} for id in ids]
            if message.get("role") == "assistant" and command and not message.get("tool_calls"):
                n, is_open = n + 1, True
                messages.append(_asks(f"bash {n}", "bash", {"command": command}))
            elif message.get("role") == "user" and is_open:
                is_open, messages = False, [_gives(f"bash {n}", body, error)]
            if not message.get("is_demo"):
                yield key, {"ts": first(extra, "timestamp") or document.get("ts"), "error": failed}, messages


def _is_about(error: str, called: dict[str, Any]) -> bool:
    return all(str(called.get(key)) in error for key in ("name", "arguments"))


def _smolagents(steps: Objects) -> Parts:
    """One request per task; what a call of ``final_answer`` says is the answer."""
    n_tasks = 0
    for step in steps:
        n_tasks += "task" in step
        calls, error = objects(step.get("tool_calls")), _dict(step.get("error"))
        asked, ids = _dict(step.get("model_output_message")), [call.get("id") for call in calls]
        calls += [call for call in objects(asked.get("tool_calls")) if call.get("id") not in ids]
        calls = [call for call in calls if _dict(call.get("function")).get("name") != "final_answer"]
        messages: list[dict[str, Any]] = [{"role": "user", "content": step["task"]}] if "task" in step else []
        if "step_number" in step:
            messages = [{"role": "assistant", "content": step.get("model_output"), "tool_calls": calls}]
        given, failed = step.get("observations"), text(error.get("message")) or "error" if error else None
        done = calls if failed or given is not None else []
        if failed and len(calls) > 1:  # the others may have worked
            done = [call for call in calls if _is_about(failed, _dict(call.get("function")))]
        given = given if len(calls) == 1 else None  # of several, they are one text
        messages += [_gives(call.get("id"), given, failed) for call in done]
        if step.get("is_final_answer"):
            messages.append({"role": "assistant", "content": str(step.get("action_output"))})
        yield n_tasks, {"ts": _dict(step.get("timing")).get("end_time")}, messages


def _adk(documents: Objects) -> Parts:
    """One request per invocation, in sessions with their events or in events alone."""
    for document in documents:
        session = document if "events" in document else {"id": document.get("session_id")}
        for event in objects(session.get("events", [document])):
            id = f"{session.get('id')} {first(event, 'invocationId', 'invocation_id')}"
            failed = text(first(event, "errorMessage", "error_message", "errorCode", "error_code"))
            about = {"id": id, "session_id": session.get("id"), "ts": event.get("timestamp"), "error": failed}
            role = "user" if event.get("author") == "user" else "model"
            has_parts = _dict(event.get("content")).get("parts")
            yield id, about, [{"role": role, **event}] if has_parts else []


_STAMP: Final = re.compile(r"\d{4}-\d\d-\d\d[T ][\d:.]{8,15}(?:Z|[+-]\d\d:?\d\d)?")
_TAG: Final = re.compile(r"\[([^\[\]]{1,100})\]")


def _mcp_lines(opened: Iterable[bytes]) -> Iterator[Any]:
    """The JSON-RPC message of each line of a log, with the values of an envelope or the time before it."""
    for line in opened:
        before, brace, rest = line.decode("utf-8", "replace").partition("{")
        try:
            value = JSONDecoder().raw_decode(brace + rest)[0]  # a log may say more after it
        except (ValueError, RecursionError):
            yield TORN
            continue
        values = (decoded(inside) for inside in (value, *value.values()))
        rpc = next((inside for inside in values if isinstance(inside, dict) and "jsonrpc" in inside), None)
        stamp = _STAMP.search(before)
        tags = " ".join(_TAG.findall(before)) if "Message from" in before else None  # Claude's desktop app
        about = {"time": stamp[0] if stamp else None, "server": tags, **value}
        yield FOREIGN if rpc is None else {**rpc, "type": "", "about": about}


def _mcp(lines: Objects) -> Parts:
    """One request per call, as an MCP server is recorded."""
    connections = Counter[str]()
    calls: dict[tuple[str, str], int] = {}
    for number, line in enumerate(lines):
        server = str(line["about"]["server"])
        connections[server] += line.get("method") == "initialize"
        named = text(first(line["about"], "session_id", "sessionId", "session", "client_id"))
        client = named or f"{server} {connections[server]}"
        key, called = (client, str(line.get("id"))), _dict(line.get("params"))
        about = {
            "ts": first(line["about"], "timestamp", "ts", "time"),
            "session_id": named,
            "connection": client if connections[server] else None,
            "fields": {"is_call": True},
        }
        if line.get("method") == "tools/call":
            calls[key] = number
            about["id"] = f"{key} {number} {about['ts']} {called}"
            yield number, about, [_asks("call", called.get("name"), called.get("arguments"))]
        elif key in calls and ("result" in line or "error" in line):
            result = _dict(line.get("result"))
            is_failed = result.get("isError") is True
            content = first(result, "content" if is_failed else "structuredContent", "content")
            given = {"role": "tool", "is_error": is_failed, "error": line.get("error"), "content": content}
            answer = {"role": "assistant", "content": body_text(content) or "{}"}
            yield calls.pop(key), about, [given, answer]


_ROLLOUT: Final = (
    "type=session_meta payload|type=response_item payload|type=event_msg payload|id timestamp instructions"
    "|record_type=state"
)
_STREAM: Final = "type=user session_id message uuid|type=assistant session_id message.id"
_EVENTS: Final = "events.invocationId|events.invocation_id|author invocationId|author invocation_id"
_TRAJECTORY: Final = "info history|info trajectory_format|history.agent"
_RPC: Final = "jsonrpc method=tools/call|jsonrpc method=initialize"
FORMATS: Final = (
    AgentFormat("codex", _ROLLOUT, _codex),
    AgentFormat("claude-stream-json", _STREAM, _claude),
    AgentFormat("atif", "schema_version steps.step_id|schema_version steps.source", _atif),
    AgentFormat("swe-agent", _TRAJECTORY, _swe_agent, (*SUFFIXES, ".traj")),
    AgentFormat("smolagents", "task task_images|step_number tool_calls observations", _smolagents),
    AgentFormat("google-adk", _EVENTS, _adk),
    AgentFormat("mcp-log", _RPC, _mcp, (*SUFFIXES, ".log"), _mcp_lines),
)
