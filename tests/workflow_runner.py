"""Runs a workflow's jobs as GitHub's runner does: shell steps with bash, actions by what they do locally."""

import json
import os
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from github_stand_in import GithubStandIn
from promoting import ADDRESS, Project, run_git
from workflow_expressions import Context, evaluate, fill
from workflow_shell import ShellResult, run_shell

RUN_ID = "77"
_FOREIGN = ("GITHUB_", "PYTHON", "GIT_AUTHOR_", "GIT_COMMITTER_", "VIRTUAL_ENV", "UV_", "COV_")


@dataclass(frozen=True, slots=True)
class StepResult:
    """A step that ran or was skipped."""

    name: str
    outcome: str
    output: str = ""
    summary: str = ""


@dataclass(frozen=True, slots=True)
class JobResult:
    """A job's steps in order, and its outputs."""

    steps: tuple[StepResult, ...]
    result: str
    outputs: dict[str, str]

    @property
    def green(self) -> bool:
        return self.result == "success"

    @property
    def log(self) -> str:
        return "\n".join(f"== {step.name}: {step.outcome}\n{step.output}" for step in self.steps)

    @property
    def summary(self) -> str:
        return "".join(step.summary for step in self.steps)

    def ran(self) -> list[str]:
        """Names of the steps that were not skipped."""
        return [step.name for step in self.steps if step.outcome != "skipped"]


@dataclass(slots=True)
class WorkflowRunner:
    """A machine for the jobs of a workflow: each gets an empty workspace, the caches stay.

    Attributes
    ----------
    workflow : mapping
        The parsed YAML.
    project : Project
        Its remote is what actions/checkout fetches.
    folder : Path
        Gets the workspace, the temporary folder and the runner's files.
    programs : Path
        First on the path, as setup-python puts its folder there.
    variables, secrets : mapping
        Of the repository.
    needs : dict of str to JobResult
        The jobs that have run.
    """

    workflow: Mapping[str, Any]
    project: Project
    github: GithubStandIn
    folder: Path
    programs: Path
    variables: dict[str, str] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict)
    needs: dict[str, JobResult] = field(default_factory=dict)
    _context: Context = field(init=False, repr=False)

    @property
    def jobs(self) -> Any:
        return self.workflow["jobs"]

    @property
    def temp(self) -> Path:
        return self.folder / "temp"

    @property
    def workspace(self) -> Path:
        return self.folder / "workspace"

    @property
    def cache(self) -> Path:
        return self.folder / "cache"

    @property
    def artifacts(self) -> Path:
        return self.folder / "artifacts"

    def run(
        self,
        key: str,
        *,
        event_name: str = "schedule",
        event: Mapping[str, Any] | None = None,
        matrix: Mapping[str, str] | None = None,
        **environ: str,
    ) -> JobResult:
        """Run every step of a job for an event; `environ` is for the shell steps."""
        for folder in (self.temp, self.workspace):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        home = {"full_name": self.github.repo, "default_branch": "main"}
        self._context = self._new_context(event_name, {**(event or {}), "repository": home}, matrix or {})
        job = self.jobs[key]
        environ |= {"GITHUB_EVENT_NAME": event_name, **self._filled(job.get("env", {}))}
        shell = job.get("defaults", {}).get("run", {}).get("shell")
        steps = tuple(self._step(step, environ, shell) for step in job["steps"])
        self._save_cache()
        result = "failure" if self._context["failed"] else "success"
        self.needs[key] = JobResult(steps, result, self._filled(job.get("outputs", {})))
        return self.needs[key]

    def _new_context(self, name: str, event: Mapping[str, Any], matrix: Mapping[str, str]) -> Context:
        (self.folder / "event.json").write_text(json.dumps(event), encoding="utf-8")
        needs = {key: {"result": job.result, "outputs": job.outputs} for key, job in self.needs.items()}
        return {
            "github": {
                "event": event,
                "event_name": name,
                "repository": self.github.repo,
                "token": self.github.token,
                "run_id": RUN_ID,
                "run_attempt": "1",
            },
            "runner": {"temp": str(self.temp)},
            "vars": self.variables,
            "secrets": self.secrets,
            "matrix": matrix,
            "needs": needs,
            "steps": {},
            "failed": False,
            "cached": None,
        }

    def _step(self, step: Mapping[str, Any], environ: Mapping[str, str], shell: str | None) -> StepResult:
        name = step.get("name") or step["uses"].partition("@")[0]
        if not self._wanted(str(step.get("if", "success()"))):
            return StepResult(name, "skipped")
        if "uses" in step:
            done = self._use(step)
        else:
            own = {**self._machine(), **environ, **self._filled(step.get("env", {}))}
            done = run_shell(
                step["run"],
                environ=own,
                cwd=self.workspace,
                files=self.folder,
                shell=step.get("shell", shell),
            )
        outcome = "failure" if done.code else "success"
        self._context["failed"] |= done.code != 0 and not step.get("continue-on-error")
        if "id" in step:
            self._context["steps"][step["id"]] = {"outputs": done.outputs, "outcome": outcome}
        return StepResult(name, outcome, done.output, done.summary)

    def _wanted(self, condition: str) -> bool:
        condition = condition.removeprefix("${{").removesuffix("}}").strip()
        status = re.search(r"\b(success|failure|always|cancelled)\(", condition)
        return bool(evaluate(condition if status else f"success() && ({condition})", self._context))

    def _filled(self, texts: Mapping[str, Any]) -> dict[str, str]:
        return {name: fill(str(text), self._context) for name, text in texts.items()}

    def _machine(self) -> dict[str, str]:
        """The environment of a step; the settings of git and of pip's index are this machine's."""
        kept = {name: os.environ[name] for name in os.environ if not name.startswith(_FOREIGN)}
        return {
            **kept,
            "PATH": os.pathsep.join((str(self.programs), "/usr/local/bin", "/usr/bin", "/bin")),
            "HOME": str(self.folder),
            "LANG": "C.UTF-8",
            "RUNNER_TEMP": str(self.temp),
            "GITHUB_EVENT_PATH": str(self.folder / "event.json"),
            "GITHUB_REPOSITORY": self.github.repo,
            "GITHUB_API_URL": self.github.url,
            "GITHUB_SERVER_URL": "https://github.com",
            "GITHUB_RUN_ID": RUN_ID,
        }

    def _use(self, step: Mapping[str, Any]) -> ShellResult:
        outputs: dict[str, str] = {}
        action = step["uses"].partition("@")[0]
        output = _ACTIONS[action](self, self._filled(step.get("with", {})), outputs)
        return ShellResult(0, output, outputs, "")

    def _restore_cache(self, path: Path) -> None:
        self._context["cached"] = path
        if self.cache.exists():
            shutil.copytree(self.cache, path)

    def _save_cache(self) -> None:
        """As actions/cache does after the last step: only if the job ends green."""
        if self._context["cached"] is not None and not self._context["failed"]:
            shutil.rmtree(self.cache, ignore_errors=True)
            shutil.copytree(self._context["cached"], self.cache)


# --- actions ---------------------------------------------------------------------------------------


def _checkout(runner: WorkflowRunner, options: Mapping[str, str], outputs: dict[str, str]) -> str:
    """A branch, checked out; with fetch-depth 0 every other branch as well."""
    event = runner._context["github"]["event"]
    branch = (options.get("ref") or event["repository"]["default_branch"]).removeprefix("refs/heads/")
    wanted = "*" if options.get("fetch-depth") == "0" else branch
    workspace = runner.workspace
    run_git(workspace, "init", "--quiet")
    run_git(workspace, "remote", "add", "origin", ADDRESS)
    # a part of the address, so that a step which replaces all of it comes first, as it would on the server
    server = runner.folder / f"remote-{ADDRESS[-1]}"
    if not server.is_symlink():
        server.symlink_to(runner.project.remote)
    run_git(workspace, "config", f"url.{server.as_posix()[:-1]}.insteadOf", ADDRESS[:-1])
    run_git(workspace, "fetch", "--quiet", "origin", f"+refs/heads/{wanted}:refs/remotes/origin/{wanted}")
    run_git(workspace, "checkout", "--quiet", "-B", branch, f"refs/remotes/origin/{branch}")
    return branch


def _upload(runner: WorkflowRunner, options: Mapping[str, str], outputs: dict[str, str]) -> str:
    names = [path.name for path in Path(options["path"]).rglob("*") if path.is_file()]
    assert names or options["if-no-files-found"] != "error"
    kept = runner.artifacts / options["name"]
    shutil.rmtree(kept, ignore_errors=True)
    shutil.copytree(options["path"], kept)
    return "\n".join(sorted(names))


def _download(runner: WorkflowRunner, options: Mapping[str, str], outputs: dict[str, str]) -> str:
    shutil.copytree(runner.artifacts / options["name"], options["path"])
    return ""


def _app_token(runner: WorkflowRunner, options: Mapping[str, str], outputs: dict[str, str]) -> str:
    outputs["token"] = runner.github.token
    return ""


def _cache(runner: WorkflowRunner, options: Mapping[str, str], outputs: dict[str, str]) -> str:
    runner._restore_cache(Path(options["path"]))
    return ""


_ACTIONS: Mapping[str, Callable[[WorkflowRunner, Mapping[str, str], dict[str, str]], str]] = {
    "actions/cache": _cache,
    "actions/checkout": _checkout,
    "actions/download-artifact": _download,
    "actions/setup-python": lambda runner, options, outputs: options["python-version"],
    "actions/upload-artifact": _upload,
    "actions/create-github-app-token": _app_token,
}
