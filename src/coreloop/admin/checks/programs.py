"""Check that the programs in coreloop.yaml exist, without running them."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from coreloop.admin.checks.diagnosis import Diagnosis, Setup


def is_program(word: str, root: Path) -> bool:
    """Whether a word is a program on the PATH or, with a slash, the path of a program from a folder."""
    return shutil.which(root / word if os.sep in word else word) is not None


def check_notify(setup: Setup) -> Iterator[Diagnosis]:
    """Check that the command of ``notify:`` exists; no diagnosis if it is not set."""
    command = setup.workspace.settings.notify.command
    if not command:
        return
    if is_program(command[0], setup.workspace.root):
        yield Diagnosis("notify", "ok", f"status runs {command[0]} after a change")
    else:
        message = f"notify: {command[0]} is not a program on the PATH or a path such as ./tell"
        yield Diagnosis(
            "notify", "fault", message, "correct notify: in coreloop.yaml, or make the file executable"
        )
