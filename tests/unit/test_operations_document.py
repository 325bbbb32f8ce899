"""docs/how-to/operate.md names commands, options and gates as they are."""

import re
from pathlib import Path

import click

from coreloop.cli import pattern
from coreloop.cli.main import COMMANDS, HIDDEN, main
from rows import each_row

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "operate.md").read_text(encoding="utf-8")
USED = re.findall(r"dartlab-coreloop ([a-z-]+)([^`\n|&]*)", PAGE)


def test_commands_of_the_page_exist() -> None:
    assert {name for name, _ in USED} <= {*COMMANDS, *HIDDEN}


@each_row(("name", "rest"), USED)
def test_options_of_the_page_exist(name: str, rest: str) -> None:
    command = main.get_command(click.Context(main), name)
    if isinstance(command, click.Group):
        command = command.get_command(click.Context(command), rest.split(maxsplit=1)[0])
    assert command is not None
    known = {option for parameter in command.params for option in parameter.opts}
    assert set(re.findall(r"--[a-z-]+", rest)) <= known


def test_gates_that_patterns_fall_at_are_all_explained() -> None:
    assert [gate for gate in pattern._GATES if f"- `{gate}`:" not in PAGE] == []
