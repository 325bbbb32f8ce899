"""The demos' tool packages: what coreloop.yaml says of them, their docstrings, and how they are loaded."""

import doctest
import inspect
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from coreloop.admin.demo.run import copy_project, load_tools
from rows import each_row
from scripted import SCENARIOS, tools_of

HEADED = ["Parameters", "Returns", "Raises", "Examples", "Notes", "Guide", "See Also"]
EVERY_TOOL = [(scenario, tool) for scenario in SCENARIOS.values() for tool in tools_of(scenario)]


@pytest.fixture(params=EVERY_TOOL, ids=lambda param: f"{param[0].name}-{param[1]}")
def tool(request):
    scenario, name = request.param
    return tools_of(scenario)[name]


def test_the_tools_are_those_of_the_configuration(scenario):
    tools = tools_of(scenario)
    configured = yaml.safe_load((scenario.project / "coreloop.yaml").read_text(encoding="utf-8"))["tools"]
    assert configured.keys() == tools.keys()
    for name, entry in configured.items():
        path, symbol = entry["target"].split("::")
        assert symbol == tools[name].__name__
        assert Path(inspect.getfile(tools[name])) == scenario.project / path
        assert set(entry.get("selectors", [])) <= set(inspect.signature(tools[name]).parameters)


def test_examples_in_the_docstring_are_true(tool):
    tests = doctest.DocTestFinder().find(tool, tool.__name__, globs=dict(tool.__globals__))
    results = [doctest.DocTestRunner(verbose=False).run(test) for test in tests]
    assert sum(result.attempted for result in results) >= 2
    assert sum(result.failed for result in results) == 0


def test_docstring_has_nine_sections_in_order(tool):
    lines = inspect.getdoc(tool).splitlines()
    headed = [above for above, below in pairwise(lines) if below and set(below) == {"-"}]
    assert headed == HEADED
    summary, blank, description = lines[:3]
    assert summary.endswith(".")
    assert blank == ""
    assert description
    assert description not in HEADED


def test_docstring_names_every_parameter(tool):
    documented = inspect.getdoc(tool).split("Parameters\n")[1].split("Returns\n")[0]
    assert [
        line.split(" : ")[0] for line in documented.splitlines() if " : " in line and line[0] != " "
    ] == list(inspect.signature(tool).parameters)


@each_row(("scenario", "name"), EVERY_TOOL, ids=lambda part: getattr(part, "name", part))
def test_no_guide_names_another_tool(scenario, name):
    """Which calls go well together is what the demo's mining must find."""
    tools = tools_of(scenario)
    guide = inspect.getdoc(tools[name]).split("Guide\n")[1].split("See Also\n")[0]
    assert not [other for other in tools if f"{other}(" in guide or f"`{other}`" in guide]


def test_a_copied_project_loads_from_where_it_was_copied(scenario, tmp_path):
    copy_project(scenario.project, tmp_path)
    tools = load_tools(tmp_path, scenario.name)
    assert {Path(inspect.getfile(tool)).parent for tool in tools.values()} == {tmp_path / scenario.name}


def test_a_folder_without_tools_is_an_import_error(scenario, tmp_path):
    with pytest.raises(ImportError, match=scenario.name):
        load_tools(tmp_path, scenario.name)


def test_every_file_of_a_demo_is_named_by_its_kind(scenario):
    """The wheel takes every file below the package: a stray one would be copied to users."""
    kinds = {path.suffix for path in scenario.project.rglob("*") if path.is_file()} - {".pyc"}
    assert kinds == {".py", ".csv", ".yaml", ".toml"}
