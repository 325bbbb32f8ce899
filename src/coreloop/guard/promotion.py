"""The rules for a promotion's commit: consistent trailers, and lines in a single docstring."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from coreloop.base.git.repository import Commit
from coreloop.base.git.trailers import (
    CANDIDATE_ID,
    MEASURED,
    MEASURED_VERDICTS,
    NAMES,
    REPLAYS,
    SECTIONS,
    SYMBOL,
    read_promoted,
    write_message,
    write_title,
)
from coreloop.base.project.settings import Settings
from coreloop.base.text import printable
from coreloop.descriptions.own_lines import docstring_bullets
from coreloop.descriptions.source import UnprovenError, find_definition, read_source
from coreloop.guard.change import PathChange
from coreloop.guard.insertion import ChangedLines, changed_lines
from coreloop.guard.lines import is_day, refuse_groups, refuse_replaced
from coreloop.guard.markers import GuardFacts
from coreloop.learn.proposals.declared_words import Words

_ENGINE: Final = re.compile(r"\[CORELOOP-[RF]\] docs\(([^()]+)\): ")
_NUMBER: Final = re.compile(r" \(#[0-9]{1,9}\)$")
_IDS: Final = {"R": "cand-", "F": "ce-"}


def subject_of(commit: Commit) -> str:
    """A commit's subject without the number that GitHub appends in a squash merge."""
    return _NUMBER.sub("", commit.message.partition("\n")[0].strip())


def engine_of(commit: Commit) -> str:
    """The tool that a promotion's subject names; "" if it does not name a tool."""
    match = _ENGINE.match(commit.message)
    return match[1] if match is not None else ""


def refuse_trailers(commit: Commit, settings: Settings) -> Iterator[str]:
    """Why the trailers of a commit, of one or more candidates, are incomplete or inconsistent."""
    groups, engine = read_promoted(commit.message) or ({},), engine_of(commit)
    yield from dict.fromkeys(reason for group in groups for reason in _refuse_group(commit, group, settings))
    if not all(map(_is_complete, groups)):
        return
    if subject_of(commit) != write_title([group["Phase"] for group in groups], engine):
        phases = " and ".join(sorted({group["Phase"] for group in groups}))
        yield (f"the subject of commit {commit.sha[:12]} is not the title of a promotion of phase {phases}")
    if len({group["Target"] for group in groups}) > 1:
        yield f"commit {commit.sha[:12]} is for several docstrings; a promotion changes only one"


def refuse_message(commit: Commit) -> Iterator[str]:
    """Why a commit's message is more than what coreloop writes for its trailers."""
    groups, engine = read_promoted(commit.message), engine_of(commit)
    if not groups or not all(map(_is_complete, groups)):  # refused by refuse_trailers
        return
    written = {write_message(groups, engine, section).strip() for section in (None, *SECTIONS.values())}
    if commit.message.strip() not in written:
        yield (f"the message of commit {commit.sha[:12]} has other text than coreloop's; promote it again")


def _refuse_group(commit: Commit, group: Mapping[str, str], settings: Settings) -> Iterator[str]:
    where = f"commit {commit.sha[:12]}"
    missing = [name for name in NAMES if not group.get(name)]
    if missing:
        yield f"{where} lacks the trailers {', '.join(missing)}"
        return
    phase = group["Phase"]
    if not _is_id(group["Candidate-Id"], phase):
        yield f"the Candidate-Id of {where} is not an id of phase {phase}"
    if group["Replay"] not in REPLAYS[phase]:
        yield f"the trailer Replay of {where} is not one that allows a promotion; promote it again"
    if MEASURED in group and group[MEASURED] not in MEASURED_VERDICTS:
        yield f"the {MEASURED} of {where} is no verdict of a measurement"
    yield from _refuse_target(group["Target"], engine_of(commit), settings)


def _is_id(written: str, phase: str) -> bool:
    """Whether it is an id of a phase, from a real day: ``cand-2026-04-25-001``."""
    start = _IDS[phase]
    is_id = CANDIDATE_ID.fullmatch(written) is not None and written.startswith(start)
    return is_id and is_day(written.removeprefix(start)[:10])


def _refuse_target(target: str, engine: str, settings: Settings) -> Iterator[str]:
    _, _, symbol = target.partition("::")
    declared = settings.tools[engine].target if engine in settings.tools else None
    named = symbol.partition(":")[0].rpartition(".")[2]
    if not SYMBOL.fullmatch(symbol) or (target != declared if declared else named != engine):
        yield (f"the Target {printable(target)} is not the docstring of {printable(engine) or 'any tool'}")


def refuse_files(
    files: Sequence[PathChange], commit: Commit, *, sha: str, facts: GuardFacts
) -> Iterator[str]:
    """Why a change does more than replace lines of its docstring.

    Parameters
    ----------
    files : sequence of PathChange
        All changed files.
    commit : Commit
        Its trailers name the docstring and the figures.
    sha : str
        The commit that `facts.ours` has the lines of earlier promotions by.
    """
    if len(files) != 1:
        yield (
            f"{len(files)} files change; a promotion changes only one, so put the others in a "
            "pull request of their own"
        )
        return
    change, groups = files[0], read_promoted(commit.message)
    target = groups[0].get("Target", "") if groups else ""
    file, _, symbol = target.partition("::")
    if not change.is_regular or change.modes[0] != change.modes[1]:
        yield (
            f"{printable(change.path)} is added, deleted, or changes its type or mode; a "
            "promotion only edits its text"
        )
    elif not change.path.endswith(".py"):
        yield f"{printable(change.path)} is not a Python file"
    elif change.path != facts.project + file:
        yield (
            f"{printable(change.path)} changes, but the trailer Target of its commit is "
            f"{printable(target) if target else 'missing'}; promote it again"
        )
    elif SYMBOL.fullmatch(symbol) and all(_is_complete(group) for group in groups):
        yield from _refuse_text(change, commit, facts.ours.get(sha, frozenset()), facts)


def _is_complete(group: Mapping[str, str]) -> bool:
    return all(map(group.get, NAMES))


def lines_of(files: Sequence[PathChange], commit: Commit) -> tuple[list[str], list[str]]:
    """The bullets that a promotion's docstring loses and gains, as its trailers name it, proved or not."""
    groups = read_promoted(commit.message)
    if len(files) != 1 or not groups or not groups[0].get("Target"):
        return [], []
    old, new = (docstring_bullets(side, groups[0]["Target"]) for side in (files[0].old, files[0].new))
    return list((old - new).elements()), list((new - old).elements())


def other_words(
    files: Sequence[PathChange], alone: Sequence[PathChange], commit: Commit, facts: GuardFacts
) -> tuple[str, ...]:
    """The lines that later commits wrote instead of a promotion's; empty if they change anything else.

    Parameters
    ----------
    files, alone : sequence of PathChange
        What the promotion changes with the later commits, and without these.
    """
    if len(files) != 1 or [(file.path, file.modes) for file in files] != [
        (file.path, file.modes) for file in alone
    ]:
        return ()
    try:
        changed, own = (_changed(side[0], commit, facts) for side in (files, alone))
    except UnprovenError:
        return ()
    other = tuple(line for line in changed.added if line not in own.added)
    same = sorted(changed.removed) == sorted(own.removed) and len(changed.added) == len(own.added)
    return other if same else ()


def _changed(change: PathChange, commit: Commit, facts: GuardFacts) -> ChangedLines:
    groups = read_promoted(commit.message)
    qualname, line = _definition_of(groups)
    return changed_lines(
        change.old,
        change.new,
        qualname=qualname,
        line=line,
        sections=tuple(dict.fromkeys(SECTIONS[group["Phase"]] for group in groups)),
        style=facts.settings.docstring.style,
        width=facts.width,
    )


def _definition_of(groups: Sequence[Mapping[str, str]]) -> tuple[str, int | None]:
    """The name that a promotion's target has after ``::``, and the line if it is defined twice."""
    qualname, _, line = groups[0]["Target"].partition("::")[2].partition(":")
    return qualname, int(line) if line else None


def _refuse_text(
    change: PathChange, commit: Commit, ours: Collection[str], facts: GuardFacts
) -> Iterator[str]:
    groups = read_promoted(commit.message)
    try:
        changed = _changed(change, commit, facts)
        source = read_source(change.old)
        definition = find_definition(source.tree, *_definition_of(groups))
    except UnprovenError as reason:
        yield f"{printable(change.path)}: {reason}"
        return
    foreign = [text for text in changed.removed if text not in ours]
    if foreign:
        yield (
            f"{printable(change.path)}: {printable(foreign[0])} is removed, but no promotion "
            "added it; put it back"
        )
    words = Words(facts.settings, source.text, engine_of(commit), definition=definition, names=facts.names)
    yield from refuse_replaced(changed.removed, changed.added)
    yield from refuse_groups(changed.added, groups, words)
