"""A public class name has one meaning in the whole package."""

import ast
from collections import defaultdict
from pathlib import Path

import pytest

SRC = Path(__file__).parents[2] / "src" / "coreloop"


@pytest.mark.slow
def test_a_public_class_name_occurs_once():
    modules: dict[str, list[str]] = defaultdict(list)
    for file in SRC.rglob("*.py"):
        for node in ast.parse(file.read_bytes()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                modules[node.name].append(file.relative_to(SRC).as_posix())
    assert len(modules) > 500
    assert {name: places for name, places in modules.items() if len(places) > 1} == {}
