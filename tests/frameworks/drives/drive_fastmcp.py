"""Runs planned requests against a server of FastMCP: PLAN DATA_DIR."""

from fastmcp import Client, FastMCP
from fastmcp.exceptions import ToolError

from serving import run

run(FastMCP("rooms"), Client, ToolError)
