"""The same four requests as each agent writes them: the second call fails, the fourth has no result."""

import json
from collections.abc import Callable, Iterable
from typing import Any

TOO_MANY = "Error: limit must be at most 100"
ARGS = [{"city": "Oslo", "limit": limit} for limit in (7, 488, 20, 21)]
REQUESTS = [
    (n, f"A room, {n}", ARGS[n], given)
    for n, given in enumerate(('{"rooms": ["r1"]}', TOO_MANY, '{"rooms": []}', None))
]


def at(n: int, second: int = 0) -> str:
    return f"2026-04-2{n}T09:30:{second:02}Z"


def _with_result(items: Iterable[Any], given: object) -> list[Any]:
    """Leave the result out, which comes third, if there is none."""
    return [item for number, item in enumerate(items) if number != 2 or given is not None]


def codex() -> list[Any]:
    """One session, with a torn line and one of another kind."""

    def item(second: int, **payload: Any) -> Any:
        return {"timestamp": at(1, second), "type": "response_item", "payload": payload}

    def message(second: int, role: str, text: str) -> Any:
        part = {"type": "input_text" if role == "user" else "output_text", "text": text}
        return item(second, type="message", role=role, content=[part])

    lines = [{"timestamp": at(1), "type": "session_meta", "payload": {"id": "s"}}]
    lines.append(message(0, "user", "<environment_context>…</environment_context>"))
    for n, asked, args, given in REQUESTS:
        output = (
            json.dumps({"output": given, "metadata": {"exit_code": 0}}),
            "Exit code: 1\nWall time: 0.1 seconds\nOutput:\nlimit must be at most 100",
            f"Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\n{given}",
            None,
        )[n]
        call = {"type": "function_call", "name": "find", "arguments": json.dumps(args), "call_id": f"c{n}"}
        result = {"type": "function_call_output", "call_id": f"c{n}", "output": output}
        question, answer = message(4 * n, "user", asked), message(4 * n + 3, "assistant", "Done.")
        lines += _with_result((question, item(4 * n + 1, **call), item(4 * n + 2, **result), answer), given)
    return [*lines, "{torn", {"note": "of another kind"}]


def claude() -> list[Any]:
    lines: list[Any] = [{"type": "system", "subtype": "init", "session_id": "s", "model": "claude-x"}]
    for n, asked, args, given in REQUESTS:
        result = {"type": "tool_result", "tool_use_id": "t", "content": given, "is_error": given == TOO_MANY}
        contents = [asked, [{"type": "tool_use", "id": "t", "name": "find", "input": args}], [result]]
        about = {"session_id": "s", "uuid": f"u{n}", "timestamp": at(n)}
        for content in _with_result((*contents, [{"type": "text", "text": "Done."}]), given):
            role = "user" if content in (asked, [result]) else "assistant"
            lines.append({"type": role, **about, "message": {"role": role, "content": content}})
        lines.append({"type": "result", "subtype": "success", "is_error": False, "result": "Done."})
    return [lines]


def atif() -> list[Any]:
    trajectories = []
    for n, asked, args, given in REQUESTS:
        call = {"tool_call_id": "t", "function_name": "find", "arguments": args}
        results = [] if given is None else [{"source_call_id": "t", "content": given}]
        steps = [
            {"step_id": 1, "source": "user", "message": asked},
            {"step_id": 2, "source": "agent", "tool_calls": [call], "observation": {"results": results}},
            {"step_id": 3, "source": "agent", "message": "Done.", "timestamp": at(n)},
        ]
        trajectories.append({"schema_version": "ATIF-v1.6", "session_id": f"s{n}", "steps": steps})
    return trajectories


def swe_agent() -> list[Any]:
    trajectories = []
    for n, asked, args, given in REQUESTS:
        call = {"id": "c", "function": {"name": "find", "arguments": json.dumps(args)}}
        history = [
            {"role": "user", "content": asked},
            {"role": "assistant", "content": "x", "action": "find", "tool_calls": [call]},
            {"role": "tool", "content": given, "tool_call_ids": ["c"]},
            {"role": "assistant", "content": "Done."},
        ]
        demonstration = {"role": "user", "content": "as here", "is_demo": True}
        history = [demonstration, *_with_result(history, given)]
        trajectories.append({"history": history, "info": {"exit_status": "submitted"}, "ts": at(n)})
    return trajectories


def smolagents() -> list[Any]:
    runs = []
    for n, asked, args, given in REQUESTS:
        call = {"id": "c", "type": "function", "function": {"name": "find", "arguments": args}}
        calls = [call] if given is not None else [call, {**call, "id": "d"}]
        error = {"type": "AgentToolExecutionError", "message": "limit"} if given in (TOO_MANY, None) else None
        asked_for = {"tool_calls": [] if error else calls, "model_output_message": {"tool_calls": calls}}
        step = {"step_number": 1, "timing": {"end_time": 1_777_109_401 + n}}
        last = {"tool_calls": [], "observations": None, "is_final_answer": True, "action_output": "Done."}
        task = {"task": asked, "task_images": None}
        runs.append([task, {**step, **asked_for, "observations": given, "error": error}, {**step, **last}])
    return runs


def adk() -> list[Any]:
    events: list[Any] = []
    for n, asked, args, given in REQUESTS:
        response = {"error": given} if given == TOO_MANY else {"result": given}
        parts = [
            {"text": asked},
            {"functionCall": {"name": "find", "args": args}},
            {"functionResponse": {"name": "find", "response": response}},
            {"text": "Done."},
        ]
        for part in _with_result(parts, given):
            about = {"invocationId": f"i{n}", "author": "user" if part == parts[0] else "agent"}
            events.append({**about, "content": {"parts": [part]}, "timestamp": 1_777_109_400.5 + n})
    return [{"id": "s", "appName": "rooms", "events": events}]


def mcp() -> list[Any]:
    lines: list[Any] = ["a line of text"]
    for n, _, args, given in REQUESTS:
        call = {
            "method": "tools/call",
            "params": {"name": "find", "arguments": args},
            "id": n,
            "jsonrpc": "2.0",
        }
        lines.append({"jsonrpc": "2.0", "id": 9, "method": "initialize"})
        lines.append(f"{at(n)} [client -> server] {json.dumps(call)} {{ metadata: undefined }}")
        result = {"content": [{"type": "text", "text": given}], "isError": given == TOO_MANY}
        answer = {"jsonrpc": "2.0", "id": n, "result": result}
        lines += [] if given is None else [{"timestamp": at(n, 2), "direction": "out", "message": answer}]
    return lines


WRITERS: dict[str, Callable[[], list[Any]]] = {
    "codex": codex,
    "claude-stream-json": claude,
    "atif": atif,
    "swe-agent": swe_agent,
    "smolagents": smolagents,
    "google-adk": adk,
    "mcp-log": mcp,
}
