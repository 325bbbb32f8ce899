"""What files declare, found in the index: symbols and parts of schemas."""

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from coreloop.answer.search.index.run import index_paths, read_coverage
from coreloop.answer.search.index.search_index import (
    find_declared,
    is_named,
    public_functions,
)
from coreloop.base.project.workspace import Workspace, open_workspace

NOW = datetime(2026, 4, 25, 12, tzinfo=UTC)
FILES = {
    "coreloop.yaml": "schemas: [tables.sql]\n",
    "tables.sql": "CREATE TABLE orders (total int -- 합계, in KRW\n);\n",
    "src/shop/__init__.py": "",
    "src/shop/orders.py": (
        "from shop.money import round_money\nfrom . import tax\n\n\ndef order_total(items):\n"
        '    """Add the prices of an order.\n\n    Parameters\n    ----------\n'
        '    items : list\n        주문한 상품.\n    """\n'
    ),
    "src/shop/money.py": 'def round_money(amount):\n    """Round to ten won."""\n',
    "src/shop/tax.py": 'def add_tax(amount):\n    """Add the tax of an order."""\n',
    "docs/a.md": "# Orders\n\nAn order has a total.\n",
}


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    workspace = open_workspace(tmp_path)
    index_paths(workspace, [tmp_path], now=datetime.now(UTC))
    return workspace


def symbols(workspace: Workspace, query: str) -> list[str]:
    return [one.title for one in find_declared(workspace.index_file, query, 3)]


def test_a_symbol_is_found_by_its_name_and_its_words(workspace: Workspace):
    assert symbols(workspace, "What does order_total take?")[0] == "order_total"
    assert symbols(workspace, "total of orders")[0] == "order_total"
    assert symbols(workspace, "주문한 상품은?") == ["order_total"]
    assert symbols(workspace, "chess on Mars") == []
    assert symbols(workspace, "???") == []


def test_a_symbol_that_is_named_comes_first(workspace: Workspace):
    assert symbols(workspace, "order order order add_tax")[0] == "add_tax"
    (source, *_) = find_declared(workspace.index_file, "add_tax")
    assert is_named(source, "what is Add_Tax?")
    assert not is_named(source, "what is add?")
    assert (source.type, source.location, source.line) == ("symbol", "src/shop/tax.py", 1)


def test_functions_are_listed_with_what_they_document(workspace: Workspace):
    (workspace.root / "_own.py").write_text("class _A:\n    def b(self): pass\n\ndef __c(): pass\n")
    index_paths(workspace, [workspace.root], now=NOW)
    expected = {"src/shop/orders.py": True, "src/shop/money.py": False, "src/shop/tax.py": False}
    assert dict(public_functions(workspace.index_file)) == expected


def test_new_and_changed_files_are_pending(workspace: Workspace):
    assert read_coverage(workspace).pending == ()
    (workspace.root / "docs" / "a.md").write_text("# Orders\n\nAn order has two totals.\n", encoding="utf-8")
    (workspace.root / "docs" / "새 문서.md").write_text("# 새 문서\n", encoding="utf-8")
    found = read_coverage(workspace)
    assert [file.location for file in found.pending] == ["docs/a.md", "docs/새 문서.md"]
    assert found.fresh == len(FILES) - 2  # without coreloop.yaml and the changed file


def test_a_schema_that_is_declared_again_is_read_again(workspace: Workspace):
    for schemas in ("", "schemas: [tables.sql]\n"):
        (workspace.root / "coreloop.yaml").write_text(schemas, encoding="utf-8")
        report = index_paths(open_workspace(workspace.root), [workspace.root], now=NOW)
        assert report.counts - Counter(unchanged=9) == Counter(changed=1)
