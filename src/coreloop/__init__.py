"""coreloop turns the real use of an LLM agent into better docstrings for the agent's tools."""

__version__ = "0.1.0"
