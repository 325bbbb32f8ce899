"""Every command from the outside: help, output, exit code, one line per error."""

import contextlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import click
import pytest

from coreloop.cli.main import COMMANDS, HIDDEN, every_command
from logs import record, write_log
from rows import each_row, slow_after

DOCS = Path(__file__).parents[3] / "docs"
COMMAND = [sys.executable, "-m", "coreloop"]
Done = subprocess.CompletedProcess[str]
Run = Callable[..., Done]


EVERY = {" ".join(path): command for path, command in every_command()}
LEAVES = [name for name, command in EVERY.items() if not isinstance(command, click.Group)]


def _is_one_line(text: str) -> bool:
    return text.startswith("dartlab-coreloop: ") and text.count("\n") == 1 and text.endswith("\n")


def _assert_refused(done: Done, *mentions: str) -> None:
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert _is_one_line(done.stderr), done.stderr
    for mention in mentions:
        assert mention in done.stderr


# --- every command ---------------------------------------------------------------------------------


def test_the_list_tells_the_slow_loop_first_and_holds_twenty_commands_on_a_screen(run: Run):
    done = run("--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert re.findall(r"^  ([a-z-]+)  ", done.stdout, re.MULTILINE) == list(COMMANDS)
    assert done.stdout.count("\n") <= 30
    assert len(COMMANDS) <= 20
    headings = re.findall(r"^\w.+:$", done.stdout, re.MULTILINE)
    assert (headings[0], len(headings)) == ("Traces -> cause -> line -> pull request -> did it help:", 3)
    helps = " ".join(EVERY[name].get_help(click.Context(EVERY[name])) for name in COMMANDS)
    assert [name for name in HIDDEN if f"`{name}" not in helps] == []  # named where it is needed


def test_without_a_command_an_empty_folder_gets_four_ways_in(run: Run):
    done = run()
    assert (done.returncode, done.stderr) == (0, "")
    ways = re.findall("^  dartlab-coreloop (.*)$", done.stdout, re.MULTILINE)
    assert ways == ["look PATH", "ask QUESTION", "init", "demo"]


@pytest.mark.parametrize("name", EVERY)
def test_every_command_has_help(name: str, run: Run):
    done = run(*name.split(), "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"Usage: dartlab-coreloop {name} ")
    summary = COMMANDS.get(name, EVERY[name].help or "no help")
    assert summary.split(".")[0] in " ".join(done.stdout.split())
    assert done.stdout.count("\n") <= 33
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "..." not in done.stdout.partition("Commands:")[2]  # a summary that is cut
    options = [param for param in EVERY[name].params if isinstance(param, click.Option)]
    assert [option.name for option in options if not option.help] == []


def test_an_id_has_one_name():
    params = [param for name in LEAVES for param in EVERY[name].params]
    named = {(param.opts[-1], (param.metavar or "").strip("[]")) for param in params}
    names = {"--id": "ID", "--run": "RUN", "run_id": "RUN", "--continue": "RUN", "--tool": "TOOL"}
    assert {(option, metavar) for option, metavar in named if option in names} == set(names.items())


def test_commands_and_options_stay_within_their_budgets():
    options = [param for name in LEAVES for param in EVERY[name].params if isinstance(param, click.Option)]
    n_json = sum("--json" in option.opts for option in options)
    assert n_json == len(LEAVES) <= 58
    assert len(options) - n_json <= 210  # --json is one option, of every command


@each_row("name", EVERY)
def test_every_command_has_an_example_that_it_accepts(name: str):
    (example,) = re.findall(r"^ *Example: (.*)$", EVERY[name].help or "", re.MULTILINE)
    words = shlex.split(example.partition(" <")[0])
    assert words[: len(name.split())] == name.split()
    (leaf,) = (leaf for leaf in LEAVES if words[: len(leaf.split())] == leaf.split())
    with EVERY[leaf].make_context(leaf, words[len(leaf.split()) :]) as context:
        assert context.args == []


@cache
def _consoles() -> str:
    """All console blocks of the docs."""
    pages = [page.read_text(encoding="utf-8") for page in (DOCS.parent / "README.md", *DOCS.rglob("*.md"))]
    blocks = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
    return "".join(block for page in pages for block in blocks.findall(page))


@each_row("name", LEAVES)
def test_every_command_has_an_example_in_the_docs(name: str):
    examples = re.findall(rf"^\$ dartlab-coreloop {name}(?![\w-])(.*)", _consoles(), re.MULTILINE)
    assert examples, f"no line '$ dartlab-coreloop {name}' in a console block of docs"
    reference = (DOCS / "reference" / "commands.md").read_text(encoding="utf-8")
    assert re.search(rf"^##+ {name}$", reference, re.MULTILINE)
    known = {option for param in EVERY[name].params for option in param.opts} | {"--help"}
    for example in examples:
        words = shlex.split(example, comments=True)
        own = words[: words.index("--")] if "--" in words else words  # behind it is another command
        used = {word.partition("=")[0] for word in own if word.startswith("--")}
        assert used <= known, example


DEAR = {
    "status": {"polars", "git", "httpx2", "multiprocessing", "coreloop.promote.run", "coreloop.runs.state"},
    "look data": {"polars", "git", "httpx2", "markdown_it", "multiprocessing"},
    "search word": {"polars", "git", "httpx2", "msgspec", "coreloop.runs.state"},
    "ask word": {"polars", "git", "httpx2", "coreloop.learn.mine.folder"},
}
"""By command, modules that take long to import, and that it does not need."""


@pytest.mark.parametrize("words", DEAR)
def test_a_short_command_imports_only_what_it_needs(words: str, log: Path, spawn: Run):
    done = spawn(*words.split(), command=[sys.executable, "-X", "importtime", "-m", "coreloop"])
    imported = set(re.findall(r"\| +(\S+)$", done.stderr, re.MULTILINE))
    assert "coreloop.base.project.settings" in imported
    assert imported & DEAR[words] == set()


@pytest.mark.slow
def test_the_demo_without_git_shows_candidates_and_says_what_is_left_out(run: Run, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    done = run("demo", "--out", str(tmp_path / "scratch"))
    assert done.returncode == 2
    assert re.search(r"cand-\d{4}-\d\d-\d\d-001", done.stdout)
    assert "not in PATH; the proposals are complete" in done.stderr


@pytest.mark.slow
def test_the_demo_shows_the_text_of_a_statement_and_what_to_do_next(run: Run, tmp_path: Path):
    done = run("demo", "--out", str(tmp_path / "scratch"))
    assert done.returncode == 0
    assert "300 requests" in done.stdout
    assert "+    - priority: one of high, low, normal, urgent" in done.stdout
    following = re.search(r"^  .*( judge --id .*)$", done.stdout, re.MULTILINE)
    assert following is not None
    again = [
        subprocess.run([*COMMAND, *words], cwd=tmp_path / "scratch", capture_output=True, check=False)
        for words in (shlex.split(following[1]), ["refine"])
    ]
    assert [one.returncode for one in again] == [0, 0]
    assert b"300 records" in again[1].stdout


# --- exit codes and errors -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "mentions"),
    [
        (["nope"], ["'nope'", "dartlab-coreloop --help lists them"]),
        (["patern"], ["no command 'patern'; did you mean pattern?"]),
        (["Status"], ["did you mean status?"]),
        (["knowledge", "cleenup"], ["did you mean cleanup?"]),
        (["pattern", "--nope"], ["--nope"]),
        (["pattern", "extra"], ["extra"]),
        (["pattern"], ["ai-ask", "no such folder", "--in-dir"]),
        (["pattern", "--in-dir", "gone"], ["gone", "no such folder"]),
        (["pattern", "--since", "yesterday"], ["yesterday", "2026-04-25 or 30d"]),
        (
            ["pattern", "--in-dir", ".", "--since", "2026-04-02", "--until", "2026-04-01"],
            ["--since 2026-04-02 is after --until 2026-04-01"],
        ),
        (["pattern", "--in-dir", ".", "--until", "31d"], ["after"]),
        (["pattern", "--min-repeat", "0"], ["--min-repeat"]),
        (["pattern", "--min-success-rate", "90"], ["--min-success-rate"]),
        (["pattern", "--min-chunk-len", "long"], ["--min-chunk-len"]),
        (["judge", "--verdict", "P"], ["needs --id"]),
        (["judge", "--id", "req-1", "--verdict", "X"], ["'X'", "'P', 'T', 'C', 'V'"]),
        (["judge", "--id", "req-1", "--verdict", "P"], ["no req-1", "ai-ask"]),
        (["judge", "--id", "ce-1\x1b[2J", "--verdict", "P"], ["no ce-1\\u{1b}[2J in", "counterexamples"]),
        (["demo", "--out", "."], ["not empty"]),
    ],
)
def test_a_usage_or_known_error_is_one_line(args: list[str], mentions: list[str], run: Run, tmp_path: Path):
    (tmp_path / "something").touch()
    _assert_refused(run(*args), *mentions)


def test_a_bug_is_reported_as_a_bug(tmp_path: Path, spawn: Run):
    broken = """
import sys, types, click
from coreloop.cli.main import COMMANDS, run
module = types.ModuleType("coreloop.cli.broken")
module.broken = click.Command("broken", callback=lambda: 1 / 0)
sys.modules[module.__name__] = module
COMMANDS["broken"] = "Breaks."
sys.argv = ["coreloop", "broken"]
run()
"""
    done = spawn(command=[sys.executable, "-c", broken])
    assert done.returncode == 3
    assert "ZeroDivisionError" in done.stderr
    assert done.stderr.splitlines()[-1].startswith(
        "dartlab-coreloop: this is a bug in coreloop; please report"
    )


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs the open files of a process")
def test_ctrl_c_ends_with_130_and_without_a_traceback(tmp_path: Path):
    log = tmp_path / "long.jsonl"
    log.write_text((json.dumps(record()) + "\n") * 300_000, encoding="utf-8")  # seconds of work
    command = [*COMMAND, "pattern", "--in-dir", "."]
    running = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    while not any(_reads(pid, log) for pid in _group(running.pid)):
        assert running.poll() is None
    os.killpg(running.pid, signal.SIGINT)  # as a terminal does
    out, errors = running.communicate(timeout=60)
    assert (running.returncode, out) == (130, b"")
    assert b"Traceback" not in errors
    assert errors.endswith(b"dartlab-coreloop: stopped; run it again to go on\n")


@pytest.mark.parametrize("module", slow_after(1, ["coreloop.base.extras", "click", "msgspec"]))
def test_ctrl_c_while_modules_are_imported_ends_with_130_and_without_a_traceback(module: str, spawn: Run):
    interrupted = f"""
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
class Interrupts:
    def find_spec(name, path=None, target=None):
        if name == {module!r}:
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Interrupts)
sys.argv = ["coreloop", "refine"]
from coreloop.cli import run
run()
"""
    done = spawn(command=[sys.executable, "-c", interrupted])
    assert done.returncode == 130
    assert "Traceback" not in done.stderr


def _group(leader: int) -> list[str]:
    """A process and the processes that it started."""
    pids = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # ended meanwhile
            if stat.read_text(encoding="utf-8").rpartition(")")[2].split()[2] == str(leader):
                pids.append(stat.parent.name)
    return pids


def _reads(pid: str, log: Path) -> bool:
    """Whether a process has read some of a file, so that it is at work."""
    with contextlib.suppress(OSError):  # ended, or closed meanwhile
        for link in Path(f"/proc/{pid}/fd").iterdir():
            position = Path(f"/proc/{pid}/fdinfo/{link.name}").read_text(encoding="utf-8").split()[1]
            if link.readlink() == log and int(position) > 1 << 20:
                return True
    return False


def test_a_pipe_among_the_records_is_refused(tmp_path: Path, run: Run):
    os.mkfifo(tmp_path / "endless.jsonl")
    _assert_refused(run("pattern", "--in-dir", "."), "endless.jsonl", "regular file")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize(
    "args", slow_after(1, [["pattern"], ["pattern", "--json"], ["--help"], ["demo", "--out", "scratch"]])
)
def test_a_full_disk_under_the_output_is_one_line(args: list[str], log: Path, tmp_path: Path):
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*COMMAND, *args],
            cwd=tmp_path,
            stdout=full,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            check=False,
        )
    assert done.returncode == 2
    assert _is_one_line(done.stderr), done.stderr
    assert "No space left" in done.stderr


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs a limit on the size of files")
def test_a_full_disk_under_the_candidates_is_one_line_and_leaves_nothing(
    spawn: Run, log: Path, tmp_path: Path
):
    limited = ["sh", "-c", 'ulimit -f 0; exec "$0" "$@"', *COMMAND]
    done = spawn("pattern", "--out", "out", command=limited)
    _assert_refused(done, "cannot be written", "draft.md")
    assert [path.name for path in (tmp_path / "out").iterdir()] == [".lock"]


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
@pytest.mark.parametrize("args", ["pattern", "pattern --json", "--help", "pattern --help"])
@pytest.mark.parametrize("reader", ["true", "head -1"])
def test_a_reader_that_stops_early_is_no_error(args: str, reader: str, spawn: Run, log: Path):
    shell = f'{{ "$0" -m coreloop {args}; echo "exit $?" >&2; }} | {reader}'
    done = spawn(command=["sh", "-c", shell, sys.executable])
    assert done.stderr.splitlines()[-1] == "exit 0"
    assert "Traceback" not in done.stderr
    assert "Error" not in done.stderr


VERDICTS = {
    "the records are not fit to share": "-m coreloop sanitize --check today.jsonl",
    "the stability gates do not hold": "-m coreloop status --stability",
    "too few promotions for an axis": "-m coreloop propose-axis --engine analysis",
    "an event that cannot be read": "-m coreloop guard check --event gone --event-name pull_request",
    "an event for the guard alone": "-m coreloop.guard check --event gone --event-name pull_request",
    "an absent candidate": "-m coreloop verify --candidate gone --id cand-1",
    "an absent promotion": "-m coreloop promote --candidate gone --id cand-1",
}


@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
@pytest.mark.parametrize(
    "args",
    slow_after(
        1,
        [
            pytest.param(args, id=name, marks=[] if "guard" in args else [pytest.mark.slow])
            for name, args in VERDICTS.items()
        ],
    ),
)
def test_the_exit_code_is_the_same_if_the_output_is_closed(args: str, spawn: Run, tmp_path: Path):
    write_log(tmp_path / "today.jsonl", [record(question="write to kim@example.com")])
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    git = ["git", "-C", str(tmp_path), "-c", "user.name=x", "-c", "user.email=x@example.org"]
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    code = spawn(*args.split(), command=[sys.executable]).returncode
    assert code in {1, 2}
    for shell in (f'{{ "$0" {args}; echo $? >&2; }} | true', f'"$0" {args} >&-; echo $? >&2'):
        done = spawn(command=["sh", "-c", shell, sys.executable])
        assert done.stderr.splitlines()[-1] == str(code)
        assert "Traceback" not in done.stderr
    assert spawn(command=["sh", "-c", f'"$0" {args} >&- 2>&-', sys.executable]).returncode == code
