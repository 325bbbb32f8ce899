"""Runs planned requests against a server of the MCP SDK: PLAN DATA_DIR."""

from mcp.client import Client
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from serving import run

run(MCPServer("rooms"), Client, ToolError)
