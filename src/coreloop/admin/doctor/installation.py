"""Check coreloop.yaml and the installed extras."""

from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from typing import Final

from coreloop.admin.doctor.diagnosis import Diagnosis, Setup, listed
from coreloop.base.extras import CLI_MODULES, install_line
from coreloop.base.project.settings_file import FILE_NAME

_DISTRIBUTED: Final = ("distributed", "fsspec")


def check_settings(setup: Setup) -> Iterator[Diagnosis]:
    """Check that coreloop.yaml exists and is valid."""
    if setup.refused is not None:
        todo = "correct it; until then the checks use defaults"
        yield Diagnosis("settings", "fault", str(setup.refused), todo)
    elif not setup.workspace.is_configured:
        message = (
            f"there is no {FILE_NAME} in {setup.workspace.root} or above it; every setting has its default"
        )
        yield Diagnosis(
            "settings", "warning", message, "run dartlab-coreloop init --confirm in the repository"
        )
    else:
        yield Diagnosis("settings", "ok", f"{setup.workspace.root / FILE_NAME} is valid")


def check_extras(_: Setup) -> Iterator[Diagnosis]:
    """Check that the modules of the extras exist, without importing them."""
    missing = _missing(CLI_MODULES)
    if missing:
        todo = f"run {install_line('cli')}"
        yield Diagnosis("extras", "fault", f"packages of the extra cli are missing: {listed(missing)}", todo)
    else:
        yield Diagnosis("extras", "ok", "the packages of the extra cli are installed")
    absent = _missing(_DISTRIBUTED)
    if absent:
        message = (
            f"distributed is not installed ({listed(absent)}); only --scheduler and s3:// addresses need it"
        )
        yield Diagnosis("extras", "ok", message, f"to use them, run {install_line('distributed')}")
    else:
        yield Diagnosis("extras", "ok", "the packages of the extra distributed are installed")


def _missing(modules: Iterable[str]) -> list[str]:
    return [module for module in sorted(modules) if find_spec(module) is None]
