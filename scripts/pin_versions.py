"""Pin the version of everything that ``uv run`` installs, without a lock file of addresses.

    uv run python scripts/pin_versions.py            the newest versions that pyproject.toml allows, and the
                                                     newest releases of the frameworks in tests/frameworks
    uv run python scripts/pin_versions.py --check    exits 1 if something that is installed is not pinned

The nightly job installs the same versions, by their hashes, from a file that `init` writes into projects.

Warnings are errors in the tests: a release of some library must not turn a newcomer's first run red. The
pins stand in ``constraint-dependencies`` of pyproject.toml, which uv reads in this project alone; who
installs the package is not bound by them.
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PROJECT, LOCK = ROOT / "pyproject.toml", ROOT / "uv.lock"
DEPENDENCIES = ROOT / "src/coreloop/admin/init/templates/coreloop-dependencies.txt"
OWN_DEPENDENCIES = ROOT / ".github/coreloop-dependencies.txt"
FRAMEWORKS = [ROOT / "tests" / "frameworks" / name for name in ("versions.txt", "recorded_versions.txt")]
"""Each framework has an environment of its own, so they are not in the lock."""
_PINS = re.compile(r"^\[tool\.uv\]\nconstraint-dependencies = \[\n.*?^\]\n\n", re.MULTILINE | re.DOTALL)
_PLATFORM = re.compile(r" and sys_platform [!=]= '\w+'")
_BEFORE = "[tool.uv.sources]\n"


def pins(lock: dict[str, Any]) -> list[str]:
    """Return a constraint per version of each package; several versions differ by a marker."""
    packages = [package for package in lock["package"] if "registry" in package["source"]]
    return sorted(f"{package['name']}=={package['version']}{_marker(package)}" for package in packages)


def _marker(package: dict[str, Any]) -> str:
    """Return the Pythons of a version; where versions differ, they differ by Python and not by platform."""
    markers = {_PLATFORM.sub("", marker) for marker in package.get("resolution-markers", [])}
    return f" ; {' or '.join(f'({marker})' for marker in sorted(markers))}" if markers else ""


def dependencies() -> str:
    """Return the hashes of what coreloop's command needs, and of what builds it, from the lock."""
    choice = ["--no-default-groups", "--extra=cli", "--extra=typescript", "--group=build"]
    words = ["uv", "export", "--frozen", "--quiet", "--no-emit-project", "--no-header", "--no-annotate"]
    done = subprocess.run([*words, *choice], capture_output=True, text=True, check=True, cwd=ROOT)
    note = (
        "# What the nightly job installs beside coreloop; dartlab-coreloop init writes it and updates it.\n"
    )
    return note + done.stdout


def _version(constraint: str) -> str:
    return constraint.partition(" ;")[0]


def render(constraints: list[str]) -> str:
    """Return the table of pyproject.toml."""
    lines = "".join(f"  {_quoted(constraint)},\n" for constraint in constraints)
    return f"[tool.uv]\nconstraint-dependencies = [\n{lines}]\n\n"


def _quoted(text: str) -> str:
    return f'"{text}"' if '"' not in text else f"'{text}'"


def with_versions(text: str, newest: dict[str, str]) -> str:
    """Return a list of pinned distributions with other versions; comments stay."""
    return "".join(
        line if line.startswith("#") or "==" not in line else f"{name}=={newest.get(name, version)}\n"
        for line in text.splitlines(keepends=True)
        for name, _, version in [line.strip().partition("==")]
    )


def _newest(text: str) -> dict[str, str]:
    names = [
        line.partition("==")[0] for line in text.splitlines() if "==" in line and not line.startswith("#")
    ]
    command = ["uv", "pip", "compile", "--quiet", "--no-deps", "--no-header", "--no-annotate", "-"]
    done = subprocess.run(
        command, input="\n".join(names), capture_output=True, text=True, check=True, cwd=ROOT
    )
    return dict(line.split("==") for line in done.stdout.split())


def main() -> int:
    is_check = sys.argv[1:] == ["--check"]
    text = PROJECT.read_text(encoding="utf-8")
    if not is_check:
        text = _PINS.sub("", text)
        PROJECT.write_text(text, encoding="utf-8")
    subprocess.run(["uv", "lock", "--quiet", *([] if is_check else ["--upgrade"])], cwd=ROOT, check=True)
    wanted = pins(tomllib.loads(LOCK.read_text(encoding="utf-8")))
    if is_check:
        pinned = tomllib.loads(text)["tool"]["uv"].get("constraint-dependencies", [])
        missing = sorted({_version(constraint) for constraint in wanted} - set(map(_version, pinned)))
        # not the hashes: a version may get more files later
        known = set(re.findall(r"^[\w-]+==\S+", DEPENDENCIES.read_text(encoding="utf-8"), re.MULTILINE))
        missing += sorted(set(re.findall(r"^[\w-]+==\S+", dependencies(), re.MULTILINE)) - known)
        for constraint in missing:
            print(f"not pinned: {constraint}")
        if missing:
            print("run: uv run python scripts/pin_versions.py")
        return 1 if missing else 0
    PROJECT.write_text(text.replace(_BEFORE, render(wanted) + _BEFORE, 1), encoding="utf-8")
    print(f"{len(wanted)} versions pinned in {PROJECT.name}")
    for path in (DEPENDENCIES, OWN_DEPENDENCIES):
        path.write_text(dependencies(), encoding="utf-8")
    for path in FRAMEWORKS:
        listed = path.read_text(encoding="utf-8")
        path.write_text(with_versions(listed, _newest(listed)), encoding="utf-8")
        print(f"newest releases in {path.relative_to(ROOT)}; run: uv run pytest -m frameworks")
    return 0


if __name__ == "__main__":
    sys.exit(main())
