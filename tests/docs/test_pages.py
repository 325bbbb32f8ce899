"""Every example of the documentation that can run does, and prints what its page says."""

import ast
import builtins
import re
from importlib import import_module
from pathlib import Path

import pytest

from coreloop.observe.adapters.attach import ADAPTERS
from docs.examples import PAGES, ROOT, Block, elided, matches, read_page, run_page
from rows import each_row

RUNNABLE = {"console", "python"}


def _runs(path: Path) -> bool:
    blocks = [step for step in read_page(path) if isinstance(step, Block)]
    return any(block.language in RUNNABLE and block.not_run is None for block in blocks)


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", [path for path in PAGES if _runs(path)], ids=lambda path: str(path.relative_to(ROOT))
)
def test_examples_of_the_page_run(path: Path, tmp_path: Path) -> None:
    folder = tmp_path / "rooms"
    folder.mkdir()
    assert "\n\n".join(run_page(path, folder).differences) == ""


def test_the_tutorial_s_agent_sets_no_clock() -> None:
    blocks = read_page(ROOT / "docs" / "tutorial.md")
    (agent,) = [step for step in blocks if isinstance(step, Block) and step.title == "agent.py"]
    assert "with AuditCollector(question, data_dir" in agent.text
    assert "clock" not in agent.text


def test_few_examples_are_left_out_and_each_says_why() -> None:
    blocks = [step for path in PAGES for step in read_page(path) if isinstance(step, Block)]
    runnable = [block for block in blocks if block.language in RUNNABLE]
    left_out = [block for block in runnable if block.not_run is not None]
    assert all(block.not_run for block in left_out)
    assert len(left_out) <= len(runnable) / 3


@each_row(
    ("expected", "actual", "same"),
    [
        pytest.param(["a", "…", "d"], ["a", "b", "c", "d"], True, id="lines left out"),
        pytest.param(["a", "…"], ["b", "a"], False, id="another first line"),
        pytest.param(["x … z"], ["x y z"], True, id="text left out"),
        pytest.param(["a"], ["a", "b"], False, id="a line more"),
        pytest.param(["seen 2026-04-25"], ["seen 2027-01-01"], True, id="another day"),
        pytest.param(["a.c"], ["abc"], False, id="no pattern"),
    ],
)
def test_output_is_compared(expected: list[str], actual: list[str], same: bool) -> None:
    assert matches(expected, actual) is same


def test_update_leaves_out_what_the_page_left_out() -> None:
    page = ["head 1", "…", "id  line", "…", "tail"]
    assert elided(page, ["head 2", "a", "b", "id  lines", "c", "tails"]) == [
        "head 2",
        "…",
        "id  lines",
        "…",
        "tails",
    ]


def test_the_lines_of_each_framework_can_be_pasted_whole() -> None:
    blocks = read_page(ROOT / "docs" / "how-to" / "record-frameworks.md")
    texts = [block.text for block in blocks if isinstance(block, Block) and block.language == "python"]
    imports = {
        node.module: alias.name
        for text in texts
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("coreloop.")
        for alias in node.names
    }
    package = "coreloop.observe.adapters"
    assert set(imports) >= {f"{package}.{module}" for module in ADAPTERS.values()}
    assert [name for module, name in imports.items() if not hasattr(import_module(module), name)] == []
    unbound = {text: _read(text) - _bound(text) - set(dir(builtins)) for text in texts}
    assert [text for text, names in unbound.items() if names] == []


def _read(text: str) -> set[str]:
    return {
        node.id
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }


def _bound(text: str) -> set[str]:
    nodes = list(ast.walk(ast.parse(text)))
    assigned = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return assigned | {node.asname or node.name for node in nodes if isinstance(node, ast.alias)}


def test_links_outside_the_site_lead_to_files() -> None:
    pages = [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *ROOT.glob("benchmarks/*.md"),
        *ROOT.glob("examples/*/*.md"),
    ]
    links = [
        (page, link)
        for page in pages
        for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8"))
        if not link.startswith("http")
    ]
    assert links
    assert [(page.name, link) for page, link in links if not (page.parent / link).exists()] == []


def test_pages_that_messages_and_templates_name_exist() -> None:
    sources = [path for path in (ROOT / "src").rglob("*") if path.suffix in {".py", ".yml", ".yaml"}]
    named = {
        (path.name, page)
        for path in sources
        for page in re.findall(r"\bdocs/[a-z/-]+\.md\b", path.read_text(encoding="utf-8"))
    }
    assert named
    assert {one for one in named if not (ROOT / one[1]).is_file()} == set()


def test_a_page_is_short_and_only_generated_reference_is_long() -> None:
    generated = {"commands.md", "settings.md", "masking.md"}
    pages = [path for path in (ROOT / "docs").rglob("*.md") if path.name not in generated]
    assert {path.name: n for path in pages if (n := path.read_text(encoding="utf-8").count("\n")) > 150} == {}
