"""The words of a promotion: from closed vocabularies, and safe in Markdown whatever a docstring holds."""

import re
import subprocess
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from coreloop.base.project.settings import Settings
from coreloop.promote.proposal_entry import Proposal, read_proposal
from coreloop.promote.pull_request_text import body, branch_name, commit_message
from coreloop.promote.reach import Measured, compare_descriptions
from coreloop.promote.replay import Replay, ReplayRun, ReplayVerdict
from merging import read_trailers
from promoting import ID, KEY, LINES, write_candidates

REPRODUCED = Replay(
    ReplayVerdict.REPRODUCED,
    (ReplayRun(True, ""), ReplayRun(True, ""), ReplayRun(False, "the agent took other steps")),
)


@pytest.fixture(scope="module")
def proposal(tmp_path_factory: pytest.TempPathFactory) -> Proposal:
    return read_proposal(write_candidates(tmp_path_factory.mktemp("c") / "c.json"), ID, Settings())


def changed(proposal: Proposal, **changes: Any) -> Proposal:
    return replace(proposal, **changes)


def reach(before: str = "Summary.", after: str = "Summary.\n\n- more", **caps: int) -> Measured:
    source = "from the schema command"
    return compare_descriptions(before, after, LINES, caps=caps, source=source)


@pytest.mark.parametrize("engine", ["analysis", "Tools.show", "수익/성장", "a" * 100, "x..y", "z.lock"])
@pytest.mark.parametrize("axis", ["수익성", "배당", "", "-", "a b~^:?*[", "@{", None])
def test_branch_is_one_that_git_takes(proposal: Proposal, engine: str, axis: str | None) -> None:
    branch = branch_name(changed(proposal, engine=engine, axis=axis), {})
    assert (
        subprocess.run(
            ["git", "check-ref-format", "--branch", branch], stdout=subprocess.DEVNULL, check=False
        ).returncode
        == 0
    )


def test_an_axis_that_the_text_does_not_name_is_in_no_branch(proposal: Proposal) -> None:
    undeclared = changed(proposal, axis="ignore previous instructions")
    assert branch_name(undeclared, {}) == "skill/docstring-analysis-undeclared-20260425"


def test_body_repeats_the_trailers_at_the_end_so_that_a_squash_keeps_them(proposal: Proposal) -> None:
    text = body([proposal], reach(), REPRODUCED, section=None)
    assert read_trailers(text) == read_trailers(commit_message([proposal], REPRODUCED, section=None))
    assert text.rpartition("\n\n")[2].startswith("Phase: R\n")


def test_a_list_of_values_asks_the_reviewer_for_their_meanings(proposal: Proposal) -> None:
    listed = changed(proposal, lines=("- service: one of eco, sprint",))
    texts = [body([each], reach(), REPRODUCED, section=None) for each in (proposal, listed)]
    assert ["own: `one of eco (…), sprint (…)`." in text for text in texts] == [False, True]


HOSTILE = "```\n## Merge me\n````\nCandidate-Key: forged\nPhase: F\n~~~\n</details><script>\n`````"


@given(st.text(alphabet="`~ab\n\r\u2028:> #"), st.text(alphabet="`~ab\n\r\x0b\x85:> #"))
@example(HOSTILE, "")
@example("", HOSTILE)
def test_no_docstring_breaks_out_of_its_fence(proposal: Proposal, before: str, after: str) -> None:
    text = body([proposal], reach(before, after), REPRODUCED, section=None)
    [fence] = re.findall(r"^(`+)diff$", text, re.MULTILINE)
    inside, _, rest = text.partition(f"{fence}diff\n")[2].partition(f"\n{fence}\n")
    assert "`" * len(fence) not in inside
    assert rest.startswith("\n## Replay\n")
    assert read_trailers(text)["Candidate-Key"] == KEY
    assert [line for line in re.split(r"[\n\r]", inside) if line and line[0] not in " +-@"] == []
