"""Whether programs that coreloop.yaml names can be run; none is run."""

import shutil
from collections.abc import Iterator
from pathlib import Path

from coreloop.doctor.diagnosis import Diagnosis, Setup


def is_program(word: str, root: Path) -> bool:
    """Whether a word is a program on the PATH, or a path to one below a folder."""
    return shutil.which(word) is not None or shutil.which(root / word) is not None


def check_notify(setup: Setup) -> Iterator[Diagnosis]:
    """Whether the command of ``notify:`` can be run; nothing where none is set."""
    command = setup.workspace.settings.notify.command
    if not command:
        return
    if is_program(command[0], setup.workspace.root):
        yield Diagnosis("notify", "ok", f"status tells {command[0]} what changed")
    else:
        said = f"notify: {command[0]} is not a program that can be run"
        yield Diagnosis(
            "notify", "fault", said, "correct notify: in coreloop.yaml, or make the file executable"
        )
