"""A report names a tool wherever the source declares it, also within the proposal of another tool."""

from dataclasses import replace

from coreloop.base.project.workspace import Workspace
from coreloop.learn.proposals.entry import Candidate
from coreloop.learn.proposals.proposal_files import MIN_PUBLISHED
from coreloop.web.pages.page_data import PageSource
from coreloop.web.pages.waiting_proposals import read_kept_proposals, shared_proposals


def test_no_tool_that_the_source_declares_is_redacted(unchanged: PageSource):
    proposals = {
        key: one
        for key, one in read_kept_proposals(unchanged).items()
        if isinstance(one.entry, Candidate)
        and one.entry.n_behind >= MIN_PUBLISHED
        and len({step.name for step in one.entry.tool_pattern}) > 1
    }
    assert proposals
    # coreloop.yaml names no tool: only their definitions in the source declare them
    unnamed = Workspace(unchanged.workspace.root, replace(unchanged.workspace.settings, tools={}))
    for key, one in proposals.items():
        (shared,) = shared_proposals(unnamed, {key: one}).values()
        assert isinstance(shared.entry, Candidate)
        assert isinstance(one.entry, Candidate)
        names = [step.name for step in one.entry.tool_pattern]
        assert [step.name for step in shared.entry.tool_pattern] == names
