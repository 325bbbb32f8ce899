"""The command line: one file per command, which reads, decides and prints."""

import sys

__all__ = ["run"]


def run() -> None:
    """Entry point of the commands ``dartlab-coreloop`` and ``coreloop``: see `coreloop.cli.main.run`."""
    try:
        _run()
    except KeyboardInterrupt:  # while modules are imported
        sys.exit(130)


def _run() -> None:
    from coreloop import __version__

    if sys.argv[1:] == ["--version"]:
        print(f"dartlab-coreloop, version {__version__}")
        return
    import os
    from pathlib import Path

    from coreloop.base.chosen_language import choose_language
    from coreloop.base.extras import missing_extra
    from coreloop.base.messages import speak

    try:
        folder = Path.cwd()  # every command looks for coreloop.yaml from here
    except FileNotFoundError:
        speak(choose_language(sys.argv[1:], os.environ, Path("/")))
        message = "the current folder was removed; change to another one"
        print(f"dartlab-coreloop: {message}", file=sys.stderr)
        sys.exit(2)
    speak(choose_language(sys.argv[1:], os.environ, folder))
    try:
        from coreloop.cli.main import run as run_command
    except ModuleNotFoundError as error:
        missing = missing_extra(error)
        if missing is None:
            raise
        print(f"dartlab-coreloop: {missing!s}", file=sys.stderr)
        sys.exit(2)
    run_command()
