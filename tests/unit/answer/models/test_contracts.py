"""The schema files are those of the types."""

import json
from pathlib import Path

from coreloop.answer.models.contracts import SCHEMA_FILES, json_schema
from rows import each_row

FOLDER = Path(__file__).parents[4] / "docs" / "schemas"


def as_json(value: object) -> object:
    return json.loads(json.dumps(value))


@each_row("name", SCHEMA_FILES)
def test_a_file_is_the_schema_of_its_type(name: str):
    assert json.loads((FOLDER / name).read_text(encoding="utf-8")) == as_json(json_schema(SCHEMA_FILES[name]))


def test_no_other_file_is_there():
    assert {path.name for path in FOLDER.iterdir()} == set(SCHEMA_FILES)
