"""Claude Code as its hooks see it: a session that runs the hooks of the project's settings."""

import json
import os
import subprocess
from dataclasses import dataclass, field
from typing import Any

from acceptance.shell import Project


@dataclass(slots=True)
class Session:
    """A session in a project, with the transcript that Claude Code keeps."""

    project: Project
    id: str = "s1"
    _transcript: list[dict[str, Any]] = field(default_factory=list)
    _is_continued: bool = False

    def prompt(self, text: str) -> None:
        """A person writes something, which begins a turn."""
        self._is_continued = False
        self._note(text)
        self._hooks("UserPromptSubmit", prompt=text)

    def interrupt(self) -> None:
        """A person presses Esc or Ctrl+C: no hook is run, the transcript says so."""
        self._is_continued = False
        self._note("[Request interrupted by user]")

    def stop(self) -> str:
        """The model ends its turn; returns the reason if a hook keeps it at work, or ""."""
        active = self._is_continued
        done = self._hooks("Stop", stop_hook_active=active, background_tasks=[])
        decisions = [json.loads(one.stdout) for one in done if one.stdout.strip()]
        reasons = [str(said["reason"]) for said in decisions if said.get("decision") == "block"]
        self._is_continued = bool(reasons)
        return " ".join(reasons)

    def _note(self, text: str) -> None:
        message = {"role": "user", "content": [{"type": "text", "text": text}]}
        self._transcript.append({"type": "user", "sessionId": self.id, "message": message})
        path = self.project.folder / f"{self.id}.jsonl"
        path.write_text("".join(f"{json.dumps(line)}\n" for line in self._transcript), encoding="utf-8")

    def _hooks(self, event: str, **more: Any) -> list[subprocess.CompletedProcess[str]]:
        folder = self.project.folder
        settings = json.loads((folder / ".claude" / "settings.json").read_text(encoding="utf-8"))
        given = {
            "session_id": self.id,
            "transcript_path": str(folder / f"{self.id}.jsonl"),
            "cwd": str(folder),
            "hook_event_name": event,
            **more,
        }
        return [
            subprocess.run(
                ["/bin/sh", "-c", hook["command"]],
                input=json.dumps(given),
                env={**os.environ, "CLAUDE_PROJECT_DIR": str(folder)},
                cwd=folder,
                capture_output=True,
                text=True,
                check=True,
            )
            for group in settings["hooks"].get(event, ())
            for hook in group["hooks"]
        ]


def install(project: Project) -> None:
    """Install skills and hook."""
    done = project.run("runs", "install", "claude-code", "--confirm")
    assert done.code == 0, done.err


def skill(project: Project, name: str = "deep-research") -> str:
    """Return an installed skill's text."""
    return (project.folder / ".claude" / "skills" / name / "SKILL.md").read_text(encoding="utf-8")
