"""Front matter is parsed as written, and errors have line numbers."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from coreloop.learn.knowledge.front_matter import (
    FrontMatterError,
    Malformed,
    entries,
    line_of,
    read_front_matter,
    scalar,
    scalars,
)
from rows import each_row


def _read(text: str) -> dict[str, yaml.Node]:
    nodes = read_front_matter(text)
    assert isinstance(nodes, dict), nodes
    return nodes


@each_row(
    "text",
    ["", "# Title\n", "\n---\na: 1\n---\n", "--- a\n---\n", "----\na: 1\n----\n", "text\n---\na: 1\n---\n"],
)
def test_a_text_without_front_matter(text: str):
    assert read_front_matter(text) is None


@each_row(
    "text",
    [
        "---\na: 1\n---\n",
        "---\na: 1\n---",
        "---  \na: 1\n---\t\nbody\n---\n",
        "---\na: 1\n...\nbody",
        "---\r\na: 1\r\n---\r\nbody\r\n",
        "\ufeff---\na: 1\n---\n",
        "---\n# a comment\n\na: 1\n---\nb: 2\n---\n",
        "---\na: 1\u2028\n---\n",
    ],
)
def test_front_matter_ends_at_the_next_fence(text: str):
    assert {key: scalar(node, key) for key, node in _read(text).items()} == {"a": "1"}


@each_row("text", ["---\n---\n", "---\n\n---\n", "---\n# nothing\n---\n", "---\n~\n---\n"])
def test_empty_front_matter_has_no_keys(text: str):
    assert _read(text) == {}


@each_row(
    ("written", "read"),
    [
        ("035720", "035720"),
        ("'035720'", "035720"),
        ("000020", "000020"),
        ("2026-13-45", "2026-13-45"),
        ("2026-03-31", "2026-03-31"),
        ("1_000", "1_000"),
        ("0x10", "0x10"),
        ("yes", "yes"),
        ("12:30", "12:30"),
        ("~", ""),
        ("null", ""),
        ("'null'", "null"),
        ("", ""),
        (">-\n  two\n  lines", "two lines"),
        ("|\n  two\n  lines\n", "two lines"),
        ("!!python/object/apply:os.system ['x']", None),
        ("!!python/name:os.system x", "x"),
        ('"\\ud800x"', "?x"),
        ("[1]", None),
        ("{a: 1}", None),
    ],
)
def test_a_value_is_read_as_written(written: str, read: str | None):
    node = _read(f"---\nkey: {written}\n---\n")["key"]
    if read is None:
        with pytest.raises(FrontMatterError, match="key must be a single value"):
            scalar(node, "key")
    else:
        assert scalar(node, "key") == read


@pytest.mark.slow
@each_row(
    ("text", "line", "reason"),
    [
        ("---\na: 1\n", 1, "the front matter has no closing ---"),
        ("---\ntitle: a: b\n---\n", 2, "mapping values are not allowed here"),
        ("---\na: 1\n\nb: [1, 2\n---\n", 4, "expected ',' or ']'"),
        ("---\na: 1\n\tb: 2\n---\n", 3, "found character '\\t'"),
        ("---\na: 1\na: 2\n---\n", 3, "is duplicate or not text"),
        ("---\n[a]: 1\n---\n", 2, "is duplicate or not text"),
        ("---\n- a\n---\n", 2, "the front matter must be a mapping"),
        ("---\njust text\n---\n", 2, "the front matter must be a mapping"),
        ("---\na: *nowhere\n---\n", 2, "undefined alias"),
        ("---\na: 1\nb: \x07\n---\n", 3, "a character that YAML does not allow"),
        (f"---\na: {'[' * 5000}\n---\n", 1, "nested too deeply"),
    ],
)
def test_errors_have_the_line_of_the_file(text: str, line: int, reason: str):
    malformed = read_front_matter(text)
    assert isinstance(malformed, Malformed)
    assert reason in malformed.reason
    assert malformed.line == line


def test_lists_are_read_in_any_style():
    node = _read("---\na: [x, 'y z', ~, 3]\nb:\n- x\n-  y z\n-\n- 3\nc: x\n---\n")
    assert scalars(node["a"], "a") == scalars(node["b"], "b") == ("x", "y z", "3")
    assert scalars(node["c"], "c") == ("x",)
    assert scalars(None, "d") == ()


@each_row("written", ["{a: 1}", "[[1]]", "[{a: 1}]"])
def test_a_list_contains_only_scalars(written: str):
    node = _read(f"---\n\na: {written}\n---\n")["a"]
    with pytest.raises(FrontMatterError, match="must be a single value") as raised:
        scalars(node, "a")
    assert raised.value.malformed.line == 3


def test_exponentially_growing_aliases_are_refused():
    lines = ["a0: &a0 [x, x]", *(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 40))]
    node = _read("\n".join(["---", *lines, "---"]))["a39"]
    with pytest.raises(FrontMatterError):
        scalars(node, "a")


def test_lines_are_those_of_the_file():
    nodes = _read("---\n# comment\na: 1\nb:\n  c: 2\n---\n")
    assert line_of(nodes["a"]) == 3
    assert line_of(entries(nodes["b"], "b")["c"]) == 5


@given(st.text())
def test_any_text_is_read_or_refused(text: str):
    for document in (text, f"---\n{text}\n---\n", f"---\nai:\n  verdict: {text}\n---\n"):
        front = read_front_matter(document)
        assert front is None or isinstance(front, Malformed | dict)
