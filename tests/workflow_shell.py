"""A workflow's shell steps as GitHub's runner starts them, and programs that take the place of its own."""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_SHELLS = {None: ["bash", "-e"], "bash": ["bash", "--noprofile", "--norc", "-eo", "pipefail"]}


@dataclass(frozen=True, slots=True)
class ShellResult:
    """What a shell step left; `output` is what it printed, on both streams."""

    code: int
    output: str
    outputs: dict[str, str]
    summary: str


def run_shell(
    script: str, *, environ: Mapping[str, str], cwd: Path, files: Path, shell: str | None = "bash"
) -> ShellResult:
    """Run a shell step; `files` is the folder of the files that it writes outputs and its summary to."""
    paths = {name: files / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    for path in paths.values():
        path.write_text("")
    done = subprocess.run(
        [*_SHELLS[shell], "-c", script],
        cwd=cwd,
        env={**environ, **{name: str(path) for name, path in paths.items()}},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    written, summary = (path.read_text(encoding="utf-8") for path in paths.values())
    return ShellResult(done.returncode, done.stdout, read_outputs(written), summary)


def read_outputs(text: str) -> dict[str, str]:
    """The outputs in a file: ``name=value``, or ``name<<END`` and lines up to END."""
    outputs, lines = dict[str, str](), iter(text.splitlines())
    for line in lines:
        name, is_long, end = line.partition("<<")
        if is_long and "=" not in name:
            outputs[name] = "\n".join(iter(lines.__next__, end))
        else:
            name, _, outputs[name] = line.partition("=")
    return outputs


def setup_python(folder: Path, python: Path, commands: Mapping[str, str] | None = None) -> Path:
    """A folder with a ``python`` whose environments run another, and whose pip has nothing left to do.

    `commands` are other programs of these environments, as the text of a shell script.
    """
    installed = f'case "$*" in "-I -m pip "*) exit 0;; esac; exec "{python}" "$@"'
    for name, text in {"python": installed, **(commands or {})}.items():
        write_program(folder / "installed" / name, text)
    created = f'[ "$*" = "-I -m venv $4" ] && mkdir -p "$4" && cp -r "{folder}/installed" "$4/bin"'
    return write_program(folder / "bin/python", created).parent


def write_program(path: Path, script: str) -> Path:
    """Write a program for the shell."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path
