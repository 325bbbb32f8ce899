"""A project's own agent, asked for its next call in a copy of the project: JSON on stdin, JSON on stdout."""

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from coreloop.answer.models.contracts import CallReply
from coreloop.answer.models.model import Message, Reply, Usage
from coreloop.base.errors import ModelError
from coreloop.promote.measure.with_and_without import ToolText, tools_of
from coreloop.promote.project_copy import run_in_copy


class _Answer(msgspec.Struct, frozen=True):
    """The next call; no tool if the agent would call none."""

    tool: str | None
    arguments: dict[str, Any] = {}


@dataclass(frozen=True, slots=True)
class AgentCaller:
    """An agent that is run for each question.

    Attributes
    ----------
    command : tuple of str
        Program and arguments.
    copies : tuple of Path
        The project's folder without and with the lines.
    timeout_s : float
        The longest that an answer may take.
    version : str
        The commit of the copies: another one is another agent.
    """

    command: tuple[str, ...]
    copies: tuple[Path, Path]
    timeout_s: float
    version: str
    edited: Sequence[ToolText] = ()

    @property
    def name(self) -> str:
        """``agent:`` and its command."""
        return f"agent:{' '.join(self.command)}"

    def most(self, messages: Sequence[Message], tools: Sequence[ToolText]) -> Usage:
        """What an agent uses is not known."""
        return Usage(self.name)

    def tools(self, folder: Path) -> tuple[ToolText, ...]:
        """The tools that the agent of a copy sends its model.

        Raises
        ------
        ModelError
            It printed none.
        """
        tools = tools_of(self._answer(folder, {"ask": "tools"}, object))
        if not tools:
            raise self._unusable("it printed no tool with a name and a description")
        return tools

    def call(self, messages: Sequence[Message], tools: Sequence[ToolText]) -> Reply[CallReply]:
        """Ask the agent of the copy that serves these tools."""
        folder = self.copies[tools == self.edited]
        asked = [{"role": message.role, "content": message.content} for message in messages[1:]]
        answer = self._answer(folder, {"ask": "call", "messages": asked}, _Answer)
        if not answer.tool:
            raise ModelError(f"{self.name}: calls no tool", kind="malformed")
        return Reply(CallReply(tool=answer.tool, arguments=answer.arguments), Usage(self.name))

    def _answer(self, folder: Path, document: dict[str, Any], kind: Any) -> Any:
        written = msgspec.json.encode(document)
        try:
            return self._answer_once(folder, written, kind)
        except ModelError:  # one lost connection in 200 answers would end most measurements
            return self._answer_once(folder, written, kind)

    def _answer_once(self, folder: Path, document: bytes, kind: Any) -> Any:
        try:
            ran = run_in_copy(self.command, folder, document, timeout_s=self.timeout_s)
        except subprocess.TimeoutExpired as error:
            raise self._unusable(f"no answer in {self.timeout_s:g} s") from error
        except (OSError, ValueError) as error:  # ValueError: a null character in a word
            raise self._unusable(getattr(error, "strerror", None) or str(error)) from error
        if ran.returncode:
            raise self._unusable(f"it exited with {ran.returncode}: {ran.last_error}")
        try:
            return msgspec.json.decode(ran.output, type=kind)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise self._unusable(f"its answer cannot be used ({error})") from error

    def _unusable(self, reason: str) -> ModelError:
        return ModelError(f"{self.name}: {reason}", kind="unavailable")
