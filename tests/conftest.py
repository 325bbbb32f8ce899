"""What every test stands on: a quiet environment, repeatable examples, real data, a GitHub of our own."""

import gc
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from coreloop.base.github.github_forge import GithubForge
from coreloop.cli.main import run
from github_stand_in import GithubStandIn, is_for_humans
from postgres_servers import newest, running_server
from promoting import Project, copy_project, hush_git, make_project
from weekly import WEEKLY

os.environ.pop("COLUMNS", None)  # as xdist's workers have it
# the examples of a test are the same in each run: 40 show what a change breaks, the weekly run looks further
settings.register_profile(
    "thorough",
    derandomize=True,
    deadline=None,
    max_examples=100 if WEEKLY else 40,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("quick", settings.get_profile("thorough"), max_examples=15)
settings.load_profile("quick")

gc.set_threshold(50_000)  # of 700: collecting the tests takes 7.8 s in each process instead of 12.1

# the tests and what they start are compiled once, not in each of hundreds of processes: a third of the run
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def _is_roomy(folder: Path) -> bool:
    """Whether files may be kept and run there; a container has 64 MB by default, and may run none."""
    if not folder.is_dir():
        return False
    there = os.statvfs(folder)
    has_room = there.f_bavail * there.f_frsize > 4 * 2**30 and there.f_favail > 1_000_000
    return has_room and not there.f_flag & os.ST_NOEXEC


# files in memory: what SQLite and git write for good is half of the waiting
if not os.environ.get("TMPDIR") and _is_roomy(Path("/dev/shm")):
    os.environ["TMPDIR"] = tempfile.tempdir = "/dev/shm"

REPO = Path(__file__).parents[1]
EntryPoint = Callable[..., tuple[int, str, str]]
Command = Callable[..., subprocess.CompletedProcess[str]]
_ENVIRONMENT = ("CORELOOP_", "DARTLAB_")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run slow tests first: at the end, no process waits long for another one's last test."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


def pytest_configure(config: pytest.Config) -> None:
    """Give polars one thread where the slow tests, which let it have all, do not run: an eighth of mining."""
    if config.option.markexpr == "not slow":
        os.environ.setdefault("POLARS_MAX_THREADS", "1")


def pytest_collection_finish() -> None:
    """Leave the modules and the thousands of tests out of every later collection of garbage."""
    gc.collect()
    gc.freeze()


def pytest_xdist_auto_num_workers() -> int:
    """Return half as many workers again as cores: a quarter of the tests' time is waiting for processes."""
    return max(1, (os.cpu_count() or 1) * 3 // 2)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data beside the repository, or where CORELOOP_SHARED_DATA says."""
    folder = Path(os.environ.get("CORELOOP_SHARED_DATA", REPO.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no real data in {folder}; name its folder with CORELOOP_SHARED_DATA")
    return folder


@pytest.fixture(scope="session")
def tau_log(shared_data: Path) -> Path:
    """690 real retail episodes as v2 records."""
    return _real_file(shared_data, "tau_retail_gpt4o_gpt41.jsonl")


@pytest.fixture(scope="session")
def tau_trajectories(shared_data: Path) -> Path:
    """The same episodes as lists of messages, with what the tools returned."""
    return _real_file(shared_data, "tau_retail_trajectories.jsonl.xz")


def _real_file(folder: Path, name: str) -> Path:
    path = folder / name
    if not path.is_file():
        pytest.skip(f"no {path}; name its folder with CORELOOP_SHARED_DATA")
    return path


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Callable[[str], str]]:
    """Start the server of a version once; gives its address."""
    with ExitStack() as stack:
        yield cache(lambda version: stack.enter_context(running_server(version)).address)


@pytest.fixture
def database_on(postgres_server: Callable[[str], str]) -> Iterator[Callable[[str], str]]:
    """Give the address of a database without tables of ours, on the server of a version."""
    import psycopg

    used = set()

    def database_on(version: str) -> str:
        used.add(address := postgres_server(version))
        return address

    yield database_on
    for address in used:
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("DROP SCHEMA IF EXISTS coreloop CASCADE")


@pytest.fixture
def database(database_on: Callable[[str], str]) -> str:
    """The address of a database without tables of ours, on the newest server."""
    return database_on(newest())


@pytest.fixture(autouse=True)
def _no_settings_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(_ENVIRONMENT) and name != "CORELOOP_SHARED_DATA":
            monkeypatch.delenv(name)


@pytest.fixture
def entry_point(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> EntryPoint:
    """Run a command in this process, in a folder; gives exit code, output and errors."""

    def entry_point(folder: Path, *words: str) -> tuple[int, str, str]:
        monkeypatch.chdir(folder)
        monkeypatch.setattr(sys, "argv", ["dartlab-coreloop", *words])
        with pytest.raises(SystemExit) as end:
            run()
        out, errors = capsys.readouterr()
        return int(end.value.code or 0), out, errors

    return entry_point


@pytest.fixture
def command(entry_point: EntryPoint) -> Command:
    """Run a command as `entry_point` does; gives what a process of its own would."""

    def command(folder: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(words, *entry_point(folder, *map(str, words)))

    return command


@pytest.fixture
def github(monkeypatch: pytest.MonkeyPatch) -> Iterator[GithubStandIn]:
    """A GitHub on this machine; no test leaves it having merged, or having let something merge."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with GithubStandIn() as github:
        yield github
    assert [request.line for request in github.traffic if is_for_humans(request)] == []


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """This GitHub needs no pauses between requests."""
    monkeypatch.setattr("coreloop.base.github.github_forge.PACE_S", (0, 0))


@pytest.fixture
def forge(github: GithubStandIn, at_once: None) -> GithubForge:
    return GithubForge(github.repo, token=github.token, base_url=github.url, timeout_s=30)


@pytest.fixture
def quiet_git(monkeypatch: pytest.MonkeyPatch) -> None:
    """Git without anybody's configuration, as one author, and no token."""
    hush_git(monkeypatch)


@pytest.fixture(scope="session")
def first_project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    with pytest.MonkeyPatch.context() as monkeypatch:
        hush_git(monkeypatch)
        return make_project(tmp_path_factory.mktemp("first"))


@pytest.fixture
def project(tmp_path: Path, quiet_git: None, first_project: Project) -> Project:
    """A project under git whose remote is a bare repository."""
    return copy_project(first_project, tmp_path)
