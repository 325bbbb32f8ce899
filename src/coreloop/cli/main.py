"""The command group, which imports commands on demand, and the exit codes of errors."""

import errno
import gc
import importlib
import keyword
import os
import sys
from collections.abc import Iterator
from copy import copy
from typing import Any, Final

import click

from coreloop import __version__
from coreloop.base.errors import CoreloopError, ModelError, RefusedError
from coreloop.base.extras import missing_extra
from coreloop.base.streams import outlive_readers
from coreloop.cli.output import Group, Output, is_json, json_of, say, show

GROUPS: Final = {
    "Traces -> cause -> line -> pull request -> did it help": {
        "look": "Show what traces that exist already say; nothing is kept or sent.",
        "init": "Add the files that coreloop needs to a repository.",
        "import": "Convert traces of other tools into records.",
        "receive": "Turn spans of any OpenTelemetry exporter into records.",
        "refine": "Find what distinguishes failed calls from successful calls.",
        "pattern": "Find sequences of tools that keep succeeding.",
        "judge": "List the proposals that wait for a verdict, or record one.",
        "measure": "Measure whether a line makes a model call a tool right.",
        "promote": "Open a draft pull request that adds proposals to a docstring.",
        "effect": "Show whether changes of descriptions helped.",
        "status": "Show where the loop stands; warn when a stage produces no output.",
    },
    "Questions with sources, and runs that end": {
        "ask": "Answer from the project's files; beside it: index, search, repair.",
        "research": "Answer a question with citations: plan, search, reflect, verify.",
        "runs": "Drive a command, and show, pause, stop and remove runs.",
    },
    "Try, check and share": {
        "demo": "Run the loop on a scratch project, without a key or a network.",
        "doctor": "Check the set-up, and say what to do about each problem.",
        "tools": "List the texts that models read of each tool, and check them.",
        "guard": "Stop promotions from merging without a human.",
        "sanitize": "Copy the records without private data, or check them for it.",
        "serve": "Serve the project over HTTP, or write its pages as files.",
    },
}
"""The commands as ``--help`` lists them: the slow loop in its order, then the rest."""
COMMANDS: Final = {name: summary for group in GROUPS.values() for name, summary in group.items()}
_WIDEST: Final = max(map(len, COMMANDS))
HIDDEN: Final = (
    "feedback",
    "search",
    "index",
    "repair",
    "jobs",
    "verify",
    "propose-axis",
    "docstring",
    "knowledge",
    "observe",
)
"""Commands that are rare: the help of a listed one names them where they are needed."""
_SPELLINGS: Final = ("backfill-blog",)
"""Commands that stand under their noun, too."""
_HOMES: Final = {
    **dict.fromkeys(("search", "index", "feedback"), "ask"),
    "backfill-blog": "knowledge",
    "doctor": "init",
    "look": "import",
    "measure": "effect",
    "observe": "runs_install",
    "propose-axis": "promote",
    "receive": "serve",
    "repair": "jobs",
    "verify": "promote",
}
"""The modules of commands that share one."""
_CODES: Final = {RefusedError: 1, ModelError: 5}
"""The exit codes of errors for which it is not 2."""
_DISK_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_ENVIRONMENT_ERRNOS: Final = frozenset(
    {errno.EACCES, errno.EPERM, errno.EROFS, errno.EIO, errno.ELOOP, errno.ENAMETOOLONG}
)
"""Errors that any file operation can meet: reported as a known error, not as a bug."""


class _LazyGroup(Group):
    """Imports a command's module only when the command runs, so that ``--help`` stays fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*COMMANDS, *HIDDEN, *_SPELLINGS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        home = _HOMES.get(cmd_name, cmd_name)
        module = importlib.import_module(f"coreloop.cli.{_python_name(home)}")
        command: click.Command = copy(getattr(module, _python_name(cmd_name)))
        command.hidden = cmd_name not in COMMANDS
        return command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except ModelError as error:
            if is_json():
                about = {"type": error.kind, "message": str(error), "retryable": error.is_retryable}
                click.echo(json_of({"error": about}))  # as ERROR_RESPONSE_V1.json
            raise

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_paragraph()
        for title, group in GROUPS.items():
            formatter.write(f"{title}:\n")
            with formatter.indentation():
                formatter.write_dl([(name.ljust(_WIDEST), summary) for name, summary in group.items()])


def _python_name(name: str) -> str:
    return name.replace("-", "_") + ("_" if keyword.iskeyword(name) else "")


def every_command() -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield every command and its words, including subcommands, by the name that its help has."""
    for name in (*COMMANDS, *HIDDEN):
        command = main.get_command(click.Context(main), name)
        if command is not None:
            yield (name,), command
        if isinstance(command, click.Group):
            yield from (((name, word), inner) for word, inner in command.commands.items())


@click.group(
    cls=_LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="COMMAND --help has more. Example: dartlab-coreloop look ~/.claude/projects",
)
@click.version_option(__version__, prog_name="dartlab-coreloop")
@click.pass_context
def main(ctx: click.Context) -> Output | None:
    """Find why an agent's tool calls fail, and propose the line that prevents it."""
    if ctx.invoked_subcommand is not None:
        return None
    from coreloop.cli.status import front_door

    return front_door({name: COMMANDS[name] for name in ("look", "ask", "init", "demo")})


@main.result_callback()
def finish(output: Output | None) -> None:
    """Print what a command returned, and exit with its code."""
    if output is not None:
        show(output)
        click.get_current_context().exit(output.code)


def run() -> None:
    """Entry point: 0 done, 1 a check said no, 2 usage or a known error, 3 a bug, 5 no model, 130 Ctrl-C."""
    outlive_readers()
    gc.set_threshold(50_000)  # what is imported is no garbage: else 30 ms of a short command
    try:
        code = main(prog_name="dartlab-coreloop", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        code = 2
    except click.ClickException as error:
        code = _refuse(error.format_message())
    except CoreloopError as error:
        code = _refuse("; ".join([str(error), *getattr(error, "__notes__", [])]))
        code = next((code for kind, code in _CODES.items() if isinstance(error, kind)), code)
    except (click.Abort, KeyboardInterrupt):
        say("dartlab-coreloop: stopped; run it again to go on", err=True)
        code = 130
    except SystemExit as error:
        if not isinstance(error.__context__, BrokenPipeError):
            raise
        code = _report_bug()  # click treats every broken pipe as a closed stdout
    except ModuleNotFoundError as error:
        missing = missing_extra(error)
        code = _refuse(str(missing)) if missing else _report_bug()
    except OSError as error:
        code = _refuse_os(error)
    except Exception:
        code = _report_bug()
    sys.exit(code if isinstance(code, int) else 0)


def _refuse_os(error: OSError) -> int:
    if error.errno in _ENVIRONMENT_ERRNOS and error.filename is not None:
        return _refuse(f"{os.fsdecode(error.filename)}: {error.strerror}")
    if error.errno not in _DISK_FULL:
        return _report_bug()
    _silence_stdout()
    return _refuse(f"cannot write: {error.strerror}")


def _refuse(message: str) -> int:
    say(f"dartlab-coreloop: {' '.join(message.split())}", err=True)
    return 2


def _report_bug() -> int:
    import traceback

    traceback.print_exc()
    say("dartlab-coreloop: this is a bug in coreloop; please report the lines above", err=True)
    return 3


def _silence_stdout() -> None:
    """Discard buffered output; otherwise the interpreter reports the error again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
