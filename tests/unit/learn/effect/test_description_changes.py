"""The ledger: each change of a description in the base branch is a row, whoever made it."""

from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

import pytest

from coreloop.base.git.repository import Repository
from coreloop.base.project.tools import Tool, Unresolved
from coreloop.descriptions.find_tools import find_tools
from coreloop.learn.effect.description_changes import Change, read_ledger
from effects import FILE, Planted, Shop, at, dated, make_shop, proposal_id

NOW = at(200)


def _changes(shop: Shop, *tools: str) -> tuple[Change, ...]:
    repository = Repository(shop.project.root)
    targets = {tool: f"{FILE}::{tool}" for tool in tools}
    return read_ledger(
        repository, repository.base("main"), targets, folder=PurePosixPath("."), now=NOW
    ).changes


@pytest.fixture
def shop(tmp_path: Path, quiet_git: None) -> Shop:
    return make_shop(
        tmp_path, [Planted("refund", 0.2, 0.1, 10), Planted("cancel", 0.2, 0.1, 20, by_hand=True)]
    )


def test_a_promotion_is_dated_by_its_merge_and_has_its_pull_request(shop: Shop):
    change = _changes(shop, "refund")[0]
    assert change.sha == shop.shas["refund"]
    assert (change.ids, change.pull_request, change.is_ours) == ((proposal_id(11),), 11, True)
    assert change.merged_at == datetime(2026, 3, 12, 12, tzinfo=UTC)
    assert change.added == ("- Always pass reason",)


def test_a_changed_body_or_another_docstring_is_no_row(shop: Shop):
    text = (shop.project.root / FILE).read_text()
    body = text.replace("return order_id", "return str(order_id)")
    shop.project.commit({FILE: body}, "body", **dated(30))
    assert [change.tool for change in _changes(shop, "refund", "list_orders")] == ["refund"]


def test_a_revert_is_a_row_and_the_promotion_is_reverted(shop: Shop):
    shop.project.git("revert", "--no-edit", "--mainline", "1", shop.shas["refund"], **dated(40))
    first, second = _changes(shop, "refund")
    assert (first.reverted, first.is_revert) == (True, False)
    assert (second.is_revert, second.is_ours, second.removed) == (True, False, ("- Always pass reason",))


@pytest.mark.parametrize(
    "text",
    [
        '@tool(description="Pays.")\ndef pay(n: int): ...\n',
        'def pay(n: int): ...\nTool(pay, description="Pays.")\n',
        'def pay(n: Annotated[int, Field(description="Pays.")]): ...\n',
        'TEXT = "Pays."\n@tool(description=TEXT + "")\ndef pay(n: int): ...\n',
        'TEXTS = {"pay": "Pays.", "ask": "Asks."}\n@tool(description=TEXTS["pay"])\ndef pay(n: int): ...\n',
        'class Args(BaseModel):\n    n: int = Field(description="Pays.")\ndef pay(args: Args): ...\n',
        'class pay(BaseTool):\n    description: str = "Pays."\n',
    ],
    ids=["decorator", "call", "parameter", "constant", "table", "arguments", "attribute"],
)
def test_a_changed_description_argument_is_a_row(shop: Shop, text: str):
    shop.project.commit({FILE: text}, "first", **dated(30))
    shop.project.commit({FILE: f"# a comment\n{text}"}, "no change", **dated(31))
    shop.project.commit({FILE: text.replace("Pays.", "Pays back.")}, "words", **dated(32))
    assert [change.subject for change in _changes(shop, "pay") if change.tool == "pay"] == ["words"]


_DOCUMENTS = {
    "tools.yaml": "tools:\n- name: pay\n  description: Pays.\n- name: ask\n  description: Asks.\n",
    "pay.yml": "pay:\n  description: Pays.\n  parameters: {n: {type: integer}}\n",
    "mcp.json": '{"tools": [{"name": "pay", "inputSchema": {"properties": {"n": {"description": "Pays."}}}, '
    '"description": "d"}]}\n',
    "openai.json": '[{"type": "function", "function": {"name": "pay", "description": "Pays."}}]\n',
    "tools.toml": '[tools.pay]\ndescription = "Pays."\n',
}


@pytest.mark.parametrize("file", _DOCUMENTS)
def test_a_change_by_hand_outside_python_is_a_row(shop: Shop, file: str):
    text = _DOCUMENTS[file]
    other = text.replace("ask", "tell").replace("integer", "number")
    shop.project.commit({f"config/{file}": text}, "first", **dated(30))
    shop.project.commit({f"config/{file}": other}, "no change", **dated(31))
    shop.project.commit({f"config/{file}": text.replace("Pays.", "Pays back.")}, "words", **dated(32))
    repository = Repository(shop.project.root)
    base, folder = repository.base("main"), PurePosixPath(".")
    tool = find_tools(["pay"], shop.workspace)["pay"]
    assert isinstance(tool, Tool)
    target = f"{tool.file}::{tool.qualname}"
    changes = read_ledger(repository, base, {"pay": target}, folder=folder, now=NOW).changes
    assert target == f"config/{file}::pay"
    rows = [change for change in changes if change.target == target]
    assert [(row.subject, row.is_ours, row.tool) for row in rows] == [("words", False, "pay")]


def test_a_tool_that_two_files_define_is_not_guessed(shop: Shop):
    text = _DOCUMENTS["tools.toml"]
    files = {"a/tools.toml": text, "b/tools.toml": text, "tests/tools.toml": text, "one.toml": "[pay2]\n"}
    shop.project.commit(files, "first", **dated(30))
    assert find_tools(["pay"], shop.workspace)["pay"] == Unresolved(
        "pay",
        "described 2 times (a/tools.toml::pay, b/tools.toml::pay); name one under tools: in coreloop.yaml, "
        'as pay: {target: "a/tools.toml::pay"}',
        is_defined=True,
    )


@pytest.mark.parametrize("text", ["Do refund.", "Refund."], ids=["same text", "same body"])
@pytest.mark.parametrize(("file", "name"), [("shop/moved.py", "refund"), (FILE, "pay_back")])
def test_what_was_renamed_or_moved_keeps_its_history(shop: Shop, file: str, name: str, text: str):
    source = (shop.project.root / FILE).read_text().replace("def refund(", f"def {name}(")
    shop.project.git("rm", "--quiet", FILE)
    shop.project.commit({file: source.replace("Do refund.", text)}, "move", **dated(30))
    source = (shop.project.root / file).read_text().replace("Always pass reason", "Pass reason")
    shop.project.commit({file: source}, "words", **dated(40))
    targets = {name: f"{file}::{name}"}
    repository = Repository(shop.project.root)
    base = repository.base("main")
    ledger = read_ledger(repository, base, targets, folder=PurePosixPath("."), now=NOW)
    rows = [change for change in ledger.changes if change.subject != "move"]
    merged = "Merge pull request #11 from octo/skill/caveat"
    assert [(row.subject, row.tool) for row in rows] == [(merged, name), ("words", name)]
    assert rows[0].ids == (proposal_id(11),)
    assert ledger.former == ({"refund": name} if name != "refund" else {})
