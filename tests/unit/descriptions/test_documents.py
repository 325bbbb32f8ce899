"""Tools that are defined outside Python: each form, and files that say nothing."""

import pytest

from coreloop.descriptions.other_places import described_tools


def test_descriptions_of_parameters_belong_to_their_tool():
    raw = b'{"tools": [{"name": "pay", "description": "Pays.", "schema": {"n": {"description": "Sum."}}}]}'
    assert described_tools("tools.json", raw) == {"pay": "Pays.\nSum."}


@pytest.mark.parametrize(
    ("path", "raw"),
    [
        ("a.json", b"{"),
        ("a.json", b"[" * 100_000),
        ("a.yaml", b"a: [\n"),
        ("a.yaml", b"a: !!python/object:os.system {}\n"),
        ("a.toml", b"a ="),
        ("a.json", b"\xff"),
        ("a.json", b'[{"name": "a", "description": "x"}, {"name": "a", "description": "y"}]'),
    ],
)
def test_what_is_unreadable_or_defined_twice_has_no_tool(path: str, raw: bytes):
    assert described_tools(path, raw) == {}
