"""Helpers for the tests of the collector: hostile values, times, and scripts in processes of their own."""

import os
import subprocess
import sys
from datetime import UTC, datetime

MOMENT = datetime(2026, 4, 25, 9, 30, tzinfo=UTC)
SECRET = "비밀-4711"


def ns(moment):
    return int(moment.timestamp()) * 1_000_000_000 + moment.microsecond * 1000


def run(script, *arguments, **environ):
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env={**os.environ, **environ},
    )
    return done.stdout.splitlines()


class Mute:
    """An object without a text."""

    def __str__(self):
        raise RuntimeError(SECRET)

    __repr__ = __str__


class Speechless:
    """An object with a `repr` for Hypothesis, but without `str`."""

    __str__ = Mute.__str__

    def __repr__(self):
        return "Speechless()"


class MuteError(Exception):
    __str__ = Mute.__str__


class BrokenMapping(dict):
    def items(self):
        raise RuntimeError(SECRET)
