"""How acceptance tests reach coreloop: commands, in this process or as programs, scripts, public names."""

import io
import os
import re
import runpy
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import coreloop
from coreloop.cli import run

PACKAGE = Path(coreloop.__file__).parent
REPO = Path(__file__).parents[2]
SCRIPTS = REPO / "scripts" / "audit"
BIN = Path(sys.executable).parent


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    errors: str

    def assert_code(self, *codes: int) -> "Done":
        assert self.code in (codes or (0,)), self
        assert "Traceback" not in self.errors, self
        return self


def command(folder: Path, *words: str, **environ: str) -> Done:
    """Run ``dartlab-coreloop`` in this process, in a folder."""
    return _in_process(run, ("dartlab-coreloop", *words), folder, environ)


def script(folder: Path, name: str, *words: str, **environ: str) -> Done:
    """Run a script of scripts/audit in this process, in a folder."""
    path = str(SCRIPTS / name)
    return _in_process(lambda: runpy.run_path(path, run_name="__main__"), (path, *words), folder, environ)


def program(folder: Path, *words: str, **environ: str) -> Done:
    """Run a program as a process: ``dartlab-coreloop`` or ``python`` of this environment."""
    done = subprocess.run(
        [str(BIN / words[0]), *words[1:]],
        cwd=folder,
        env={**{name: os.environ[name] for name in os.environ.keys() - _settings()}, **environ},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def _in_process(call: Any, argv: tuple[str, ...], folder: Path, environ: dict[str, str]) -> Done:
    out, errors = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with pytest.MonkeyPatch.context() as patch, chdir(folder), redirect_stdout(out), redirect_stderr(errors):
        patch.setattr(sys, "argv", list(argv))
        for name in _settings():
            patch.delenv(name)
        for name, value in {"COLUMNS": "120", **environ}.items():
            patch.setenv(name, value)
        try:
            call()
            code: Any = 0
        except SystemExit as end:
            code = end.code or 0
    texts = [stream.buffer.getvalue().decode() for stream in (out, errors)]  # type: ignore[attr-defined]
    return Done(int(code), *texts)


def _settings() -> set[str]:
    """The variables that would override the settings of a test."""
    return {name for name in os.environ if name.startswith(("CORELOOP_", "DARTLAB_", "RESEARCH_"))}


@cache
def public_name(name: str, *, beside: str = "") -> Any:
    """A public Python name, wherever it is defined; ``beside`` is another name of the same folder."""
    files = [path for path in _files_with(name) if not beside or path.parent == _files_with(beside)[0].parent]
    assert len(files) == 1, f"{name} is defined in {files}"
    module = files[0].relative_to(PACKAGE.parent).with_suffix("")
    return getattr(import_module(".".join(module.parts).removesuffix(".__init__")), name)


def _files_with(name: str) -> list[Path]:
    defines = re.compile(rf"^(?:def|class) {name}\b", re.MULTILINE)
    return [
        path for path in sorted(PACKAGE.rglob("*.py")) if defines.search(path.read_text(encoding="utf-8"))
    ]
