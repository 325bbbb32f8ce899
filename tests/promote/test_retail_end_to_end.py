"""Real requests of a shop's agent, mined, and promoted into the example shop: real processes, real git."""

import json
import sys
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from coreloop.learn.line import parse_advice
from merging import read_trailers
from retail_shop import Shop, descriptions, git, output

pytestmark = pytest.mark.slow
KIND = "counterexamples"
CHANGED = "modify_pending_order_items"
DOCTESTS = """
import doctest, importlib, json, pathlib
names = sorted(path.stem for path in pathlib.Path("retail").glob("*.py") if path.stem != "__init__")
found = [doctest.DocTestFinder().find(importlib.import_module(f"retail.{name}")) for name in names]
runner = doctest.DocTestRunner()
tests = [test for module in found for test in module if test.examples]
for test in tests:
    runner.run(test)
examples = sorted(test.name.split(".")[-1] for test in tests)
print(json.dumps({"failed": runner.failures, "with_examples": examples}))
"""


def doctests(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(output(["python", "-c", DOCTESTS], folder).splitlines()[-1])
    return found


def nine_of_nine(folder: Path, tools: Mapping[str, str]) -> list[str]:
    """Tools whose docstring has every section, as `docstring check` reports it."""
    lines = output([sys.executable, "-m", "coreloop", "docstring", "check", "retail"], folder).splitlines()
    return sorted(name for name in tools if any(f" {name}  9/9" in line for line in lines))


def arguments_of(folder: Path) -> dict[str, tuple[str, ...]]:
    schema = json.loads(output(["python", "-m", "retail.schema"], folder))
    functions = (tool["function"] for tool in schema)
    return {function["name"]: tuple(function["parameters"]["properties"]) for function in functions}


def test_real_statements_name_docstrings_and_arguments_of_the_shop(shop: Shop) -> None:
    arguments = arguments_of(shop.folder)
    found = shop.entries(KIND, "statements")
    assert shop.entries("candidates", "statements") == []
    by_kind = defaultdict(set)
    for one in found:
        by_kind[one["kind"]].add(one["tool"])
    assert by_kind.keys() == {"presence", "state"}
    assert CHANGED in by_kind["presence"]

    for one in found:
        said = parse_advice(one["line"])
        assert said is not None
        suggested = one["suggested_append"]
        # argument names of the signature reach the text; none of the questions' words or values does
        assert set(said.arguments) <= {*arguments[one["tool"]]}
        if suggested is None:
            assert one["refused"].startswith(("weak: ", "redundant: "))
        else:
            assert (suggested["target_symbol"], suggested["body"]) == (one["tool"], one["line"])
        assert arguments.keys() >= set(said.tools)
        assert not any(one.kind == "value" for one in said.names())


def statement(shop: Shop) -> dict[str, Any]:
    """What the night says of the tool."""
    return next(one for one in shop.entries(KIND, "statements") if one["tool"] == CHANGED)


def test_confirmed_caveat_is_one_commit_that_the_next_refine_knows(shop: Shop, tmp_path: Path) -> None:
    first = statement(shop)
    questions = [one for failing in shop.entries(KIND) for one in failing["example_questions"]]
    questions += first["example_questions"]
    lines = first["suggested_append"]["body"].splitlines()
    before = descriptions(shop.folder)

    done = shop.promote(KIND, first["id"], "--confirm", "--allow-unreached")

    assert done.returncode == 0, done.stderr
    (branch,) = shop.branches()
    assert branch.startswith(f"skill/caveat-{CHANGED.replace('_', '-')}-general-")
    assert git(shop.remote, "rev-list", "--count", f"main..{branch}").strip() == "1"
    message = git(shop.remote, "log", "-1", "--format=%B", branch)
    assert message.startswith("[CORELOOP-F] docs(")
    trailers = read_trailers(message)
    assert trailers["Phase"] == "F"
    assert trailers["Candidate-Key"] == first["key"]
    assert trailers["Replay"].startswith("not-applicable")
    figures = (trailers["Evidence"], trailers["Observed"], trailers["Success-Rate"])
    assert figures == ("185 of 196 calls, otherwise 0 of 23", "219", "0.944")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--branch", branch, str(shop.remote), str(clone))
    after = descriptions(clone)
    received, sent_before = (" ".join(text[CHANGED].split()) for text in (after, before))
    assert received.replace(f" {' '.join(lines)}", "") == sent_before != received
    assert {**after, CHANGED: ""} == {**before, CHANGED: ""}
    assert doctests(clone)["failed"] == 0
    assert nine_of_nine(clone, after) == sorted(after)
    sent = git(shop.remote, "show", "--format=", branch)
    assert questions
    assert not any(text in sent + message for text in questions)
    templates = [one["error_template"] for one in shop.entries(KIND) if one["error_template"]]
    assert templates
    assert not any(text in sent + message for text in templates)

    again = shop.promote(KIND, first["id"], "--confirm", "--allow-unreached", "--json")

    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["fresh"] is False
    assert shop.branches() == [branch]
    mined = shop.mine("refine")
    keys = {one["key"] for one in (*mined["statements"], *mined["counterexamples"])}
    assert first["key"] not in keys
    assert keys
