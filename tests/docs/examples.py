"""Run the fenced blocks of a documentation page, in order, in one scratch folder.

``console``: each ``$ command`` runs in bash. The lines below it are its output, stdout and stderr together;
``…`` stands for any lines or, within a line, for any text. Without output lines, only the exit code counts.
In the pages the run's day is `PAGE_DAY`. In output days, commit hashes, request ids, times and the scratch
folder are not compared.
``python``: runs in one namespace per page. Any block with ``title="FILE"`` is written to that file instead.

Comments right above a block: ``<!-- not run: REASON -->``, and ``<!-- exit: N -->``, its last command's exit
code. Comments anywhere: ``<!-- continues: PAGE -->`` starts with the folder that another page left;
``<!-- setup`` and ``<!-- setup python`` run the lines that follow, which readers don't see.

    uv run python tests/docs/examples.py --update      # writes the real output into every page
"""

import atexit
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from difflib import SequenceMatcher, unified_diff
from pathlib import Path
from typing import Any, Final

from markdown_it import MarkdownIt

ROOT: Final = Path(__file__).parents[2]
PAGES: Final = [ROOT / "README.md", ROOT / "README.ko.md", *sorted((ROOT / "docs").rglob("*.md"))]
ANY: Final = "…"
PAGE_DAY: Final = date(2026, 4, 25)
_HOME: Final = "/home/me/rooms"
_COMMENT: Final = re.compile(
    r"<!-- (?P<name>not run|exit|continues|setup python|setup):?\s(?P<text>.*?)-->", re.DOTALL
)
_VARYING: Final = [
    # 2026-04-25, 2026-04-25T09:00:00.5 or 2026-04-25 09:00
    (re.compile(r"\b20\d\d-\d\d-\d\d(T\d\d:\d\d:\d\d\.\d+| \d\d:\d\d\b)?"), "DAY"),
    (re.compile(r"\b20\d{6}\b"), "DAY"),  # 20260425, in a branch's name
    (re.compile(r"\breq-[0-9a-f]{16}\b"), "REQUEST"),
    (re.compile(r"\b0[0-9A-HJKMNP-TV-Z]{25}\b"), "RUN"),
    (re.compile(r"\bat [0-9a-f]{12}\b"), "at COMMIT"),
    (re.compile(r"\d+(\.\d+)? (s|ms|MB)\b"), "N"),
]


@dataclass(frozen=True)
class Block:
    """One fenced block; ``lines`` are its first and last line in the page, without the fence."""

    language: str
    text: str
    lines: tuple[int, int]
    title: str | None = None
    not_run: str | None = None
    exit_code: int = 0


@dataclass(frozen=True)
class Setup:
    """Lines in a comment: a page to continue, or a program for bash or Python."""

    name: str
    text: str


@dataclass
class Page:
    """A page's run: what its blocks should print, as the page has it and as it came out."""

    path: Path
    differences: list[str] = field(default_factory=list)
    replaced: dict[tuple[int, int], str] = field(default_factory=dict)


def read_page(path: Path) -> list[Block | Setup]:
    """The blocks and setups of a page, in order."""
    steps: list[Block | Setup] = []
    marks: dict[str, str] = {}
    for token in MarkdownIt().parse(path.read_text(encoding="utf-8")):
        if token.type == "html_block":
            marks = {}
            for match in _COMMENT.finditer(token.content):
                if match["name"] in {"not run", "exit"}:
                    marks[match["name"]] = match["text"].strip()
                else:
                    steps.append(Setup(match["name"], match["text"]))
        elif token.type == "fence" and token.map is not None:
            title = re.search(r'title="([^"]+)"', token.info)
            steps.append(
                Block(
                    language=token.info.partition(" ")[0],
                    text=token.content,
                    lines=(token.map[0] + 1, token.map[1] - 1),
                    title=title[1] if title else None,
                    not_run=marks.get("not run"),
                    exit_code=int(marks.get("exit", 0)),
                )
            )
            marks = {}
        elif not token.hidden:
            marks = {}
    return steps


def run_page(path: Path, folder: Path) -> Page:
    """Run a page's blocks in ``folder``, which is empty."""
    page, namespace = Page(path), {"__name__": "page"}
    for step in read_page(path):
        if isinstance(step, Setup):
            _set_up(step, path, folder, namespace)
        elif step.not_run is not None:
            continue
        elif step.title is not None:
            (folder / step.title).parent.mkdir(parents=True, exist_ok=True)
            (folder / step.title).write_text(step.text, encoding="utf-8")
        elif step.language == "python":
            _run_python(step.text, folder, namespace)
        elif step.language == "console":
            _run_console(step, page, folder)
    return page


def _set_up(step: Setup, path: Path, folder: Path, namespace: dict[str, Any]) -> None:
    if step.name == "setup python":
        _run_python(step.text, folder, namespace)
    elif step.name == "setup":
        output, code = _bash(f"set -e\n{step.text}", folder)
        assert code == 0, f"{path}: setup: {output}"
    else:
        shutil.rmtree(folder)
        shutil.copytree(left_by(path.parent / step.text.strip()), folder, symlinks=True)


_LEFT: dict[Path, Path] = {}


def left_by(path: Path) -> Path:
    """The folder that a page leaves; the page is run once per process."""
    path = path.resolve()
    if path not in _LEFT:
        scratch = Path(tempfile.mkdtemp(prefix="docs-"))
        atexit.register(shutil.rmtree, scratch, ignore_errors=True)
        _LEFT[path] = scratch / "rooms"
        _LEFT[path].mkdir()
        run_page(path, _LEFT[path])
    return _LEFT[path]


def _run_python(text: str, folder: Path, namespace: dict[str, Any]) -> None:
    with chdir(folder):
        exec(compile(text, "<page>", "exec"), namespace)


def _run_console(block: Block, page: Page, folder: Path) -> None:
    shown: list[str] = []
    commands = list(_commands(block.text))
    for number, (command, expected) in enumerate(commands):
        output, code = _bash(_with_day(command.removeprefix("$ "), folder), folder)
        wanted_code = block.exit_code if number == len(commands) - 1 else 0
        where = f"{page.path.relative_to(ROOT)}:{block.lines[0]}: {command}"
        if code != wanted_code:
            page.differences.append(f"{where}\nexit code {code}, not {wanted_code}\n{output}")
        actual = output.splitlines()
        same = not expected or matches(expected, actual)
        if not same:
            page.differences.append(
                "\n".join([where, *unified_diff(expected, actual, "page", "run", lineterm="")])
            )
        shown += [command, *(expected if same else elided(expected, actual))]
    page.replaced[block.lines] = "".join(f"{line}\n" for line in shown)


def _commands(text: str) -> Iterator[tuple[str, list[str]]]:
    for part in re.split(r"^(?=\$ )", text, flags=re.MULTILINE)[1:]:
        command, _, output = re.sub(r"\\\n", "\\\0", part).partition("\n")
        yield command.replace("\0", "\n"), output.splitlines()


def _with_day(command: str, folder: Path) -> str:
    """A command in which the day of a proposal is that of this run."""
    files = sorted((folder / "data" / "audit" / "candidates").glob("*-candidates.json"))
    day = files[-1].name[:10] if files else "0000-00-00"
    return re.sub(r"(\bcand-|\bce-|candidates/|examples/)20\d\d-\d\d-\d\d-", rf"\g<1>{day}-", command)


def _bash(text: str, folder: Path) -> tuple[str, int]:
    ours = re.compile(r"(CORELOOP|DARTLAB|GITHUB|GH|GIT)_")
    environ = {name: value for name, value in os.environ.items() if not ours.match(name)} | {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(folder.parent),
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    user = {"user.name": "Kim", "user.email": "kim@example.org"}
    for number, (key, value) in enumerate(user.items()):
        environ |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    environ["GIT_CONFIG_COUNT"] = str(len(user))
    done = subprocess.run(
        ["bash", "-c", text],
        cwd=folder,
        env=environ | {"COLORTERM": "", "PYTHONUTF8": "1", "CHECKOUT": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
        timeout=120,
    )
    return _on_page_day(done.stdout.replace(str(folder), _HOME)), done.returncode


def _on_page_day(text: str) -> str:
    """Output with its days moved, so that the run's day is the page's and a second run changes nothing."""
    late = datetime.now(UTC).date() - PAGE_DAY

    def moved(match: re.Match[str]) -> str:
        try:
            day = date.fromisoformat(match[0])
        except ValueError:  # digits that are no day
            return match[0]
        return match[0] if day == PAGE_DAY else f"{day - late:{'%Y-%m-%d' if '-' in match[0] else '%Y%m%d'}}"

    return re.sub(r"\b20\d\d(-?)[01]\d\1[0-3]\d\b", moved, text)


def _normal(line: str) -> str:
    for pattern, name in _VARYING:
        line = pattern.sub(name, line)
    return line.rstrip()


def matches(expected: list[str], actual: list[str]) -> bool:
    """Whether output is what a page shows, of which ``…`` stands for anything."""
    pattern = "".join(
        r"(?:.*\n)*?"
        if line.strip() == ANY
        else re.escape(_normal(line)).replace(re.escape(ANY), ".*") + r"\n"
        for line in expected
    )
    return re.fullmatch(pattern, "".join(f"{_normal(line)}\n" for line in actual)) is not None


def elided(expected: list[str], actual: list[str]) -> list[str]:
    """The output with ``…`` where the page had it: what stands between two is taken from where it fits."""
    runs: list[list[str]] = [[]]
    for line in expected:
        if line.strip() == ANY:
            runs.append([])
        else:
            runs[-1].append(line)
    shown, start = [], 0
    for number, run in enumerate(runs):
        last = number == len(runs) - 1
        if number and shown[-1:] != [ANY]:
            shown.append(ANY)
        if len(runs) == 1:
            return actual
        places = range(start, max(start, len(actual) - len(run)) + 1)
        at = (
            start
            if not number
            else len(actual) - len(run)
            if last
            else max(places, key=lambda p: _fit(run, actual, p))
        )
        shown += actual[at : at + len(run)]
        start = at + len(run)
    return shown


def _fit(run: list[str], actual: list[str], place: int) -> float:
    return SequenceMatcher(None, "\n".join(run), "\n".join(actual[place : place + len(run)])).ratio()


def update(path: Path, page: Page) -> None:
    """Write the real output into a page."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    for (first, last), text in sorted(page.replaced.items(), reverse=True):
        lines[first:last] = [text]
    path.write_text("".join(lines), encoding="utf-8")


def main() -> int:
    """Run every page; ``--update`` writes what came out, else differences are printed."""
    wanted = [Path(name).resolve() for name in sys.argv[1:] if name != "--update"] or PAGES
    found: list[str] = []
    for path in wanted:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) / "rooms"
            folder.mkdir()
            page = run_page(path, folder)
        found += page.differences
        if "--update" in sys.argv:
            update(path, page)
    print(*found, sep="\n\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
