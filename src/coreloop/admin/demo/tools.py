"""A demo's tool project: copy its files and load its functions."""

import importlib.util
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path


def copy_project(project: Path, destination: Path) -> None:
    """Copy a tool package and its coreloop.yaml into a folder, which is created if absent.

    Parameters
    ----------
    project : Path
        The folder that contains both.
    destination : Path
        Files of the same names are overwritten; other files are kept.
    """
    shutil.copytree(project, destination, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)


def load_tools(project: Path, package: str) -> Mapping[str, Callable[..., object]]:
    """Import the tool package of a project folder, without touching ``sys.path``.

    Parameters
    ----------
    project : Path
        The folder that contains the package.
    package : str
        Name of the package.

    Returns
    -------
    Mapping
        Tool name to function. Each call imports again, so a process can load two projects.

    Raises
    ------
    ImportError
        The folder contains no such package.
    """
    _forget(package)
    init = project / package / "__init__.py"
    spec = importlib.util.spec_from_file_location(
        package, init, submodule_search_locations=[str(init.parent)]
    )
    if spec is None or spec.loader is None or not init.is_file():
        raise ImportError(f"no package {package} in {project}", name=package, path=str(init))
    module = importlib.util.module_from_spec(spec)
    sys.modules[package] = module
    spec.loader.exec_module(module)
    tools: Mapping[str, Callable[..., object]] = module.TOOLS
    return tools


def _forget(package: str) -> None:
    for name in [name for name in sys.modules if name == package or name.startswith(f"{package}.")]:
        del sys.modules[name]
