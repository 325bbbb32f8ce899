"""What a promotion needs: a project with a bare remote, a candidates file, an agent to ask again."""

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import cycle
from pathlib import Path
from typing import Any, Self

import pytest

from coreloop.learn.line import statement_key
from github_stand_in import Reply

ADDRESS = "https://github.com/octo/tools.git"
KEY = statement_key("FIN-profitability-KR", "analysis(axis=수익성)>show()", "Guide")
ID = "cand-2026-04-25-001"
BRANCH = "skill/docstring-analysis-profitability-20260425"
FILE = "tools/finance.py"
LINES = (
    "- When: questions of category FIN-profitability-KR.",
    '- Call: analysis(company, axis="수익성") -> show(company).',
)
SOURCE = b'''"""Tools."""


def analysis(company: str, axis: str) -> dict[str, str]:
    """Ratios of a company.

    Parameters
    ----------
    axis : str
        Which.
    """
    return {"axis": axis}
'''
OTHER_FILE = "tools/display.py"
OTHER_SOURCE = b'''"""More tools."""


def show(company: str) -> str:
    """Shows a company."""
    return company


def search(query: str) -> dict[str, list[dict[str, str]]]:
    """Finds companies."""
    return {"hits": [{"company": query}]}
'''
_SCHEMA = (
    "import inspect, json; import tools.finance as module; "
    "found = [(name, inspect.getdoc(tool)) for name, tool in vars(module).items() if callable(tool)]; "
    "print(json.dumps([{'name': name, 'description': text or ''} for name, text in found]))"
)
REACH = {"command": [sys.executable, "-c", _SCHEMA]}
"""Setting by which every function of FILE is described by its whole docstring."""
CATEGORIES = [{"label": "FIN-profitability-KR", "any": ["수익성"]}]
BASE = {"reach": REACH, "categories": CATEGORIES}
"""Settings that projects of tests have."""
SCHEMA_FILE = "tools/schema.json"
SCHEMA = b'{"show": {"code": "string", "name": "string"}}\n'
"""A recorded schema of results, whose fields lines may name."""
GOOD = {
    "tool_calls": [
        {"name": "analysis", "args": {"company": "A", "axis": "수익성"}, "ok": True},
        {"name": "show", "args": {"company": "A"}, "ok": True},
    ]
}
OTHER = {"tool_calls": ["scan"]}


def candidate(**changes: Any) -> dict[str, Any]:
    """A sound candidate, and what a test changes about it."""
    suggested = {"target_file": FILE, "target_symbol": "analysis", "section": "Guide"}
    sound = {
        "id": ID,
        "key": KEY,
        "engine": "analysis",
        "axis": "수익성",
        "cat_hash": "FIN-profitability-KR",
        "seq_hash": "seq:0000000000000000",
        "tool_pattern": [
            {"name": "analysis", "selectors": {"axis": "수익성"}, "arg_keys": ["company", "axis"]},
            {"name": "show", "selectors": {}, "arg_keys": ["company"]},
        ],
        "n_observed": 12,
        "n_unique_questions": 9,
        "n_sessions": 9,
        "success_rate": 1.0,
        "success_low": 0.76,
        "base_rate": 0.61,
        "n_begun": 12,
        "first_seen": "2026-03-26T00:00:00+00:00",
        "last_seen": "2026-04-25T00:00:00+00:00",
        "example_questions": ["첫째 질문?", "둘째 질문?"],
        "suggested_append": {**suggested, "body": "\n".join(LINES)},
        "refused": None,
    }
    return {**sound, **changes}


def suggested(**changes: Any) -> dict[str, Any]:
    """The proposed text of `candidate`, changed."""
    return {**candidate()["suggested_append"], **changes}


def counterexample(**changes: Any) -> dict[str, Any]:
    """A sound counterexample without text, and what a test changes about it."""
    sound = {
        "id": "ce-2026-04-25-001",
        "key": KEY,
        "kind": "call",
        "tool": "analysis",
        "selectors": {},
        "arg_keys": ["company"],
        "labels": ["tool_error"],
        "error_class": "invalid_argument",
        "n_failures": 57,
        "n_calls": 57,
        "n_other_calls": 70,
        "harm_low": 0.93,
        "wasted_ms": 0.0,
        "first_seen": "2026-03-26T00:00:00+00:00",
        "last_seen": "2026-04-25T00:00:00+00:00",
    }
    return {**sound, **changes}


def statement(**changes: Any) -> dict[str, Any]:
    """A sound statement of a candidates file, and what a test changes about it; text and key follow."""
    tool, line = changes.get("tool", "analysis"), changes.get("line", "- company: from show().code")
    section = "Guide" if changes.get("kind", "source") == "source" else "Caveats"
    sound = {
        "id": "ce-2026-04-25-001" if section == "Caveats" else ID,
        "key": statement_key(tool, line, section),
        "kind": "source",
        "tool": tool,
        "line": line,
        "sides": {"n_ok": 58, "n": 61, "other_ok": 17, "other_n": 26, "cases": 31, "other_cases": 12},
        "held": {"n_ok": 12, "n": 14, "other_ok": 10, "other_n": 21, "cases": 8, "other_cases": 7},
        "case": "case",
        "n_questions": 15,
        "difference": 0.297,
        "low": 0.117,
        "high": 0.487,
        "q_value": 0.003,
        "wasted": 12.34,
        "lost": [1.5, 4.0],
        "first_seen": "2026-03-26T00:00:00+00:00",
        "last_seen": "2026-04-25T00:00:00+00:00",
        "example_questions": ["첫째 질문?"],
        "suggested_append": {"target_file": FILE, "target_symbol": tool, "section": section, "body": line},
        "refused": None,
    }
    return {**sound, **changes}


def write_candidates(path: Path, *candidates: dict[str, Any], **changes: Any) -> Path:
    """Write a candidates file with candidates and statements, or with the one candidate."""
    return _write_entries(path, "candidates", candidates or (candidate(),), changes)


def write_counterexamples(path: Path, *entries: dict[str, Any], **changes: Any) -> Path:
    """Write a counterexamples file with counterexamples and statements."""
    return _write_entries(path, "counterexamples", entries, changes)


def _write_entries(path: Path, kind: str, entries: Sequence[dict[str, Any]], changes: dict[str, Any]) -> Path:
    document = {
        "schema_version": 1,
        "generated_at": "2026-04-25T03:00:00+00:00",
        "window": {"since": "2026-03-26", "until": "2026-04-25"},
        kind: [entry for entry in entries if "line" not in entry],
        "statements": [entry for entry in entries if "line" in entry],
        "ids": {},
        **changes,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
    return path


@dataclass(frozen=True, slots=True)
class Project:
    """A work tree whose ``origin`` is on GitHub by name, while git talks to a bare repository beside it."""

    root: Path
    remote: Path
    candidates: Path = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "candidates", self.root / "data/audit/candidates/2026-04-25-candidates.json")

    def git(self, *words: str, stdin: bytes | None = None, **environ: str) -> str:
        """Run git in the work tree."""
        return run_git(self.root, *words, stdin=stdin, **environ)

    def heads(self) -> dict[str, str]:
        """Branches of the remote."""
        lines = run_git(self.remote, "for-each-ref", "--format=%(refname:short) %(objectname)", "refs/heads")
        return dict(line.split(" ") for line in lines.splitlines())

    def head_of(self, branch: str) -> str | None:
        """The remote's commit of a branch, as GitHub would know it."""
        return self.heads().get(branch)

    def commit(self, files: dict[str, bytes | str], message: str = "a change", **environ: str) -> str:
        """Commit files to the branch that is checked out; gives the commit's hash."""
        for name, content in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
            self.git("add", "--", name, **environ)
        self.git("commit", "--quiet", "--allow-empty", "-m", message, **environ)
        return self.git("rev-parse", "HEAD")

    def configure(self, **settings: Any) -> None:
        """Write coreloop.yaml, which stays uncommitted; JSON is YAML."""
        (self.root / "coreloop.yaml").write_text(json.dumps({**BASE, **settings}))

    def settle(self, text: str) -> None:
        """Write coreloop.yaml and push it."""
        self.commit({"coreloop.yaml": text}, "settings")
        self.git("push", "--quiet", "origin", "HEAD:main")

    def fingerprint(self) -> dict[str, str]:
        """Every file of the work tree and of both repositories, with a hash of its bytes."""
        return {
            str(path): sha256(path.read_bytes()).hexdigest()
            for root in (self.root, self.remote)
            for path in sorted(root.rglob("*"))
            if path.is_file()
        }


def run_git(folder: Path, *words: str, stdin: bytes | None = None, **environ: str) -> str:
    """Run git, which must succeed; gives what it printed."""
    done = subprocess.run(
        ["git", *words],
        cwd=folder,
        env={**os.environ, **environ},
        input=stdin,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode().strip()


def hush_git(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let git know nobody's configuration, one author and no token."""
    for name in [name for name in os.environ if name.startswith("GIT_")] + ["GITHUB_TOKEN", "GH_TOKEN"]:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "A Tester")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "tester@example.org")


def make_project(folder: Path) -> Project:
    """A project with one tool, pushed, and a candidates file that git ignores."""
    project = Project(folder / "project", folder / "remote.git")
    project.root.mkdir()
    run_git(folder, "init", "--quiet", "--bare", "--initial-branch=main", str(project.remote))
    project.git("init", "--quiet", "--initial-branch=main")
    project.git("remote", "add", "origin", ADDRESS)
    project.git("config", f"url.{project.remote}.insteadOf", ADDRESS)
    settings = json.dumps({**BASE, "forge": {"repo": "octo/tools"}})
    sources = {FILE: SOURCE, OTHER_FILE: OTHER_SOURCE, SCHEMA_FILE: SCHEMA}
    project.commit({**sources, ".gitignore": b"data/\n", "coreloop.yaml": settings}, "first")
    project.git("push", "--quiet", "--set-upstream", "origin", "main")
    write_candidates(project.candidates)
    return project


def copy_project(project: Project, folder: Path) -> Project:
    """Copy a project and its remote, which is faster than making them."""
    copy = Project(folder / "project", folder / "remote.git")
    shutil.copytree(project.root, copy.root, symlinks=True)
    shutil.copytree(project.remote, copy.remote, symlinks=True)
    config = copy.root / ".git" / "config"
    config.write_text(config.read_text("utf-8").replace(str(project.remote), str(copy.remote)), "utf-8")
    copy.git("update-index", "--refresh")  # the copies are other files
    return copy


class Agent:
    """An endpoint that gives the same answers in turns, and keeps what it was asked.

    Parameters
    ----------
    answers : dict, bytes or Reply
        A dict goes out as JSON.
    """

    def __init__(self, *answers: Any) -> None:
        self._answers = cycle(answers)
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.stopping = threading.Event()
        self._server = _AgentServer(("127.0.0.1", 0), _AgentHandler)
        self._server.agent = self
        self.url = f"http://127.0.0.1:{self._server.server_port}/api/ask"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, asked: dict[str, Any], headers: dict[str, str]) -> Reply | None:
        """The next answer; None drops the connection."""
        self.asked.append(asked)
        self.headers.append(headers)
        given = next(self._answers)
        return given if isinstance(given, Reply) else Reply(200, given)

    def drip(self, send: Callable[[bytes], object]) -> None:
        """What is sent where there is no answer: nothing."""


class _AgentServer(ThreadingHTTPServer):
    daemon_threads = True
    agent: Agent

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hung up is none of a test's business."""


class _AgentHandler(BaseHTTPRequestHandler):
    server: _AgentServer

    def do_POST(self) -> None:
        sent = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = self.server.agent.answer(sent, headers)
        if reply is None:
            self.server.agent.drip(self.wfile.write)
            return
        body = reply.encoded()
        self.send_response(reply.status)
        for name, value in {"Content-Length": str(len(body)), **reply.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST  # noqa: N815 - http.server's name; a followed redirect would come as GET

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - http.server's name
        """Tests read `asked`."""
