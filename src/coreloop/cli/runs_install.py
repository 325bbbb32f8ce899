"""``dartlab-coreloop runs install|uninstall``, and ``observe turn``: what stands in an agent's settings.

The hooks of single calls are not used: of five calls that a model asked for, Claude Code 2.1.331 told them of
three. A call with rejected arguments or of an unknown tool reaches no hook, but stands in the session's file.
"""

import os
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import click
import msgspec

from coreloop.base.claude_settings import InstallChange
from coreloop.base.errors import CoreloopError, UsageError
from coreloop.base.project.workspace import open_workspace
from coreloop.base.text import padded, text_width
from coreloop.base.validation import fields_of
from coreloop.cli.options import NOT_CONFIRMED, DurationType, choice_option, confirm_option
from coreloop.cli.output import Command, Group, Output
from coreloop.runs.claude_code import installer
from coreloop.runs.claude_code.installer import Agent, Language, project_root

_NOT_ON_PATH: Final = (
    "dartlab-coreloop is not on PATH, where the skills look for it: start the agent in the environment that "
    "has it, or install it for all with pipx or uv tool"
)
_agent_argument = click.argument("agent", type=click.Choice(["claude-code", "plugin", "agents-md"]))


@click.command(cls=Command)
@_agent_argument
@choice_option("--language", words=["ko", "en"], about="Of the skills.", default="ko")
@click.option(
    "--lease",
    type=DurationType(),
    default="30m",
    show_default=True,
    metavar="TIME",
    help="Let a turn end if nothing was recorded for so long.",
)
@confirm_option
def install(agent: Agent, language: Language, lease: float, confirm: bool) -> Output:
    """Install the hook and the skills for a coding agent.

    The skills are deep-research, dr, research-pause, -stop, -report and use-coreloop. AGENT is claude-code,
    plugin (the folder coreloop-plugin, for Claude Code's plugins), or agents-md (a section of AGENTS.md, for
    other agents).

    Example: runs install claude-code --language en --confirm
    """
    changes = installer.install(
        project_root(Path.cwd()), agent=agent, lease_s=int(lease), confirm=confirm, language=language
    )
    notes = [_NOT_ON_PATH] if shutil.which("dartlab-coreloop") is None else []
    return changed_files(changes, confirm=confirm, notes=notes)


@click.command(cls=Command)
@_agent_argument
@confirm_option
def uninstall(agent: Agent, confirm: bool) -> Output:
    """Remove what install wrote. Files that were changed since are kept.

    Example: runs uninstall claude-code --confirm
    """
    changes = installer.uninstall(project_root(Path.cwd()), agent=agent, confirm=confirm)
    return changed_files(changes, confirm=confirm)


def changed_files(changes: Sequence[InstallChange], *, confirm: bool, notes: Sequence[str] = ()) -> Output:
    """Return which files change and, as a note, that nothing did without ``--confirm``."""
    width = max(text_width(change.what) for change in changes)
    lines = [f"{padded(change.what, width)}  {change.path}" for change in changes]
    return Output({"files": changes, "done": confirm}, lines, [*([] if confirm else [NOT_CONFIRMED]), *notes])


@click.group(cls=Group)
def observe() -> None:
    """Record the sessions of a coding agent in this project.

    Example: observe turn < turn.json
    """


@observe.command()
def turn() -> Output:
    """Record the turns of a session, of which the hook is told on stdin. Used by the hook.

    Exits with 1 if that fails, never with 2, by which a hook keeps Claude Code at work.

    Example: observe turn < turn.json
    """
    from coreloop.observe.importers import append_requests, claude_code

    try:
        session = _session_told(sys.stdin.buffer.read())
        agents = session.with_suffix("") / claude_code.AGENTS
        paths = (session, agents) if any(agents.glob("**/*.jsonl")) else (session,)
        workspace = open_workspace(Path(os.environ.get("CLAUDE_PROJECT_DIR") or Path.cwd()))
        report = append_requests.run_import(claude_code.NAME, paths, workspace, now_s=time.time())
    except CoreloopError as error:
        return Output({}, (), [f"dartlab-coreloop: this turn is not recorded: {error}"], code=1)
    return Output(fields_of(report, "added", "already_there"), ())


def _session_told(told: bytes) -> Path:
    """The session's file, of which Claude Code tells its hooks."""
    try:
        given = msgspec.json.decode(told, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError("reads on stdin what Claude Code tells a Stop hook, which was not JSON") from error
    path = given.get("transcript_path")
    if not isinstance(path, str) or not path.endswith(".jsonl"):
        raise UsageError("Claude Code named no file of the session (transcript_path)")
    return Path(path)
