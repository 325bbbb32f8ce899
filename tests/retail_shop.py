"""The example shop as a repository of its own, with real requests, and its commands as real processes."""

import json
import lzma
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SHOP = Path(__file__).parents[1] / "examples" / "retail"


@dataclass(frozen=True, slots=True)
class Shop:
    """A clone of the example with its bare remote; git ignores its records and proposals."""

    folder: Path
    remote: Path

    def coreloop(self, *words: str) -> subprocess.CompletedProcess[str]:
        return run([sys.executable, "-m", "coreloop", *words], self.folder)

    def mine(self, command: str, *options: str) -> dict[str, Any]:
        """Run `pattern` or `refine`; gives the file of proposals."""
        done = self.coreloop(command, "--since", "2025-07-01", "--json", *options)
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def file(self, kind: str) -> Path:
        """The newest proposals: of `candidates` or of `counterexamples`."""
        (path,) = (self.folder / "data" / "audit" / kind).glob("*.json")
        return path

    def entries(self, kind: str, of: str | None = None) -> list[dict[str, Any]]:
        """The entries of a proposals file; `of` names others than those that its name says."""
        found: list[dict[str, Any]] = json.loads(self.file(kind).read_text(encoding="utf-8"))[of or kind]
        return found

    def promote(self, kind: str, wanted: str, *options: str) -> subprocess.CompletedProcess[str]:
        return self.coreloop("promote", "--candidate", str(self.file(kind)), "--id", wanted, *options)

    def branches(self) -> list[str]:
        """Branches of the remote, but for the base."""
        names = git(self.remote, "for-each-ref", "--format=%(refname:short)", "refs/heads").split()
        return [name for name in names if name != "main"]

    def state(self) -> dict[str, object]:
        """Everything that a dry run could have changed."""
        files = {path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}
        return {"files": files, "refs": git(self.remote, "show-ref")}

    def copy(self, into: Path) -> "Shop":
        """The same shop in another folder, with a remote of its own."""
        copied = Shop(into / "shop", into / "remote.git")
        shutil.copytree(self.folder, copied.folder)
        shutil.copytree(self.remote, copied.remote)
        git(copied.folder, "remote", "set-url", "origin", str(copied.remote))
        return copied


def shop_with_requests(folder: Path, trajectories: Path, times: Path) -> Shop:
    """The example as a repository, the real requests imported into it, with results, and mined."""
    shop = Shop(folder / "shop", folder / "remote.git")
    shutil.copytree(SHOP, shop.folder, ignore=shutil.ignore_patterns("__pycache__", "data"))
    git(folder, "init", "--quiet", "--bare", "--initial-branch=main", str(shop.remote))
    git(shop.folder, "init", "--quiet", "--initial-branch=main")
    git(shop.folder, "config", "user.name", "A Maintainer")
    git(shop.folder, "config", "user.email", "maintainer@example.com")
    git(shop.folder, "add", ".")
    git(shop.folder, "commit", "--quiet", "--message=A shop")
    git(shop.folder, "remote", "add", "origin", str(shop.remote))
    git(shop.folder, "push", "--quiet", "--set-upstream", "origin", "main")
    chats = dated(trajectories, times, folder / "chats.jsonl")
    imported = shop.coreloop("import", "--from", "openai-chat", str(chats))
    assert imported.returncode == 0, imported.stderr
    _name_the_provider(shop.folder / "data" / "audit" / "ai-ask")
    shop.mine("pattern")
    shop.mine("refine")
    return shop


def dated(trajectories: Path, records: Path, path: Path) -> Path:
    """The message lists, each with the time of its record."""
    answered = map(json.loads, records.read_text(encoding="utf-8").splitlines())
    times = {record["request_id"]: record["ts"] for record in answered}
    with lzma.open(trajectories, "rt", encoding="utf-8") as lists:
        chats = [{**chat, "ts": times[chat["request_id"]]} for chat in map(json.loads, lists)]
    path.write_text("".join(f"{json.dumps(chat)}\n" for chat in chats), encoding="utf-8")
    return path


def _name_the_provider(records: Path) -> None:
    """Message lists do not say whose the model was; it was OpenAI's, whose cap the shop names."""
    for path in records.glob("*.jsonl"):
        read = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        lines = [json.dumps({**record, "provider": "openai"}, ensure_ascii=False) for record in read]
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def environment() -> Mapping[str, str]:
    """No token, nobody's git settings; `python` is the one that runs the tests, and leaves no bytecode."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("GIT", "GH_", "PYTHON"))
    }
    path = os.pathsep.join([str(Path(sys.executable).parent), kept.get("PATH", "")])
    quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    return {**kept, **quiet, "PATH": path, "PYTHONUTF8": "1"}


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, env=environment(), capture_output=True, encoding="utf-8", check=False
    )


def output(command: list[str], folder: Path) -> str:
    done = run(command, folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def git(folder: Path, *words: str) -> str:
    return output(["git", *words], folder)


def descriptions(folder: Path) -> dict[str, str]:
    schema = json.loads(output(["python", "-m", "retail.schema"], folder))
    return {tool["function"]["name"]: tool["function"]["description"] for tool in schema}
