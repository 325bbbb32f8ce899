"""Texts of tools in YAML, TOML and TypeScript, and what holds of all kinds."""

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from coreloop.base.project.python_source import UnprovenError
from coreloop.descriptions.kinds import json_text, python_text, toml_text, typescript_text, yaml_text
from coreloop.descriptions.place import Wanted
from coreloop.descriptions.texts import find_text, find_texts, put_lines
from editing import DAY as LINE
from editing import put_text as put

TOOL = 'server.registerTool("pay", {description: "Pays.", inputSchema: '

SPELLED = {
    "plain": ("a.yaml", "tools:\n- name: pay\n  description: {}  # x\n", "Pays.", '"Pays.\\n\\n\\\n    {}"'),
    "plain in a flow": ("a.yml", "pay: {{parameters: {{}}, description: {}}}\n", "P", '"P\\n\\n\\\n  {}"'),
    "single quotes": (
        "a.yaml",
        "pay:\n  description: {}\n  inputs: {{}}\n",
        "'It''s'",
        "'It''s\n\n\n    {}'",
    ),
    "double quotes": ("a.yaml", "pay:\n  description: {}\n  inputs: []\n", '"\\u00e9"', '"\\u00e9\\n\\n{}"'),
    "block": (
        "a.yaml",
        "결제:\n  description: {}\n\n  inputs: []\n",
        "|\n    A\n\n      B\n    C",
        "|\n    A\n\n      B\n    C\n\n    {}",
    ),
    "folded": (
        "a.yaml",
        "pay:\n  description: {}\n  inputs: []\n",
        ">-\n   A\n   B",
        ">-\n   A\n   B\n\n\n   {}",
    ),
    "TOML": ("a.toml", "[[tools]]\nname = 'pay'\ndescription = {}  # x\n", '"\\u00e9"', '"\\u00e9\\n\\n{}"'),
    "TOML on lines": ("a.toml", "[pay]\ninputs = []\ndescription = {}\n", '"""\nA"""', '"""\nA\n\n{}"""'),
    "TOML literal": ("a.toml", "[pay]\ninputs = []\ndescription = {}\n", "'''A\\'''", "'''A\\\n\n{}'''"),
    "TOML table": (
        "a.toml",
        "x = [[\"pay\"]]\n[tools.'결제']\ndescription = {}\ninputs = []",
        '"A"',
        '"A\\n\\n{}"',
    ),
    "server.tool": ("a.ts", "server.tool('pay', {}, {{}}, f);\n", "'It\\'s'", "'It\\'s\\n\\n{}'"),
    "escapes in braces": (
        "a.js",
        "server.tool('pay', {}, {{}}, f);\n",
        "'\\u{00000041}\\u{110000}'",
        "'\\u{{00000041}}\\u{{110000}}\\n\\n{}'",
    ),
    "registerTool": (
        "a.mjs",
        'it.tasks.registerToolTask("pay", {{description: {}}}, f)',
        '"A"',
        '"A\\n\\n{}"',
    ),
    "template": ("a.tsx", "const pay = tool({{description: {}, parameters: x}})", "`A\nB`", "`A\nB\n\n{}`"),
    "zod": ("a.ts", "s.tool('pay', {{day: z.string().describe({})}}, f)", "'A'", "'A\\n\\n{}'"),
    "JSON Schema": (
        "a.js",
        "export const tools = [{{name: '결제', description: {}, inputSchema: {{}}}}]",
        "'A'",
        "'A\\n\\n{}'",
    ),
}


@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["", "BOM"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize(("path", "around", "before", "after"), SPELLED.values(), ids=SPELLED)
def test_a_line_is_spelled_as_the_text_and_nothing_else_changes(
    path: str, around: str, before: str, after: str, newline: str, mark: str
):
    raw = (mark + around.format(before).replace("\n", newline)).encode()
    text = find_texts(path, raw)[-1]
    written = (mark + around.format(after.format(LINE)).replace("\n", newline)).encode()
    assert put(path, raw, text.name).source == written


REFUSED = {
    "anchor": ("a.yaml", "a: &x Pays.\npay: {description: *x, inputs: []}", "the anchor &x shares it"),
    "tag": ("a.yaml", "pay: {description: !!str P, inputs: []}", "it has the tag !!str"),
    "YAML twice": ("a.yaml", "pay: {description: P, description: Q, inputs: []}", "written twice"),
    "YAML nested": ("a.yaml", "description: " + "[" * 100_000, "not readable as YAML"),
    "YAML in itself": (
        "a.yaml",
        "tools: &a [{name: pay, description: P, inputs: *a}]",
        "the anchor &a shares it",
    ),
    "TOML quotes": ("a.toml", "[pay]\ninputs = []\ndescription = 'P'", "single quotes"),
    "TOML twice": ("a.toml", "description = 'P'\ndescription = 'P'", "not readable as TOML"),
    "TOML nested": ("a.toml", "description = " + "[" * 100_000, "not readable as TOML"),
    "TOML key": ("a.toml", "a." * 100_000 + "description = 'P'", "hundreds of parts"),
    "expression": ("a.ts", "s.tool('pay', `P ${n}`, {}, f)", "a template with an expression"),
    "concatenation": ("a.ts", "s.tool('pay', 'description ' + 'P', {}, f)", "a concatenation"),
    "constant": ("a.ts", "const D = 'description'; f(D); s.tool('pay', D, {}, f)", "it is the name D"),
    "exported": ("a.ts", "export const D = 'description'; s.tool('pay', D, {}, f)", "it is the name D"),
    "call": ("a.ts", "s.registerTool('pay', {description: t('P')}, f)", "a call computes it"),
    "TypeScript twice": ("a.ts", f"{TOOL}{{}}, description: 'Q'}}, f)", "written twice"),
    "TypeScript open": ("a.ts", "description: " + "[" * 100_000, "not readable as TypeScript"),
    "TypeScript nested": ("a.ts", f"description = {'[' * 50_000}{']' * 50_000}", "nested too deeply"),
    "encoding": ("a.ts", "description: \udcff", "encoding is not UTF-8"),
    "large": ("a.ts", " " * 10_000_000, "larger than"),
    "comments": ("a.ts", "// s.tool('pay', 'description', {}, f)\n/* description: 'P' */", "nothing here"),
}


@pytest.mark.parametrize(("path", "source", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_edited_is_refused_with_the_reason(path: str, source: str, reason: str):
    with pytest.raises(UnprovenError, match=reason):
        put(path, source.encode(errors="surrogateescape"), "pay")


FORMS = {
    "a.json": ('{{"tools": [{{"name": "pay", "description": {}}}]}}', ['"{}"']),
    "a.py": ("@tool(description={})\ndef pay(n): ...\n", ['"{}"', '"""{}"""', "'{}'", 'r"{}"']),
    "a.yaml": ("pay:\n  inputs: []\n  description: {}\n", ["{}", "'{}'", '"{}"', "|\n    {}", ">\n    {}\n"]),
    "a.toml": ("[pay]\ninputs = []\ndescription = {}\n", ['"{}"', '"""{}"""', "'''{}'''"]),
    "a.ts": ("server.tool('pay', {}, {{}}, f);\n", ["'{}'", '"{}"', "`{}`"]),
}
WORDS = st.lists(
    st.sampled_from([*"ab'\"`\\ \n#:-{$", "날", "\\n", "\r\n", "  ", "\n\n    ", "😀"]), max_size=8
)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from([*FORMS]), st.integers(0, 4), WORDS.map("".join) | st.text(), WORDS.map("".join))
@example("a.py", 1, "Sum.\n- a", '"""')
@example("a.py", 0, "\\\\", "\\")
def test_any_text_is_mended_with_proof_or_refused(path: str, form: int, value: str, line: str):
    around, forms = FORMS[path]
    value = json.dumps(value)[1:-1] if path == "a.json" else value
    raw = around.format(forms[form % len(forms)].format(f"A{value}")).encode(errors="surrogatepass")
    try:
        edited = put(path, raw, "pay", f"- {line}")
    except UnprovenError:
        return
    assert edited.source == raw or f"- {line}".rstrip() in edited.after


KINDS = dict(zip(FORMS, [json_text, python_text, yaml_text, toml_text, typescript_text], strict=True))
WRONG = ('"Pays!"', "{}\nn: 1", "{}\nn = 1", "{}, 1", "{} // x", "1", '{}, "n": 1', '{}}}, {{"name": "b"')


@pytest.mark.parametrize(("path", "kind"), KINDS.items())
def test_an_edit_that_is_spelled_wrongly_is_not_returned(
    path: str, kind: object, monkeypatch: pytest.MonkeyPatch
):
    raw = FORMS[path][0].format('"Pays."').encode()
    text = find_text(path, raw, "pay")
    for literal in (wrong.format(json.dumps(f"Pays.\n\n{LINE}")) for wrong in WRONG):
        monkeypatch.setattr(kind, "spell", lambda *_, literal=literal: literal.encode())
        with pytest.raises(UnprovenError):
            put_lines(path, raw, text, Wanted((LINE,)))
