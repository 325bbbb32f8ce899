"""Tools made by a decorator, which the readers are pointed at; stands beside tools.py."""

import importlib.util

from tools import TOOLS


def _has(package):
    return importlib.util.find_spec(package) is not None


if _has("langchain_core"):
    from langchain_core.tools import tool

    PLAIN = [tool(function) for function in TOOLS]
    # By default a docstring that is not Google's is an error: there is no tool, with or without new lines.
    PARSED = [tool(parse_docstring=True, error_on_invalid_docstring=False)(function) for function in TOOLS]
