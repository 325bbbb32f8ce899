"""What a project may name as its tools: each framework's own objects, read before and after a real edit."""

import shutil
from itertools import product
from pathlib import Path

import pytest

from coreloop.base.errors import ReachError
from coreloop.base.project.promotion_settings import ReachSettings
from coreloop.descriptions.edit import Edited
from coreloop.promote.reach import Measured, measure_reach
from coreloop.promote.tool_schemas import read_description, schema_command
from frameworks.environments import HERE, interpreter
from frameworks.styles import LINES, promoted, with_lines
from frameworks.test_matrix import WAYS
from rows import each_row

pytestmark = pytest.mark.frameworks
FRAMEWORKS = {way.framework: way.distribution for way in WAYS.values()}
EVERY_FRAMEWORK = pytest.mark.parametrize("framework", FRAMEWORKS)


def edited() -> Edited:
    """The edit that puts the lines into the first block of a Google docstring."""
    return promoted(with_lines("google")["before"].replace("google_before", "find_orders"), "find_orders")


def reach(framework: str, attribute: str) -> Measured:
    settings = ReachSettings(
        framework=framework,
        tools=f"containers:{attribute}",
        python=str(interpreter(FRAMEWORKS[framework])),
    )
    command = schema_command(settings, Path())
    assert command is not None
    edit = edited()

    def export(folder: Path) -> None:
        (folder / "orders.py").write_bytes(edit.old)
        shutil.copy(HERE / "containers.py", folder)

    return measure_reach(command, export, "", "orders.py", edit, tool="find_orders", caps={})


@each_row(
    ("framework", "attribute"),
    [
        *product(FRAMEWORKS, ("CONTAINER", "OBJECTS")),
        ("llama-index", "FLOW"),
        *product(("anthropic",), ("FUNCTIONS", "BY_NAME", "made", "made_later")),
    ],
)
def test_lines_arrive_whatever_holds_the_tools(framework: str, attribute: str) -> None:
    found = reach(framework, attribute)
    assert (found.ok, found.missing, found.elsewhere) == (True, (), None)
    assert "Find orders of a customer." in found.before
    assert found.source == f"as {framework} sends it"


@EVERY_FRAMEWORK
def test_description_that_is_written_elsewhere_is_told(framework: str) -> None:
    found = reach(framework, "OVERRIDDEN")
    assert (found.before, found.ok, found.missing) == ("Written here.", False, LINES)
    assert found.doubts == ()
    (said,) = found.forbidden
    assert "does not come from this text" in said
    assert all(line in said for line in LINES)


@EVERY_FRAMEWORK
def test_what_is_no_tool_is_named(framework: str) -> None:
    with pytest.raises(ReachError, match=r"^reach: containers:TEXT contains a str; it must be "):
        reach(framework, "TEXT")


def test_framework_that_the_environment_lacks_is_named() -> None:
    python = str(interpreter("anthropic"))
    command = schema_command(ReachSettings(framework="fastmcp", tools="json:__all__", python=python), Path())
    assert command is not None
    with pytest.raises(ReachError) as caught:
        read_description(command, Path(), "find_orders")
    assert str(caught.value) == (
        f"reach: fastmcp is not installed for {python}, or its version is not supported (No module named "
        "'fastmcp'); set reach: python in coreloop.yaml to the interpreter that runs the tools"
    )
