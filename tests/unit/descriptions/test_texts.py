"""Texts of tools in Python and JSON: which are found, how lines are spelled in them, and what is refused."""

import pytest

from coreloop.descriptions.place import Wanted
from coreloop.descriptions.source import UnprovenError
from coreloop.descriptions.texts import DOCSTRING, find_text, find_texts, put_lines
from editing import DAY as LINE
from editing import put_text as put

SPELLED = r"\n\n- day: as YYYY-MM-DD"

PYTHON = {
    "decorator": ('@mcp.tool(description="Pays.")\ndef pay(day): ...\n', "pay"),
    "decorator with another name": ('@tool("pay", description="Pays.")\ndef x(day): ...\n', "pay"),
    "second position": ('@tool("pay", "Pays.", {"day": str})\nasync def x(args): ...\n', "pay"),
    "override": ('@function_tool(description_override="Pays.")\ndef pay(day): ...\n', "pay"),
    "call that takes it": (
        'def pay(day): ...\nt = StructuredTool.from_function(pay, description="Pays.")\n',
        "pay",
    ),
    "autogen": ('def pay(day): ...\nt = FunctionTool(pay, "Pays.")\n', "pay"),
    "add_tool": ('def pay(day): ...\nmcp.add_tool(pay, description="Pays.")\n', "pay"),
    "annotated field": ('@tool\ndef pay(day: Annotated[str, Field(description="Pays.")]): ...\n', "pay[day]"),
    "field as default": ('@tool\ndef pay(*, day: str = Field(description="Pays.")): ...\n', "pay[day]"),
    "annotated text": ('@tool\ndef pay(day: Annotated[str, "Pays."]): ...\n', "pay[day]"),
    "doc": ('@tool\ndef pay(day: Annotated[str, Doc("Pays.")]): ...\n', "pay[day]"),
    "field of a model": (
        'class Span(BaseModel):\n    day: str = Field(..., description="Pays.")\n'
        "@tool\ndef pay(its: list[Span]): ...\n",
        "pay[its.day]",
    ),
    "field of a base of the schema": (
        'class Base(BaseModel):\n    day: str = Field(description="Pays.")\nclass Args(Base): ...\n'
        "@tool(args_schema=Args)\ndef pay(day): ...\n",
        "pay[day]",
    ),
    "class": ('class Pay(BaseTool):\n    name: str = "pay"\n    description: str = "Pays."\n', "pay"),
    "class by its own name": (
        'class Pay(BaseTool):\n    name: str = "pay"\n    description = "Pays."\n',
        "Pay",
    ),
    "method of a class": (
        'class Pay(BaseTool):\n    name = "pay"\n    description = "x"\n'
        '    def _run(self, day: Annotated[str, "Pays."]): ...\n',
        "pay[day]",
    ),
    "low-level tool by its variable": ('pay = Tool(name="x", description="Pays.", inputSchema={})\n', "pay"),
    "low-level schema": (
        't = Tool(name="pay", inputSchema={"properties": {"day": {"description": "Pays."}}})\n',
        "pay[day]",
    ),
    "argument called name": (
        't = Tool(name="pay", inputSchema={"properties": {"name": {"description": "Pays."}}})\n',
        "pay[name]",
    ),
    "name of an enum": (
        'class N(Enum):\n    PAY = "pay"\nt = Tool(name=N.PAY.value, description="Pays.")\n',
        "pay",
    ),
    "schema of a model": (
        'class Args(BaseModel):\n    day: str = Field(description="Pays.")\n'
        't = [Tool(name="pay", description="x", inputSchema=Args.model_json_schema())]\n',
        "pay[day]",
    ),
    "dictionary": ('X = {"name": "pay", "description": "Pays.", "input_schema": {}}\n', "pay"),
    "dictionary of openai": (
        '[{"type": "function", "function": {"name": "pay", "description": "Pays."}}]\n',
        "pay",
    ),
    "constants in a circle": (
        'A = {"a": B}\nB = {"a": A}\nt = [Tool(name="pay", description="Pays.", inputSchema=A)]\n',
        "pay",
    ),
    "constant": ('TEXT = "Pays."\n@tool(description=TEXT)\ndef pay(day): ...\n', "pay"),
    "non-ascii above, BOM, CRLF": (
        '\ufeff# 한글\r\n@tool(description="Pays.")\r\ndef pay(day): ...\r\n',
        "pay",
    ),
}


@pytest.mark.parametrize(("source", "name"), PYTHON.values(), ids=PYTHON)
def test_a_text_in_python_gets_its_line_and_nothing_else_changes(source: str, name: str):
    assert put("a.py", source.encode(), name).source.decode() == source.replace("Pays.", f"Pays.{SPELLED}")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("'It''s'", None),
        ('"Say \\"x\\"."', f'"Say \\"x\\".{SPELLED}"'),
        ("'Sum.\\n\\n- n: at most 9'", "'Sum.\\n\\n- n: at most 9\\n- day: as YYYY-MM-DD'"),
        ('"""Sum."""', f'"""Sum.\n\n{LINE}"""'),
        ('"""\n    Sum.\n    Two.\n    """', f'"""\n    Sum.\n    Two.\n\n    {LINE}\n    """'),
        ('r"""Sum."""', f'r"""Sum.\n\n{LINE}"""'),
        ('r"Sum."', None),
        ('"Pays " "it."', None),
        ('"a" + "b"', None),
        ('f"a{1}"', None),
        ('"{}".format(1)', None),
        ('dedent("""a""")', None),
        ("MISSING", None),
        ("USED", None),
        ('""', None),
        ('"```\\nopen"', None),
    ],
)
def test_quotes_stay_and_what_is_no_plain_text_is_refused(before: str, after: str | None):
    source = 'USED = "a"\nprint(USED)\n@tool(description={})\ndef pay(n): ...\n'
    if after is None:
        with pytest.raises(UnprovenError):
            put("a.py", source.format(before).encode(), "pay")
    else:
        assert put("a.py", source.format(before).encode(), "pay").source.decode() == source.format(after)


def test_what_two_tools_share_is_refused_by_name():
    model = 'class Args(BaseModel):\n    day: str = Field(description="A day.")\n'
    raw = f"{model}@tool\ndef pay(its: Args): ...\n@tool\ndef ask(its: Args): ...\n".encode()
    reasons = {text.refused for text in find_texts("a.py", raw) if text.argument}
    assert reasons == {"it is shared by ask[its.day] and pay[its.day]"}


def test_a_line_that_ends_in_a_quote_keeps_the_closing_quotes():
    raw = b'@tool(description="""Pays.""")\ndef pay(n): ...\n'
    assert put("a.py", raw, "pay", '- n: one of "a"').source.count(b'\\"""') == 1


def test_only_tools_have_texts_in_python():
    raw = b'''"""Module."""
def helper(): "Helps."
@server.call_tool()
async def call(name): "Answers."
@app.get("/x", description="An endpoint.")
def get(): "Gets."
parser.add_argument("--n", help="N", description="x")
META = {"name": "shop", "description": "A package.", "version": "1"}
@mcp.tool()
def pay(): "Pays."
def book(): "Books."
agent = Agent(tools=[book])
'''
    assert [(text.name, text.what) for text in find_texts("a.py", raw)] == [
        ("pay", DOCSTRING),
        ("book", DOCSTRING),
    ]
    assert find_text("a.py", raw, "helper").value == "Helps."  # known elsewhere to be a tool


JSON = {
    "openai": ('[{"type":"function","function":{"name":"pay","description":"Pays."}}]', "pay"),
    "mcp": ('{"tools": [{"name": "pay", "description": "Pays.", "inputSchema": {}}]}', "pay"),
    "gemini": ('{"functionDeclarations": [{"name": "pay", "description": "Pays."}]}', "pay"),
    "bedrock": (
        '{"toolSpec": {"name": "pay", "description": "x", '
        '"inputSchema": {"json": {"properties": {"day": {"description": "Pays."}}}}}}',
        "pay[day]",
    ),
    "mapping": ('{"pay":\t{"description": "Pays.", "parameters": {}}}\r\n', "pay"),
    "nested": (
        '{"name": "pay", "parameters": {"properties": {"its": {"type": "array", "items": {"properties": '
        '{"day": {"description": "Pays."}}}}}}}',
        "pay[its.day]",
    ),
    "reference": (
        '{"name": "pay", "input_schema": {"properties": {"its": {"$ref": "#/$defs/Its"}}, '
        '"$defs": {"Its": {"properties": {"day": {"description": "Pays."}}}}}}',
        "pay[its.day]",
    ),
    "escapes, a pair, a lone surrogate": (
        '{"name":"pay","description":"\\/\\u00e9\\ud83d\\ude00\\ud800 Pays.","parameters":{}}',
        "pay",
    ),
    "a text like a comment, BOM, big number": (
        '\ufeff{"x": "// no \\" {", "n": 1e999, "name": "결제", "description": "Pays.", "parameters": {}}',
        "결제",
    ),
}


@pytest.mark.parametrize(("source", "name"), JSON.values(), ids=JSON)
def test_a_text_in_json_gets_its_line_and_nothing_else_changes(source: str, name: str):
    assert put("a.json", source.encode(), name).source.decode() == source.replace("Pays.", f"Pays.{SPELLED}")


@pytest.mark.parametrize(
    ("other", "written"),
    [("é", "- 날: x"), ("\\u00e9", "- \\ub0a0: x"), ("e", "- 날: x")],
    ids=["raw", "escaped", "none"],
)
def test_new_characters_are_written_as_the_file_has_others(other: str, written: str):
    source = f'{{"x": "{other}", "name": "pay", "description": "Pays.", "parameters": {{}}}}'
    assert f"\\n{written}" in put("a.json", source.encode(), "pay", "- 날: x").source.decode()


REFUSED = {
    "comment": (b'{"tools": [] // mine\n}', "JSON with comments is not edited"),
    "trailing comma": (b"[1,]", "not JSON at line 1"),
    "nested": (b"[" * 100_000, "nested too deeply"),
    "not UTF-8": (b'"\xff"', "not UTF-8"),
    "large": (b" " * 2_000_001, "larger than"),
    "twice": (b'{"name": "pay", "description": "a", "description": "b", "parameters": {}}', "written twice"),
    "two tools": (
        b'{"tools": [{"name": "pay", "description": "a"}, {"name": "pay", "description": "b"}]}',
        "more than once",
    ),
    "absent": (b'{"name": "pay", "description": "A package."}', "nothing here describes pay"),
}


@pytest.mark.parametrize(("raw", "reason"), REFUSED.values(), ids=REFUSED)
def test_unclear_json_is_refused_with_the_reason(raw: bytes, reason: str):
    with pytest.raises(UnprovenError, match=reason):
        put("tools.json", raw, "pay")


def test_a_line_of_a_text_gives_way_to_another():
    raw = b'{"tools": [{"name": "pay", "description": "Pays.\\n\\n- n: at most 9"}]}'
    text = find_text("a.json", raw, "pay")
    edited = put_lines("a.json", raw, text, Wanted((LINE,)), replaced=["- n: at most 9"])
    assert (edited.after, edited.removed) == (f"Pays.\n\n{LINE}", ("- n: at most 9",))
    assert put("a.json", edited.source, "pay").appended == ()
