"""Read the `Status` of a workspace from the log, the proposals, the verdicts, git and the forge."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, time
from typing import TYPE_CHECKING, Final

from coreloop.admin.checks.alarms import find_alarms
from coreloop.admin.checks.newest_record import how_to_record
from coreloop.admin.status.log_figures import Failing, Log, Sieved, read_log, window
from coreloop.admin.status.promotions import Promotions, read_promotions
from coreloop.admin.status.stability import Stability
from coreloop.admin.status.status import Status, count_standing
from coreloop.base.errors import ForgeError, GitError, NoRepositoryError
from coreloop.base.git.repository import Repository
from coreloop.base.git.trailers import promoted_keys
from coreloop.base.github.connect import connect_forge
from coreloop.base.github.protocol import PullRequest
from coreloop.base.project.promotion_settings import ForgeSettings
from coreloop.base.project.workspace import Workspace
from coreloop.base.text import printable
from coreloop.learn.effect.run import Effects, read_effects, read_kept
from coreloop.learn.mine.folder import AGENT, Mined, MiningOptions, mine
from coreloop.learn.proposals.proposal_files import damaged_files, read_proposed
from coreloop.learn.propose import propose
from coreloop.learn.verdicts.proposal_state import (
    UNDECIDED,
    GitPromotions,
    ProposalState,
    Standpoint,
    read_promoted,
    read_states,
)
from coreloop.observe.journal import read_dropped
from coreloop.observe.judgments import read_verdicts

if TYPE_CHECKING:
    from coreloop.promote.measure.measurement import Measurement

ENOUGH: Final = 30
"""Candidates are expected when the window has so many records: ten times what a pattern needs."""


def read_status(
    workspace: Workspace,
    *,
    now: datetime,
    environ: Mapping[str, str],
    mining: MiningOptions = AGENT,
    mined: Mined | None = None,
) -> Status:
    """Read the state of the whole loop; a promotion that was closed without a merge gets its verdict.

    Parameters
    ----------
    workspace : Workspace
        The project.
    now : datetime
        Timezone-aware.
    environ : mapping
        May hold a token, see `coreloop.base.github.github_forge.connect_forge`.
    mining : MiningOptions, optional
        Which records, and how they are mined.
    mined : Mined, optional
        The project's records, where the caller has read them; then effects are those of the last run.

    Raises
    ------
    WorkspaceError
        A file is unreadable or malformed.
    GitError
        The clone is shallow, or git is missing. Without a repository or a base branch, the status has no
        promotions and its notes say why.
    """
    repository, promotions, promoted, notes = _read_history(workspace, now, environ)
    judgments = read_verdicts(workspace.judgments_dir)
    effects = Effects() if mined is None else read_kept(workspace)
    is_read = mined is not None
    if not is_read and (mining.in_dir is not None or workspace.records_dir.is_dir()):
        mined = mine(workspace, mining)
    if promotions is not None and mining.in_dir is None and not is_read:
        files, keep = mined.files if mined is not None else (), not mining.no_cache
        effects = read_effects(workspace, now=now, files=files, repository=repository, keep=keep)
    states = read_states(read_proposed(workspace), judgments, promoted, effects.effects)
    candidates, counterexamples = (count_standing(states, prefix=prefix) for prefix in ("cand-", "ce-"))
    # a proposal without a text is no candidate that nothing came of
    has_candidates = any(one.state is not ProposalState.FOUND or one.id.startswith("cand-") for one in states)
    log, sieved = None, None
    if mined is not None:
        log, sieved = _read_log(mined, states, now, has_candidates=has_candidates)
    damaged = map(printable, damaged_files(workspace))
    since = datetime.combine(window(now.date()).since, time(), UTC)
    status = Status(
        generated_at=now,
        log=log,
        sieved=sieved,
        candidates=candidates,
        counterexamples=counterexamples,
        promotions=promotions,
        promoted_keys=promoted.known,
        dropped=read_dropped(workspace.dropped_file, since=since),
        reached=_reached(workspace, since),
        states=states,
        effects=effects.effects,
        measured=_measured(workspace, states),
        how_to_record=how_to_record(workspace),
        notes=(*notes, *filter(None, [effects.problem]), *judgments.skipped_lines(), *damaged),
    )
    return replace(status, alarms=find_alarms(status))


def _reached(workspace: Workspace, since: datetime) -> dict[str, bool]:
    """Whether lines reached the model when they were last checked."""
    from coreloop.promote.reach import read_reaches

    return read_reaches(workspace.reach_file, since=since)


def _measured(workspace: Workspace, states: Sequence[Standpoint]) -> "tuple[Measurement, ...]":
    """What a model did with the lines that are still to be decided on."""
    from coreloop.promote.measure.measurement import newest_by_key

    shown = {one.key for one in states if one.state in {*UNDECIDED, ProposalState.OPEN}}
    newest = newest_by_key(workspace.measured_file)
    return tuple(measured for key, measured in newest.items() if key in shown)


def read_stability_gates(workspace: Workspace, *, now: datetime) -> Stability:
    """Read only the stability gates, from this clone's base branch.

    Raises
    ------
    GitError
        There is no repository or no base branch, or the clone is shallow.
    """
    repository = Repository(workspace.root)
    repository.require_history()
    base = workspace.settings.forge.base
    return read_promotions(repository, base, (), project=workspace.root, now=now).stability


def _read_log(
    mined: Mined, states: Sequence[Standpoint], now: datetime, *, has_candidates: bool
) -> tuple[Log, Sieved | None]:
    """Read the log and, if enough records have produced no candidate, what `pattern` would propose."""
    log = read_log(mined.files, today=now.date())
    log = replace(log, failing=_named(log.failing, mined.workspace))
    if has_candidates or log.n_in_window < ENOUGH or log.n_days < 2:  # refine waits for a second day
        return log, None
    found = propose(mined, log.days, now=now, states=states)
    n_proposed = sum(one.suggested_append is not None for one in found.document.candidates)
    fell = {**found.search.dropped, "no_text": len(found.document.candidates) - n_proposed}
    return log, Sieved(n_proposed, fell)


def _named(failing: tuple[Failing, ...], workspace: Workspace) -> tuple[Failing, ...]:
    """Tools by the name that the project defines; an alarm says no name that only a log has."""
    if not failing:
        return ()
    from coreloop.base.project.tools import Tool
    from coreloop.descriptions.find_tools import find_tools, logged_names

    called, configured = {tool.tool for tool in failing}, workspace.settings.tools
    names = logged_names(called, workspace)
    wanted = {*called, *names.values()}
    defined = find_tools(wanted, workspace, only_places=True)

    def named(name: str) -> str:
        known = names.get(name, name)
        is_ours = known in configured or isinstance(defined[known], Tool)
        return known if is_ours else "a tool that the project does not define"

    return tuple(replace(tool, tool=named(tool.tool)) for tool in failing)


def _read_history(
    workspace: Workspace, now: datetime, environ: Mapping[str, str]
) -> tuple[Repository | None, Promotions | None, GitPromotions, tuple[str, ...]]:
    """Read the promotions, with the open ones of the forge, and notes on what is not known."""
    base = workspace.settings.forge.base
    try:
        repository = Repository(workspace.root)
    except NoRepositoryError as error:
        return None, None, GitPromotions(), (printable(f"no history: {error}"),)
    promoted = read_promoted(workspace, repository)
    try:
        repository.base(base)
    except GitError as error:
        return None, None, promoted, (printable(f"no history: {error}"),)
    pulls, closed, notes = _ask_forge(repository, workspace.settings.forge, environ, now)
    promotions = read_promotions(repository, base, pulls, project=workspace.root, now=now)
    asked = frozenset(key for pull in pulls for key in promoted_keys(pull.message))
    settled = asked | {entry.key for entry in promoted.promotions}
    if closed:
        from coreloop.learn.verdicts.judge import reject_closed

        judgments = read_verdicts(workspace.judgments_dir)
        reject_closed(workspace, closed, judgments=judgments, known=settled, now=now)
    known, requested = promoted.known | asked, promoted.requested | asked
    return repository, promotions, replace(promoted, known=known, requested=requested), notes


def _ask_forge(
    repository: Repository, settings: ForgeSettings, environ: Mapping[str, str], now: datetime
) -> tuple[tuple[PullRequest, ...], tuple[PullRequest, ...], tuple[str, ...]]:
    """Read the pull requests that are open, and those closed without a merge.

    A forge that does not answer adds a note instead of failing.
    """
    try:
        forge = connect_forge(repository, settings, environ, tries=1)
        if forge is None:
            return (), (), ()
        from coreloop.learn.verdicts.judge import LOOK_BACK

        closed = forge.closed_pull_requests(since=now - LOOK_BACK)
        return forge.open_pull_requests(), closed, ()
    except ForgeError as error:
        return (), (), (printable(f"pull requests are unknown, only branches are listed: {error}"),)
