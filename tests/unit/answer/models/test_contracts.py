"""The schema files are those of the types."""

import json
from pathlib import Path

from coreloop.answer.models.contracts import SCHEMA_FILES, json_schema
from rows import each_row

FOLDER = Path(__file__).parents[4] / "docs" / "schemas"


@each_row("name", SCHEMA_FILES)
def test_a_file_is_the_schema_of_its_type(name: str):
    schema = json.loads(json.dumps(json_schema(SCHEMA_FILES[name])))
    assert json.loads((FOLDER / name).read_text(encoding="utf-8")) == schema


def test_no_other_file_is_there():
    assert {path.name for path in FOLDER.iterdir()} == set(SCHEMA_FILES)
