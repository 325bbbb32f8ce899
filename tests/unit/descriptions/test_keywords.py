"""Keywords of JSON Schema, put where tools are declared: what a call that is against one then meets."""

import ast
import json
from collections.abc import Callable
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from coreloop.descriptions.keywords import Keyword, with_keyword
from coreloop.descriptions.texts import find_texts

GOOD: dict[str, Any] = {"days": 45, "city": "Øst-by", "tags": ["a", "b"]}
REFUSED = {
    Keyword("days", "maximum", 45): {"days": 46},
    Keyword("days", "minimum", -1.5): {"days": -2},
    Keyword("city", "enum", ("Oslo", "Øst-by")): {"city": "oslo"},
    Keyword("tags", "maxItems", 2): {"tags": ["a", "a", "a"]},
    Keyword("city", "maxLength", 6): {"city": "Bergen."},
    Keyword("city", "minLength", 1): {"city": ""},
    Keyword("days", "required"): {"days": None},
    Keyword("force", "additionalProperties"): {"force": True},
}
_ARGUMENTS = {
    "days": {"description": "How many, never 'days'.", "type": "integer"},
    "city": {"type": "string", "description": "A city."},
    "tags": {"type": "array", "items": {"type": "string"}},
}
_SCHEMA = {"type": "object", "properties": _ARGUMENTS, "required": ["city"]}
TOOLS = [{"name": "book", "description": "Books.", "parameters": _SCHEMA}]
SCHEMAS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "lines.json": (json.dumps(TOOLS, indent=2), json.loads),
    "one-line.json": (json.dumps(TOOLS), json.loads),
    "crlf.json": (json.dumps(TOOLS, indent="\t").replace("\n", "\r\n"), json.loads),
    "flow.yaml": (json.dumps(TOOLS, indent=2), yaml.safe_load),
    "tools.py": (f"TOOLS = {TOOLS}\n", lambda text: ast.literal_eval(text.removeprefix("TOOLS = "))),
}


@pytest.mark.parametrize("keyword", REFUSED, ids=lambda keyword: keyword.name)
@pytest.mark.parametrize("path", SCHEMAS)
def test_a_schema_refuses_what_a_line_refuses(path: str, keyword: Keyword):
    source, read = SCHEMAS[path]
    new, _ = with_keyword(path, source.encode(), find_texts(path, source.encode())[0], keyword)
    validator = Draft202012Validator(read(new.decode())[0]["parameters"])
    bad = {name: value for name, value in {**GOOD, **REFUSED[keyword]}.items() if value is not None}
    assert (validator.is_valid(GOOD), validator.is_valid(bad)) == (True, False)
    again = with_keyword(path, new, find_texts(path, new)[0], keyword)
    assert again[0] == new


_PYTHON = """from mcp import mcp


@mcp.tool()
def book(city, {}):
    \"\"\"Books.\"\"\"


def other(a: int = 9, b: str = ""): ...
"""
_ZOD = """server.registerTool("book", {{
  description: "Øl",
  inputSchema: {{ // a: z.string()
    {},
  }},
}}, run);
server.tool("other", "Other.", {{ a: z.string().optional() }}, run);
"""
MOST, LEAST = Keyword("a", "maximum", 45), Keyword("a", "minimum", 1)
CHOICE, ITEMS = Keyword("a", "enum", ("x", "ø")), Keyword("a", "maxItems", 2)
FILLED, NEEDED = Keyword("a", "minLength", 1), Keyword("a", "required")


@pytest.mark.parametrize(
    ("declared", "keyword", "becomes"),
    [
        ("a: int = 3", MOST, "a: Annotated[int, Field(le=45)] = 3"),
        ("a: Annotated[int, Field(gt=0)] = 1", LEAST, "a: Annotated[int, Field(ge=1, gt=0)] = 1"),
        ("a: Annotated[int, 'x'] = 1", LEAST, "a: Annotated[Annotated[int, Field(ge=1)], 'x'] = 1"),
        ("a: str | None = None", CHOICE, 'a: Literal["x", "ø"] | None = None'),
        ("a: list[str], b=(1, 2)", ITEMS, "a: Annotated[list[str], Field(max_length=2)], b=(1, 2)"),
        ("a: str = Field('')", FILLED, "a: Annotated[str, Field(min_length=1)] = Field('')"),
        ("a: str = '', *, b=1", NEEDED, "a: str, *, b=1"),
        ("a: int = 60", MOST, "a: int = 60"),  # a default that it would refuse
        ("a: z.number().int().optional()", MOST, "a: z.number().max(45).int().optional()"),
        ('a: z.string().describe("ø")', CHOICE, 'a: z.enum(["x", "ø"]).describe("ø")'),
        ("a: z.array(z.string())", ITEMS, "a: z.array(z.string()).max(2)"),
        ("a: z\n  .string()\n  .optional()", NEEDED, "a: z\n  .string()"),
        ("a: z\n  .number()\n  .int()", MOST, "a: z\n  .number().max(45)\n  .int()"),
        ("a: z.string()", NEEDED, "a: z.string()"),  # it is
    ],
)
def test_a_declaration_in_code_gets_what_its_type_can_say(declared: str, keyword: Keyword, becomes: str):
    path, template = ("tools.ts", _ZOD) if "a: z" in declared else ("tools.py", _PYTHON)
    source = template.format(declared).encode()
    new, snippet = with_keyword(path, source, find_texts(path, source)[0], keyword)
    lines = new.decode().splitlines(keepends=True)
    imported = {line for line in lines if line.startswith(("from typing", "from pydantic"))}
    assert "".join(line for line in lines if line not in imported) == template.format(becomes)
    assert (len(imported), snippet) == (
        sum(name in becomes for name in ("Annotated[", "Literal[", "Field(")),
        "",
    )


@pytest.mark.parametrize(
    ("declared", "keyword", "snippet"),
    [
        ("a: 'int' = 3", MOST, "a: Annotated[int, Field(le=45)]"),
        ("a: str = '', b: int = f(a=3)", ITEMS, "a: Annotated[list[str], Field(max_length=2)]"),
        ("b=1, a: str = ''", NEEDED, "a without a default"),
        ("a: z.number().max(60)", MOST, "a: z.number().max(45)"),
    ],
)
def test_what_is_not_plain_is_left_with_what_to_write(declared: str, keyword: Keyword, snippet: str):
    path, template = ("tools.ts", _ZOD) if "a: z" in declared else ("tools.py", _PYTHON)
    source = template.format(declared).encode()
    assert with_keyword(path, source, find_texts(path, source)[0], keyword) == (source, snippet)


def test_a_block_of_yaml_is_left_with_what_to_write():
    source = yaml.safe_dump(TOOLS, sort_keys=False).encode()
    text = find_texts("tools.yaml", source)[0]
    keyword = Keyword("days", "maximum", 45)
    assert with_keyword("tools.yaml", source, text, keyword) == (source, '"maximum": 45')
