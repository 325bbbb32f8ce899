"""The demo's tool project: where its files lie, how they are copied, and how its functions are loaded."""

import importlib.util
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

PROJECT = Path(__file__).with_name("project")
_PACKAGE = "finlab"


def copy_project(destination: Path) -> None:
    """Copy the tool package and its coreloop.yaml into a folder, which is made if it does not exist.

    Parameters
    ----------
    destination : Path
        Existing files of the same names are overwritten, others are left alone.
    """
    shutil.copytree(PROJECT, destination, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)


def load_tools(project: Path = PROJECT) -> Mapping[str, Callable[..., object]]:
    """Import the tool package of a project folder, without touching ``sys.path``.

    Parameters
    ----------
    project : Path
        The folder that holds ``finlab``; by default the one inside coreloop.

    Returns
    -------
    Mapping
        Tool name to function. Each call imports afresh, so two projects can be loaded in one process.

    Raises
    ------
    ImportError
        If the folder holds no such package.
    """
    _forget_package()
    init = project / _PACKAGE / "__init__.py"
    spec = importlib.util.spec_from_file_location(
        _PACKAGE, init, submodule_search_locations=[str(init.parent)]
    )
    if spec is None or spec.loader is None or not init.is_file():
        raise ImportError(f"no package {_PACKAGE} in {project}", name=_PACKAGE, path=str(init))
    package = importlib.util.module_from_spec(spec)
    sys.modules[_PACKAGE] = package
    spec.loader.exec_module(package)
    tools: Mapping[str, Callable[..., object]] = package.TOOLS
    return tools


def _forget_package() -> None:
    for name in [name for name in sys.modules if name == _PACKAGE or name.startswith(f"{_PACKAGE}.")]:
        del sys.modules[name]
