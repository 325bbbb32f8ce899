"""The demo's last step: its first candidate becomes a branch of a scratch repository."""

import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from coreloop.demo.agent import answer
from coreloop.demo.plan import Request
from coreloop.demo.script import scripted_requests
from coreloop.demo.tools import load_tools
from coreloop.mine.decode import Skipped, decode_line
from coreloop.observe import AuditCollector
from coreloop.project.workspace import open_workspace
from coreloop.promote.commits import WritableRepository, init_repository
from coreloop.promote.promotion import Done, Leave, Plan, Promoting, base_commit, carry_out, make_plan
from coreloop.promote.proposal import Proposal, read_proposal
from coreloop.promote.replay import AnswerFields, Replay, UnusableAnswerError, replay
from coreloop.promote.run import keep_body

_NOON_NS = 1_777_118_400 * 1_000_000_000  # 2026-04-25
_IGNORED = "data/\n__pycache__/\n"
_CONFIG = (
    ("user", "name", "coreloop demo"),
    ("user", "email", "demo@example.invalid"),
    ("commit", "gpgsign", "false"),
    ("core", "hooksPath", os.devnull),
)


@dataclass(frozen=True, slots=True)
class Promoted:
    """The plan, what was done, and the file with the pull request's text."""

    plan: Plan
    done: Done
    body: Path


def promote_candidate(folder: Path, candidates: Path, wanted: str, *, seed: int) -> Promoted:
    """Promote one candidate of the demo's project, which becomes a git repository first.

    Parameters
    ----------
    folder : Path
        The demo's project.
    candidates : Path
        Its candidates file.
    wanted : str
        Id of a candidate in it.
    seed : int
        That of the recorded requests: the same agent answers the replay.
    """
    _make_repository(folder)
    workspace = open_workspace(folder)
    proposal = read_proposal(candidates, wanted, workspace.settings, is_configured=workspace.is_configured)
    agent = _Agent(folder, seed)

    def ask(one: Proposal) -> Replay:
        selectors = workspace.settings.selectors()
        return replay(agent, one.steps, one.questions, runs=3, selectors=selectors)

    with WritableRepository(folder) as repository:
        base = base_commit(repository, "main", fetch=False)
        promoting = Promoting(
            proposal=proposal, repository=repository, project=folder, settings=workspace.settings, ask=ask
        )
        plan = make_plan(promoting, base)
        done = carry_out(plan, repository, None, max_open=1, leave=Leave())
    return Promoted(plan, done, keep_body(plan, candidates))


def _make_repository(folder: Path) -> None:
    (folder / ".gitignore").write_text(_IGNORED, encoding="utf-8")
    # a scratch repository is nobody's work: no key and no hook of the user's
    init_repository(folder, _CONFIG, message="docs: a small finance package")


class _Agent:
    """The scripted agent as an endpoint: it answers a question again, really calling the tools."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._requests: dict[str, Request] = {one.question: one for one in scripted_requests(seed)}
        self._tools = load_tools(folder)
        self._folder = folder / "data" / "replays"

    def ask(self, question: str) -> AnswerFields:
        """Answer, and read the record of it back."""
        request = self._requests.get(question)
        if request is None:
            raise UnusableAnswerError("the scripted agent does not know the question")
        clock_ns = partial(int, _NOON_NS)
        answer(request, self._tools, AuditCollector(question, data_dir=self._folder, clock_ns=clock_ns))
        (day_file,) = (self._folder / "audit" / "ai-ask").glob("*.jsonl")
        newest = decode_line(day_file.read_bytes().splitlines()[-1])
        if isinstance(newest, Skipped):
            raise UnusableAnswerError(newest.reason)
        return AnswerFields(newest.fields.tool_calls)
