"""Runs jobs of a workflow as a runner does: shell steps in bash, with conditions, outputs and expressions.

Of the actions, only those are imitated that later steps depend on: the App's token, and the cache.
"""

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from promoting import Project

_PYTHON = """#!/bin/sh
[ "$1 $2 $3" = "-I -m venv" ] || exit 9
mkdir -p "$4/bin"
cd "$4/bin"
printf '#!/bin/sh\\n[ "$1 $2 $3" = "-I -m pip" ] && echo "$@" > "$RUNNER_TEMP/pip.txt" && exit\\n' > python
printf 'exec {python} "$@"\\n' >> python
printf '#!/bin/sh\\n[ "$* $STABLE" = "status --stability true" ] && exit\\n' > dartlab-coreloop
printf 'exec {python} -m coreloop "$@"\\n' >> dartlab-coreloop
chmod +x python dartlab-coreloop
"""
_DATE = '#!/bin/sh\n[ "$*" = "-u +%F" ] && echo "$NIGHT" && exit\nexec /usr/bin/date "$@"\n'


@dataclass(slots=True)
class Job:
    """What a job left: `said` is all that it printed, `ran` the names of its shell steps."""

    result: str = "success"
    outputs: dict[str, str] = field(default_factory=dict)
    summary: str = ""
    said: str = ""
    ran: list[str] = field(default_factory=list)


class Runner:
    """A runner with a project's checkout; each job gets an empty temporary folder, the cache stays.

    Parameters
    ----------
    workflow : Path
        The YAML file.
    environ : dict of str to str
        For every step.
    """

    def __init__(self, workflow: Path, project: Project, folder: Path, environ: dict[str, str]) -> None:
        self.jobs = yaml.safe_load(workflow.read_text(encoding="utf-8"))["jobs"]
        self.project, self.folder = project, folder
        self.temp, self.cache = folder / "temp", folder / "cache"
        self.variables: dict[str, str] = {}
        self.needs: dict[str, Job] = {}
        self.environ = environ
        self.token = "no token"
        programs = folder / "programs"
        programs.mkdir(parents=True)
        for name, text in (("python", _PYTHON.format(python=sys.executable)), ("date", _DATE)):
            (programs / name).write_text(text)
            (programs / name).chmod(0o755)
        self._path = f"{programs}:/usr/bin:/bin"

    def run(self, key: str, night: str = "2026-04-26", **environ: str) -> Job:
        """Run a job; ``needs`` of a later one know it."""
        shutil.rmtree(self.temp, ignore_errors=True)
        self.temp.mkdir()
        job, steps, restored = Job(), dict[str, dict[str, str]](), None
        for step in self.jobs[key]["steps"]:
            if not self._holds(step.get("if", "success()"), steps, job):
                continue
            outputs = steps.setdefault(step.get("id", ""), {})
            if "actions/cache@" in step.get("uses", ""):
                restored = Path(self._filled(step["with"]["path"], steps))
                if self.cache.exists():
                    shutil.copytree(self.cache, restored)
            elif "create-github-app-token@" in step.get("uses", ""):
                outputs["token"] = self.token
            elif "run" in step:
                more = {name: self._filled(str(value), steps) for name, value in step.get("env", {}).items()}
                self._shell(step, job, outputs, {"NIGHT": night, **environ, **more})
        if restored is not None and job.result == "success":
            shutil.rmtree(self.cache, ignore_errors=True)
            shutil.copytree(restored, self.cache)
        declared = self.jobs[key].get("outputs", {})
        job.outputs = {name: self._filled(text, steps) for name, text in declared.items()}
        self.needs[key] = job
        return job

    def _shell(self, step: Any, job: Job, outputs: dict[str, str], environ: dict[str, str]) -> None:
        files = {name: self.folder / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for path in files.values():
            path.write_text("")
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            env={
                **self.environ,
                "PATH": self._path,
                "RUNNER_TEMP": str(self.temp),
                **{name: str(path) for name, path in files.items()},
                **environ,
            },
            cwd=self.project.root,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        job.ran.append(step["name"])
        job.said += done.stdout + done.stderr
        job.summary += files["GITHUB_STEP_SUMMARY"].read_text(encoding="utf-8")
        outputs.update(read_outputs(files["GITHUB_OUTPUT"].read_text(encoding="utf-8")))
        if done.returncode:
            job.result = "failure"

    def _filled(self, text: str, steps: dict[str, dict[str, str]]) -> str:
        return re.sub(r"\$\{\{ (.*?) \}\}", lambda found: self._value(found[1], steps), text)

    def _value(self, expression: str, steps: dict[str, dict[str, str]]) -> str:
        return next(filter(None, (self._atom(part.strip(), steps) for part in expression.split("||"))), "")

    def _atom(self, atom: str, steps: dict[str, dict[str, str]]) -> str:
        if atom.startswith("'"):
            return atom.strip("'")
        match atom.split("."):
            case ["steps", id, "outputs", name]:
                return steps.get(id, {}).get(name, "")
            case ["needs", job, "result"]:
                return self.needs[job].result
            case ["needs", job, "outputs", name]:
                return self.needs[job].outputs.get(name, "")
            case ["vars" | "secrets", name]:
                return self.variables.get(name, "")
            case ["runner", "temp"]:
                return str(self.temp)
            case ["github", "token"]:
                return self.token
        raise AssertionError(f"an expression that this runner does not know: {atom}")

    def _holds(self, condition: str, steps: dict[str, dict[str, str]], job: Job) -> bool:
        if condition == "always()":
            return True
        if job.result != "success":
            return False
        compared = re.fullmatch(r"(\S+) (==|!=) '(.*)'", condition)
        if compared is None:
            assert condition == "success()", condition
            return True
        return (self._value(compared[1], steps) == compared[3]) is (compared[2] == "==")


def read_outputs(text: str) -> dict[str, str]:
    """The outputs in a file: ``name=value``, or ``name<<END`` and lines up to END."""
    outputs, lines = dict[str, str](), iter(text.splitlines())
    for line in lines:
        name, is_long, end = line.partition("<<")
        if is_long and "=" not in name:
            outputs[name] = "\n".join(iter(lines.__next__, end))
        else:
            name, _, value = line.partition("=")
            outputs[name] = value
    return outputs
