"""What a command returns is printed by one function: text for people, JSON with ``--json``."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from coreloop.cli.main import finish
from coreloop.cli.output import Group, Output, table


@dataclass(frozen=True)
class _Written:
    path: Path
    rows: int


@click.group(cls=Group, result_callback=finish)
def group() -> None:
    """Stand in for the program."""


@group.command()
def write() -> Output:
    """Return a result with everything."""
    return Output(_Written(Path(os.fsdecode(b"out\xff")), 3), ["wrote", "3 rows"], ["a note"], code=1)


@group.command()
def count() -> Output:
    """Return a few facts."""
    return Output({"rows": 3}, "3 rows")


@pytest.mark.parametrize(
    ("words", "out", "code"),
    [("write", "wrote\n3 rows\n", 1), ("count", "3 rows\n", 0), ("count --json", '{"rows":3}\n', 0)],
)
def test_people_get_the_text_and_machines_the_value(words: str, out: str, code: int):
    done = CliRunner().invoke(group, words.split())
    assert (done.stdout, done.exit_code) == (out, code)


def test_a_dataclass_is_printed_by_the_names_of_its_fields_and_a_path_as_text():
    done = CliRunner().invoke(group, ["write", "--json"])
    assert json.loads(done.stdout) == {"path": "out\ufffd", "rows": 3}
    assert (done.stderr, done.exit_code) == ("a note\n", 1)


def test_a_table_is_as_wide_as_its_cells_and_cuts_the_last_column(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "32")
    rows = ["id", ">n", "text"], [("한강", "7", "x" * 90), ("b", "12", "y")]
    assert list(table("none", *rows)) == ["id     n  text", f"한강   7  {'x' * 21}…", "b     12  y"]
    monkeypatch.setenv("COLUMNS", "31")
    below = ["id     n\n  text", f"한강   7\n  {'x' * 28}…", "b     12\n  y"]
    assert list(table("none", *rows)) == below
    assert list(table("none", ["id"], [])) == ["none"]
