"""The open blocks of collectors in this thread or task: whose request it is."""

from contextvars import ContextVar
from typing import Any

# Innermost last, and whether each is its collector's outermost. No tokens: a token raises when it is used
# twice or in another context, and blocks may be exited in any order.
_blocks: ContextVar[tuple[tuple[Any, bool], ...]] = ContextVar("coreloop_collectors", default=())


def enter_block(collector: object, *, outermost: bool) -> None:
    """Add the innermost block."""
    _blocks.set((*_blocks.get(), (collector, outermost)))


def exit_block(collector: object) -> bool:
    """Remove the innermost block of a collector; whether that ends its request."""
    blocks = _blocks.get()
    for place in reversed(range(len(blocks))):
        if blocks[place][0] is collector:
            _blocks.set(blocks[:place] + blocks[place + 1 :])
            return blocks[place][1]
    return True  # entered in another context, for example by a generator's first step


def innermost() -> Any:
    """The collector of the innermost block, or None outside of any."""
    blocks = _blocks.get()
    return blocks[-1][0] if blocks else None
