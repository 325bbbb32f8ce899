"""The section on review: what waits for a verdict, and one item with its evidence."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Final

from coreloop.base.errors import CoreloopError, UsageError
from coreloop.base.files import read_file
from coreloop.base.project.python_source import UnprovenError
from coreloop.base.project.workspace import Workspace
from coreloop.descriptions.check import SENT_CHARS
from coreloop.learn.proposals.entry import Entry, Statement, cost_text, q_text, sides_text
from coreloop.learn.propose import read_examples
from coreloop.learn.verdicts.judge import DocstringChange, change_of, judge, judge_name
from coreloop.learn.verdicts.proposal_state import ACCEPTED
from coreloop.observe.judgments import HumanVerdict, VerdictLetter, read_verdicts, take_back_verdict
from coreloop.promote.measure.measurement import newest_by_key
from coreloop.promote.proposal_entry import read_proposal
from coreloop.promote.reach import SERVED
from coreloop.promote.schema_patch import alternatives
from coreloop.web.pages.changes import read_kept_states, read_state_words
from coreloop.web.pages.page_data import Button, PageSection, PageSource, View
from coreloop.web.pages.waiting_proposals import WaitingProposal, by_gain, read_kept_proposals

_UNDO: Final = timedelta(minutes=1)  # chosen: as long as a slip is noticed at once
_MAX_SHOWN: Final = 100
_PATH: Final = "review"
VERDICTS: Final = {"P": "promote it", "T": "good enough", "C": "not yet", "V": "wrong"}
"""What pages call the verdicts; files and the API have the letters."""


def read_review(source: PageSource) -> View:
    """List what waits for a verdict, and the verdicts that can still be taken back."""
    waiting, states = _waiting(source), read_state_words(source)
    known = ((states.get(key), one) for key, one in read_kept_proposals(source).items())
    ready = [one for state, one in known if state == ACCEPTED and one.entry.refused is None]
    return {
        "accepted": [(one, _command(source.workspace, one)) for one in ready],
        "proposals": waiting[:_MAX_SHOWN],
        "n_proposals": sum(proposal.entry.refused is None for proposal in waiting),
        "n_more": max(0, len(waiting) - _MAX_SHOWN),
        "fresh": _fresh(source),
        "has_records": source.workspace.records_dir.is_dir(),
    }


def read_item(source: PageSource, name: str) -> View | None:
    """Show a proposal by its id; its calls on demand, since they are read from the records."""
    proposal = next((one for one in read_kept_proposals(source).values() if one.entry.id == name), None)
    if proposal is None:
        return None
    has_calls = source.search == "calls" and proposal.kind == "statement"
    ids, measured = _ids(source), newest_by_key(source.workspace.measured_file)
    at = ids.index(name) if name in ids else -1
    return {
        "id": name,
        "proposal": proposal,
        "change": (change := change_of(source.workspace, proposal.entry)),
        "lines": list(_marked(change, source.workspace)),
        "calls": _read_calls(source, proposal, change) if has_calls else {},
        "plan": _plan(source.workspace, proposal) if source.search == "plan" else (),
        "state": read_state_words(source).get(proposal.entry.key, ""),
        "history": [
            one
            for one in read_verdicts(source.workspace.judgments_dir).given
            if one.subject == proposal.entry.key
        ],
        "before": ids[at - 1] if at > 0 else None,
        "after": ids[at + 1] if 0 <= at < len(ids) - 1 else None,
        "fresh": _fresh(source),
        **_evidence(proposal.entry),
        # not on shared pages, whose numbers are of five or more requests
        "measured": None if source.is_shared else measured.get(proposal.entry.key),
        "command": _command(source.workspace, proposal),
    }


def _command(workspace: Workspace, proposal: WaitingProposal) -> str:
    path = shlex.quote(proposal.path.relative_to(workspace.root).as_posix())
    return f"dartlab-coreloop promote --candidate {path} --id {shlex.quote(proposal.entry.id)} --confirm"


def _evidence(entry: Entry) -> dict[str, str]:
    if not isinstance(entry, Statement):
        return {"q": "", "evidence": ""}
    return {"q": q_text(entry.q_value), "evidence": f"{sides_text(entry, entry.sides)}; {cost_text(entry)}"}


def _marked(change: DocstringChange, workspace: Workspace) -> Iterator[tuple[str, str]]:
    """Yield what the client sends of each line of a text, and what it cuts."""
    is_cut = workspace.settings.reach.framework in SERVED and "[" not in change.target
    left = SENT_CHARS if is_cut else sum(map(len, change.lines))
    for line in change.lines:
        n_sent = len(line) if line.startswith("-") else left + 2
        yield line[:n_sent], line[n_sent:]
        left -= 0 if line.startswith("-") else min(left, len(line) - 1)  # two blanks less, a line break more


def _read_calls(source: PageSource, proposal: WaitingProposal, change: DocstringChange) -> View:
    """Read calls of both sides, and what a schema can say instead; they are no part of a shared page."""
    workspace, entry = source.workspace, proposal.entry

    def read() -> View:
        try:
            failing, working = read_examples(workspace, entry)
        except CoreloopError as error:  # no records, for instance
            failing, working = [str(error)], []
        schema = _schema(workspace, proposal) if not change.problem else ("", [change.problem])
        return {"failed": failing, "worked": working, "schema": schema}

    places = [workspace.records_dir, proposal.path, workspace.root / change.target.partition("::")[0]]
    return source.snapshots.get(f"calls of {entry.key}", places, read).value


def _schema(workspace: Workspace, proposal: WaitingProposal) -> tuple[str, list[str]]:
    try:
        checked = read_proposal(proposal.path, proposal.entry.id, workspace.settings)
        return alternatives(workspace, checked.file, read_file(workspace.root / checked.file), [checked])
    except (CoreloopError, UnprovenError) as reason:
        return "", [str(reason)]


def _plan(workspace: Workspace, proposal: WaitingProposal) -> list[str]:
    """Say what its promotion would do; nothing changes."""
    from coreloop.promote.run import PromoteRequest, plan_promotion  # git is loaded for nothing else

    request = PromoteRequest(path=proposal.path, wanted=proposal.entry.id)
    try:
        return "\n".join(plan_promotion(workspace, request)[0].lines()).splitlines()
    except CoreloopError as error:
        return [f"stops    {error}"]


def _judge(source: PageSource, form: Mapping[str, str], by: str) -> tuple[str, ...]:
    wanted, given = form.get("id", ""), form.get("verdict", "")
    if given not in set(VerdictLetter):
        raise UsageError("a verdict is P (pass), T (tolerable), C (caution) or V (violation)")
    ids = _ids(source)
    workspace = source.workspace
    name = judge_name(by, workspace.root)
    judge(workspace, wanted, VerdictLetter(given), cause=form.get("cause"), by=name, now=source.now)
    later = ids[ids.index(wanted) + 1 :] if wanted in ids else []
    return (_PATH, later[0]) if later else (_PATH,)


def _undo(source: PageSource, form: Mapping[str, str], _by: str) -> tuple[str, ...]:
    wanted, folder = form.get("id", ""), source.workspace.judgments_dir
    fresh = next((judgment for judgment in _fresh(source) if judgment.id == wanted), None)
    if fresh is None or not take_back_verdict(folder, fresh):
        raise UsageError("this verdict is older than a minute; give another one, the newest counts")
    return (_PATH, wanted)


def _fresh(source: PageSource) -> list[HumanVerdict]:
    """The verdicts on proposals of the last minute, the newest first."""
    given, since = read_verdicts(source.workspace.judgments_dir).given, source.now - _UNDO
    return [one for one in reversed(given) if one.key and one.judged_at > since]


def _waiting(source: PageSource) -> Sequence[WaitingProposal]:
    return by_gain(read_kept_proposals(source), read_kept_states(source))


def _ids(source: PageSource) -> list[str]:
    """The items of the list, in its order."""
    return [one.entry.id for one in _waiting(source)[:_MAX_SHOWN]]


REVIEW: Final = PageSection(
    name=_PATH,
    title="Review",
    read=read_review,
    item="review_item.html",
    read_item=read_item,
    items=_ids,
    actions={"judge": Button(scope="review", run=_judge), "undo": Button(scope="review", run=_undo)},
)
