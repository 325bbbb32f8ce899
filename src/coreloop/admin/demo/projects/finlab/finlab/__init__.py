"""Five tools over the annual filings of thirty invented companies.

An agent calls the functions in ``TOOLS`` by name; their docstrings are what it knows about them.
"""

from collections.abc import Callable

from .axes import analysis
from .history import trend
from .screening import compare, scan
from .statements import show

TOOLS: dict[str, Callable[..., object]] = {
    "analysis": analysis,
    "show": show,
    "scan": scan,
    "compare": compare,
    "trend": trend,
}

__all__ = ["TOOLS", "analysis", "compare", "scan", "show", "trend"]
