"""A Claude agent with a scripted model, and its record. ``pip install claude-agent-sdk`` and coreloop"""

import asyncio
import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, create_sdk_mcp_server, tool

import coreloop

FIND, OSLO = "mcp__rooms__find_rooms", {"city": "Oslo"}
CALLS = [(FIND, {**OSLO, "seats": "four"}), ("find_desks", OSLO), (FIND, {**OSLO, "seats": 4})]


class Model(BaseHTTPRequestHandler):
    """Stands for the model: the next call, or the answer, as Anthropic's API streams it."""

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        n = sum(message["role"] == "assistant" for message in asked["messages"])
        block, delta, why = {"type": "text", "text": ""}, {"type": "text_delta", "text": "Fjord."}, "end_turn"
        if asked.get("tools") and n < len(CALLS):
            block = {"type": "tool_use", "id": f"toolu_{n}", "name": CALLS[n][0], "input": {}}
            delta, why = {"type": "input_json_delta", "partial_json": json.dumps(CALLS[n][1])}, "tool_use"
        reply = {"id": f"m{n}", "type": "message", "role": "assistant", "model": "scripted", "content": []}
        self.send_response(200)
        self.end_headers()
        for event in [
            {"type": "message_start", "message": {**reply, "usage": {"input_tokens": 9, "output_tokens": 1}}},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": why}, "usage": {"output_tokens": 5}},
            {"type": "message_stop"},
        ]:
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())


@tool("find_rooms", "Find free rooms.", {"city": str, "seats": int})
async def find_rooms(args):
    return {"content": [{"type": "text", "text": "Fjord"}]}


async def main(url):
    rooms = {"rooms": create_sdk_mcp_server("rooms", tools=[find_rooms])}
    env = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "none"}
    client = ClaudeSDKClient(ClaudeAgentOptions(mcp_servers=rooms, allowed_tools=[FIND], env=env))
    async with coreloop.attach(client):  # the line that records
        await client.query("Is a room free in Oslo?")
        assert [message async for message in client.receive_response()]


server = HTTPServer(("127.0.0.1", 0), Model)
threading.Thread(target=server.serve_forever, daemon=True).start()
asyncio.run(main(f"http://127.0.0.1:{server.server_port}"))
(path,) = Path("data/audit/ai-ask").glob("*.jsonl")
for call in json.loads(path.read_text(encoding="utf-8"))["tool_calls"]:
    print(call["name"].removeprefix("mcp__rooms__"), call["ok"], call["error"])
