"""Finds the adapter for an agent, by the package that the agent's class comes from."""

import logging
import os
from importlib import import_module
from typing import Any, Final

from coreloop.base.errors import UsageError

ADAPTERS: Final = {
    "pydantic_ai": "pydantic_ai",
    "agents": "openai_agents",
    **dict.fromkeys(("langgraph", "langchain_core", "langchain"), "langchain"),
    "claude_agent_sdk": "claude_agent",
    **dict.fromkeys(("mcp", "fastmcp"), "mcp"),
}
"""Package of the agent's class -> module of this package."""


def attach(agent: Any, data_dir: str | os.PathLike[str] | None = None) -> Any:
    """Record what the model asks an agent, or a server of tools, for.

    Logs the adapter's name at level INFO, in the logger ``coreloop``.

    Parameters
    ----------
    agent : object
        Of one of the frameworks in ``ADAPTERS``. Of the OpenAI Agents SDK, every agent of the process is
        recorded from then on.
    data_dir : path, optional
        As for `AuditCollector`.

    Returns
    -------
    object
        The agent to use from now on: the same object, except of LangChain and LangGraph.

    Raises
    ------
    UsageError
        The agent is of no known framework.

    Examples
    --------
    >>> agent = attach(agent)  # doctest: +SKIP
    """
    packages = [base.__module__.partition(".")[0] for base in type(agent).__mro__]
    known = next((package for package in packages if package in ADAPTERS), None)
    if known is None:
        kind = f"{type(agent).__module__}.{type(agent).__qualname__}"
        raise UsageError(
            f"attach: no adapter for a {kind}, only for {', '.join(ADAPTERS)}; use dartlab-coreloop receive"
        )
    name = ADAPTERS[known]
    recorded = import_module(f"coreloop.observe.adapters.{name}").attach(agent, data_dir)
    logging.getLogger("coreloop").info("audit: recording %s with the adapter %s", known, name)
    return agent if recorded is None else recorded
