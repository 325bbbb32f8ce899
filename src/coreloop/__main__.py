"""``python -m coreloop``."""

from coreloop.cli import run

run()
