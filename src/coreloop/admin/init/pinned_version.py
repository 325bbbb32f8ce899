"""The coreloop that the workflows install: the installed one, or the source given to ``init``."""

import json
import os
import re
from hashlib import sha256 as sha256_of
from importlib.metadata import Distribution, PackageNotFoundError
from pathlib import Path
from typing import Any, Final

from coreloop.base.errors import UsageError
from coreloop.base.extras import DISTRIBUTION
from coreloop.base.git.repository import Repository
from coreloop.base.text import printable

PIN_EXAMPLES: Final = (
    "--source git+https://HOST/OWNER/REPOSITORY@COMMIT, --source https://HOST/WHEEL#sha256=HASH "
    "or --source PATH.whl of a wheel that is committed here"
)
"""Ways to name a source if the installed coreloop cannot be pinned."""

_COMMIT: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
# https://github.com/octo/tools.git; not https://token@host/x, nor $NAME, which pip replaces, nor a query
_PUBLIC: Final = re.compile(r"https://[\w.-]+(?::\d+)?/[\w./~+%-]+", re.ASCII)
_FOLDER: Final = re.compile(r"[\w./-]+", re.ASCII)
# vendor/dartlab_coreloop-0.4.0-py3-none-any.whl; not a space or $NAME, which pip would read
_WHEEL: Final = re.compile(r"[\w./+-]+\.whl", re.ASCII)


class CannotPinError(UsageError):
    """No requirement would install the same bytes of this coreloop on another machine."""


def pin_installed() -> str:
    """Return the requirement that installs the same coreloop on any machine.

    Returns
    -------
    str
        A line of a requirements file, from the installer's own record (PEP 610).

    Raises
    ------
    CannotPinError
        coreloop was installed by name or from this machine's disk, or its record has no commit or hash.
    """
    try:
        record = Distribution.from_name(DISTRIBUTION).read_text("direct_url.json")
        if record is not None:
            direct_url = json.loads(record)
            return _pin(direct_url["url"], direct_url)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _cannot_pin("this coreloop has an unreadable record of its installation") from error
    except PackageNotFoundError:
        pass  # run from a source tree
    raise _cannot_pin("this coreloop was installed by name, which could be another program elsewhere")


def pin_source(source: str, root: Path) -> str:
    """Return the requirement for a ``--source``.

    Parameters
    ----------
    source : str
        ``git+https://…@`` and a commit, an https address with ``#sha256=`` and the hash, or the path of a
        wheel in the repository, whose hash is computed. A release of an index (``dartlab-coreloop==0.2.0``)
        has no hash, so the index could replace its files.
    root : Path
        The repository's root, from which the workflows install.

    Raises
    ------
    UsageError
        The source would not install the same bytes on every machine.
    """
    wheel = Path(os.path.relpath((root / source).resolve(), root.resolve())).as_posix()
    if _WHEEL.fullmatch(wheel) and not wheel.startswith("../") and (root / wheel).is_file():
        if Repository(root).is_ignored(wheel):
            raise UsageError(f"git ignores {wheel}, so no workflow would have it; git add --force it first")
        return f"./{wheel}[cli] --hash=sha256:{sha256_of((root / wheel).read_bytes()).hexdigest()}"
    address, _, fragment = source.partition("#")
    url, _, commit = address.removeprefix("git+").rpartition("@")
    options = dict(part.partition("=")[::2] for part in fragment.split("&")) if fragment else {}
    folder, sha256 = options.pop("subdirectory", "."), options.pop("sha256", "")
    if not options and _FOLDER.fullmatch(folder):
        is_commit = address.startswith("git+") and _COMMIT.fullmatch(commit) and _is_public(url)
        if (is_commit and not sha256) or (_is_public(address) and _SHA256.fullmatch(sha256)):
            return _requirement(source)
    message = f"--source {printable(source)} names no commit, no hash and no wheel here"
    raise UsageError(f"{message}; give {PIN_EXAMPLES}")


def _pin(url: str, direct_url: dict[str, Any]) -> str:
    folder = direct_url.get("subdirectory", "")
    if "dir_info" in direct_url or url.startswith("file:"):
        raise _cannot_pin("this coreloop was installed from this machine's disk")
    if not _is_public(url) or (folder and not _FOLDER.fullmatch(folder)):
        raise _cannot_pin("this coreloop was installed from an address that is not plain https")
    vcs = direct_url.get("vcs_info", {})
    if vcs.get("vcs") == "git" and _COMMIT.fullmatch(commit := vcs["commit_id"]):
        return _requirement(f"git+{url}@{commit}" + (f"#subdirectory={folder}" if folder else ""))
    archive = direct_url.get("archive_info", {})
    sha256 = archive.get("hashes", {}).get("sha256") or archive.get("hash", "").removeprefix("sha256=")
    if _SHA256.fullmatch(sha256):
        return _requirement(f"{url}#sha256={sha256}" + (f"&subdirectory={folder}" if folder else ""))
    raise _cannot_pin("this coreloop was installed without a commit or hash on record")


def _requirement(source: str) -> str:
    return f"{DISTRIBUTION}[cli] @ {source}"


def _is_public(url: str) -> bool:
    """Whether a runner can read the address without credentials: https without a user name or token."""
    return _PUBLIC.fullmatch(url) is not None


def _cannot_pin(reason: str) -> CannotPinError:
    return CannotPinError(f"cannot pin what the workflows install: {reason}; give {PIN_EXAMPLES}")
