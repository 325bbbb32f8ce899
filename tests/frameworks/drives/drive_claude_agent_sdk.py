"""Runs planned requests through the Claude Agent SDK and its own Claude Code: PLAN DATA_DIR.

The model is a server of this process, which answers as Anthropic's API does, by script.
"""

import asyncio
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, create_sdk_mcp_server, tool
from tools import booking, cancelled, rooms

from coreloop import attach, dropped

SERVER = "mcp__rooms__"
TEXT = {"type": "string"}
PLAN: dict[str, list] = {}


def answer(value):
    return {"content": [{"type": "text", "text": json.dumps(value)}]}


def schema(required, **properties):
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


@tool(
    "find_rooms",
    "Find free rooms.",
    schema(["city", "seats"], city=TEXT, seats={"type": "integer", "minimum": 1, "maximum": 20}),
)  # fmt: skip
async def find_rooms(args):
    return answer(rooms(**args))


@tool(
    "book_room",
    "Book a room.",
    schema(["room_id", "hours"], room_id={"type": "string"}, hours={"type": "integer"}),
)
async def book_room(args):
    return answer(booking(**args))


@tool("cancel_booking", "Cancel a booking.", schema(["booking_id"], booking_id={"type": "string"}))
async def cancel_booking(args):
    return answer(cancelled(**args))


def next_reply(messages):
    """The next planned round of the last question: as many as the model has replied to it are behind."""
    question, n_replies = "", 0
    for message in messages:
        content = message["content"]
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        asked = [part["text"] for part in parts if part["type"] == "text" and part["text"] in PLAN]
        if message["role"] == "user" and asked:
            question, n_replies = asked[-1], 0
        elif message["role"] == "assistant":
            n_replies += 1
    rounds = PLAN.get(question, [])
    if n_replies >= len(rounds):
        return [{"type": "text", "text": "done"}]
    return [
        {
            "type": "tool_use",
            "id": f"{question}-{n_replies}-{place}".replace(" ", "_"),
            "name": name(call["tool"]),
            "input": call["args"],
        }
        for place, call in enumerate(rounds[n_replies])
    ]


def name(bare):
    return bare if bare == "find_desks" else SERVER + bare


def whole_message(blocks, model, stop_reason):
    return {
        "id": f"msg_{os.urandom(6).hex()}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": blocks,
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 1},
    }


def events(blocks, model):
    message = whole_message([], model, None)
    yield {"type": "message_start", "message": message}
    for index, block in enumerate(blocks):
        if block["type"] == "text":
            yield {
                "type": "content_block_start",
                "index": index,
                "content_block": {"type": "text", "text": ""},
            }
            delta = {"type": "text_delta", "text": block["text"]}
        else:
            yield {"type": "content_block_start", "index": index, "content_block": {**block, "input": {}}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    stop = "tool_use" if blocks[0]["type"] == "tool_use" else "end_turn"
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": stop, "stop_sequence": None},
        "usage": {"output_tokens": 5},
    }
    yield {"type": "message_stop"}


class Model(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, kind, data):
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_HEAD(self):
        self.reply("text/plain", b"")

    def do_GET(self):
        self.reply("application/json", b"{}")

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
        if "count_tokens" in self.path or "/v1/messages" not in self.path:
            self.reply("application/json", b'{"input_tokens": 10}')
            return
        blocks = (
            next_reply(asked["messages"]) if asked.get("tools") else [{"type": "text", "text": "a title"}]
        )
        if not asked.get("stream"):
            whole = whole_message(blocks, asked["model"], "end_turn")
            self.reply("application/json", json.dumps(whole).encode())
            return
        lines = (
            f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"
            for event in events(blocks, asked["model"])
        )
        self.reply("text/event-stream", "".join(lines).encode())


async def drive(requests, data_dir, port):
    server = create_sdk_mcp_server("rooms", tools=[find_rooms, book_room, cancel_booking])
    options = ClaudeAgentOptions(
        mcp_servers={"rooms": server},
        allowed_tools=[f"{SERVER}{bare}" for bare in ("find_rooms", "book_room", "cancel_booking")],
        setting_sources=[],
        env={
            "ANTHROPIC_API_KEY": "none",
            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}",
            "HOME": str(Path.cwd()),
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "ENABLE_TOOL_SEARCH": "false",
        },
    )
    for begin in range(0, len(requests), 20):  # a session of 20 turns stays short
        async with attach(ClaudeSDKClient(options), data_dir) as client:
            for request in requests[begin : begin + 20]:
                await client.query(request["question"])
                async for _ in client.receive_response():
                    pass


def main(plan, data_dir):
    requests = json.loads(Path(plan).read_text(encoding="utf-8"))
    PLAN.update({request["question"]: request["rounds"] for request in requests})
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    asyncio.run(drive(requests, data_dir, server.server_port))
    print(json.dumps(dropped()))


if __name__ == "__main__":
    main(*sys.argv[1:])
