"""What ``--json`` prints: fields by their names, paths as text; without it, the text alone."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from coreloop.cli.emit import emit, fields_of


@dataclass(frozen=True)
class _Written:
    path: Path
    rows: int


def test_a_dataclass_is_printed_by_the_names_of_its_fields(capsys: pytest.CaptureFixture[str]):
    emit(_Written(Path(os.fsdecode(b"out\xff")), 3), as_json=True, text="wrote 3 rows")
    printed = capsys.readouterr().out
    assert json.loads(printed) == {"path": "out\ufffd", "rows": 3}
    assert len(printed.splitlines()) == 4


def test_a_few_facts_stand_on_one_line(capsys: pytest.CaptureFixture[str]):
    emit(fields_of(_Written(Path("out"), 3), "rows"), as_json=True, text="wrote", is_compact=True)
    assert capsys.readouterr().out == '{"rows":3}\n'


def test_people_get_the_text_alone(capsys: pytest.CaptureFixture[str]):
    emit({"rows": 3}, as_json=False, text="wrote 3 rows")
    emit({"rows": 3}, as_json=False, text=lambda facts: print(f"{facts['rows']} rows"))
    assert capsys.readouterr().out == "wrote 3 rows\n3 rows\n"
