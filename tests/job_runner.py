"""Runs a workflow's job as a runner does: shell steps with bash, actions by what they do locally."""

import json
import os
import re
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from promoting import ADDRESS, run_git

Context = dict[str, Any]
_SHELLS = {None: ["bash", "-e"], "bash": ["bash", "--noprofile", "--norc", "-eo", "pipefail"]}
_TOKENS = re.compile(r"\s*('(?:[^']|'')*'|==|!=|&&|\|\||!|[(),]|[\w*-]+(?:\.[\w*-]+)*)")


@dataclass(frozen=True, slots=True)
class StepResult:
    """A step that ran or was skipped; `output` is what it printed, on both streams."""

    name: str
    outcome: str
    output: str


@dataclass(frozen=True, slots=True)
class JobResult:
    """A job's steps in order."""

    steps: tuple[StepResult, ...]

    @property
    def green(self) -> bool:
        return all(step.outcome != "failure" for step in self.steps)

    @property
    def log(self) -> str:
        return "\n".join(f"== {step.name}: {step.outcome}\n{step.output}" for step in self.steps)

    def ran(self) -> list[str]:
        """Names of the steps that were not skipped."""
        return [step.name for step in self.steps if step.outcome != "skipped"]


@dataclass(slots=True)
class Runner:
    """A machine for one job.

    Attributes
    ----------
    folder : Path
        Gets the checkout, the temporary folder and the runner's files.
    remote : Path
        The repository that actions/checkout fetches.
    event, event_name
        The payload and its name.
    python : Path
        Folder that setup-python puts on the path.
    variables, secrets, environ : mapping
        Of the repository; and of the machine.
    """

    folder: Path
    remote: Path
    event: Mapping[str, Any]
    event_name: str
    python: Path
    variables: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict)
    environ: Mapping[str, str] = field(default_factory=dict)
    _context: Context = field(init=False)

    def run(self, workflow: Mapping[str, Any], job: str) -> JobResult:
        """Run every step of a job."""
        self.temp.mkdir(parents=True)
        self.workspace.mkdir()
        self._event_path.write_text(json.dumps(self.event), encoding="utf-8")
        token = self.environ.get("GITHUB_TOKEN", "token")
        self._context = {
            "github": {
                "event": self.event,
                "event_name": self.event_name,
                "repository": self.event["repository"]["full_name"],
                "token": token,
            },
            "runner": {"temp": str(self.temp)},
            "vars": self.variables,
            "secrets": self.secrets,
            "steps": {},
            "failed": False,
        }
        wanted = workflow["jobs"][job]
        shell = wanted.get("defaults", {}).get("run", {}).get("shell")
        environ = self._filled(wanted.get("env", {}))
        return JobResult(tuple(self._step(step, environ, shell) for step in wanted["steps"]))

    @property
    def temp(self) -> Path:
        return self.folder / "temp"

    @property
    def workspace(self) -> Path:
        return self.folder / "workspace"

    @property
    def _event_path(self) -> Path:
        return self.folder / "event.json"

    def _step(self, step: Mapping[str, Any], environ: Mapping[str, str], shell: str | None) -> StepResult:
        name = step.get("name") or step["uses"].partition("@")[0]
        if not self._wanted(str(step.get("if", "success()"))):
            return StepResult(name, "skipped", "")
        outputs: dict[str, str] = {}
        if "uses" in step:
            code, output = 0, self._use(step, outputs)
        else:
            code, output = self._bash(step, {**environ, **self._filled(step.get("env", {}))}, shell, outputs)
        outcome = "failure" if code else "success"
        self._context["failed"] |= code != 0 and not step.get("continue-on-error")
        if "id" in step:
            self._context["steps"][step["id"]] = {"outputs": outputs, "outcome": outcome}
        return StepResult(name, outcome, output)

    def _wanted(self, condition: str) -> bool:
        condition = condition.removeprefix("${{").removesuffix("}}").strip()
        status = re.search(r"\b(success|failure|always|cancelled)\(", condition)
        return bool(evaluate(condition if status else f"success() && ({condition})", self._context))

    def _filled(self, texts: Mapping[str, Any]) -> dict[str, str]:
        return {name: fill(str(text), self._context) for name, text in texts.items()}

    def _bash(
        self, step: Mapping[str, Any], environ: Mapping[str, str], shell: str | None, outputs: dict[str, str]
    ) -> tuple[int, str]:
        files = {name: self.folder / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_ENV")}
        for path in files.values():
            path.write_text("")
        done = subprocess.run(
            [*_SHELLS[step.get("shell", shell)], "-c", step["run"]],
            cwd=self.workspace,
            env={**self._machine(), **{name: str(path) for name, path in files.items()}, **environ},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
        )
        lines = files["GITHUB_OUTPUT"].read_text().splitlines()
        outputs |= dict(line.split("=", 1) for line in lines)
        return done.returncode, done.stdout + files["GITHUB_STEP_SUMMARY"].read_text()

    def _machine(self) -> dict[str, str]:
        """The environment of a step; git's author and pip's index are this machine's."""
        kept = {name: os.environ[name] for name in os.environ if not name.startswith(("GITHUB_", "PYTHON"))}
        return {
            **kept,
            "PATH": os.pathsep.join((str(self.python), "/usr/local/bin", "/usr/bin", "/bin")),
            "HOME": str(self.folder),
            "RUNNER_TEMP": str(self.temp),
            "GITHUB_EVENT_PATH": str(self._event_path),
            "GITHUB_EVENT_NAME": self.event_name,
            "GITHUB_SERVER_URL": "https://github.com",
            **{name: text for name, text in self.environ.items() if name != "GITHUB_TOKEN"},
        }

    def _use(self, step: Mapping[str, Any], outputs: dict[str, str]) -> str:
        action = step["uses"].partition("@")[0]
        return _ACTIONS[action](self, self._filled(step.get("with", {})), outputs)


def _checkout(runner: Runner, options: Mapping[str, str], outputs: dict[str, str]) -> str:
    """Every branch, as with fetch-depth 0, and one of them checked out."""
    assert options["fetch-depth"] == "0"
    branch = options.get("ref") or runner.event["repository"]["default_branch"]
    run_git(runner.workspace, "init", "--quiet")
    run_git(runner.workspace, "remote", "add", "origin", ADDRESS)
    run_git(runner.workspace, "config", f"url.{runner.remote}.insteadOf", ADDRESS)
    run_git(runner.workspace, "fetch", "--quiet", "origin", "+refs/heads/*:refs/remotes/origin/*")
    start = f"refs/remotes/origin/{branch.removeprefix('refs/heads/')}"
    run_git(runner.workspace, "checkout", "--quiet", "-B", branch.removeprefix("refs/heads/"), start)
    return branch


def _upload(runner: Runner, options: Mapping[str, str], outputs: dict[str, str]) -> str:
    names = [path.name for path in Path(options["path"]).rglob("*") if path.is_file()]
    assert names or options["if-no-files-found"] != "error"
    return "\n".join(sorted(names))


def _app_token(runner: Runner, options: Mapping[str, str], outputs: dict[str, str]) -> str:
    outputs["token"] = runner.environ["GITHUB_TOKEN"]
    return ""


_ACTIONS: Mapping[str, Callable[[Runner, Mapping[str, str], dict[str, str]], str]] = {
    "actions/checkout": _checkout,
    "actions/setup-python": lambda runner, options, outputs: options["python-version"],
    "actions/upload-artifact": _upload,
    "actions/create-github-app-token": _app_token,
}


# --- expressions -----------------------------------------------------------------------------------


def fill(text: str, context: Context) -> str:
    """A text with its ``${{ }}`` replaced."""
    return re.sub(r"\$\{\{(.*?)\}\}", lambda match: _text(evaluate(match[1], context)), text, flags=re.DOTALL)


def evaluate(expression: str, context: Context) -> Any:
    """The value of an expression: names, texts, ``! == != && ||``, and the functions below."""
    tokens = _TOKENS.findall(expression)
    assert "".join(tokens) == re.sub(r"\s+(?=(?:[^']*'[^']*')*[^']*$)", "", expression), expression
    value = _either(tokens, context)
    assert not tokens, expression
    return value


def _either(tokens: list[str], context: Context) -> Any:
    value = _both(tokens, context)
    while tokens[:1] == ["||"]:
        tokens.pop(0)
        other = _both(tokens, context)
        value = value or other
    return value


def _both(tokens: list[str], context: Context) -> Any:
    value = _compared(tokens, context)
    while tokens[:1] == ["&&"]:
        tokens.pop(0)
        other = _compared(tokens, context)
        value = value and other
    return value


def _compared(tokens: list[str], context: Context) -> Any:
    value = _single(tokens, context)
    if tokens[:1] not in (["=="], ["!="]):
        return value
    wanted = tokens.pop(0) == "=="
    return (_text(value).casefold() == _text(_single(tokens, context)).casefold()) is wanted


def _single(tokens: list[str], context: Context) -> Any:
    token = tokens.pop(0)
    if token == "!":
        return not _single(tokens, context)
    if token == "(":
        value = _either(tokens, context)
        assert tokens.pop(0) == ")"
        return value
    if token.startswith("'"):
        return token[1:-1].replace("''", "'")
    if tokens[:1] == ["("]:
        return _called(token, tokens, context)
    return _looked_up(token.split("."), context)


def _called(name: str, tokens: list[str], context: Context) -> Any:
    tokens.pop(0)
    values = []
    while tokens[0] != ")":
        values.append(_either(tokens, context))
        if tokens[0] == ",":
            tokens.pop(0)
    tokens.pop(0)
    functions: dict[str, Callable[..., Any]] = {
        "always": lambda: True,
        "cancelled": lambda: False,
        "failure": lambda: context["failed"],
        "success": lambda: not context["failed"],
        "contains": lambda whole, part: part in (whole or ""),
        "startsWith": lambda text, start: _text(text).casefold().startswith(start.casefold()),
        "format": lambda text, *others: text.format(*map(_text, others)),
        "join": lambda items, between=",": between.join(map(_text, items or ())),
        "toJSON": json.dumps,
    }
    return functions[name](*values)


def _looked_up(names: list[str], value: Any) -> Any:
    for at, name in enumerate(names):
        if name == "*":
            return [_looked_up(names[at + 1 :], item) for item in value or ()]
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)
