"""What a commit that says it is a promotion must be: trailers that agree, and one text in one docstring."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from coreloop.docstrings.source import UnprovenError, find_definition, read_source
from coreloop.guard.change import FileChange
from coreloop.guard.insertion import ChangedLines, changed_lines
from coreloop.guard.lines import refuse_groups, refuse_replaced
from coreloop.guard.words import Words
from coreloop.history.repository import Commit
from coreloop.history.trailers import (
    CANDIDATE_ID,
    CANDIDATE_KEY,
    NAMES,
    REPLAYS,
    SECTIONS,
    SYMBOL,
    is_title,
    read_promoted,
)
from coreloop.project.settings import Settings
from coreloop.text import printable

_ENGINE: Final = re.compile(r"\[CORELOOP-[RF]\] docs\(([^()]+)\): ")
_NUMBER: Final = re.compile(r" \(#[0-9]{1,9}\)$")
_IDS: Final = {"R": "cand-", "F": "ce-"}


def subject_of(commit: Commit) -> str:
    """A commit's subject without the number that GitHub puts behind it in a squash."""
    return _NUMBER.sub("", commit.message.partition("\n")[0].strip())


def engine_of(commit: Commit) -> str:
    """The tool that a promotion's subject names; "" where it names none."""
    found = _ENGINE.match(commit.message)
    return found[1] if found is not None else ""


def refuse_trailers(commit: Commit, settings: Settings) -> Iterator[str]:
    """What is missing or contradicts itself in a commit's message; it may carry several candidates of a tool.

    Parameters
    ----------
    commit : Commit
        One that says it is a promotion.
    settings : Settings
        Of the base: where a tool's docstring is.
    """
    groups, engine = read_promoted(commit.message) or ({},), engine_of(commit)
    yield from dict.fromkeys(reason for said in groups for reason in _refuse_group(commit, said, settings))
    if not all(map(_is_whole, groups)):
        return
    if not is_title(subject_of(commit), [said["Phase"] for said in groups], engine):
        phases = " and ".join(sorted({said["Phase"] for said in groups}))
        yield f"the subject of commit {commit.sha[:12]} is not the title of a promotion of phase {phases}"
    if len({said["Candidate-Key"] for said in groups}) < len(groups):
        yield f"commit {commit.sha[:12]} names a candidate twice, with other figures"
    if len({said["Target"] for said in groups}) > 1:
        yield f"commit {commit.sha[:12]} is for several docstrings; a promotion changes one"


def _refuse_group(commit: Commit, said: Mapping[str, str], settings: Settings) -> Iterator[str]:
    where = f"commit {commit.sha[:12]}"
    missing = [name for name in NAMES if not said.get(name)]
    phase = said.get("Phase", "")
    if missing or phase not in SECTIONS:
        yield f"{where} lacks the trailers {', '.join(missing)}" if missing else f"{where} has no known Phase"
        return
    if not CANDIDATE_ID.fullmatch(said["Candidate-Id"]) or not said["Candidate-Id"].startswith(_IDS[phase]):
        yield f"the Candidate-Id of {where} is none of phase {phase}"
    if not CANDIDATE_KEY.fullmatch(said["Candidate-Key"]):
        yield f"the Candidate-Key of {where} is none that coreloop gives"
    if said["Replay"] not in REPLAYS[phase]:
        yield f"with the Replay of {where} coreloop promotes nothing"
    yield from _refuse_target(said["Target"], engine_of(commit), settings)


def _refuse_target(target: str, engine: str, settings: Settings) -> Iterator[str]:
    _, _, symbol = target.partition("::")
    declared = settings.tools[engine].target if engine in settings.tools else None
    named = symbol.partition(":")[0].rpartition(".")[2]
    if not SYMBOL.fullmatch(symbol) or (target != declared if declared else named != engine):
        yield f"the Target {printable(target)} is not the docstring of {printable(engine) or 'any tool'}"


def refuse_files(
    files: Sequence[FileChange],
    commit: Commit,
    *,
    settings: Settings,
    project: str,
    ours: Collection[str] = (),
) -> Iterator[str]:
    """What a change does beside putting its lines into the one docstring.

    Parameters
    ----------
    files : sequence of FileChange
        All that differs.
    commit : Commit
        Whose trailers name the docstring and the figures.
    settings : Settings
        Of the base: the words that may be written.
    project : str
        Folder that targets are below: ``""``, or with a slash at its end.
    ours : collection of str
        Lines that promotions put into this docstring before: they may give way.
    """
    if len(files) != 1:
        yield f"{len(files)} files change; a promotion changes one"
        return
    one, groups = files[0], read_promoted(commit.message)
    said = groups[0] if groups else {}
    file, _, symbol = said.get("Target", "").partition("::")
    if not one.is_regular or one.modes[0] != one.modes[1]:
        yield f"{printable(one.path)} is not only modified: its kind or mode changes, or it comes or goes"
    elif not one.path.endswith(".py"):
        yield f"{printable(one.path)} is no Python file"
    elif one.path != project + file:
        yield f"{printable(one.path)} changes, but the Target is {printable(said.get('Target', 'missing'))}"
    elif SYMBOL.fullmatch(symbol) and all(_is_whole(group) for group in groups):
        yield from _refuse_text(one, symbol, groups, Words(settings, "", engine_of(commit)), ours)


def _is_whole(group: Mapping[str, str]) -> bool:
    return group.get("Phase") in SECTIONS and all(map(group.get, NAMES))


def shrunk_target(files: Sequence[FileChange], commit: Commit) -> str | None:
    """The docstring that a promotion takes lines out of, as its trailers name it, or None."""
    groups = [group for group in read_promoted(commit.message) if _is_whole(group)]
    if len(files) != 1 or not groups:
        return None
    target = groups[0]["Target"]
    try:
        return target if _changed(files[0], target.partition("::")[2], groups).removed else None
    except UnprovenError:  # it is refused for that
        return None


def _changed(one: FileChange, symbol: str, groups: Sequence[Mapping[str, str]]) -> ChangedLines:
    qualname, _, line = symbol.partition(":")
    sections = tuple(dict.fromkeys(SECTIONS[group["Phase"]] for group in groups))
    at = int(line) if line else None
    return changed_lines(one.old, one.new, qualname=qualname, line=at, sections=sections)


def _refuse_text(
    one: FileChange,
    symbol: str,
    groups: Sequence[Mapping[str, str]],
    words: Words,
    ours: Collection[str],
) -> Iterator[str]:
    qualname, _, line = symbol.partition(":")
    at = int(line) if line else None
    try:
        changed = _changed(one, symbol, groups)
        source = read_source(one.old)
        definition = find_definition(source.tree, qualname, at)
    except UnprovenError as reason:
        yield f"{printable(one.path)}: {reason}"
        return
    foreign = [text for text in changed.removed if text not in ours]
    if foreign:
        yield f"{printable(one.path)}: {printable(foreign[0])} is removed, which no promotion put there"
    known = replace(words, source=source.text, definition=definition)
    yield from refuse_replaced(changed.removed, changed.added)
    yield from refuse_groups(changed.added, groups, known)
