"""A project and the command line in it, for acceptance tests: in this process, or as a process of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from coreloop.cli import run

_QUIET = {
    "CLAUDE_CODE_SESSION_ID": "",
    "CLAUDECODE": "",
    "CORELOOP_RUN": "",
    "COLUMNS": "120",
    "LANG": "C.UTF-8",
}


@dataclass(frozen=True, slots=True)
class Done:
    """A command that has ended."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(slots=True)
class Project:
    """A folder in which ``dartlab-coreloop`` is run."""

    folder: Path
    environ: dict[str, str] = field(default_factory=dict)

    def run(self, *words: str, stdin: str | bytes = "", is_terminal: bool = False, **environ: str) -> Done:
        """Run a command by the installed program's entry point, in this process."""
        with (
            CliRunner(env=_QUIET | self.environ | environ).isolation(input=stdin) as (out, err, _both),
            pytest.MonkeyPatch.context() as patch,
        ):
            patch.chdir(self.folder)
            patch.setattr(sys, "argv", ["dartlab-coreloop", *words])
            patch.setattr(sys.stdin, "isatty", lambda: is_terminal)
            code = _exit_code()
            return Done(code, out.getvalue().decode(), err.getvalue().decode())

    def start(self, *words: str, **more: Any) -> subprocess.Popen[str]:
        """Start a command as a process; its output is piped."""
        environ = os.environ | _QUIET | self.environ | more.pop("environ", {})
        pipes = {name: more.pop(name, subprocess.PIPE) for name in ("stdin", "stdout", "stderr")}
        command = [sys.executable, "-m", "coreloop", *words]
        return subprocess.Popen(command, cwd=self.folder, env=environ, text=True, **pipes, **more)

    def open(self, question: str, *options: str, **environ: str) -> str:
        """Open a run for an agent; returns its id."""
        done = self.run("runs", "open", question, "--new", *options, **environ)
        assert done.code == 0, done.err
        return done.out.strip()

    def record(self, report: Mapping[str, Any], *words: str, **environ: str) -> Done:
        """Record an agent's report of an iteration."""
        return self.run("runs", "record", *words, stdin=json.dumps(report, ensure_ascii=False), **environ)

    def read(self, *texts: str) -> list[int]:
        """Give the project files of one text each, in git, and open a run that reads them; their numbers."""
        names = [f"docs/{number}.md" for number in range(len(texts))]
        for name, text in zip(names, texts, strict=True):
            self.write(name, f"{text}\n")
        self.commit()
        self.open(texts[0])
        return [int(self.run("runs", "read", name).json["source"]) for name in names]

    def commit(self) -> None:
        """Commit all files of the folder; the first commit makes the repository."""
        who = ("-c", "user.name=a", "-c", "user.email=a@example.com")
        for words in (("init", "-q"), ("add", "-A"), (*who, "commit", "-q", "-m", "files")):
            subprocess.run(["git", *words], cwd=self.folder, check=True, capture_output=True)

    def next(self, *words: str) -> dict[str, Any]:
        """Return what an agent is told before its next iteration."""
        done = self.run("runs", "next", *words)
        assert done.code == 0, done.err
        facts: dict[str, Any] = done.json
        return facts

    def shown(self, *words: str) -> dict[str, Any]:
        """Return the state that ``runs show`` prints."""
        facts: dict[str, Any] = self.run("runs", "show", *words, "--json").json
        return facts

    def view(self, name: str) -> Any:
        """Return a JSON file of ``.research``."""
        return json.loads((self.folder / ".research" / name).read_text(encoding="utf-8"))

    def write(self, name: str, text: str) -> Path:
        """Write a file below the folder."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path


def _exit_code() -> int:
    try:
        run()
    except SystemExit as end:
        return int(end.code or 0)
    return 0
